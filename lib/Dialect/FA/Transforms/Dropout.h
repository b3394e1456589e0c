//===- Dropout.h - which weights are kept -----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weight of key j for row i of head h of batch b is dropped when
//
//     Philox4x32-10(key = seed, counter = (j, i, h, b))[0]  <  floor(p 2^32)
//
// (the words of the seed with the low one first), and kept weights grow by
// 1/(1-p). A function of the seed and of the place alone, so every schedule
// drops the same ones. The row sum takes all weights; what is kept grows once a
// row, as a factor of u.
//
// A round of Philox, with M0 = D2511F53 and M1 = CD9E8D57:
//
//     (c0, c1, c2, c3) -> (hi(M1 c2) ^ c1 ^ k0, lo(M1 c2),
//                          hi(M0 c0) ^ c3 ^ k1, lo(M0 c0))
//
// and between rounds k0 += 9E3779B9, k1 += BB67AE85. h and b are the same for
// the whole block, so the first rounds are partly those of rows and columns
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_DROPOUT_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_DROPOUT_H

#include "ScoreSite.h"

#include <algorithm>
#include <cmath>

namespace mlir::fa {

/// The clause as one block of query rows sees it.
struct Dropout {
  double probability = 0.0;
  Value seed;        ///< i64; null where nothing is dropped
  Value batch, head; ///< index

  bool isUsed() const { return static_cast<bool>(seed); }
  /// What kept weights are multiplied by. At 1 nothing is kept.
  float getGrowth() const {
    return probability < 1.0 ? static_cast<float>(1.0 / (1.0 - probability))
                             : 1.0f;
  }
  /// log2 of what weights are held larger by. When the largest of a row are
  /// dropped what is left may be below the normal numbers of f16, and growing
  /// at the end would bring the error of their rounding to light: most of the
  /// growth comes before. 2^10 leaves f16 room for huge scores.
  float getLift() const {
    return std::min(10.0f, std::floor(std::log2(getGrowth())));
  }
};

/// Emits which weights at `site` are kept, a vector of i1.
Value emitKept(TileBuilder &b, const Dropout &dropout, const ScoreSite &site);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_DROPOUT_H
