//===- Tolerance.h - how far from the oracle is still right -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule, per element of O and of LSE:
//
//   |O - O64|[i,d] <= 2 * max_d |plain - O64|[i,:]
//                     + 2 * (u + e * A[i]) * sum_j p[i,j] * |v[j,d]|
//                     + f * max_j |v[j,d]|
//   |LSE - LSE64|[i] <= g * max(1, |LSE64|, A[i])
//
// "plain" is the two-pass form in f32 that rounds P to the element type; A[i]
// is the largest visible |scale| * sum_d |q * k| + |what the clauses add|. So
// the bound grows with what honest rounding can do to this row and no more.
//
//===----------------------------------------------------------------------===//
#ifndef FA_REFERENCE_TOLERANCE_H
#define FA_REFERENCE_TOLERANCE_H

#include "fa/Reference/Attention.h"

namespace faref {

/// The constants of the rule for one pair of types.
struct Constants {
  double u; ///< rounding of P, V and O: the coarser of operand and output
  double e; ///< rounding of a score, relative to A
  double f; ///< the smallest f16 step, where f16 takes part
  double g; ///< rounding of LSE, relative
};

Constants constantsFor(ElementType operand, ElementType out,
                       Precision precision = Precision::Ieee);

struct Bounds {
  std::vector<double> out; ///< as Result::out
  std::vector<double> lse; ///< as Result::lse
};

/// The bounds of a result that carries evidence.
Bounds tolerance(const Result &result, bool isBSHD, ElementType operand,
                 ElementType out, Precision precision = Precision::Ieee);

} // namespace faref

#endif // FA_REFERENCE_TOLERANCE_H
