//===- Visibility.h - which keys a block of queries sees --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one definition of what is visible. Each structural mask, and the length
// of the sequence, shows to query row i the keys of one interval; conjunction
// is intersection:
//
//     row i sees key j   <=>   lo(i) <= j < hi(i)
//
// lo and hi never decrease with i. So the first and the last row of a block
// tell everything about it. Causal, 8 rows and keys, 2 x 2 blocks of 4:
//
//              keys 0..3   keys 4..7
//     row 0    x . . .     . . . .      hi(first) = 1   all rows see [0, 1)
//     row 1    x x . .     . . . .
//     row 2    x x x .     . . . .
//     row 3    x x x x     . . . .      hi(last)  = 4   some row sees [0, 4)
//              partial     skipped
//     row 4    x x x x     x . . .      hi(first) = 5
//     row 5    x x x x     x x . .
//     row 6    x x x x     x x x .
//     row 7    x x x x     x x x x      hi(last)  = 8
//              full        partial
//
// With `any` = [lo(first), hi(last)) and `all` = [lo(last), hi(first)), a block
// of keys is
//
//     skipped   when it lies outside `any`: it is neither read nor computed;
//     full      when it lies inside `all`: its loop has no mask code at all;
//     partial   otherwise: one compare and one select for each element.
//
// Along the keys the blocks of a row of blocks therefore come in this order,
// and each stretch is one loop:
//
//     skipped | partial (only where some lo exists) | full | partial | skipped
//
// Masks of elements (a dense mask, segments, a region) are asked in every block
// that is not skipped.
//
// A visibility region and segments are asked once for each block, before the
// loops: may they show some key of it, must they show all. For a region that is
// interval arithmetic (RegionBounds.h); of segments the least and the greatest
// number of the rows and of the keys are compared. Blocks that are hidden at
// both ends are left out, and so is the longest stretch of hidden ones between
// others, the gap; the longest stretch that is shown whole is the full one.
// Loops count blocks without the gap:
//
//     block    0  1  2  3  4  5  6  7      # full   + partial   . hidden
//              +  .  .  .  #  #  +  .
//     number   0           1  2  3
//
// Rows behind the last query take no part in the bounds; what they compute is
// never stored.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_VISIBILITY_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_VISIBILITY_H

#include "Regions.h"
#include "fa/Dialect/FA/IR/FADialect.h"

namespace mlir::fa {

/// The lengths (i32) of one batch's sequences: not more than the extents of
/// the operands, not less than 0.
struct SequenceLengths {
  Value queries;
  Value keys;
  /// Whether `queries` may be less than the extent, so that whole blocks of
  /// rows belong to no query.
  bool queriesMayBeShort = false;
};

/// A stretch of K/V blocks [begin, end) of one kind, as indices that count
/// without the gap.
struct KeyBlockRange {
  Value begin;
  Value end;
  bool isFull;
};

/// The blocks [begin, begin + count), which no row sees, between others.
struct KeyBlockGap {
  Value begin, count; ///< i32; null where blocks are not asked one by one
};

/// What hides keys one by one, in full blocks too; null where there is none.
struct ElementMasks {
  Value plane; ///< [Sq, keys] of i1: true is visible
  /// [Sq] and [keys] of i32: rows see keys of their own number.
  Value querySegments, keySegments;
  Value rowSegments; ///< the block's part of querySegments, as a vector
  RegionClause region;
};

/// What one block of query rows sees.
struct BlockVisibility {
  SmallVector<MaskAttr> masks;
  SequenceLengths lengths;
  Value firstRow; ///< i32; of those whose scores are asked for one by one
  /// The loops to write, in order. The last one is partial.
  SmallVector<KeyBlockRange, 3> ranges;
  KeyBlockGap gap;
  /// As an index: keys from here on are seen by no row, and are not read.
  Value keysEnd;
  ElementMasks elements;
  /// Whether full blocks are those that the region shows too; that segments
  /// show them always holds.
  bool isRegionClassified = false;
  /// Whether later rows see more keys; taken so where a region hides blocks,
  /// which most do of the future.
  bool growsWithRows = false;
};

/// Emits the interval of the keys that `row` (an i32 or a vector of i32) sees.
KeyInterval emitKeyInterval(TileBuilder &b, ArrayRef<MaskAttr> masks,
                            const SequenceLengths &lengths, Value row);

/// Emits the visibility, by `masks`, `lengths` and `elements`, of the `numRows`
/// rows that start at row `firstRow` (an i32) in blocks of `tileKV` keys.
BlockVisibility emitBlockVisibility(TileBuilder &b, ArrayRef<MaskAttr> masks,
                                    const SequenceLengths &lengths,
                                    const ElementMasks &elements,
                                    Value firstRow, int64_t numRows,
                                    int64_t tileKV);

/// Emits the block of keys whose number, counted without the gap, is `number`.
Value emitKeyBlock(TileBuilder &b, const BlockVisibility &block, Value number);

/// Leaves full blocks to the partial range behind them where `condition` (an
/// i1) does not hold.
void restrictFullBlocks(TileBuilder &b, BlockVisibility &block,
                        Value condition);

/// Whether a dense mask, or a region of which nothing is known block by block,
/// hides single keys of full blocks.
bool hidesInFullBlocks(const BlockVisibility &block);

/// Emits which keys the rows at `site` see, a vector of i1; null where they
/// see all. Full blocks leave out the intervals. The bounds of the rows are
/// computed on the spot: a few instructions in partial blocks, against a
/// register for each row a thread has, throughout all loops.
Value emitVisible(TileBuilder &b, const BlockVisibility &block,
                  const ScoreSite &site, bool isFull);

/// Emits which rows have a key before `end` (an index) by the masks and
/// lengths, a vector of i1; null where no mask asks for the row.
Value emitHaveKeys(TileBuilder &b, const BlockVisibility &block,
                   int64_t numRows, Value end);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_VISIBILITY_H
