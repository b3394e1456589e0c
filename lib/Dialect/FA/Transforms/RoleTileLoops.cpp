//===- RoleTileLoops.cpp - several tiles of the output ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleTileLoops.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fa;

/// `workers`; but where 32 bits cannot number the tiles, as many blocks as
/// there are tiles, which is more than a grid may have: it is not launched.
Value RoleTileLoops::emitRefusedGrid(Value workers) {
  constexpr int64_t kTooMany = int64_t(1) << 31;
  if (std::optional<int64_t> known = getConstantIntValue(numTiles);
      known && *known < kTooMany)
    return workers;
  Location loc = program.getLoc();
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value times =
      arith::DivUIOp::create(builder, loc, numTiles, constant(kTooMany));
  Value isTooMany = arith::MinUIOp::create(builder, loc, times, constant(1));
  Value refused = arith::MulIOp::create(builder, loc, numTiles, isTooMany);
  return arith::MaxUIOp::create(builder, loc, workers, refused);
}

/// One iteration for each block of threads that runs at once; each takes every
/// tile whose number is its own and then so many more. Takes over the body.
scf::ForallOp RoleTileLoops::createWorkers(ValueRange sizes) {
  Location loc = program.getLoc();
  numTiles = sizes.front();
  for (Value size : sizes.drop_front())
    numTiles = builder.createOrFold<arith::MulIOp>(loc, numTiles, size);
  Value most = MultiprocessorsOp::create(builder, loc, builder.getIndexType());
  Value workers = arith::MinUIOp::create(builder, loc, numTiles, most);
  workers = emitRefusedGrid(workers);
  auto created = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{workers}, /*outputs=*/ValueRange(),
      /*mapping=*/std::nullopt);
  created->setDiscardableAttrs(program.forall->getDiscardableAttrDictionary());
  Block *from = program.forall.getBody(), *to = created.getBody();
  to->getOperations().splice(std::prev(to->end()), from->getOperations(),
                             from->begin(), std::prev(from->end()));
  return created;
}

/// What stands before the roles and needs the tile's place, in order.
SmallVector<Operation *> RoleTileLoops::takeDependentOnTile() {
  DenseSet<Value> dependent(llvm::from_range,
                            program.forall.getInductionVars());
  auto usesDependent = [&](Operation *op) {
    return llvm::any_of(
               op->getOperands(),
               [&](Value operand) { return dependent.contains(operand); })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  SmallVector<Operation *> taken;
  for (Operation &op : *program.roles->getBlock()) {
    if (&op == program.roles)
      break;
    if (!op.walk(usesDependent).wasInterrupted())
      continue;
    dependent.insert_range(op.getResults());
    taken.push_back(&op);
  }
  return taken;
}

TileLoop RoleTileLoops::createLoop(Region &role) {
  Location loc = program.getLoc();
  builder.setInsertionPointToEnd(&role.front());
  Value workers = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  auto loop = scf::ForOp::create(
      builder, loc, program.forall.getInductionVar(0), numTiles, workers,
      ValueRange{program.i32(0), program.i32(0)});
  loop->setAttr(kTilesAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(loop.getBody());
  return {loop};
}

void RoleTileLoops::create() {
  scf::ForallOp old = program.forall;
  builder.setInsertionPoint(old);
  SmallVector<Value> sizes = old.getUpperBound(builder);
  SmallVector<Operation *> dependent = takeDependentOnTile();
  SmallVector<Operation *> own;
  for (Operation &op : *program.consumers)
    own.push_back(&op);
  program.forall = createWorkers(sizes);
  ofConsumers = createLoop(program.roles.getRoles()[0]);
  Block *body = ofConsumers.loop.getBody();
  program.consumers = body;
  SmallVector<Value> place = emitPlaceOf(
      builder, program.getLoc(), ofConsumers.loop.getInductionVar(), sizes);
  for (Operation *op : llvm::concat<Operation *>(dependent, own))
    op->moveBefore(body, body->end());
  for (auto [id, value] : llvm::zip_equal(old.getInductionVars(), place))
    id.replaceAllUsesWith(value);
  for (Operation &op : *body) {
    if (!own.empty() && &op == own.front())
      break;
    ofTile.push_back(&op);
  }
  old.erase();
}

Value RoleTileLoops::emitBlocksAfter(Value lastBase) {
  Location loc = program.getLoc();
  builder.setInsertionPointToEnd(program.consumers);
  scf::ForOp first = program.blocks.front().loop;
  scf::ForOp last = program.blocks.back().loop;
  // No block at all may be written as an end before the beginning.
  Value end = arith::MaxSIOp::create(builder, loc, last.getUpperBound(),
                                     first.getLowerBound());
  end = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), end);
  return arith::AddIOp::create(builder, loc, end, lastBase);
}

Value RoleTileLoops::emitParity(TileLoop own, bool before) {
  Location loc = program.getLoc();
  Value number = own.getTilesBefore();
  if (before)
    number = arith::AddIOp::create(builder, loc, number, program.i32(1));
  return arith::AndIOp::create(builder, loc, number, program.i32(1));
}

TileLoop RoleTileLoops::beginProducer(Region &role, IRMapping &mapping) {
  TileLoop own = createLoop(role);
  mapping.map(program.consumers->getArguments(),
              own.loop.getBody()->getArguments());
  for (Operation *op : ofTile)
    builder.clone(*op, mapping);
  return own;
}

void RoleTileLoops::endProducer(TileLoop own, Value blocksAfter) {
  end(own, blocksAfter);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*own.loop.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void RoleTileLoops::end(TileLoop own, Value blocksAfter) {
  Location loc = program.getLoc();
  builder.setInsertionPointToEnd(own.loop.getBody());
  Value done =
      arith::AddIOp::create(builder, loc, own.getTilesBefore(), program.i32(1));
  scf::YieldOp::create(builder, loc, ValueRange{blocksAfter, done});
}
