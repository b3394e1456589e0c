//===- AttentionTiler.cpp - views, blocks of rows, the end ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the tile program around the loops over keys: before all blocks,
// at the start and at the end of a block of query rows.
//===----------------------------------------------------------------------===//

#include "AttentionTiler.h"
#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fa;

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

/// A dense mask or bias as [B, Hq, Sq, Sk]: its dimensions are aligned from the
/// right, and one of extent 1 (known here or at run time) gets stride 0.
Value AttentionTiler::emitBroadcast(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = b.create<memref::ExtractStridedMetadataOp>(memref);
  Value zero = b.index(0);
  SmallVector<OpFoldResult> strides(4, zero);
  int64_t missing = 4 - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value extent = type.isDynamicDim(dim) ? metadata.getSizes()[dim]
                                          : b.index(type.getDimSize(dim));
    Value isOne = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                extent, b.index(1));
    Value stride = b.createOrFold<arith::SelectOp>(isOne, zero,
                                                   metadata.getStrides()[dim]);
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
  FailureOr<Value> mask = emitScorePlanes(op.getMask());
  FailureOr<Value> bias = emitScorePlanes(op.getBias());
  if (failed(mask) || failed(bias))
    return failure();
  views.mask = *mask;
  views.bias = *bias;
  if (!op.getQSegments())
    return success();
  FailureOr<Value> ofQueries = emitDynamicStrides(b, op, op.getQSegments());
  FailureOr<Value> ofKeys = emitDynamicStrides(b, op, op.getKvSegments());
  if (failed(ofQueries) || failed(ofKeys))
    return failure();
  views.querySegments = *ofQueries;
  views.keySegments = *ofKeys;
  return success();
}

/// An element for each score; null where the op has no such operand.
FailureOr<Value> AttentionTiler::emitScorePlanes(Value operand) {
  if (!operand)
    return Value();
  FailureOr<Value> strided = emitDynamicStrides(b, op, operand);
  if (failed(strided))
    return failure();
  return emitBroadcast(*strided);
}

FailureOr<scf::ForallOp> AttentionTiler::run() {
  if (failed(emitViews()))
    return failure();
  OpFoldResult numBlocks =
      getAsOpFoldResult(b.ceilDiv(get(views.queries), cluster * tileQ));
  SmallVector<OpFoldResult> bounds = {fold(views.batch), fold(views.queryHeads),
                                      numBlocks};
  auto forall = b.create<scf::ForallOp>(bounds, /*outputs=*/ValueRange(),
                                        /*mapping=*/std::nullopt);
  forall->setAttr(kScheduleAttr, schedule);
  b.setInsertionPoint(forall.getTerminator());
  ValueRange ids = forall.getInductionVars();
  BlockVisibility visibility = emitBlock(ids[0], ids[1], ids[2]);
  if (!visibility.growsWithRows)
    return forall;
  return orderLongestFirst(b, forall, [&] { return emitSection(); });
}

HeadSection AttentionTiler::emitSection() {
  int64_t element = llvm::divideCeil(
      getElementTypeOrSelf(op.getKey()).getIntOrFloatBitWidth(), 8);
  return {b.toI32(get(views.keys)), emitGroup(),
          target.cacheBytes / kCacheShare / ((dims.D + dims.Dv) * element)};
}

/// Heads of Q for one of K and V; there are heads where this is asked.
Value AttentionTiler::emitGroup() {
  if (int64_t group = dims.group(); !ShapedType::isDynamic(group))
    return b.i32(group);
  return b.create<arith::DivUIOp>(b.toI32(get(views.queryHeads)),
                                  b.toI32(get(views.kvHeads)));
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

/// The first rows of a plane.
static Value emitFirstRows(TileBuilder &b, Value plane, OpFoldResult rows) {
  Attribute zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  int64_t columns = cast<MemRefType>(plane.getType()).getDimSize(1);
  return b.create<memref::SubViewOp>(
      plane, ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{rows, b.getIndexAttr(columns)},
      ArrayRef<OpFoldResult>{one, one});
}

/// K and V of this head, as far as some row sees keys. Where masks end that, it
/// is the beginning of a plane that ends with the sequence: who copies whole
/// tiles may copy what follows, too.
void AttentionTiler::emitKeyPlanes(BlockContext &block,
                                   const SequenceLengths &lengths,
                                   OpFoldResult seen) {
  Value kvHead = emitKVHead(block.head);
  bool isMasked = !block.visibility.masks.empty();
  OpFoldResult rows = seen;
  if (isMasked)
    rows = op.getKvLengths() ? OpFoldResult(b.toIndex(lengths.keys))
                             : fold(views.keys);
  auto emit = [&](Value memref, int64_t columns) {
    Value plane =
        emitPlane(memref, block.batch, kvHead, rows, b.getIndexAttr(columns));
    return isMasked ? emitFirstRows(b, plane, seen) : plane;
  };
  block.keyPlane = emit(views.key, dims.D);
  block.valuePlane = emit(views.value, dims.Dv);
}

/// The first `length` elements of one batch of a memref [B, S], as rank 1.
Value AttentionTiler::emitLine(Value memref, Value batch, OpFoldResult length) {
  Attribute zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {batch, zero}, sizes = {one, length},
                            strides = {one, one};
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamicSizes;
  dispatchIndexOpFoldResults(length, dynamicSizes, shape);
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(memref.getType()), offsets, sizes, strides);
  return b.create<memref::SubViewOp>(type, memref, offsets, sizes, strides);
}

void AttentionTiler::emitPlanes(BlockContext &block,
                                const SequenceLengths &lengths) {
  OpFoldResult keys = getAsOpFoldResult(block.visibility.keysEnd);
  block.queries = fold(views.queries);
  if (lengths.queriesMayBeShort)
    block.queries = b.toIndex(lengths.queries);
  emitKeyPlanes(block, lengths, keys);
  if (views.mask)
    block.visibility.elements.plane = emitPlane(
        views.mask, block.batch, block.head, fold(views.queries), keys);
  if (views.bias)
    block.biasPlane = emitPlane(views.bias, block.batch, block.head,
                                fold(views.queries), keys);
  block.queryTile = emitQueryTile(block, b.index(0), paddedD);
  restrictToPairs(block);
}

/// Full blocks read what scores have for themselves two keys at a time.
void AttentionTiler::restrictToPairs(BlockContext &block) {
  for (Value operand : {block.biasPlane, block.visibility.elements.plane})
    if (operand)
      restrictFullBlocks(b, block.visibility,
                         b.create<PairsAlignedOp>(b.getI1Type(), operand));
}

/// The region of a clause, for this head and batch.
RegionClause AttentionTiler::getRegion(Region &region,
                                       const BlockContext &block) {
  Value one = b.i32(1);
  auto last = [&](const Extent &extent) -> Value {
    return b.createOrFold<arith::SubIOp>(b.toI32(get(extent)), one);
  };
  return {&region,         dims, block.batch, block.head, last(views.queries),
          last(views.keys)};
}

/// What hides keys one by one and is asked before the keys that are read are
/// known; the plane of a dense mask follows with the others.
ElementMasks AttentionTiler::emitElementMasks(const BlockContext &block,
                                              const SequenceLengths &lengths) {
  ElementMasks masks;
  if (op.hasVisible())
    masks.region = getRegion(op.getVisible(), block);
  if (!views.querySegments)
    return masks;
  masks.querySegments =
      emitLine(views.querySegments, block.batch, fold(views.queries));
  masks.keySegments = emitLine(views.keySegments, block.batch,
                               getAsOpFoldResult(b.toIndex(lengths.keys)));
  masks.rowSegments = b.create<LoadTileOp>(b.vector({tileQ}, b.getI32Type()),
                                           masks.querySegments, block.firstRow);
  return masks;
}

/// `columns` columns of the block's rows of Q, from `column` on.
Value AttentionTiler::emitQueryTile(const BlockContext &block, Value column,
                                    int64_t columns) {
  Value plane = emitPlane(views.query, block.batch, block.head, block.queries,
                          b.getIndexAttr(dims.D));
  auto element = cast<MemRefType>(plane.getType()).getElementType();
  return b.create<LoadTileOp>(b.vector({tileQ, columns}, element), plane,
                              ValueRange{block.firstRow, column});
}

/// The clauses of the score, with what they read of this head and batch.
ScoreClauses AttentionTiler::emitClauses(const BlockContext &block,
                                         const SequenceLengths &lengths) {
  RegionClause region;
  if (op.hasScore())
    region = getRegion(op.getScore(), block);
  return emitScoreClauses(b, op, region, block.biasPlane, block.head,
                          block.firstRow, lengths);
}

/// r of each row, from `max` of what the scores say.
Value AttentionTiler::emitWholeReference(const BlockContext &block, Value max) {
  double rest = block.clauses.getRest() * llvm::numbers::log2e;
  if (rest == 0.0)
    return max;
  auto rows = cast<VectorType>(max.getType());
  return b.create<arith::AddFOp>(max, b.splat(rows, static_cast<float>(rest)));
}

/// Of this block of a cluster, whose first row of all is given.
Value AttentionTiler::emitFirstRow(Value firstOfAll) {
  if (cluster == 1)
    return firstOfAll;
  Value before = b.create<arith::MulIOp>(
      emitClusterRank(b, b.getLoc(), cluster), b.index(tileQ));
  return b.create<arith::AddIOp>(firstOfAll, before);
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
  block.sum = emit({tileQ, kLanesPerRow}, 0.0f);
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

/// Blocks of a cluster have blocks of rows that follow each other, and go
/// through the keys that any row of them sees: so they read the same.
BlockVisibility AttentionTiler::emitBlock(Value batch, Value head,
                                          Value index) {
  BlockContext block;
  block.batch = batch;
  block.head = head;
  Value firstOfAll = b.create<arith::MulIOp>(index, b.index(cluster * tileQ));
  block.firstRow = emitFirstRow(firstOfAll);
  SequenceLengths lengths = emitLengths(batch);
  Value firstRow = b.toI32(block.firstRow);
  SmallVector<MaskAttr> masks = op.getMaskAttrs();
  block.visibility =
      emitBlockVisibility(b, masks, lengths, emitElementMasks(block, lengths),
                          b.toI32(firstOfAll), cluster * tileQ, tileKV);
  block.visibility.firstRow = firstRow;
  if (lengths.queriesMayBeShort) {
    VectorType rows = b.vector({tileQ}, b.getI32Type());
    Value row = b.create<TileIndexOp>(rows, firstRow, /*dim=*/0);
    block.noQuery = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, row,
                                            b.spread(lengths.queries, rows));
  }
  emitPlanes(block, lengths);
  emitState(block);
  block.clauses = emitClauses(block, lengths);
  if (FloatAttr dropout = op.getDropoutAttr();
      dropout && dropout.getValueAsDouble() > 0)
    block.dropout = {dropout.getValueAsDouble(), op.getSeed(), batch, head};
  if (op.getSink())
    block.sink = b.create<memref::LoadOp>(op.getSink(), head);
  emitEnd(block, emitLoops(block));
  return block.visibility;
}

//===----------------------------------------------------------------------===//
// After the last block of keys
//===----------------------------------------------------------------------===//

void AttentionTiler::emitEnd(const BlockContext &block, const RowState &state) {
  FinishedRows rows = emitFinishedRows(b, emitWholeReference(block, state.max),
                                       state.sum, state.isMean, block.sink,
                                       op.getEmptyRowKind(), block.noQuery);
  if (block.dropout.isUsed())
    rows.growth = block.dropout.getGrowth();
  Value acc = state.acc;
  if (rows.emptyRow == EmptyRow::Uniform)
    acc = emitUniformRows(block, rows.isEmpty, acc);
  Value output = emitOutput(b, rows, acc);
  Value plane = emitPlane(views.output, block.batch, block.head,
                          fold(views.queries), b.getIndexAttr(dims.Dv));
  auto element = cast<MemRefType>(plane.getType()).getElementType();
  b.create<StoreTileOp>(b.roundTo(element, output), plane,
                        ValueRange{block.firstRow, b.index(0)});
  if (!views.lse)
    return;
  Value lsePlane = emitPlane(views.lse, block.batch, block.head,
                             fold(views.queries), OpFoldResult());
  b.create<StoreTileOp>(emitLogSumExp(b, rows), lsePlane,
                        ValueRange{block.firstRow});
}
