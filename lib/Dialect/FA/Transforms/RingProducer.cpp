//===- RingProducer.cpp - what the warps do that copy -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingProducer.h"
#include "fa/Support/TensorMap.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fa;

static int64_t getTileRows(CopyTileOp copy) {
  return *std::prev(cast<MemRefType>(copy.getDest().getType()).getShape().end(),
                    2);
}

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

void RingProducer::createTensorMaps() {
  for (CopyTileOp copy : program.resident)
    createTensorMap(copy);
  for (CopyTileOp copy : program.blocks.front().copies)
    createTensorMap(copy);
}

/// None where the tensor's form is not understood or a tile is larger than a
/// box can be. Tiles of one tensor may differ in rows, as where Q is K.
void RingProducer::createTensorMap(CopyTileOp copy) {
  Value source = copy.getSource();
  int64_t rows = getTileRows(copy);
  if (maps.contains({source, rows}) || rows > farun::kMaxTensorBox)
    return;
  std::optional<TensorPlace> place = findTensorPlace(source);
  if (!place ||
      program.forall.getRegion().isAncestor(place->tensor.getParentRegion()))
    return;
  builder.setInsertionPoint(program.forall);
  maps[{source, rows}] =
      fa::createTensorMap(builder, copy.getLoc(), *place, rows);
  if (int64_t blocks = rings.get(copy.getDest()).blocks; blocks != 1)
    maps[{source, rows / blocks}] =
        fa::createTensorMap(builder, copy.getLoc(), *place, rows / blocks);
  place->extent = memref::DimOp::create(builder, program.getLoc(),
                                        place->tensor, place->rowDim);
  places[source] = *place;
}

Value RingProducer::mapOf(CopyTileOp copy, const Ring &ring) {
  return maps.lookup({copy.getSource(), getTileRows(copy) / ring.blocks});
}

//===----------------------------------------------------------------------===//
// A role
//===----------------------------------------------------------------------===//

Value RingProducer::onThisSide(Value value) {
  if (Value known = thisSide.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != program.consumers)
    return value;
  for (Value operand : op->getOperands())
    thisSide.map(operand, onThisSide(operand));
  builder.clone(*op, thisSide);
  return thisSide.lookup(value);
}

Value RingProducer::toValue(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return program.getIndex(*constant);
  return onThisSide(cast<Value>(index));
}

void RingProducer::mapBeforeLoop(Value value, scf::ForOp loop,
                                 IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return mapping.map(value, onThisSide(value));
  for (Value operand : op->getOperands())
    mapBeforeLoop(operand, loop, mapping);
}

/// The builder then stands where the producer's work is to be emitted.
TileLoop RingProducer::beginRole(Region &role) {
  thisSide.clear();
  hasMaps.clear();
  producer = &role.front();
  if (tileLoops)
    return tileLoops->beginProducer(role, thisSide);
  builder.setInsertionPointToStart(producer);
  return {};
}

void RingProducer::emitRoles(Value blocksAfter) {
  TileLoop streams = beginRole(program.roles.getRoles()[1]);
  if (!tileLoops)
    emitResident(streams);
  emitStreams();
  if (!tileLoops)
    return;
  tileLoops->endProducer(streams, onThisSide(blocksAfter));
  TileLoop ofQuery = beginRole(program.roles.getRoles()[2]);
  emitResident(ofQuery);
  tileLoops->endProducer(ofQuery, ofQuery.getBlocksBefore());
}

void RingProducer::emitResident(TileLoop own) {
  IRMapping none;
  for (CopyTileOp copy : program.resident) {
    const Ring &ring = rings.get(copy.getDest());
    if (ring.empty)
      WaitBarrierOp::create(builder, program.getLoc(), ring.empty,
                            program.getIndex(0),
                            tileLoops->emitParity(own, /*before=*/true));
    emitFill(copy, ring, program.getIndex(0), none);
  }
}

void RingProducer::emitStreams() {
  ArrayRef<BlockCopies> blocks = program.blocks;
  Location loc = program.getLoc();
  size_t next = 0;
  for (Operation &op : *program.consumers) {
    // What consumers note is asked here, too; a producer notes nothing.
    if (auto noted = dyn_cast<AnyNotedOp>(op)) {
      Value none = arith::ConstantIntOp::create(builder, loc, 0, 1);
      thisSide.map(noted.getResult(),
                   AnyNotedOp::create(builder, loc, builder.getI1Type(), none)
                       .getResult());
    }
    if (next == blocks.size() || &op != blocks[next].loop)
      continue;
    size_t last = next;
    while (last + 1 < blocks.size() && !blocks[last + 1].restart)
      ++last;
    scf::ForOp end = blocks[last].loop;
    emitStream(next, end.getUpperBound());
    next = last + 1;
  }
}

/// The blocks from the beginning of loop `number` on, up to `end`.
void RingProducer::emitStream(size_t number, Value end) {
  BlockCopies &block = program.blocks[number];
  Location loc = program.getLoc();
  Value begin = onThisSide(block.loop.getLowerBound());
  end = onThisSide(end);
  Value base = onThisSide(rings.getBase(number));
  auto loop = scf::ForOp::create(builder, loc, begin, end, program.getIndex(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto [stage, parity] = rings.emitPlace(loop.getInductionVar(), base);
  // Before the first round nothing is waited for: the phase before phase 0
  // counts as ended.
  Value before = arith::XOrIOp::create(builder, loc, parity, program.i32(1));
  IRMapping mapping;
  mapping.map(block.loop.getInductionVar(), loop.getInductionVar());
  for (CopyTileOp copy : block.copies) {
    const Ring &ring = rings.get(copy.getDest(), number);
    WaitBarrierOp::create(builder, loc, ring.empty, stage, before);
    for (Value index : copy.getSourceIndices()) {
      mapBeforeLoop(index, block.loop, mapping);
      mapping.map(index, cloneSlice(builder, index, block.loop, mapping));
    }
    emitFill(copy, ring, stage, mapping);
  }
}

//===----------------------------------------------------------------------===//
// A fill
//===----------------------------------------------------------------------===//

void RingProducer::emitFill(CopyTileOp copy, const Ring &ring, Value stage,
                            IRMapping &mapping) {
  SmallVector<Value> indices;
  for (Value index : copy.getSourceIndices())
    indices.push_back(onThisSide(mapping.lookupOrDefault(index)));
  Value map = mapOf(copy, ring);
  if (!map)
    return emitLaneCopy(copy, ring, stage, indices);
  Value mayCopyBoxes = emitMayCopyBoxes(copy, map, indices);
  auto branch = scf::IfOp::create(builder, program.getLoc(), mayCopyBoxes,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitBoxCopy(copy, ring, stage, indices);
  builder.setInsertionPointToStart(branch.elseBlock());
  emitLaneCopy(copy, ring, stage, indices);
}

/// Asked once in a role, in front of its loops.
Value RingProducer::emitHasMap(Value map) {
  Value &hasMap = hasMaps[map];
  if (hasMap)
    return hasMap;
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *loop = producer->findAncestorOpInBlock(
          *builder.getInsertionBlock()->getParentOp()))
    builder.setInsertionPoint(loop);
  return hasMap = HasTensorMapOp::create(builder, program.getLoc(),
                                         builder.getI1Type(), map);
}

/// There is a map, and no row of the tile lies in the tensor but outside of
/// what may be read of it.
Value RingProducer::emitMayCopyBoxes(CopyTileOp copy, Value map,
                                     ValueRange indices) {
  const TensorPlace &place = places[copy.getSource()];
  Location loc = program.getLoc();
  Value hasMap = emitHasMap(map);
  Value rows = toValue(place.rows);
  Value end = arith::AddIOp::create(builder, loc, indices[0],
                                    program.getIndex(getTileRows(copy)));
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b).getResult();
  };
  Value isWhole = compare(arith::CmpIPredicate::sge, rows, place.extent);
  Value isInside = compare(arith::CmpIPredicate::sle, end, rows);
  Value isExact = arith::OrIOp::create(builder, loc, isWhole, isInside);
  return arith::AndIOp::create(builder, loc, hasMap, isExact);
}

static SmallVector<Value> atStage(const Ring &ring, Value stage, Value zero) {
  SmallVector<Value> indices(cast<MemRefType>(ring.tiles.getType()).getRank(),
                             zero);
  if (indices.size() > 2)
    indices.front() = stage;
  return indices;
}

void RingProducer::emitBoxCopy(CopyTileOp copy, const Ring &ring, Value stage,
                               ValueRange indices) {
  const TensorPlace &place = places[copy.getSource()];
  Location loc = program.getLoc();
  SmallVector<Value> coordinates;
  for (OpFoldResult offset : place.coordinates)
    coordinates.push_back(toValue(offset));
  for (auto [dim, index] : {std::pair(place.rowDim, indices[0]),
                            std::pair(place.columnDim, indices[1])})
    coordinates[dim] =
        builder.createOrFold<arith::AddIOp>(loc, coordinates[dim], index);
  SmallVector<Value> dest = atStage(ring, stage, program.getIndex(0));
  if (ring.blocks != 1) {
    Value part = arith::MulIOp::create(
        builder, loc, emitClusterRank(builder, loc, ring.blocks),
        program.getIndex(getTileRows(copy) / ring.blocks));
    coordinates[place.rowDim] =
        arith::AddIOp::create(builder, loc, coordinates[place.rowDim], part);
    dest[dest.size() - 2] = part;
  }
  BulkCopyOp::create(builder, copy.getLoc(), mapOf(copy, ring), coordinates,
                     ring.tiles, dest, ring.full, stage, ring.blocks);
}

void RingProducer::emitLaneCopy(CopyTileOp copy, const Ring &ring, Value stage,
                                ValueRange indices) {
  Location loc = program.getLoc();
  CopyTileOp::create(builder, copy.getLoc(), onThisSide(copy.getSource()),
                     indices, ring.tiles,
                     atStage(ring, stage, program.getIndex(0)),
                     /*in_bounds=*/false);
  CommitCopiesOp::create(builder, loc);
  WaitCopiesOp::create(builder, loc, 0);
  FenceAsyncOp::create(builder, loc);
  // Nobody may be a round ahead of another block's producer.
  ArriveOp::create(builder, loc, ring.full, stage, Value(), ring.blocks);
}
