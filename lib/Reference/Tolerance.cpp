//===- Tolerance.cpp - how far from the oracle is still right -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Reference/Tolerance.h"

#include <algorithm>
#include <cmath>

namespace faref {

namespace {

double unitOf(ElementType type, Precision precision) {
  switch (type) {
  case ElementType::F16:
    return 0x1p-11;
  case ElementType::BF16:
    return 0x1p-8;
  case ElementType::F8E4M3FN:
    return 0x1p-4;
  case ElementType::F8E5M2:
    return 0x1p-3;
  default:
    return precision == Precision::TF32 ? 0x1p-10 : 0x1p-20;
  }
}

} // namespace

Constants constantsFor(ElementType operand, ElementType out,
                       Precision precision) {
  bool isFP8 =
      operand == ElementType::F8E4M3FN || operand == ElementType::F8E5M2;
  bool isTF32 = operand == ElementType::F32 && precision == Precision::TF32;
  bool hasF16 = operand == ElementType::F16 || out == ElementType::F16;
  Constants constants;
  // The precision clause is about operands; an f32 output rounds as f32.
  constants.u =
      std::max(unitOf(operand, precision), unitOf(out, Precision::Ieee));
  constants.e = isTF32 ? 0x1p-10 : isFP8 ? 0x1p-11 : 0x1p-20;
  constants.f = hasF16 ? 0x1p-24 : 0x1p-100;
  constants.g = isTF32 ? 0x1p-10 : isFP8 ? 0x1p-11 : 2e-5;
  return constants;
}

Bounds tolerance(const Result &result, bool isBSHD, ElementType operand,
                 ElementType out, Precision precision) {
  const Constants c = constantsFor(operand, out, precision);
  const Evidence &evidence = result.evidence;
  Bounds bounds;
  bounds.out.resize(result.out.size());
  bounds.lse.resize(result.lse.size());
  int64_t heads = result.lseShape[1], queries = result.lseShape[2];
  int64_t columns = result.outShape[3];
  for (size_t r = 0; r < result.lse.size(); ++r) {
    double a = evidence.scoreScale[r];
    bounds.lse[r] = c.g * std::max({1.0, std::abs(result.lse[r]), a});
    int64_t i = int64_t(r) % queries;
    int64_t h = int64_t(r) / queries % heads;
    int64_t b = int64_t(r) / queries / heads;
    for (int64_t d = 0; d < columns; ++d) {
      size_t n = r * size_t(columns) + size_t(d);
      bounds.out[size_t(outIndex(result.outShape, isBSHD, b, h, i, d))] =
          2 * evidence.plainError[r] +
          2 * (c.u + c.e * a) * evidence.weightedV[n] +
          c.f * evidence.largestV[n];
    }
  }
  return bounds;
}

} // namespace faref
