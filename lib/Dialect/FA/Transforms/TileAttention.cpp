//===- TileAttention.cpp - attention becomes a loop over blocks -*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last pass of the tile stage. An fa.attention on memrefs with a complete
// schedule becomes a tile program:
//
//   views      every operand as [B, H, S, D], whatever its layout;
//   scf.forall one iteration for each (b, h, block of query rows). In it:
//     (a) lengths and visibility of these rows              (Visibility.h)
//     (b) the planes of this head; the tile of Q
//     (c) m, l, u in workgroup memory
//     (d) for each stretch of visible blocks a loop over K/V: scores, mask in
//         partial blocks, softmax step, P.V                 (OnlineSoftmax.h)
//     (e) O = u / l and LSE, once
//
// Vectors are those of the whole block of threads. Head dimensions are padded
// to the depth of a tensor-core product; loads give zeros there and stores drop
// it. Everything but the tiles is 64-bit or i32 index arithmetic on positions.
//
//===----------------------------------------------------------------------===//

#include "AttentionFacts.h"
#include "OnlineSoftmax.h"
#include "TileBuilder.h"
#include "Visibility.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Dialect/FA/Transforms/Transforms.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FATILEATTENTION
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

/// Depth of a tensor-core product of 16-bit elements: head dimensions are
/// padded to a multiple of it.
static constexpr int64_t kProductDepth = 16;

namespace {

/// An extent of the attention: a number, or a value computed before the loops.
struct Extent {
  int64_t number;
  Value value;
};

/// Operands as [B, H, S, D] (LSE: [B, H, S]; the dense mask: [B, Hq, Sq, Sk]).
struct OperandViews {
  Value query, key, value, output, lse, mask;
  Extent batch, queryHeads, kvHeads, queries, keys;
};

/// What the loops of one block of query rows share.
struct BlockContext {
  Value batch, head;
  Value firstRow;             ///< index
  Value queryTile;            ///< vector<tile_q x D>
  Value keyPlane, valuePlane; ///< of this head, [keys, D]
  Value maskPlane;            ///< [Sq, keys], or null
  Value max, sum, acc;        ///< m, l, u in workgroup memory
  BlockVisibility visibility;
  ScoreScale scale;
  Value noQuery; ///< rows that belong to no query: vector of i1, or null
};

/// Writes the tile program of one fa.attention in front of it.
class AttentionTiler {
public:
  AttentionTiler(AttentionOp op, const TargetInfo &target, TraceArguments trace)
      : op(op), target(target), trace(trace), b(op.getLoc(), op),
        schedule(op.getScheduleAttr()), dims(op.getDims()),
        tileQ(*schedule.getTileQ()), tileKV(*schedule.getTileKv()),
        paddedD(llvm::alignTo(dims.D, kProductDepth)),
        paddedDv(llvm::alignTo(dims.Dv, kProductDepth)) {}

  FailureOr<scf::ForallOp> run();

private:
  // Before the loops.
  LogicalResult emitViews();
  FailureOr<Value> emitHeadMajorView(Value memref, const DimPositions &order);
  Extent emitExtent(int64_t number, Value memref, int64_t dim);
  Value emitBroadcastMask(Value mask);

  // One block of query rows.
  void emitBlock(Value batch, Value head, Value block);
  SequenceLengths emitLengths(Value batch);
  Value emitLength(Value lengths, Value batch, const Extent &extent);
  Value emitKVHead(Value head);
  Value emitPlane(Value memref, Value batch, Value head, OpFoldResult rows,
                  OpFoldResult columns);
  void emitPlanes(BlockContext &block, const SequenceLengths &lengths);
  void emitState(BlockContext &block);
  void emitLoops(const BlockContext &block);
  Value emitLoop(const BlockContext &block, const KeyBlockRange &range);
  Value emitRestart(const BlockContext &block, Value noted);
  Value emitStep(const BlockContext &block, Value keyBlock, bool isFull,
                 Value noted);
  void emitTrace(const BlockContext &block, Value keyBlock, Value max,
                 Value sum, Value acc);
  void emitEnd(const BlockContext &block);

  // Pieces of a step.
  Value emitScores(const BlockContext &block, Value firstKey);
  Value emitHidden(const BlockContext &block, Value scores, Value firstKey,
                   bool isFull);
  Value emitWeightedValues(const BlockContext &block, Value weights,
                           Value firstKey, Value acc);

  Value get(const Extent &extent) {
    return extent.value ? extent.value : b.index(extent.number);
  }
  OpFoldResult fold(const Extent &extent) {
    return extent.value ? OpFoldResult(extent.value)
                        : OpFoldResult(b.getIndexAttr(extent.number));
  }
  Value emitContract(Value lhs, Value rhs, Value acc, bool isRhsTransposed);
  Value readState(Value memref);
  void writeState(Value value, Value memref);

  AttentionOp op;
  const TargetInfo &target;
  TraceArguments trace;
  TileBuilder b;
  ScheduleAttr schedule;
  AttentionDims dims;
  int64_t tileQ, tileKV, paddedD, paddedDv;
  OperandViews views;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before the loops
//===----------------------------------------------------------------------===//

Extent AttentionTiler::emitExtent(int64_t number, Value memref, int64_t dim) {
  if (!ShapedType::isDynamic(number))
    return {number, Value()};
  return {number, b.create<memref::DimOp>(memref, dim)};
}

/// The memref with strides and offset that are not known and its dimensions in
/// the order [B, H, S, D]. No element moves.
FailureOr<Value> AttentionTiler::emitHeadMajorView(Value memref,
                                                   const DimPositions &order) {
  FailureOr<Value> strided = emitDynamicStrides(b, op, memref);
  if (failed(strided))
    return failure();
  SmallVector<int64_t> permutation = {order.batch, order.heads, order.seq,
                                      order.feature};
  if (isIdentityPermutation(permutation))
    return strided;
  auto map = AffineMap::getPermutationMap(permutation, b.getContext());
  return b.create<memref::TransposeOp>(*strided, AffineMapAttr::get(map))
      .getResult();
}

/// The dense mask as [B, Hq, Sq, Sk]: its dimensions are aligned from the
/// right, and one of extent 1 (known here or at run time) gets stride 0.
Value AttentionTiler::emitBroadcastMask(Value mask) {
  auto type = cast<MemRefType>(mask.getType());
  auto metadata = b.create<memref::ExtractStridedMetadataOp>(mask);
  Value zero = b.index(0);
  SmallVector<OpFoldResult> strides(4, zero);
  int64_t missing = 4 - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value stride = metadata.getStrides()[dim];
    if (type.getDimSize(dim) == 1)
      continue;
    if (type.isDynamicDim(dim)) {
      Value isOne = b.create<arith::CmpIOp>(
          arith::CmpIPredicate::eq, metadata.getSizes()[dim], b.index(1));
      stride = b.create<arith::SelectOp>(isOne, zero, stride);
    }
    strides[missing + dim] = stride;
  }
  SmallVector<OpFoldResult> sizes = {fold(views.batch), fold(views.queryHeads),
                                     fold(views.queries), fold(views.keys)};
  auto resultType = MemRefType::get(
      {dims.B, dims.Hq, dims.Sq, dims.Sk}, type.getElementType(),
      getDynamicStrides(b.getContext(), /*rank=*/4), type.getMemorySpace());
  return b.create<memref::ReinterpretCastOp>(
      resultType, metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      sizes, strides);
}

LogicalResult AttentionTiler::emitViews() {
  FailureOr<Value> query = emitHeadMajorView(op.getQuery(), dims.query);
  FailureOr<Value> key = emitHeadMajorView(op.getKey(), dims.keyValue);
  FailureOr<Value> value = emitHeadMajorView(op.getValue(), dims.keyValue);
  FailureOr<Value> output = emitHeadMajorView(op.getOutput(), dims.query);
  if (failed(query) || failed(key) || failed(value) || failed(output))
    return failure();
  views.query = *query;
  views.key = *key;
  views.value = *value;
  views.output = *output;
  views.batch = emitExtent(dims.B, *query, 0);
  views.queryHeads = emitExtent(dims.Hq, *query, 1);
  views.queries = emitExtent(dims.Sq, *query, 2);
  views.kvHeads = emitExtent(dims.Hkv, *key, 1);
  views.keys = emitExtent(dims.Sk, *key, 2);
  if (op.getLse()) {
    FailureOr<Value> lse = emitDynamicStrides(b, op, op.getLse());
    if (failed(lse))
      return failure();
    views.lse = *lse;
  }
  if (op.getMask()) {
    FailureOr<Value> mask = emitDynamicStrides(b, op, op.getMask());
    if (failed(mask))
      return failure();
    views.mask = emitBroadcastMask(*mask);
  }
  return success();
}

FailureOr<scf::ForallOp> AttentionTiler::run() {
  if (failed(emitViews()))
    return failure();
  OpFoldResult numBlocks =
      getAsOpFoldResult(b.ceilDiv(get(views.queries), tileQ));
  SmallVector<OpFoldResult> bounds = {fold(views.batch), fold(views.queryHeads),
                                      numBlocks};
  auto forall = b.create<scf::ForallOp>(bounds, /*outputs=*/ValueRange(),
                                        /*mapping=*/std::nullopt);
  forall->setAttr(kScheduleAttr, schedule);
  b.setInsertionPoint(forall.getTerminator());
  ValueRange ids = forall.getInductionVars();
  emitBlock(ids[0], ids[1], ids[2]);
  return forall;
}

//===----------------------------------------------------------------------===//
// One block of query rows
//===----------------------------------------------------------------------===//

/// The length of this batch's sequence: what the operand says, kept inside
/// [0, extent]; the extent itself without an operand.
Value AttentionTiler::emitLength(Value lengths, Value batch,
                                 const Extent &extent) {
  Value bound = b.toI32(get(extent));
  if (!lengths)
    return bound;
  Value length = b.create<memref::LoadOp>(lengths, batch);
  length = b.create<arith::MaxSIOp>(length, b.i32(0));
  return b.create<arith::MinSIOp>(length, bound);
}

SequenceLengths AttentionTiler::emitLengths(Value batch) {
  return {emitLength(op.getQLengths(), batch, views.queries),
          emitLength(op.getKvLengths(), batch, views.keys),
          /*queriesMayBeShort=*/static_cast<bool>(op.getQLengths())};
}

/// kv(h) = floor(h * Hkv / Hq). Where the group is not static the product is
/// divided by Hq, which is not 0 here: a launch without heads has no blocks.
Value AttentionTiler::emitKVHead(Value head) {
  int64_t group = dims.group();
  if (group == 1)
    return head;
  if (!ShapedType::isDynamic(group))
    return b.floorDiv(head, group);
  Value product = b.create<arith::MulIOp>(head, get(views.kvHeads));
  return b.create<arith::DivUIOp>(product, get(views.queryHeads));
}

/// The part [0, rows) x [0, columns) of one head of one batch, as rank 2;
/// rank 1 when the memref has no columns.
Value AttentionTiler::emitPlane(Value memref, Value batch, Value head,
                                OpFoldResult rows, OpFoldResult columns) {
  auto type = cast<MemRefType>(memref.getType());
  Attribute zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {batch, head, zero};
  SmallVector<OpFoldResult> sizes = {one, one, rows};
  SmallVector<OpFoldResult> strides(type.getRank(), one);
  if (type.getRank() == 4) {
    offsets.push_back(zero);
    sizes.push_back(columns);
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamicSizes;
  dispatchIndexOpFoldResults(ArrayRef(sizes).drop_front(2), dynamicSizes,
                             shape);
  MemRefType planeType = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  return b.create<memref::SubViewOp>(planeType, memref, offsets, sizes,
                                     strides);
}

void AttentionTiler::emitPlanes(BlockContext &block,
                                const SequenceLengths &lengths) {
  OpFoldResult d = b.getIndexAttr(dims.D), dv = b.getIndexAttr(dims.Dv);
  OpFoldResult keys = getAsOpFoldResult(block.visibility.keysEnd);
  OpFoldResult queries = fold(views.queries);
  if (lengths.queriesMayBeShort)
    queries = b.toIndex(lengths.queries);
  Value kvHead = emitKVHead(block.head);
  block.keyPlane = emitPlane(views.key, block.batch, kvHead, keys, d);
  block.valuePlane = emitPlane(views.value, block.batch, kvHead, keys, dv);
  if (views.mask)
    block.maskPlane = emitPlane(views.mask, block.batch, block.head,
                                fold(views.queries), keys);
  Value queryPlane =
      emitPlane(views.query, block.batch, block.head, queries, d);
  auto element = cast<MemRefType>(queryPlane.getType()).getElementType();
  block.queryTile =
      b.create<LoadTileOp>(b.vector({tileQ, paddedD}, element), queryPlane,
                           ValueRange{block.firstRow, b.index(0)});
}

/// m, l and u: one buffer each, in workgroup memory. fa-promote-state moves
/// them to registers; that needs whole-tile transfers known to be in bounds.
void AttentionTiler::emitState(BlockContext &block) {
  auto workgroup =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto emit = [&](ArrayRef<int64_t> shape, float initial) -> Value {
    auto type = MemRefType::get(shape, b.getF32Type(),
                                MemRefLayoutAttrInterface(), workgroup);
    Value memref = b.create<memref::AllocOp>(type);
    writeState(b.splat(b.f32Vector(shape), initial), memref);
    return memref;
  };
  block.max = emit({tileQ}, -kInfinity);
  block.sum = emit({tileQ, target.lanesPerRow}, 0.0f);
  block.acc = emit({tileQ, paddedDv}, 0.0f);
}

Value AttentionTiler::readState(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Value> origin(type.getRank(), b.index(0));
  SmallVector<bool> inBounds(type.getRank(), true);
  return b.create<vector::TransferReadOp>(b.f32Vector(type.getShape()), memref,
                                          origin, b.f32(0.0f),
                                          ArrayRef<bool>(inBounds));
}

void AttentionTiler::writeState(Value value, Value memref) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  SmallVector<Value> origin(rank, b.index(0));
  SmallVector<bool> inBounds(rank, true);
  b.create<vector::TransferWriteOp>(value, memref, origin,
                                    ArrayRef<bool>(inBounds));
}

void AttentionTiler::emitBlock(Value batch, Value head, Value index) {
  BlockContext block;
  block.batch = batch;
  block.head = head;
  block.firstRow = b.create<arith::MulIOp>(index, b.index(tileQ));
  SequenceLengths lengths = emitLengths(batch);
  Value firstRow = b.toI32(block.firstRow);
  SmallVector<MaskAttr> masks = op.getMaskAttrs();
  block.visibility =
      emitBlockVisibility(b, masks, lengths, firstRow, tileQ, tileKV);
  if (lengths.queriesMayBeShort) {
    VectorType rows = b.vector({tileQ}, b.getI32Type());
    Value row = b.create<TileIndexOp>(rows, firstRow, /*dim=*/0);
    block.noQuery = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, row,
                                            b.spread(lengths.queries, rows));
  }
  emitPlanes(block, lengths);
  emitState(block);
  block.scale = emitScoreScale(b, op.getStaticScale(), op.getScaleOperand());
  emitLoops(block);
  emitEnd(block);
}

//===----------------------------------------------------------------------===//
// One block of keys
//===----------------------------------------------------------------------===//

/// The loops over K/V blocks. Where the one over full blocks has met scores
/// that only the cold path gets right, the last one starts from the first
/// block.
void AttentionTiler::emitLoops(const BlockContext &block) {
  Value restart;
  Value first = block.visibility.ranges.front().begin;
  for (KeyBlockRange range : block.visibility.ranges) {
    if (restart)
      range.begin = b.create<arith::SelectOp>(restart, first, range.begin);
    Value noted = emitLoop(block, range);
    if (range.isFull)
      restart = emitRestart(block, noted);
  }
}

/// A loop over one range; over full blocks it returns this thread's note.
Value AttentionTiler::emitLoop(const BlockContext &block,
                               const KeyBlockRange &range) {
  SmallVector<Value> notes;
  if (range.isFull)
    notes.push_back(b.create<arith::ConstantIntOp>(0, 1));
  auto loop = b.create<scf::ForOp>(range.begin, range.end, b.index(1), notes);
  loop->setAttr(kBlocksAttr,
                b.getStringAttr(range.isFull ? kFullBlocks : kPartialBlocks));
  OpBuilder::InsertionGuard guard(b);
  if (!range.isFull) {
    b.setInsertionPoint(loop.getBody()->getTerminator());
    emitStep(block, loop.getInductionVar(), /*isFull=*/false, Value());
    return Value();
  }
  b.setInsertionPointToEnd(loop.getBody());
  Value noted = emitStep(block, loop.getInductionVar(), /*isFull=*/true,
                         loop.getRegionIterArg(0));
  b.create<scf::YieldOp>(noted);
  return loop.getResult(0);
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

Value AttentionTiler::emitScores(const BlockContext &block, Value firstKey) {
  auto element = cast<MemRefType>(block.keyPlane.getType()).getElementType();
  Value keyTile =
      b.create<LoadTileOp>(b.vector({tileKV, paddedD}, element), block.keyPlane,
                           ValueRange{firstKey, b.index(0)});
  Value zero = b.splat(b.f32Vector({tileQ, tileKV}), 0.0f);
  Value scores = emitContract(block.queryTile, keyTile, zero,
                              /*isRhsTransposed=*/true);
  return emitSignedScores(b, block.scale, scores);
}

/// The scores with -inf in the place of every hidden one, by select: what is
/// hidden has no influence, not even when it is NaN. Full blocks skip the
/// structural masks; the dense mask is asked everywhere.
Value AttentionTiler::emitHidden(const BlockContext &block, Value scores,
                                 Value firstKey, bool isFull) {
  Value visible;
  if (!isFull)
    visible = emitElementPredicate(b, block.visibility, b.toI32(firstKey),
                                   {tileQ, tileKV});
  if (block.maskPlane) {
    Value mask = b.create<LoadTileOp>(b.vector({tileQ, tileKV}, b.getI1Type()),
                                      block.maskPlane,
                                      ValueRange{block.firstRow, firstKey});
    visible = visible ? b.create<arith::AndIOp>(visible, mask) : mask;
  }
  if (!visible)
    return scores;
  Value hidden = b.splat(cast<VectorType>(scores.getType()), -kInfinity);
  return b.create<arith::SelectOp>(visible, scores, hidden);
}

/// acc + P . V, with P rounded to the type of V.
Value AttentionTiler::emitWeightedValues(const BlockContext &block,
                                         Value weights, Value firstKey,
                                         Value acc) {
  auto element = cast<MemRefType>(block.valuePlane.getType()).getElementType();
  Value rounded =
      b.create<arith::TruncFOp>(b.vector({tileQ, tileKV}, element), weights);
  Value valueTile =
      b.create<LoadTileOp>(b.vector({tileKV, paddedDv}, element),
                           block.valuePlane, ValueRange{firstKey, b.index(0)});
  return emitContract(rounded, valueTile, acc, /*isRhsTransposed=*/false);
}

/// One block of keys: reads m, l, u, takes the step, writes them back.
Value AttentionTiler::emitStep(const BlockContext &block, Value keyBlock,
                               bool isFull, Value noted) {
  Value firstKey = b.create<arith::MulIOp>(keyBlock, b.index(tileKV));
  Value scores = emitScores(block, firstKey);
  scores = emitHidden(block, scores, firstKey, isFull);

  Value oldMax = readState(block.max);
  SoftmaxStep step = emitSoftmaxStep(b, scores, oldMax, block.scale.factor,
                                     /*hasColdPath=*/!isFull);
  writeState(step.max, block.max);

  Value oldSum = readState(block.sum);
  Value scaledSum = b.create<arith::MulFOp>(
      oldSum, b.spreadRows(step.rescale, target.lanesPerRow));
  Value sum = b.create<RowSumOp>(step.weights, scaledSum);
  writeState(sum, block.sum);

  Value oldAcc = readState(block.acc);
  Value scaledAcc =
      b.create<arith::MulFOp>(oldAcc, b.spreadRows(step.rescale, paddedDv));
  Value acc = emitWeightedValues(block, step.weights, firstKey, scaledAcc);
  writeState(acc, block.acc);
  if (trace.buffer)
    emitTrace(block, keyBlock, step.max, sum, acc);
  if (!isFull)
    return Value();
  return b.create<NoteRowsOp>(b.getI1Type(), step.isHuge, noted);
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
// After the last block of keys
//===----------------------------------------------------------------------===//

void AttentionTiler::emitEnd(const BlockContext &block) {
  Value sum = readState(block.sum);
  FinishedRows rows = emitFinishedRows(b, readState(block.max), sum,
                                       op.getEmptyRowKind(), block.noQuery);
  Value output = emitOutput(b, rows, readState(block.acc));
  Value plane = emitPlane(views.output, block.batch, block.head,
                          fold(views.queries), b.getIndexAttr(dims.Dv));
  auto element = cast<MemRefType>(plane.getType()).getElementType();
  if (!element.isF32())
    output =
        b.create<arith::TruncFOp>(b.vector({tileQ, paddedDv}, element), output);
  b.create<StoreTileOp>(output, plane, ValueRange{block.firstRow, b.index(0)});
  if (!views.lse)
    return;
  Value lsePlane = emitPlane(views.lse, block.batch, block.head,
                             fold(views.queries), OpFoldResult());
  b.create<StoreTileOp>(emitLogSumExp(b, rows), lsePlane,
                        ValueRange{block.firstRow});
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

FailureOr<scf::ForallOp> mlir::fa::tileAttention(RewriterBase &rewriter,
                                                 AttentionOp op,
                                                 const TargetInfo &target,
                                                 TraceArguments trace) {
  if (failed(checkTileable(op)))
    return failure();
  FailureOr<scf::ForallOp> forall = AttentionTiler(op, target, trace).run();
  if (failed(forall))
    return failure();
  rewriter.eraseOp(op);
  // Folding leaves constants behind that nobody uses.
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, *forall);
  for (Operation *previous = (*forall)->getPrevNode();
       previous && isOpTriviallyDead(previous);
       previous = (*forall)->getPrevNode())
    rewriter.eraseOp(previous);
  return forall;
}

namespace {
struct TileAttentionPass
    : public fa::impl::FATileAttentionBase<TileAttentionPass> {
  using FATileAttentionBase::FATileAttentionBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    SmallVector<AttentionOp> ops;
    func.walk([&](AttentionOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    const TargetInfo *target = lookupModuleTarget(func);
    if (!target)
      return signalPassFailure();
    TraceArguments arguments;
    // Else the function is a program around attention, not a kernel's entry.
    if (ops.size() == 1 && isOnArguments(func, ops.front()))
      recordAttention(func, ops.front());
    if (trace)
      arguments = addTraceArguments(func);
    IRRewriter rewriter(&getContext());
    for (AttentionOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(tileAttention(rewriter, op, *target, arguments)))
        return signalPassFailure();
      ++numTiled;
    }
  }
};
} // namespace
