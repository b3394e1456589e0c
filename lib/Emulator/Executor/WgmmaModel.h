//===- WgmmaModel.h - wgmma as tensor cores add -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The product of a share under --tensor-model. TensorModel.h adds to eight
// columns of a row at once; here those are eight rows of a column, which is the
// same with A and B exchanged. Part of WgmmaShare.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_WGMMAMODEL_H
#define FA_LIB_EMULATOR_EXECUTOR_WGMMAMODEL_H

#include "TensorModel.h"
#include "WgmmaShare.h"

#include <cstring>

namespace ptxvm {
namespace {

inline TensorElement tensorElement(WgmmaForm::Element e) {
  switch (e) {
  case WgmmaForm::BF16:
    return TensorElement::BF16;
  case WgmmaForm::TF32:
    return TensorElement::TF32;
  case WgmmaForm::E4M3:
    return TensorElement::E4M3;
  case WgmmaForm::E5M2:
    return TensorElement::E5M2;
  default:
    return TensorElement::F16;
  }
}

/// left[k][16 rows]; `right` as WgmmaShare.cpp has it, in blocks of 8 columns.
void multiplyAsModelled(const WgmmaForm &f, TensorModel model,
                        const float (*left)[16], const float *right,
                        unsigned perN, unsigned perK, WgmmaTile &tile) {
  constexpr unsigned kMost = 32;
  unsigned depth = f.k();
  TensorStep step = tensorStep(model, tensorElement(f.a),
                               f.accumulator == WgmmaForm::Half, true);
  int leastA = leastExponent(tensorElement(f.a));
  int leastB = leastExponent(tensorElement(f.b));
  TensorRow rows[2][kMost];
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned m = 0; m < 16; ++m)
      rows[m / 8][k].set(m % 8, tensorFactor(left[k][m], leastA));
  for (unsigned n = 0; n < f.n; ++n) {
    TensorFactor column[kMost];
    const float *block = right + n / 8 * 8 * depth + n % 8 * perN;
    for (unsigned k = 0; k < depth; ++k)
      column[k] = tensorFactor(block[k * perK], leastB);
    for (unsigned half = 0; half < 2; ++half) {
      float sum[8];
      std::memcpy(sum, &tile.columns[n][8 * half], sizeof(sum));
      addProducts(step, column, rows[half], depth, sum);
      std::memcpy(&tile.columns[n][8 * half], sum, sizeof(sum));
    }
  }
}

} // namespace
} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_WGMMAMODEL_H
