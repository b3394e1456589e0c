//===- Scores.h - from products to logits -----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one definition of a score: what the clauses of the op make of a product
// q . k, in this order,
//
//     x = scale * (q . k)
//     x = cap * tanh(x / cap)                  softcap
//     x = region(x, b, h, i, j)                score
//     x = x - slope[h] * |i + offset - j|      alibi, offset as in causal masks
//     x = x + bias[b, h, i, j]                 bias
//
// wherever the scores lie (ScoreSite.h). The last factor is left to the
// exponent (OnlineSoftmax.h), where it is free: the scale, or the cap. Alibi's
// slope is divided by it, once; in front of a region or a bias nothing is left.
// What all scores lack alike is left to the end of the row: of all that is
// computed only r depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_SCORES_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_SCORES_H

#include "OnlineSoftmax.h"
#include "Regions.h"
#include "ScoreSite.h"
#include "Visibility.h"

namespace mlir::fa {

/// The clauses as one block of query rows sees them.
struct ScoreClauses {
  /// What is left to the exponent.
  ScoreScale scale;
  /// Whether that is the scale of the op, or the cap, and not 1.
  bool isScaleLeft = true;
  /// The scale as an f32, where a clause needs x itself.
  Value multiplier;
  std::optional<double> softcap;
  /// Whether 1 - 2 / (e^2x + 1) is exact enough for tanh x.
  bool isShortSoftcap = false;
  RegionClause region;
  Value slope;     ///< f32, of this head, over what is left; null without alibi
  Value firstRow;  ///< i32: i + offset of the block's first row
  Value biasPlane; ///< [Sq, keys]; null without bias

  /// What a capped score is a multiple of: half a tanh has no factor 2.
  double getSoftcapUnit() const {
    return isShortSoftcap ? 2.0 * *softcap : *softcap;
  }
  /// What every score lacks of x, in natural units. Regions are given x itself.
  double getRest() const { return isShortSoftcap && !region ? *softcap : 0.0; }
};

/// Emits the clauses of `op`, with what they read of head `head` for the rows
/// from `firstRow` on; both are index. `region` and `biasPlane` are null where
/// the op has no such clause.
ScoreClauses emitScoreClauses(TileBuilder &b, AttentionOp op,
                              const RegionClause &region, Value biasPlane,
                              Value head, Value firstRow,
                              const SequenceLengths &lengths);

/// Emits x of the `products` that lie at `site`.
Value emitScores(TileBuilder &b, const ScoreClauses &clauses, Value products,
                 const ScoreSite &site);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_SCORES_H
