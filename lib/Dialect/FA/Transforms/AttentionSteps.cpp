//===- AttentionSteps.cpp - the loops over blocks of keys -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step takes m, l and u over one block of keys. The loops do with as little
// as their blocks need, and what that was not enough for is done again:
//
//   full        no mask and no cold path; notes scores that are huge
//   partial     masks; where a step may branch also the cold path, and a
//               restart where the loop before noted some, else notes too
//   exact       masks and cold path, after loops that could only note
//   key by key  0 * NaN is NaN, so in a product of tiles a value that is not
//               finite reaches every row of the tile, those from which its key
//               is hidden too, and an infinite one becomes NaN in rows where
//               its weight was rounded to 0. Rows of u that came out NaN or
//               infinite are therefore begun again without products of tiles:
//               one key after the other, and only those that the row sees.
//===----------------------------------------------------------------------===//

#include "AttentionTiler.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fa;

/// The loops over K/V blocks. Returns the state behind them.
///
/// Where a step may branch, partial blocks take huge scores on a cold path of
/// their own, and begin with the first block of all where a full one has noted
/// some. Where it may not, because products run while the softmax does, every
/// loop only notes, and one more loop does all blocks again.
RowState AttentionTiler::emitLoops(const BlockContext &block) {
  bool mayBranch = schedule.getProducers().value_or(0) == 0;
  ArrayRef<KeyBlockRange> ranges = block.visibility.ranges;
  Value first = ranges.front().begin,
        none = b.create<arith::ConstantIntOp>(0, 1);
  Value restart, noted = none;
  auto beginAt = [&](Value begin) {
    return restart ? b.create<arith::SelectOp>(restart, first, begin) : begin;
  };
  for (const KeyBlockRange &range : ranges) {
    Value begin = beginAt(range.begin);
    if (!range.isFull && mayBranch) {
      emitExactLoop(block, begin, range.end, kPartialBlocks);
      continue;
    }
    noted = emitNotingLoop(block, begin, range, mayBranch ? none : noted);
    if (mayBranch)
      restart = emitRestart(block, noteUnseen(block, noted, range.end));
  }
  if (!mayBranch) {
    Value end = ranges.back().end;
    restart = emitRestart(block, noteUnseen(block, noted, end));
    emitExactLoop(block, beginAt(end), end, kExactBlocks);
  }
  return emitKeyByKey(block);
}

/// A loop over one range that notes huge scores; returns this thread's note.
Value AttentionTiler::emitNotingLoop(const BlockContext &block, Value begin,
                                     const KeyBlockRange &range, Value noted) {
  auto loop = b.create<scf::ForOp>(begin, range.end, b.index(1), noted);
  loop->setAttr(kBlocksAttr,
                b.getStringAttr(range.isFull ? kFullBlocks : kPartialBlocks));
  if (range.isFull && hidesInFullBlocks(block.visibility))
    loop->setAttr(kHidingAttr, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value isHuge =
      emitStep(block, emitKeyBlock(b, block.visibility, loop.getInductionVar()),
               range.isFull, /*hasColdPath=*/false);
  Value next =
      b.create<NoteRowsOp>(b.getI1Type(), isHuge, loop.getRegionIterArg(0));
  b.create<scf::YieldOp>(next);
  return loop.getResult(0);
}

/// The note with rows that seem to have seen no key, where scores may have been
/// too low for the loops that note.
Value AttentionTiler::noteUnseen(const BlockContext &block, Value noted,
                                 Value end) {
  if (!block.clauses.scale.isBounded)
    return noted;
  Value max = readState(block.max);
  Value isUnseen = b.create<arith::CmpFOp>(
      arith::CmpFPredicate::OEQ, max,
      b.splat(cast<VectorType>(max.getType()), -kInfinity));
  // Rows that cannot have seen any before this end need no other loop.
  Value keysEnd = b.create<arith::MulIOp>(
      emitKeyBlock(b, block.visibility, end), b.index(tileKV));
  if (Value haveKeys = emitHaveKeys(b, block.visibility, tileQ, keysEnd))
    isUnseen = b.create<arith::AndIOp>(isUnseen, haveKeys);
  return b.create<NoteRowsOp>(b.getI1Type(), isUnseen, noted);
}

/// The loop for scores of any size.
void AttentionTiler::emitExactLoop(const BlockContext &block, Value begin,
                                   Value end, StringRef blocks) {
  auto loop = b.create<scf::ForOp>(begin, end, b.index(1));
  loop->setAttr(kBlocksAttr, b.getStringAttr(blocks));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  emitStep(block, emitKeyBlock(b, block.visibility, loop.getInductionVar()),
           /*isFull=*/false, /*hasColdPath=*/true);
}

/// Forgets the state where some thread of the block has noted a huge score.
Value AttentionTiler::emitRestart(const BlockContext &block, Value noted) {
  Value restart = b.create<AnyNotedOp>(b.getI1Type(), noted);
  auto reset = [&](Value memref, float start) {
    Value state = readState(memref);
    Value initial = b.splat(cast<VectorType>(state.getType()), start);
    writeState(b.create<arith::SelectOp>(restart, initial, state), memref);
  };
  reset(block.max, -kInfinity);
  reset(block.sum, 0.0f);
  reset(block.acc, 0.0f);
  return restart;
}

/// acc + lhs . rhs, rhs as [k, n] or, transposed, as [n, k].
Value AttentionTiler::emitContract(Value lhs, Value rhs, Value acc,
                                   bool isRhsTransposed) {
  AffineExpr m, n, k;
  bindDims(b.getContext(), m, n, k);
  SmallVector<AffineExpr> right = {k, n};
  if (isRhsTransposed)
    right = {n, k};
  using Exprs = ArrayRef<AffineExpr>;
  SmallVector<AffineExpr> left = {m, k}, result = {m, n};
  SmallVector<Exprs> maps = {left, right, result};
  return b.create<vector::ContractionOp>(
      lhs, rhs, acc, ArrayRef<Exprs>(maps),
      ArrayRef<vector::IteratorType>{vector::IteratorType::parallel,
                                     vector::IteratorType::parallel,
                                     vector::IteratorType::reduction});
}

Value AttentionTiler::emitTileScores(const BlockContext &block,
                                     const ScoreSite &site) {
  auto element = cast<MemRefType>(block.keyPlane.getType()).getElementType();
  Value keyTile =
      b.create<LoadTileOp>(b.vector({tileKV, paddedD}, element), block.keyPlane,
                           ValueRange{site.firstKey, b.index(0)});
  VectorType tile = b.f32Vector({tileQ, tileKV});
  Value products = emitContract(block.queryTile, keyTile, b.splat(tile, 0.0f),
                                /*isRhsTransposed=*/true);
  return emitScores(b, block.clauses, products, site);
}

/// The scores with -inf in the place of every hidden one, by select: what is
/// hidden has no influence, not even when it is NaN.
Value AttentionTiler::emitHidden(const BlockContext &block, Value scores,
                                 const ScoreSite &site, bool isFull) {
  Value visible = emitVisible(b, block.visibility, site, isFull);
  if (!visible)
    return scores;
  Value hidden = b.splat(cast<VectorType>(scores.getType()), -kInfinity);
  return b.create<arith::SelectOp>(visible, scores, hidden);
}

/// acc + P . V, with P rounded to the type of V; without what is dropped.
Value AttentionTiler::emitWeightedValues(const BlockContext &block,
                                         Value weights, const ScoreSite &site,
                                         Value acc) {
  auto element = cast<MemRefType>(block.valuePlane.getType()).getElementType();
  if (block.dropout.isUsed()) {
    Value kept = emitKept(b, block.dropout, site);
    Value nothing = b.splat(cast<VectorType>(weights.getType()), 0.0f);
    weights = b.create<arith::SelectOp>(kept, weights, nothing);
  }
  Value rounded = b.roundTo(element, weights);
  Value valueTile = b.create<LoadTileOp>(b.vector({tileKV, paddedDv}, element),
                                         block.valuePlane,
                                         ValueRange{site.firstKey, b.index(0)});
  return emitContract(rounded, valueTile, acc, /*isRhsTransposed=*/false);
}

/// One block of keys: reads m, l, u, takes the step, writes them back. Returns
/// the rows whose scores are huge.
Value AttentionTiler::emitStep(const BlockContext &block, Value keyBlock,
                               bool isFull, bool hasColdPath) {
  Value firstKey = b.create<arith::MulIOp>(keyBlock, b.index(tileKV));
  auto site = ScoreSite::tile(block.firstRow, tileQ, firstKey, tileKV, isFull);
  Value scores = emitTileScores(block, site);
  scores = emitHidden(block, scores, site, isFull);

  Value oldMax = readState(block.max);
  SoftmaxStep step = emitSoftmaxStep(b, scores, oldMax, block.clauses.scale,
                                     hasColdPath, block.dropout.getLift(),
                                     schedule.getPolynomial().value_or(0));
  writeState(step.max, block.max);

  Value oldSum = readState(block.sum);
  Value scaledSum =
      b.create<arith::MulFOp>(oldSum, b.spreadRows(step.rescale, kLanesPerRow));
  Value sum = b.create<RowSumOp>(step.weights, scaledSum);
  writeState(sum, block.sum);

  Value oldAcc = readState(block.acc);
  Value scaledAcc =
      b.create<arith::MulFOp>(oldAcc, b.spreadRows(step.rescale, paddedDv));
  Value acc = emitWeightedValues(block, step.weights, site, scaledAcc);
  writeState(acc, block.acc);
  if (trace.buffer)
    emitTrace(block, keyBlock, emitWholeReference(block, step.max), sum, acc);
  return step.isHuge;
}

/// Stores the state of the traced row, if it is one of this head. The row
/// counts b, h, i; a row of another head becomes -1, which no tile holds.
void AttentionTiler::emitTrace(const BlockContext &block, Value keyBlock,
                               Value max, Value sum, Value acc) {
  Value queries = get(views.queries);
  Value plane = b.create<arith::AddIOp>(
      b.create<arith::MulIOp>(block.batch, get(views.queryHeads)), block.head);
  Value row = b.create<arith::SubIOp>(trace.row,
                                      b.create<arith::MulIOp>(plane, queries));
  Value isHere =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, row, queries);
  row = b.create<arith::SelectOp>(isHere, row, b.index(-1));
  b.create<TraceStateOp>(row, block.firstRow, max, sum, acc, trace.buffer,
                         keyBlock);
}

//===----------------------------------------------------------------------===//
// Key by key
//===----------------------------------------------------------------------===//

/// The state behind the loops, with the rows whose u is NaN or infinite
/// computed again: m, l and u from nothing. In values from here on: the lanes
/// of a row would have to meet after each write to memory.
RowState AttentionTiler::emitKeyByKey(const BlockContext &block) {
  RowState state = {readState(block.max), readState(block.sum),
                    readState(block.acc), Value()};
  // x * 0 is 0, or NaN where x is not finite.
  Value zeros = b.create<arith::MulFOp>(
      state.acc, b.splat(cast<VectorType>(state.acc.getType()), 0.0f));
  Value zero = b.splat(b.f32Vector({tileQ}), 0.0f);
  Value sum = b.create<vector::MultiDimReductionOp>(
      vector::CombiningKind::ADD, zeros, zero, ArrayRef<int64_t>{1});
  Value isAgain = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, sum, zero);
  Value none = b.create<arith::ConstantIntOp>(0, 1);
  Value isAnyAgain = b.create<vector::MultiDimReductionOp>(
      vector::CombiningKind::OR, isAgain, none, ArrayRef<int64_t>{0});
  auto forget = [&](Value value, float start) -> Value {
    auto type = cast<VectorType>(value.getType());
    Value forgotten = isAgain;
    if (type.getRank() == 2)
      forgotten = b.spreadRows(isAgain, type.getDimSize(1));
    return b.create<arith::SelectOp>(forgotten, b.splat(type, start), value);
  };
  Value firstKey = b.createOrFold<arith::MulIOp>(
      block.visibility.ranges[0].begin, b.index(tileKV));
  Value end =
      b.create<arith::SelectOp>(isAnyAgain, block.visibility.keysEnd, firstKey);
  auto loop = b.create<scf::ForOp>(firstKey, end, b.index(1),
                                   ValueRange{forget(state.max, -kInfinity),
                                              forget(state.sum, 0.0f),
                                              forget(state.acc, 0.0f)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  ValueRange old = loop.getRegionIterArgs();
  RowState next = emitKeyStep(block, loop.getInductionVar(),
                              {old[0], old[1], old[2], isAgain});
  b.create<scf::YieldOp>(ValueRange{next.max, next.sum, next.acc});
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2), isAgain};
}

/// m, l and u / l over one key, in the rows `old.isMean` that see it; the
/// others stay as they are, bit for bit. A mean of values overflows no sooner
/// than they do; u, their sum, may.
RowState AttentionTiler::emitKeyStep(const BlockContext &block, Value key,
                                     const RowState &old) {
  ScoreSite site = ScoreSite::oneKey(block.firstRow, tileQ, key);
  Value scores =
      emitScores(b, block.clauses, emitKeyProducts(block, key), site);
  Value isTaken = b.create<arith::AndIOp>(
      emitVisible(b, block.visibility, site, /*isFull=*/false), old.isMean);
  KeyStep step =
      emitKeySoftmaxStep(b, scores, old.max, isTaken, block.clauses.scale);

  // The weight of a key goes to the lanes of its row in equal parts.
  Value part = b.create<arith::MulFOp>(
      step.weight, b.splat(b.f32Vector({tileQ}), 1.0f / kLanesPerRow));
  Value scaledSum = b.create<arith::MulFOp>(
      old.sum, b.spreadRows(step.rescale, kLanesPerRow));
  Value sum =
      b.create<arith::AddFOp>(scaledSum, b.spreadRows(part, kLanesPerRow));

  // mean = mean (l_old a / l) + v (p / l). What is infinite stays so: a share
  // is never 0, and the least one is too small to matter.
  Value zero = b.splat(b.f32Vector({tileQ}), 0.0f);
  auto total = [&](Value parts) {
    return b.create<vector::MultiDimReductionOp>(
        vector::CombiningKind::ADD, parts, zero, ArrayRef<int64_t>{1});
  };
  Value newTotal = total(sum);
  Value least = b.splat(b.f32Vector({tileQ}), kLeastShare);
  auto spreadShare = [&](Value part) {
    Value share = b.create<arith::DivFOp>(part, newTotal);
    Value isLess =
        b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, share, least);
    share = b.create<arith::SelectOp>(isLess, least, share);
    return b.spreadRows(share, paddedDv);
  };
  // Before V is read: a division branches, and would hold a row of V meanwhile.
  Value oldShare = spreadShare(total(scaledSum));
  Value newShare = spreadShare(step.weight);
  VectorType tile = b.f32Vector({tileQ, paddedDv});
  Value values = emitEachRow(block.valuePlane, key, b.index(0), tile);
  if (block.dropout.isUsed()) {
    Value kept = b.spreadRows(emitKept(b, block.dropout, site), paddedDv);
    values = b.create<arith::SelectOp>(kept, values, b.splat(tile, 0.0f));
  }
  Value next = b.create<math::FmaOp>(
      values, newShare, b.create<arith::MulFOp>(old.acc, oldShare));
  Value acc = b.create<arith::SelectOp>(b.spreadRows(step.isTaken, paddedDv),
                                        next, old.acc);
  return {step.max, sum, acc, old.isMean};
}

/// `acc` with the mean of V over the keys of the sequence in the rows
/// `isEmpty`. Rows without an empty one beside them in their warp do not wait
/// for it.
Value AttentionTiler::emitUniformRows(const BlockContext &block, Value isEmpty,
                                      Value acc) {
  const SequenceLengths &lengths = block.visibility.lengths;
  // Rows behind the last query look empty, and nobody asks for them.
  VectorType rowType = b.vector({tileQ}, b.getI32Type());
  Value row = b.create<TileIndexOp>(rowType, block.visibility.firstRow,
                                    /*dim=*/0);
  Value isQuery = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, row,
                                          b.spread(lengths.queries, rowType));
  isEmpty = b.create<arith::AndIOp>(isEmpty, isQuery);
  Value none = b.create<arith::ConstantIntOp>(0, 1);
  Value isAnyEmpty = b.create<vector::MultiDimReductionOp>(
      vector::CombiningKind::OR, isEmpty, none, ArrayRef<int64_t>{0});

  VectorType tile = b.f32Vector({tileQ, paddedDv});
  Value isEmptyTile = b.spreadRows(isEmpty, paddedDv);
  Value start =
      b.create<arith::SelectOp>(isEmptyTile, b.splat(tile, 0.0f), acc);
  Value keys = b.toIndex(lengths.keys);
  Value plane = emitPlane(views.value, block.batch, emitKVHead(block.head),
                          getAsOpFoldResult(keys), b.getIndexAttr(dims.Dv));
  Value count = b.create<arith::SIToFPOp>(b.getF32Type(), lengths.keys);
  Value share = b.create<arith::DivFOp>(b.f32(1.0f), count);
  Value end = b.create<arith::SelectOp>(isAnyEmpty, keys, b.index(0));
  auto loop = b.create<scf::ForOp>(b.index(0), end, b.index(1), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value old = loop.getRegionIterArg(0);
  Value values = emitEachRow(plane, loop.getInductionVar(), b.index(0), tile);
  Value next = b.create<math::FmaOp>(values, b.spread(share, tile), old);
  b.create<scf::YieldOp>(
      b.create<arith::SelectOp>(isEmptyTile, next, old).getResult());
  return loop.getResult(0);
}

/// The products of the query rows with one key, a few columns at a time: a
/// thread's part of Q may be half of its registers.
Value AttentionTiler::emitKeyProducts(const BlockContext &block, Value key) {
  Value none = b.splat(b.f32Vector({tileQ, kLanesPerRow}), 0.0f);
  auto loop = b.create<scf::ForOp>(b.index(0), b.index(paddedD),
                                   b.index(kProductDepth), none);
  VectorType tile = b.f32Vector({tileQ, kProductDepth});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value column = loop.getInductionVar();
    Value query = b.toF32(emitQueryTile(block, column, kProductDepth));
    Value products = b.create<arith::MulFOp>(
        query, emitEachRow(block.keyPlane, key, column, tile));
    Value sums = b.create<RowSumOp>(products, loop.getRegionIterArg(0));
    b.create<scf::YieldOp>(sums);
  }
  return b.create<vector::MultiDimReductionOp>(
      vector::CombiningKind::ADD, loop.getResult(0),
      b.splat(b.f32Vector({tileQ}), 0.0f), ArrayRef<int64_t>{1});
}

/// Row `key` of a plane, from `column` on, in each row of a tile of f32.
Value AttentionTiler::emitEachRow(Value plane, Value key, Value column,
                                  VectorType tile) {
  Value row = emitVectorAt(b, plane, /*dim=*/0, key);
  Type element = cast<MemRefType>(row.getType()).getElementType();
  auto load =
      b.create<LoadTileOp>(b.vector(tile.getShape(), element), row, column);
  load.setEachRow(true);
  return b.toF32(load);
}
