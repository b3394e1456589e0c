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
#include "RegionBounds.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

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

/// Whether the truth of a region says nothing, whatever the block.
static bool isUnknown(const BlockTruth &truth) {
  return matchPattern(truth.may, m_One()) && matchPattern(truth.must, m_Zero());
}

namespace {
/// What the walk over the blocks of keys has found: where the first and the
/// last one that may be seen lie, where the full ones before this one begin,
/// the longest stretch of full ones and, where that is asked for, the gap.
struct BlockWalk {
  Value begin, end, runBegin, fullBegin, fullEnd;
  KeyBlockGap gap;

  static BlockWalk of(ValueRange v) {
    BlockWalk walk{v[0], v[1], v[2], v[3], v[4], {}};
    if (v.size() > 5)
      walk.gap = {v[5], v[6]};
    return walk;
  }
  SmallVector<Value> values() const {
    SmallVector<Value> all{begin, end, runBegin, fullBegin, fullEnd};
    if (gap.count)
      all.append({gap.begin, gap.count});
    return all;
  }
};
} // namespace

static BlockWalk takeBlock(TileBuilder &b, BlockWalk walk, Value block,
                           Value none, Value isSeen, Value isFull) {
  auto select = [&](Value condition, Value x, Value y) {
    return b.create<arith::SelectOp>(condition, x, y).getResult();
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.create<arith::CmpIOp>(predicate, x, y).getResult();
  };
  Value one = b.create<arith::ConstantOp>(b.getIntegerAttr(block.getType(), 1));
  Value next = b.create<arith::AddIOp>(block, one);
  Value isFirst = b.create<arith::AndIOp>(
      isSeen, compare(arith::CmpIPredicate::eq, walk.begin, none));
  if (walk.gap.count) {
    Value hidden = b.create<arith::SubIOp>(block, walk.end);
    Value isWider = b.create<arith::AndIOp>(
        isSeen, compare(arith::CmpIPredicate::ugt, hidden, walk.gap.count));
    // What is hidden before the first one is not between others.
    isWider = compare(arith::CmpIPredicate::ugt, isWider, isFirst);
    walk.gap = {select(isWider, walk.end, walk.gap.begin),
                select(isWider, hidden, walk.gap.count)};
  }
  walk.begin = select(isFirst, block, walk.begin);
  walk.end = select(isSeen, next, walk.end);
  walk.runBegin = select(isFull, walk.runBegin, next);
  Value isLonger = compare(
      arith::CmpIPredicate::ugt, b.create<arith::SubIOp>(next, walk.runBegin),
      b.create<arith::SubIOp>(walk.fullEnd, walk.fullBegin));
  walk.fullBegin = select(isLonger, walk.runBegin, walk.fullBegin);
  walk.fullEnd = select(isLonger, next, walk.fullEnd);
  return walk;
}

namespace {
/// Asks, block by block, what hides keys one by one.
class ElementClassifier {
public:
  ElementClassifier(TileBuilder &b, BlockVisibility &visibility,
                    int64_t numRows, int64_t tileKV)
      : b(b), visibility(visibility), masks(visibility.elements),
        numRows(numRows), tileKV(tileKV),
        firstRow(b.toIndex(visibility.firstRow)) {}

  /// Narrows the ranges to what is shown.
  void run();

private:
  void setRanges(scf::ForOp loop);
  BlockSpan spanOf(Value first, int64_t count, Value last);
  BlockTruth emitRegionTruth(Value firstKey);
  BlockTruth emitSegmentTruth(Value firstKey);
  /// Nothing where nothing is known of any block.
  std::optional<BlockTruth> emitTruth(Value block);

  TileBuilder &b;
  BlockVisibility &visibility;
  const ElementMasks &masks;
  int64_t numRows, tileKV;
  Value firstRow; ///< index
};
} // namespace

/// The `count` rows or keys from `first` on, of which `last` is the last.
BlockSpan ElementClassifier::spanOf(Value first, int64_t count, Value last) {
  Value end = b.create<arith::AddIOp>(first, b.index(count - 1));
  return {first, b.create<arith::MinSIOp>(end, b.toIndex(last)), count};
}

BlockTruth ElementClassifier::emitRegionTruth(Value firstKey) {
  return emitRegionBounds(b, masks.region,
                          spanOf(firstRow, numRows, masks.region.lastRow),
                          spanOf(firstKey, tileKV, masks.region.lastKey));
}

/// Rows and keys may agree where their numbers overlap, and must where all are
/// one number.
BlockTruth ElementClassifier::emitSegmentTruth(Value firstKey) {
  Type i32 = b.getI32Type();
  auto rows =
      b.create<MinMaxOp>(i32, i32, masks.querySegments, firstRow, numRows);
  auto keys = b.create<MinMaxOp>(i32, i32, masks.keySegments, firstKey, tileKV);
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.create<arith::CmpIOp>(predicate, x, y).getResult();
  };
  auto both = [&](Value x, Value y) {
    return b.create<arith::AndIOp>(x, y).getResult();
  };
  using Predicate = arith::CmpIPredicate;
  Value may =
      both(compare(Predicate::sle, rows.getLeast(), keys.getGreatest()),
           compare(Predicate::sle, keys.getLeast(), rows.getGreatest()));
  Value must =
      both(compare(Predicate::eq, rows.getLeast(), keys.getGreatest()),
           compare(Predicate::eq, keys.getLeast(), rows.getGreatest()));
  return {may, must};
}

std::optional<BlockTruth> ElementClassifier::emitTruth(Value block) {
  Value firstKey = b.create<arith::MulIOp>(block, b.index(tileKV));
  std::optional<BlockTruth> result;
  if (masks.region) {
    BlockTruth truth = emitRegionTruth(firstKey);
    visibility.isRegionClassified = !isUnknown(truth);
    if (visibility.isRegionClassified)
      result = truth;
  }
  if (!masks.keySegments)
    return result;
  BlockTruth truth = emitSegmentTruth(firstKey);
  if (!result)
    return truth;
  return BlockTruth{b.create<arith::AndIOp>(result->may, truth.may),
                    b.create<arith::AndIOp>(result->must, truth.must)};
}

/// What is read of the rows is the same for every block.
static void hoistReads(scf::ForOp loop) {
  Region *body = &loop.getRegion();
  moveLoopInvariantCode(
      body,
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [](Operation *op, Region *) { return isPure(op) || isa<MinMaxOp>(op); },
      [&](Operation *op, Region *) { op->moveBefore(loop); });
}

void ElementClassifier::run() {
  SmallVector<KeyBlockRange, 3> &ranges = visibility.ranges;
  // A left edge behind the last key leaves nothing between the two.
  Value end = ranges.back().end;
  Value begin = b.createOrFold<arith::MinUIOp>(ranges.front().begin, end);
  const KeyBlockRange *full = llvm::find_if(
      ranges, [](const KeyBlockRange &range) { return range.isFull; });
  bool mayHaveGap = masks.keySegments || mayHideBetween(*masks.region.region);
  // The gap stays in registers throughout all loops; i32 takes one each.
  auto narrow = [&](Value number) {
    return mayHaveGap ? b.toI32(number) : number;
  };
  Value none = narrow(end), start = narrow(begin), zero = narrow(b.index(0));
  BlockWalk unseen{none, start, start, zero, zero, {}};
  if (mayHaveGap)
    unseen.gap = {zero, zero};
  auto loop =
      b.create<scf::ForOp>(begin, end, b.index(1), ValueRange(unseen.values()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value block = loop.getInductionVar();
    std::optional<BlockTruth> truth = emitTruth(block);
    if (!truth) {
      loop.erase();
      return;
    }
    auto isBehind = [&](arith::CmpIPredicate predicate, Value border) {
      return b.create<arith::CmpIOp>(predicate, block, border).getResult();
    };
    Value isInFull = b.create<arith::AndIOp>(
        isBehind(arith::CmpIPredicate::uge, full->begin),
        isBehind(arith::CmpIPredicate::ult, full->end));
    BlockWalk walk = takeBlock(b, BlockWalk::of(loop.getRegionIterArgs()),
                               narrow(block), none, truth->may,
                               b.create<arith::AndIOp>(truth->must, isInFull));
    b.create<scf::YieldOp>(ValueRange(walk.values()));
  }
  hoistReads(loop);
  setRanges(loop);
}

/// A number of blocks, which is not negative: its upper half takes no register.
static Value countToIndex(TileBuilder &b, Value count) {
  if (isa<IndexType>(count.getType()))
    return count;
  return b.create<arith::IndexCastUIOp>(b.getIndexType(), count);
}

/// The ranges and the gap from what the walk has found. A full block is seen,
/// so full ones in a row lie on one side of the gap.
void ElementClassifier::setRanges(scf::ForOp loop) {
  BlockWalk walk = BlockWalk::of(loop.getResults());
  auto behind = b.create<arith::MaxUIOp>(walk.begin, walk.end);
  // Without a block in full the last range takes all.
  Value fullBegin = b.create<arith::MaxUIOp>(walk.begin, walk.fullBegin);
  Value fullEnd = b.create<arith::MaxUIOp>(fullBegin, walk.fullEnd);
  Value end = behind;
  arith::AddIOp gapEnd;
  if (walk.gap.count) {
    gapEnd = b.create<arith::AddIOp>(walk.gap.begin, walk.gap.count);
    Value isBehind =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::uge, fullBegin, gapEnd);
    Value before =
        b.create<arith::SelectOp>(isBehind, walk.gap.count, b.i32(0));
    fullBegin = b.create<arith::SubIOp>(fullBegin, before);
    fullEnd = b.create<arith::SubIOp>(fullEnd, before);
    end = b.create<arith::SubIOp>(end, walk.gap.count);
  }
  fullBegin = countToIndex(b, fullBegin);
  fullEnd = countToIndex(b, fullEnd);
  end = countToIndex(b, end);
  // One block after the other would wait for memory each time.
  constexpr uint64_t kBlocksTogether = 4;
  if (!loop.getBody()->getOps<MinMaxOp>().empty())
    (void)loopUnrollByFactor(loop, kBlocksTogether);
  // What unrolling put in the place of the loop's results.
  Value first = countToIndex(b, behind.getLhs());
  if (gapEnd)
    visibility.gap = {gapEnd.getLhs(), gapEnd.getRhs()};
  visibility.ranges = {{first, fullBegin, /*isFull=*/false},
                       {fullBegin, fullEnd, /*isFull=*/true},
                       {fullEnd, end, /*isFull=*/false}};
}

BlockVisibility mlir::fa::emitBlockVisibility(TileBuilder &b,
                                              ArrayRef<MaskAttr> masks,
                                              const SequenceLengths &lengths,
                                              const ElementMasks &elements,
                                              Value firstRow, int64_t numRows,
                                              int64_t tileKV) {
  BlockVisibility result{
      llvm::to_vector(masks), lengths, firstRow, {}, {}, {}, elements};
  KeyInterval first = emitKeyInterval(b, masks, lengths, firstRow);
  KeyInterval last = first;
  if (!masks.empty()) {
    Value lastRow = b.createOrFold<arith::MinSIOp>(
        b.createOrFold<arith::AddIOp>(firstRow, b.i32(numRows - 1)),
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
  if (elements.region || elements.keySegments)
    ElementClassifier(b, result, numRows, tileKV).run();
  // Behind a lower bound, which grows too, a row's keys are about as many.
  result.growsWithRows =
      !any.lo && (first.hi != last.hi || result.isRegionClassified);
  return result;
}

Value mlir::fa::emitKeyBlock(TileBuilder &b, const BlockVisibility &block,
                             Value number) {
  if (!block.gap.count)
    return number;
  Value narrow = b.toI32(number);
  Value isBehind = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, narrow,
                                           block.gap.begin);
  Value before = b.create<arith::SelectOp>(isBehind, block.gap.count, b.i32(0));
  return countToIndex(b, b.create<arith::AddIOp>(narrow, before));
}

void mlir::fa::restrictFullBlocks(TileBuilder &b, BlockVisibility &block,
                                  Value condition) {
  for (auto [i, range] : llvm::enumerate(block.ranges)) {
    if (!range.isFull)
      continue;
    range.end =
        b.createOrFold<arith::SelectOp>(condition, range.end, range.begin);
    block.ranges[i + 1].begin = range.end;
  }
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

Value mlir::fa::emitHaveKeys(TileBuilder &b, const BlockVisibility &block,
                             int64_t numRows, Value end) {
  if (block.masks.empty())
    return Value();
  KeyInterval rows = emitKeyInterval(b, block.masks, block.lengths,
                                     emitRows(b, block, numRows));
  VectorType type = b.vector({numRows}, b.getI32Type());
  Value begin = b.spread(b.i32(0), type);
  if (rows.lo)
    begin = b.create<arith::MaxSIOp>(begin, b.spread(rows.lo, type));
  Value hi = b.create<arith::MinSIOp>(b.spread(rows.hi, type),
                                      b.spread(b.toI32(end), type));
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, begin, hi);
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
                                 site.spreadRows(b, masks.rowSegments));
}

bool mlir::fa::hidesInFullBlocks(const BlockVisibility &block) {
  return block.elements.plane ||
         (block.elements.region && !block.isRegionClassified);
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
  if (masks.keySegments && !isFull)
    restrict(emitSameSegment(b, masks, site));
  if (masks.region && !(isFull && block.isRegionClassified))
    restrict(emitRegion(b, masks.region, site));
  return visible;
}
