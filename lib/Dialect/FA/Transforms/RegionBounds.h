//===- RegionBounds.h - a visibility region over a block --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval arithmetic over a visibility region: with i and j anywhere in a
// block of rows and keys, may the region be true, and must it be? What the
// arithmetic does not follow may be anything, so a block is never taken for
// more than is proved. A table of integers that is read at i or at j lies
// between the least and the greatest of what the block reads of it.
//
//     %d = arith.subi %i, %j            i in [0, 63], j in [64, 95]: [-95, -1]
//     %c = arith.cmpi sge, %d, %zero    never true: the block is skipped
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_REGIONBOUNDS_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_REGIONBOUNDS_H

#include "Regions.h"

namespace mlir::fa {

/// The rows or the keys of a block: the first and the last that there is, as
/// index, and how many there would be before the end.
struct BlockSpan {
  Value first, last;
  int64_t count;
};

/// Whether some, and whether every score of a block is visible: i1.
struct BlockTruth {
  Value may, must;
};

/// Emits what the region is over all `rows` and `keys`.
BlockTruth emitRegionBounds(TileBuilder &b, const RegionClause &clause,
                            const BlockSpan &rows, const BlockSpan &keys);

/// Whether the region may hide keys between two that a row sees, which a
/// conjunction of bounds on the key does not.
bool mayHideBetween(Region &visible);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_REGIONBOUNDS_H
