//===- TileProgram.cpp - finding one's way in a tile program ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fa;

FailureOr<CompleteSchedule>
mlir::fa::getCompleteSchedule(scf::ForallOp program) {
  auto schedule = program->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  if (!schedule)
    return program.emitOpError("has no fa.schedule of the form #fa.schedule");
  const char *missing = !schedule.getTileQ()    ? "tile_q"
                        : !schedule.getTileKv() ? "tile_kv"
                        : !schedule.getWarps()  ? "warps"
                        : !schedule.getStages() ? "stages"
                        : !schedule.getState()  ? "state"
                                                : nullptr;
  if (missing)
    return program.emitOpError("schedule leaves '")
           << missing << "' open; fa-select-schedule completes it";
  return CompleteSchedule{*schedule.getTileQ(),
                          *schedule.getTileKv(),
                          *schedule.getWarps(),
                          *schedule.getStages(),
                          *schedule.getState(),
                          schedule.getQuery().value_or(QueryKind::Shared),
                          schedule.getProducers().value_or(0),
                          schedule.getPingpong().value_or(false),
                          schedule.getPersistent().value_or(false),
                          schedule.getCluster().value_or(1)};
}

LogicalResult mlir::fa::forEachTileProgram(
    func::FuncOp function,
    function_ref<LogicalResult(scf::ForallOp, const CompleteSchedule &)>
        transform) {
  SmallVector<scf::ForallOp> programs;
  function.walk([&](scf::ForallOp forall) {
    if (forall->hasAttr(kScheduleAttr))
      programs.push_back(forall);
  });
  for (scf::ForallOp program : programs) {
    FailureOr<CompleteSchedule> schedule = getCompleteSchedule(program);
    if (failed(schedule) || failed(transform(program, *schedule)))
      return failure();
  }
  return success();
}

SmallVector<scf::ForOp> mlir::fa::getBlockLoops(scf::ForallOp program) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : program.getBody()->getOps<scf::ForOp>())
    if (loop->hasAttr(kBlocksAttr))
      loops.push_back(loop);
  return loops;
}

bool mlir::fa::isFullLoop(scf::ForOp loop) {
  auto blocks = loop->getAttrOfType<StringAttr>(kBlocksAttr);
  return blocks && blocks.getValue() == kFullBlocks;
}

Block &mlir::fa::getTileBody(Region &role) {
  for (auto loop : role.front().getOps<scf::ForOp>())
    if (loop->hasAttr(kTilesAttr))
      return *loop.getBody();
  return role.front();
}

SmallVector<Value> mlir::fa::emitPlaceOf(OpBuilder &builder, Location loc,
                                         Value number, ValueRange sizes) {
  // 32-bit divisions are far shorter.
  auto narrow = [&](Value index) {
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                    index);
  };
  auto widen = [&](Value value) {
    return builder.createOrFold<arith::IndexCastUIOp>(
        loc, builder.getIndexType(), value);
  };
  SmallVector<Value> place(sizes.size());
  Value rest = narrow(number);
  for (size_t dim = sizes.size() - 1; dim > 0; --dim) {
    Value size = narrow(sizes[dim]);
    place[dim] = widen(builder.createOrFold<arith::RemUIOp>(loc, rest, size));
    rest = builder.createOrFold<arith::DivUIOp>(loc, rest, size);
  }
  place.front() = widen(rest);
  return place;
}

Value mlir::fa::emitClusterRank(OpBuilder &builder, Location loc,
                                int64_t blocks) {
  auto rank = gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
  rank.setUpperBoundAttr(builder.getIndexAttr(blocks));
  return rank;
}

/// What a value follows from: operands, and where loops and branches are, what
/// comes in, what is yielded, and what decides how often.
static SmallVector<Value> getSources(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return loop ? SmallVector<Value>{loop.getLowerBound(), loop.getStep()}
                  : SmallVector<Value>();
    unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
    return {loop.getInitArgs()[number], loop.getYieldedValues()[number]};
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getInitArgs()[number], loop.getYieldedValues()[number],
            loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  SmallVector<Value> sources(op->getOperands());
  op->walk([&](Operation *nested) {
    llvm::append_range(sources, nested->getOperands());
  });
  return sources;
}

Operation *mlir::fa::findClusterRank(Value value) {
  llvm::SetVector<Value> slice;
  slice.insert(value);
  for (size_t i = 0; i < slice.size(); ++i) {
    if (Operation *rank = slice[i].getDefiningOp<gpu::ClusterBlockIdOp>())
      return rank;
    slice.insert_range(getSources(slice[i]));
  }
  return nullptr;
}

bool mlir::fa::isInWorkgroupMemory(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && gpu::GPUDialect::isWorkgroupMemoryAddressSpace(
                       memref.getMemorySpace());
}

SmallVector<memref::AllocOp> mlir::fa::getStateBuffers(scf::ForallOp program) {
  SmallVector<memref::AllocOp> buffers;
  for (auto alloc : program.getBody()->getOps<memref::AllocOp>()) {
    if (!isInWorkgroupMemory(alloc.getType()))
      continue;
    if (llvm::any_of(alloc->getUsers(), [](Operation *user) {
          return isa<vector::TransferReadOp, vector::TransferWriteOp>(user);
        }))
      buffers.push_back(alloc);
  }
  return buffers;
}

Value mlir::fa::getIndexConstant(scf::ForallOp program, int64_t value) {
  Block *body = program.getBody();
  for (Operation &op : *body) {
    auto constant = dyn_cast<arith::ConstantIndexOp>(op);
    if (!constant)
      break;
    if (constant.value() == value)
      return constant;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  return arith::ConstantIndexOp::create(builder, program.getLoc(), value);
}

LogicalResult mlir::fa::hoistBefore(Value value, Operation *point) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != point->getBlock() || op->isBeforeInBlock(point))
    return success();
  if (!isPure(op) || op->getNumRegions() != 0)
    return op->emitOpError("is needed earlier but may not be moved");
  for (Value operand : op->getOperands())
    if (failed(hoistBefore(operand, point)))
      return failure();
  op->moveBefore(point);
  return success();
}
