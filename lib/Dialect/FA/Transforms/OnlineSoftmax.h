//===- OnlineSoftmax.h - softmax over blocks of keys ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of attention is a weighted mean: with logits s[j] and values v[j],
//
//     O = sum_j e^s[j] v[j]  /  sum_j e^s[j].
//
// Both sums may be taken block by block, and both may be divided by the same
// e^m without changing O, so m is chosen to keep every exponent at or below 0:
// the largest logit so far. Three values are all that a block leaves behind:
//
//     m   the largest logit so far                          starts at -inf
//     l   sum of e^(s[j] - m), the row sum                  starts at 0
//     u   sum of e^(s[j] - m) v[j], the unnormalised row    starts at 0
//
// When a block brings a larger m', what is already in l and u was divided by
// e^m instead of e^m': one factor a = e^(m - m') mends both,
//
//     l' = a l + sum e^(s[j] - m'),      u' = a u + sum e^(s[j] - m') v[j],
//
// and O = u / l once, after the last block. Nothing is approximate.
//
// Worked example: logits (ln 2, 0 | ln 4), values (10, 20 | 30), the block
// border at "|".
//
//     block 0:  m = ln 2   a = 0     p = (1, 1/2)   l = 3/2     u = 10 + 10
//                                                                 = 20
//     block 1:  m = ln 4   a = 1/2   p = (1)        l = 3/4 + 1   u = 10 + 30
//                                                     = 7/4         = 40
//     O = 40 / (7/4) = 160/7 = 22.857...,    LSE = ln 4 + ln 7/4 = ln 7
//
// How it is computed here:
//
// - Base 2. The machine has 2^x. Instead of the logit itself, m holds
//   r = fl(max * c) with c = |scale| * log2 e, and a score enters by one fused
//   multiply-add: p = 2^(s*c - r). r is rounded once and then is the *one*
//   reference of the row: the rescale 2^(r_old - r_new) and LSE = (r + log2 l)
//   ln 2 use the same number, so its rounding cancels.
// - Huge logits. That leaves a residue in the exponent of the largest score:
//   half an ulp of r, harmless below |r| = 2^26 (p <= 16). When a row of the
//   tile is beyond, the tile takes a cold path: s*c is rounded first, and since
//   rounding is monotonic r is then exactly the largest of those values. The
//   loop over full blocks has no such path, not even a branch. It notes that a
//   row was beyond and goes on; a block of rows with such a note forgets m, l
//   and u and starts again in the last loop, which takes every kind of block.
// - Beyond f32. A finite logit may be no number of f32 in base 2. With
//   `isBounded` it counts as the largest there is. The loops without a cold
//   path do not look at each score for that: what is too low is -inf there, and
//   a row that is left with nothing else is computed again.
// - Empty rows. -inf starts the maximum and stays until the row sees a key.
//   -inf - -inf is not a number, so inside the exponents (and only there, it is
//   never stored) the reference of such a row is 0: p = 2^-inf = 0, a = 0.
//   A row whose l is still 0 at the end has seen no key.
// - NaN and +inf in a visible score make the row NaN, and no other row.
// - l is kept as partial sums, one for each lane that holds a part of the row
//   (fa.row_sum); they are added up once, at the end. The sum takes the
//   weights before they are rounded to the type of V.
// - Sign of the scale. A negative scale turns the largest score into the
//   smallest, so the scores change sign before anything is compared or masked;
//   with scale 0 they become 0. c is positive in every case.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_ONLINESOFTMAX_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_ONLINESOFTMAX_H

#include "TileBuilder.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include <limits>
#include <optional>

namespace mlir::fa {

/// The least share of a visible key in a mean of values: what is infinite stays
/// so, and times the largest V it is below what rounding may do to a row.
inline constexpr float kLeastShare = std::numeric_limits<float>::min();

/// The scale, divided into a positive factor of the exponent and what is done
/// to the scores before.
struct ScoreScale {
  enum class Sign { Keep, Negate, Multiply };
  /// f32 > 0: the exponent is score * factor.
  Value factor;
  Sign sign = Sign::Keep;
  /// f32, for Sign::Multiply: 1, -1 or 0.
  Value multiplier;
  /// Whether a finite score times `factor` is kept finite, where it is rounded.
  bool isBounded = false;
};

/// Emits the scale of the attention: a number, or an f32 operand.
ScoreScale emitScoreScale(TileBuilder &b, std::optional<double> number,
                          Value operand);

/// Applies the sign of the scale to a tile of scores.
Value emitSignedScores(TileBuilder &b, const ScoreScale &scale, Value scores);

/// What one block of scores gives.
struct SoftmaxStep {
  Value max;     ///< the new r of each row, -inf where no key was seen
  Value rescale; ///< a of each row
  Value weights; ///< p, a tile of f32
  Value isHuge;  ///< vector of i1: beyond what holds without the cold path
};

/// Emits the step from `oldMax` (r of each row) over a tile of scores whose
/// hidden elements are -inf; with or without the cold path. r is `lift` below
/// the largest score, so that weights reach 2^lift; u / l and r + log2 l do not
/// depend on it. One of `polynomial` weights is a polynomial (fa.exp2); 0: none
/// is.
SoftmaxStep emitSoftmaxStep(TileBuilder &b, Value scores, Value oldMax,
                            const ScoreScale &scale, bool hasColdPath,
                            float lift, int64_t polynomial);

/// What one key gives, in vectors of rows.
struct KeyStep {
  Value max;     ///< the new r
  Value rescale; ///< a; 1 in rows that do not take the key
  Value weight;  ///< p; 0 there
  Value isTaken; ///< the rows that take it: its score is not -inf either
};

/// Emits the step from `oldMax` over one score a row, for the rows `isTaken` (a
/// vector of i1). The same recurrence with a block of one key, in the form of
/// the cold path.
KeyStep emitKeySoftmaxStep(TileBuilder &b, Value scores, Value oldMax,
                           Value isTaken, const ScoreScale &scale);

/// What is left of a row after the last block of keys.
struct FinishedRows {
  Value max;     ///< r
  Value sum;     ///< l, complete
  Value isMean;  ///< vector of i1: u is divided by l already
  Value share;   ///< with a sink: what u is multiplied by before the division
  Value isEmpty; ///< vector of i1: the row has seen no key
  /// Vector of i1: the row belongs to no query and gets 0 and -inf, whatever
  /// `emptyRow` says; null where every row does.
  Value noQuery;
  EmptyRow emptyRow;
  /// What u is multiplied by beside: kept weights grow under dropout.
  std::optional<float> growth;
};

/// Adds up the partial sums of l, takes the sink (f32, natural units; null for
/// none) and marks the empty rows.
FinishedRows emitFinishedRows(TileBuilder &b, Value max, Value partialSums,
                              Value isMean, Value sink, EmptyRow emptyRow,
                              Value noQuery);

/// Emits O = u / l, a tile of f32; u in the rows of `isMean`, and in empty ones
/// where these are uniform.
Value emitOutput(TileBuilder &b, const FinishedRows &rows, Value acc);

/// Emits LSE = (r + log2 l) ln 2 of each row.
Value emitLogSumExp(TileBuilder &b, const FinishedRows &rows);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_ONLINESOFTMAX_H
