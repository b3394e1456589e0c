//===- Attention.h - attention in double precision --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle: what fa.attention means, computed in f64 from the stored inputs
// by two plain passes over each row. It shares nothing with the compiler but
// the meaning of the words, and has its own definition of every clause
// (lib/Reference/Semantics.h). Clear first, then fast enough to check every
// run.
//
//===----------------------------------------------------------------------===//
#ifndef FA_REFERENCE_ATTENTION_H
#define FA_REFERENCE_ATTENTION_H

#include "fa/Support/Array.h"
#include "fa/Support/Manifest.h"

#include <optional>
#include <vector>

namespace faref {

using farun::ArrayView;
using farun::ElementType;

/// What a row without a visible key and without a sink gives.
enum class EmptyRow {
  Zero,    ///< O = 0, LSE = -inf
  NaN,     ///< both NaN
  Uniform, ///< O = mean of V over the keys of the sequence, LSE = -inf
};

/// How f32 operands enter the products.
enum class Precision { Ieee, TF32x3, TF32 };

/// Dropout of weights by Philox4x32-10 with the seed as key and (j, i, h, b) as
/// counter.
struct Dropout {
  double probability = 0.0;
  uint64_t seed = 0;
};

/// A score or visibility region, with what it reads.
struct Region {
  farun::RegionProgram program;
  std::vector<ArrayView> operands; ///< by the numbers in the program
};

/// One attention. Views may have any strides; shapes are in the order that
/// `isBSHD` names for Q, K, V (and O), and broadcast from the right elsewhere.
struct Problem {
  ArrayView query; ///< [B, Hq, Sq, D]
  ArrayView key;   ///< [B, Hkv, Sk, D]
  ArrayView value; ///< [B, Hkv, Sk, Dv]
  bool isBSHD = false;

  /// The clauses in the order in which they act.
  double scale = 1.0;
  std::optional<double> softcap;
  std::optional<Region> score;
  std::optional<ArrayView> alibi; ///< slopes [Hq]
  std::optional<ArrayView> bias;  ///< broadcast to [B, Hq, Sq, Sk]
  std::vector<farun::StructuralMask> masks;
  std::optional<Region> visible;
  std::optional<ArrayView> mask;       ///< true = visible, broadcast like bias
  std::optional<ArrayView> qSegments;  ///< [B, Sq], with kvSegments
  std::optional<ArrayView> kvSegments; ///< [B, Sk]
  std::optional<ArrayView> qLengths;   ///< [B]
  std::optional<ArrayView> kvLengths;  ///< [B]
  std::optional<ArrayView> sink;       ///< logits [Hq]
  EmptyRow emptyRow = EmptyRow::Zero;
  std::optional<Dropout> dropout;

  ElementType outType = ElementType::F32;
  Precision precision = Precision::Ieee;
};

/// What the tolerance rule needs beside O and LSE (Tolerance.h). [i] below
/// counts rows of [B, Hq, Sq]; [i, d] adds the Dv columns.
struct Evidence {
  std::vector<double> plainError; ///< [i]: max over d of |plain - O64|
  std::vector<double> scoreScale; ///< [i]: A, how far rounding moves a score
  std::vector<double> weightedV;  ///< [i, d]: sum over j of p * |v|
  std::vector<double> largestV;   ///< [i, d]: max over j of |v|
  std::vector<double> plain;      ///< [i, d]: the two-pass f32 attention
};

struct Result {
  std::vector<int64_t> outShape; ///< in the order of the layout
  std::vector<int64_t> lseShape; ///< [B, Hq, Sq]
  std::vector<double> out;       ///< O64, row-major in outShape
  std::vector<double> lse;       ///< LSE64, natural logarithm
  Evidence evidence;             ///< empty unless asked for
};

struct Options {
  bool withEvidence = false;
  unsigned threads = 0; ///< 0 = one for each core
};

/// Do the operands fit together, and are the lengths in range?
farun::Status checkProblem(const Problem &problem);

/// Computes; an Error names operands whose shapes do not fit.
farun::Expected<Result> attention(const Problem &problem,
                                  const Options &options = {});

/// How many K/V rows the blocks of `tileQ` queries need, summed over batches
/// and query heads: of each block's keys, those that the structural masks and
/// lengths let some query of the block see, in whole blocks of `tileKV` keys
/// (the last one as far as there are keys). What a kernel must read at least.
int64_t neededKeyRows(const Problem &problem, int64_t tileQ, int64_t tileKV);

/// Position in `out` of row (b, h, i) and column d, by the layout.
int64_t outIndex(const std::vector<int64_t> &outShape, bool isBSHD, int64_t b,
                 int64_t h, int64_t i, int64_t d);

} // namespace faref

#endif // FA_REFERENCE_ATTENTION_H
