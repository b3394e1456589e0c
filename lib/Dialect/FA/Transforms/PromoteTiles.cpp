//===- PromoteTiles.cpp - Q, K and V through workgroup memory ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage. The operands of the contractions are loaded from
// global memory by the tile stage; here they get a tile of workgroup memory,
// filled by all threads of the block and read by each warp right before the
// contraction that uses it. The result waits for each block before computing;
// fa-pipeline-copies makes the copies run ahead.
//===----------------------------------------------------------------------===//

#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAPROMOTETILES
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// Whether a tile is worth a place in workgroup memory: an operand of a
/// contraction, from elsewhere. Masks and biases are read once by the lane
/// that needs them.
bool isMatrixOperand(LoadTileOp load) {
  auto type = cast<VectorType>(load.getResult().getType());
  if (type.getRank() != 2 || load.getEachRow() ||
      isInWorkgroupMemory(load.getSource().getType()))
    return false;
  return llvm::any_of(load->getUses(), [](OpOperand &use) {
    auto contract = dyn_cast<vector::ContractionOp>(use.getOwner());
    return contract && use.getOperandNumber() < 2;
  });
}

SmallVector<LoadTileOp> getMatrixOperands(Block *block) {
  return llvm::to_vector(
      llvm::make_filter_range(block->getOps<LoadTileOp>(), isMatrixOperand));
}

class TilePromoter {
public:
  TilePromoter(scf::ForallOp program, const CompleteSchedule &schedule)
      : loops(getBlockLoops(program)), schedule(schedule), builder(program),
        program(program) {}

  LogicalResult run();

private:
  /// The tile for what `load` reads; the loops share one for each source. Q has
  /// its own, even where it is the same tensor as K: it outlives a block.
  Value getTile(LoadTileOp load);
  /// Fills the tile of `load` where the builder stands.
  Value copy(LoadTileOp load);
  /// Replaces a load by loads from its tile, each right before its use.
  void loadAtUses(LoadTileOp load, Value tile);
  void loadFrom(LoadTileOp load, Value tile, OpOperand &use);

  LogicalResult promoteResident(SmallVectorImpl<LoadTileOp> &loads);
  LogicalResult verifyResident(LoadTileOp load);
  LogicalResult promoteStreamed(scf::ForOp loop);

  Value getZero() { return getIndexConstant(program, 0); }

  SmallVector<scf::ForOp> loops;
  const CompleteSchedule &schedule;
  OpBuilder builder;
  scf::ForallOp program;
  /// By source, type, and whether it is resident.
  llvm::MapVector<std::tuple<Value, Type, unsigned>, Value> tiles;
};

LogicalResult TilePromoter::run() {
  if (loops.empty()) {
    WalkResult walk = program->walk([](LoadTileOp load) {
      return isMatrixOperand(load) ? WalkResult::interrupt()
                                   : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return program.emitOpError("has tiles to copy but no loop over K/V "
                                 "blocks (fa.blocks); was it folded away?");
    return success();
  }
  bool keepsState = !getStateBuffers(program).empty();
  SmallVector<LoadTileOp> resident = getMatrixOperands(program.getBody());
  // All tiles before the first copy: copies may be moved up to it later.
  for (LoadTileOp load : resident)
    getTile(load);
  for (scf::ForOp loop : loops)
    for (LoadTileOp load : getMatrixOperands(loop.getBody()))
      getTile(load);
  if (failed(promoteResident(resident)))
    return failure();
  for (scf::ForOp loop : loops)
    if (failed(promoteStreamed(loop)))
      return failure();
  // What the last block wrote is read by other lanes of the warp.
  if (keepsState) {
    builder.setInsertionPointAfter(loops.back());
    gpu::BarrierOp::create(builder, loops.back().getLoc());
  }
  return success();
}

Value TilePromoter::getTile(LoadTileOp load) {
  auto vector = cast<VectorType>(load.getResult().getType());
  unsigned isResident = load->getBlock() == program.getBody();
  Value &tile = tiles[{load.getSource(), vector, isResident}];
  if (!tile) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loops.front());
    auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                            gpu::AddressSpace::Workgroup);
    tile = memref::AllocOp::create(
        builder, load.getLoc(),
        MemRefType::get(vector.getShape(), vector.getElementType(),
                        MemRefLayoutAttrInterface(), space));
  }
  return tile;
}

Value TilePromoter::copy(LoadTileOp load) {
  Value tile = getTile(load);
  Value zero = getZero();
  CopyTileOp::create(builder, load.getLoc(), load.getSource(),
                     load.getIndices(), tile, ValueRange{zero, zero},
                     /*in_bounds=*/false);
  return tile;
}

void TilePromoter::loadFrom(LoadTileOp load, Value tile, OpOperand &use) {
  builder.setInsertionPoint(use.getOwner());
  Value zero = getZero();
  auto local =
      LoadTileOp::create(builder, load.getLoc(), load.getResult().getType(),
                         tile, ValueRange{zero, zero});
  use.set(local);
}

void TilePromoter::loadAtUses(LoadTileOp load, Value tile) {
  for (OpOperand &use : llvm::make_early_inc_range(load->getUses()))
    loadFrom(load, tile, use);
  load.erase();
}

/// Its tile is there from the first loop on, and what it is copied from must
/// be known before that.
LogicalResult TilePromoter::verifyResident(LoadTileOp load) {
  for (Value operand : load->getOperands())
    if (failed(hoistBefore(operand, loops.front())))
      return failure();
  bool inRegisters = schedule.query == QueryKind::Registers;
  for (Operation *user : load->getUsers()) {
    Operation *inBody = program.getBody()->findAncestorOpInBlock(*user);
    bool isInLoop = llvm::is_contained(loops, inBody);
    if (inRegisters ? inBody->isBeforeInBlock(loops.front()) : !isInLoop)
      return user->emitOpError("uses a tile that is there ")
             << (inRegisters ? "from the first loop over K/V blocks on"
                             : "in the loops over K/V blocks only");
  }
  return success();
}

/// Q: copied once, before the loops. Its tile stays for all of them, or is
/// read into registers at once.
LogicalResult
TilePromoter::promoteResident(SmallVectorImpl<LoadTileOp> &loads) {
  if (loads.empty())
    return success();
  for (LoadTileOp load : loads)
    if (failed(verifyResident(load)))
      return failure();
  builder.setInsertionPoint(loops.front());
  Location loc = loads.front().getLoc();
  SmallVector<Value> filled;
  for (LoadTileOp load : loads)
    filled.push_back(copy(load));
  CommitCopiesOp::create(builder, loc);
  bool inRegisters = schedule.query == QueryKind::Registers;
  if (inRegisters) {
    WaitCopiesOp::create(builder, loc, 0);
    gpu::BarrierOp::create(builder, loc);
  }
  for (auto [load, tile] : llvm::zip_equal(loads, filled)) {
    if (!inRegisters) {
      loadAtUses(load, tile);
      continue;
    }
    Value zero = getZero();
    auto local =
        LoadTileOp::create(builder, load.getLoc(), load.getResult().getType(),
                           tile, ValueRange{zero, zero});
    load.replaceAllUsesWith(local.getResult());
    load.erase();
  }
  return success();
}

/// K and V: copied in each iteration. The first barrier keeps the copies away
/// from what slower warps still read, the second shows them to all.
LogicalResult TilePromoter::promoteStreamed(scf::ForOp loop) {
  SmallVector<LoadTileOp> loads = getMatrixOperands(loop.getBody());
  if (loads.empty())
    return success();
  Location loc = loop.getLoc();
  builder.setInsertionPointToStart(loop.getBody());
  auto barrier = gpu::BarrierOp::create(builder, loc);
  for (LoadTileOp load : loads)
    for (Value operand : load->getOperands())
      if (failed(hoistBefore(operand, barrier)))
        return failure();
  builder.setInsertionPointAfter(barrier);

  DenseMap<Value, LoadTileOp> filled;
  for (LoadTileOp load : loads) {
    auto [it, isNew] = filled.try_emplace(getTile(load), load);
    if (isNew)
      copy(load);
    else if (it->second.getIndices() != load.getIndices())
      return load.emitOpError("is a second tile of its operand in one "
                              "iteration; one is supported");
  }
  CommitCopiesOp::create(builder, loc);
  WaitCopiesOp::create(builder, loc, 0);
  gpu::BarrierOp::create(builder, loc);
  for (LoadTileOp load : loads)
    loadAtUses(load, getTile(load));
  return success();
}

struct FAPromoteTiles : public fa::impl::FAPromoteTilesBase<FAPromoteTiles> {
  void runOnOperation() override {
    auto promote = [](scf::ForallOp program, const CompleteSchedule &schedule) {
      return TilePromoter(program, schedule).run();
    };
    if (failed(forEachTileProgram(getOperation(), promote)))
      signalPassFailure();
  }
};

} // namespace
