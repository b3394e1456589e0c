//===- Visibility.cpp - which keys a block of queries sees ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Visibility.h has the idea. Here bounds are i32 and signed, and may lie
// outside the sequence (bottom_right with more queries than keys starts at a
// negative key); they are clamped where they become indices of blocks.
//===----------------------------------------------------------------------===//

#include "Visibility.h"

using namespace mlir;
using namespace mlir::fa;

/// Joins two bounds, of which either may be absent or the same for all rows.
template <typename JoinOp>
static Value joinBounds(TileBuilder &b, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  Type type = isa<VectorType>(lhs.getType()) ? lhs.getType() : rhs.getType();
  return b.createOrFold<JoinOp>(b.spread(lhs, type), b.spread(rhs, type));
}

KeyInterval mlir::fa::emitKeyInterval(TileBuilder &b, ArrayRef<MaskAttr> masks,
                                      const SequenceLengths &lengths,
                                      Value row) {
  KeyInterval result{/*lo=*/Value(), /*hi=*/lengths.keys};
  for (MaskAttr mask : masks) {
    Value offset = b.i32(0);
    if (mask.getAlignment() == Alignment::BottomRight)
      offset = b.createOrFold<arith::SubIOp>(lengths.keys, lengths.queries);
    KeyInterval seen = mask.emitKeyInterval(b, b.getLoc(), row, offset);
    result.lo = joinBounds<arith::MaxSIOp>(b, result.lo, seen.lo);
    result.hi = joinBounds<arith::MinSIOp>(b, result.hi, seen.hi);
  }
  return result;
}

/// A bound as an index: negative ones become 0.
static Value clampToIndex(TileBuilder &b, Value bound) {
  return b.toIndex(b.createOrFold<arith::MaxSIOp>(bound, b.i32(0)));
}

/// The ranges where no mask has a lower bound: full blocks, then partial ones.
static SmallVector<KeyBlockRange, 3> rangesFromStart(TileBuilder &b,
                                                     Value fullEnd, Value end) {
  return {{b.index(0), fullEnd, /*isFull=*/true},
          {fullEnd, end, /*isFull=*/false}};
}

/// The ranges behind a left edge. When no block is full (`fullBegin` lies
/// behind `fullEnd`), the first loop takes what it would take anyway and the
/// last one the rest: each range begins where the one before it ended, and
/// every block is in exactly one.
static SmallVector<KeyBlockRange, 3>
rangesBehindLeftEdge(TileBuilder &b, const KeyInterval &any,
                     const KeyInterval &all, Value fullEnd, Value end,
                     int64_t tileKV) {
  Value begin = b.floorDiv(clampToIndex(b, any.lo), tileKV);
  Value fullBegin = b.ceilDiv(clampToIndex(b, all.lo), tileKV);
  Value leftEnd = b.createOrFold<arith::MinUIOp>(fullBegin, end);
  Value rightBegin = b.createOrFold<arith::MaxUIOp>(leftEnd, fullEnd);
  return {{begin, leftEnd, /*isFull=*/false},
          {leftEnd, rightBegin, /*isFull=*/true},
          {rightBegin, end, /*isFull=*/false}};
}

BlockVisibility mlir::fa::emitBlockVisibility(TileBuilder &b,
                                              ArrayRef<MaskAttr> masks,
                                              const SequenceLengths &lengths,
                                              Value firstRow, int64_t tileQ,
                                              int64_t tileKV) {
  BlockVisibility result{llvm::to_vector(masks), lengths, firstRow, {}, {}, {}};
  KeyInterval first = emitKeyInterval(b, masks, lengths, firstRow);
  KeyInterval last = first;
  if (!masks.empty()) {
    Value lastRow = b.createOrFold<arith::MinSIOp>(
        b.createOrFold<arith::AddIOp>(firstRow, b.i32(tileQ - 1)),
        b.createOrFold<arith::SubIOp>(lengths.queries, b.i32(1)));
    last = emitKeyInterval(b, masks, lengths, lastRow);
  }
  KeyInterval any{first.lo, last.hi}, all{last.lo, first.hi};

  result.keysEnd = clampToIndex(b, any.hi);
  Value fullKeys = clampToIndex(b, all.hi);
  if (lengths.queriesMayBeShort) {
    Value hasRows = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, firstRow,
                                            lengths.queries);
    Value none = b.index(0);
    result.keysEnd =
        b.createOrFold<arith::SelectOp>(hasRows, result.keysEnd, none);
    fullKeys = b.createOrFold<arith::SelectOp>(hasRows, fullKeys, none);
  }
  Value fullEnd = b.floorDiv(fullKeys, tileKV);
  Value end = b.ceilDiv(result.keysEnd, tileKV);
  result.ranges = any.lo
                      ? rangesBehindLeftEdge(b, any, all, fullEnd, end, tileKV)
                      : rangesFromStart(b, fullEnd, end);
  return result;
}

/// The rows of the tile as a vector; where no mask asks for the row, all rows
/// agree on one i32.
static Value emitRows(TileBuilder &b, const BlockVisibility &block,
                      int64_t tileQ) {
  if (block.masks.empty())
    return block.firstRow;
  return b.create<TileIndexOp>(b.vector({tileQ}, b.getI32Type()),
                               block.firstRow, /*dim=*/0);
}

/// Which rows see one key.
static Value emitRowPredicate(TileBuilder &b, const BlockVisibility &block,
                              const ScoreSite &site) {
  Value keys = site.emitKeys(b);
  VectorType type = site.getType(b.getI32Type());
  KeyInterval rows = emitKeyInterval(b, block.masks, block.lengths,
                                     emitRows(b, block, site.numRows()));
  Value visible = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, keys,
                                          b.spread(rows.hi, type));
  if (!rows.lo)
    return visible;
  Value notBefore = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, keys,
                                            b.spread(rows.lo, type));
  return b.create<arith::AndIOp>(visible, notBefore);
}

/// Which keys of a block its rows see.
static Value emitTilePredicate(TileBuilder &b, const BlockVisibility &block,
                               const ScoreSite &site) {
  Value firstKey = b.toI32(site.firstKey);
  KeyInterval rows = emitKeyInterval(b, block.masks, block.lengths,
                                     emitRows(b, block, site.numRows()));
  VectorType type = site.getType(b.getI32Type());
  // Bounds relative to the block, so that the column stays a constant.
  Value column = b.create<TileIndexOp>(type, b.i32(0), /*dim=*/1);
  auto relativeTile = [&](Value bound) -> Value {
    Value relative = b.createOrFold<arith::SubIOp>(
        bound, b.spread(firstKey, bound.getType()));
    return isa<VectorType>(bound.getType()) ? site.spreadRows(b, relative)
                                            : b.spread(relative, type);
  };
  Value visible = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, column,
                                          relativeTile(rows.hi));
  if (!rows.lo)
    return visible;
  // A bound far below 0 (an unbounded window may be written as the largest
  // number) would wrap around when the block's first key is subtracted.
  Value zero = b.spread(b.i32(0), rows.lo.getType());
  Value lo = b.createOrFold<arith::MaxSIOp>(rows.lo, zero);
  Value notBefore = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, column,
                                            relativeTile(lo));
  return b.create<arith::AndIOp>(visible, notBefore);
}

/// Which keys the rows see by a number of their own, as the keys have one.
static Value emitSameSegment(TileBuilder &b, const ElementMasks &masks,
                             const ScoreSite &site) {
  Value ofKeys = site.loadKeys(b, masks.keySegments);
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, ofKeys,
                                 site.spreadRows(b, masks.querySegments));
}

Value mlir::fa::emitVisible(TileBuilder &b, const BlockVisibility &block,
                            const ScoreSite &site, bool isFull) {
  Value visible;
  auto restrict = [&](Value further) {
    visible = visible ? b.create<arith::AndIOp>(visible, further) : further;
  };
  if (!isFull)
    restrict(site.isTile() ? emitTilePredicate(b, block, site)
                           : emitRowPredicate(b, block, site));
  const ElementMasks &masks = block.elements;
  if (masks.plane)
    restrict(site.loadPlane(b, masks.plane));
  if (masks.keySegments)
    restrict(emitSameSegment(b, masks, site));
  if (masks.region)
    restrict(emitRegion(b, masks.region, site));
  return visible;
}
