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
                          schedule.getPersistent().value_or(false)};
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
