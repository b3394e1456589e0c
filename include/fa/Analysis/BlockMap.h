//===- BlockMap.h - which blocks a tile program skips -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What becomes of each block of queries and keys: skipped, computed without a
// mask, or with one. Nothing here knows a mask: the bounds of the loops, as the
// tile stage wrote them, are evaluated for one batch and head after the other.
//
//===----------------------------------------------------------------------===//
#ifndef FA_ANALYSIS_BLOCKMAP_H
#define FA_ANALYSIS_BLOCKMAP_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace mlir {
namespace func {
class FuncOp;
} // namespace func

namespace fa {

/// The blocks of one batch and head of one attention.
struct BlockMap {
  static constexpr char kSkipped = '.', kPartial = '+', kFull = '#';

  int64_t tileQ = 0, tileKV = 0;
  /// A string for each block of queries, a character for each block of keys.
  SmallVector<std::string> rows;

  int64_t count(char kind) const;
  /// The picture, with the first query of each row and a line of counts.
  std::string str() const;
};

/// Numbers that a function does not hold, by the names of fa.operands: of a
/// dimension ("Sq"), or of all elements of an operand ("kv_lengths").
using GivenNumbers = llvm::StringMap<int64_t>;

/// The maps of `function`, a function after the tile stage, in the order of
/// its attentions. Lengths that are not given are whole sequences. It is an
/// error when an extent is open, when there is no such batch or head, and when
/// a bound depends on memory of which nothing is given.
FailureOr<SmallVector<BlockMap>> computeBlockMaps(func::FuncOp function,
                                                  const GivenNumbers &given,
                                                  int64_t batch, int64_t head);

} // namespace fa
} // namespace mlir

#endif // FA_ANALYSIS_BLOCKMAP_H
