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
//     x = x - slope[h] * |i + offset - j|      alibi, offset as in causal masks
//     x = x + bias[b, h, i, j]                 bias
//
// for a tile of scores and for one key alike. Without a clause behind the scale
// that one is left to the exponent (OnlineSoftmax.h), where it is free.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_SCORES_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_SCORES_H

#include "OnlineSoftmax.h"

namespace mlir::fa {

/// The clauses as one block of query rows sees them.
struct ScoreClauses {
  /// What is left to the exponent.
  ScoreScale scale;
  /// f32, when a clause needs x itself; else null, and so is all below.
  Value multiplier;
  std::optional<double> softcap;
  Value slope;    ///< f32, of this head; null without alibi
  Value firstRow; ///< i32: i + offset of the block's first row
  bool hasBias = false;
};

/// Emits x of `products`. `distance` and `bias` are asked for when a clause
/// needs |i + offset - j| or the bias, both f32 and of the products' type.
Value emitScores(TileBuilder &b, const ScoreClauses &clauses, Value products,
                 function_ref<Value()> distance, function_ref<Value()> bias);

/// Emits |i + offset - j| for the tile of rows whose first key is `firstKey`
/// (an i32).
Value emitDistances(TileBuilder &b, const ScoreClauses &clauses, Value firstKey,
                    VectorType tile);

/// The same for one key: a vector of the rows.
Value emitKeyDistances(TileBuilder &b, const ScoreClauses &clauses, Value key,
                       int64_t rows);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_SCORES_H
