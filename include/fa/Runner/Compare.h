//===- Compare.h - a result against what it must be -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes first, then every element: NaN and infinities must match in place and
// sign, finite elements lie within their own bound. An infinity also stands
// for a finite value that the output type cannot hold.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_COMPARE_H
#define FA_RUNNER_COMPARE_H

#include "fa/Support/Array.h"

#include <string>
#include <vector>

namespace farun {

struct Comparison {
  std::string result; ///< the role: "out", "lse"
  bool ok = true;
  /// A difference of kind (shape, a NaN, an element never written) in words.
  std::string problem;
  /// At the worst element: the largest error relative to its bound.
  double maxError = 0, bound = 0, found = 0, expected = 0;
  std::vector<int64_t> at;
  int64_t wrong = 0, count = 0; ///< elements outside their bound, and all

  /// "check: ok max_error=E bound=B at=[...]" or "check: FAILED ...".
  std::string str() const;
};

/// What an array must be: values in f64 and a bound for each.
struct Expectation {
  std::vector<int64_t> shape;
  std::vector<double> values;
  std::vector<double> bounds;
};

Comparison compare(const std::string &result, const Array &found,
                   const Expectation &expectation);

/// The index of element `n` in a row-major shape.
std::vector<int64_t> indexOf(int64_t n, const std::vector<int64_t> &shape);
std::string indexText(const std::vector<int64_t> &index);

} // namespace farun

#endif // FA_RUNNER_COMPARE_H
