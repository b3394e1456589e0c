//===- SpecializeWarps.cpp - some warps copy, others compute ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage, after fa-promote-tiles, in the place of
// fa-pipeline-copies. The program is taken apart: one warp, the producer, keeps
// the copies and what decides about them; the others, the consumers, keep all
// the rest. Each streamed tile becomes a ring of S tiles, and two barriers for
// each tile of a ring order the two sides:
//
//              producer                         consumers
//     n = 0:   wait until empty[n mod S]        wait until full[n mod S]
//              copy block n, signal full        compute on block n
//     n = 1:   ...                              arrive at empty[n mod S]
//
// TileRings.h has the numbers and the barriers, RingProducer.h the copies, and
// RoleTileLoops.h what a role does that goes from tile to tile of the output.
// Here are the order of the steps, and the consumers: their loops stay as they
// are, but for waits and arrivals around what reads a ring.
//
// In a cluster every block of threads goes through the same blocks of K and V,
// and copies a part of each tile to all. Who waits for the parts of others must
// find the same tiles, by the same means; a program in which the block's rank
// has a say in that is refused.
//===----------------------------------------------------------------------===//

#include "RingProducer.h"
#include "RoleProgram.h"
#include "RoleTileLoops.h"
#include "TileRings.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FASPECIALIZEWARPS
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

class WarpSpecializer {
public:
  WarpSpecializer(scf::ForallOp forall, const CompleteSchedule &schedule)
      : program(forall, schedule), builder(program.builder), rings(program) {}

  LogicalResult run();

private:
  LogicalResult match();
  LogicalResult matchResident();
  LogicalResult verifyAgreement();

  void createRoles();
  SmallVector<int64_t> divideWarps();
  void moveToConsumers();
  void emitMeetingAtEnd();

  void waitForResident(RoleTileLoops *tileLoops);
  void rewriteConsumerLoop(size_t number);
  void orderReads(scf::ForOp loop, const Ring &ring, const RingPlace &place);

  RoleProgram program;
  OpBuilder &builder;
  TileRings rings;
};

LogicalResult WarpSpecializer::run() {
  if (failed(match()))
    return failure();
  rings.create();
  createRoles();
  moveToConsumers();
  emitMeetingAtEnd();

  RoleTileLoops loops(program);
  RoleTileLoops *tileLoops = program.schedule.isPersistent ? &loops : nullptr;
  RingProducer producer(program, rings, tileLoops);
  Value blocksBefore, blocksAfter;
  if (tileLoops) {
    tileLoops->create();
    blocksBefore = tileLoops->getOfConsumers().getBlocksBefore();
  }
  producer.createTensorMaps();
  rings.numberBlocks(blocksBefore);
  if (tileLoops)
    blocksAfter = tileLoops->emitBlocksAfter(rings.getLastBase());
  producer.emitRoles(blocksAfter);

  for (size_t number = 0; number < program.blocks.size(); ++number)
    rewriteConsumerLoop(number);
  waitForResident(tileLoops);
  if (tileLoops)
    tileLoops->end(tileLoops->getOfConsumers(), blocksAfter);
  rings.eraseReplacedTiles();
  return success();
}

//===----------------------------------------------------------------------===//
// What is understood
//===----------------------------------------------------------------------===//

LogicalResult WarpSpecializer::match() {
  scf::ForallOp forall = program.forall;
  FailureOr<SmallVector<BlockCopies>> matched = matchBlockLoops(forall);
  if (failed(matched))
    return failure();
  program.blocks = std::move(*matched);
  if (program.blocks.empty())
    return forall.emitOpError("has no loop over K/V blocks whose copies a "
                              "producer could take over");
  if (program.schedule.cluster != 1 && program.schedule.isPersistent)
    return forall.emitOpError("schedule asks for cluster = ")
           << program.schedule.cluster
           << " and persistent = true; a persistent block goes from tile to "
              "tile by itself";
  if (failed(matchResident()))
    return failure();
  return verifyAgreement();
}

/// Q: copies and one commit directly in the program, before the loops.
LogicalResult WarpSpecializer::matchResident() {
  Block *body = program.forall.getBody();
  scf::ForOp firstLoop = program.blocks.front().loop;
  SmallVector<CommitCopiesOp> commits;
  for (Operation &op : *body) {
    if (auto copy = dyn_cast<CopyTileOp>(op))
      program.resident.push_back(copy);
    else if (auto commit = dyn_cast<CommitCopiesOp>(op))
      commits.push_back(commit);
    else if (isa<WaitCopiesOp, gpu::BarrierOp>(op) &&
             op.isBeforeInBlock(firstLoop))
      return op.emitOpError("before the loops over K/V blocks is not "
                            "understood; the schedule needs query = shared");
  }
  for (CopyTileOp copy : program.resident) {
    auto tile = copy.getDest().getDefiningOp<memref::AllocOp>();
    if (!tile || tile->getBlock() != body || !copy->isBeforeInBlock(firstLoop))
      return copy.emitOpError("must fill, before the loops over K/V blocks, a "
                              "buffer that the tile program allocates");
  }
  for (CommitCopiesOp commit : commits)
    commit.erase();
  return success();
}

/// Who waits for the parts of others must copy the same tiles, by the same
/// means.
LogicalResult WarpSpecializer::verifyAgreement() {
  for (auto [number, block] : llvm::enumerate(program.blocks)) {
    if (program.schedule.cluster == 1 || program.isAlone(number))
      break;
    SmallVector<Value> deciding{block.loop.getLowerBound(),
                                block.loop.getUpperBound()};
    for (CopyTileOp copy : block.copies) {
      deciding.push_back(copy.getSource());
      llvm::append_range(deciding, copy.getSourceIndices());
    }
    for (Value value : deciding)
      if (Operation *rank = findClusterRank(value)) {
        InFlightDiagnostic error =
            block.loop.emitOpError("copies tiles for a cluster of ");
        error << program.schedule.cluster
              << " blocks, but which ones depends on the block's rank";
        error.attachNote(rank->getLoc()) << "which is asked for here";
        return error;
      }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// A warp for K and V, in a persistent program one for Q; the others of the
/// producers' warpgroup have nothing to do.
SmallVector<int64_t> WarpSpecializer::divideWarps() {
  const CompleteSchedule &schedule = program.schedule;
  SmallVector<int64_t> warps{schedule.warps, 1};
  if (schedule.isPersistent)
    warps.push_back(1);
  warps.push_back(schedule.producers + 1 - static_cast<int64_t>(warps.size()));
  return warps;
}

/// At the first op that is not for both sides.
void WarpSpecializer::createRoles() {
  Location loc = program.getLoc();
  Operation *point = program.blocks.front().loop;
  for (Operation &op : *program.forall.getBody())
    if (isa<CopyTileOp>(op)) {
      point = &op;
      break;
    }
  builder.setInsertionPoint(point);
  rings.emitInitBarriers();
  if (program.schedule.cluster == 1)
    gpu::BarrierOp::create(builder, loc);
  else
    ClusterBarrierOp::create(builder, loc);
  SmallVector<int64_t> warps = divideWarps();
  RegisterShares shares =
      getRegisterShares(program.schedule.warps / kWarpsPerWarpgroup);
  SmallVector<int64_t> registers(warps.size(), shares.producer);
  registers.front() = shares.consumer;
  program.roles = WarpRolesOp::create(builder, loc, warps,
                                      builder.getDenseI64ArrayAttr(registers),
                                      /*rolesCount=*/warps.size());
  for (Region &region : program.roles.getRoles())
    region.emplaceBlock();
}

/// Arithmetic on positions and on numbers that are read, in loops too.
static bool isOnPositions(Operation &op) {
  if (isMemoryEffectFree(&op) || isa<memref::LoadOp, MinMaxOp>(op))
    return true;
  return op.hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
         llvm::all_of(op.getRegions(), [](Region &region) {
           return llvm::all_of(region.getOps(), isOnPositions);
         });
}

/// Everything behind the roles, and what before them is neither arithmetic on
/// positions nor a buffer nor read by both sides. Producers do not come to a
/// barrier behind the loops; it is for rows of state, which a warp has alone.
void WarpSpecializer::moveToConsumers() {
  Block *consumers = &program.roles.getRoles()[0].front();
  program.consumers = consumers;
  SmallVector<Operation *> moving;
  bool isBehind = false;
  for (Operation &op : program.forall.getBody()->without_terminator()) {
    if (&op == program.roles) {
      isBehind = true;
      continue;
    }
    bool isForBoth =
        isOnPositions(op) ||
        isa<memref::AllocOp, InitBarriersOp, gpu::BarrierOp, ClusterBarrierOp>(
            op);
    if (isBehind || !isForBoth)
      moving.push_back(&op);
  }
  for (Operation *op : moving) {
    op->moveBefore(consumers, consumers->end());
    if (!isa<gpu::BarrierOp>(op))
      continue;
    builder.setInsertionPoint(op);
    WarpgroupBarrierOp::create(builder, op->getLoc());
    op->erase();
  }
}

/// Nobody reaches into a block of the cluster that has ended.
void WarpSpecializer::emitMeetingAtEnd() {
  if (program.schedule.cluster == 1)
    return;
  builder.setInsertionPoint(program.forall.getBody()->getTerminator());
  ClusterBarrierOp::create(builder, program.getLoc());
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Before the first read of what is filled once for a tile, which in a
/// persistent program is given back at the tile's end.
void WarpSpecializer::waitForResident(RoleTileLoops *tileLoops) {
  Location loc = program.getLoc();
  for (CopyTileOp copy : program.resident) {
    const Ring &ring = rings.get(copy.getDest());
    builder.setInsertionPointToStart(program.consumers);
    Value parity = ring.empty
                       ? tileLoops->emitParity(tileLoops->getOfConsumers(),
                                               /*before=*/false)
                       : program.i32(0);
    WaitBarrierOp::create(builder, loc, ring.full, program.getIndex(0), parity);
    builder.setInsertionPointToEnd(program.consumers);
    if (ring.empty)
      ArriveOp::create(builder, loc, ring.empty, program.getIndex(0), Value());
    copy.erase();
  }
}

/// In one loop: waits before the first read of the ring's tile, and arrives
/// behind the last product that has read it.
void WarpSpecializer::orderReads(scf::ForOp loop, const Ring &ring,
                                 const RingPlace &place) {
  SmallVector<LoadTileOp> loads;
  for (Operation *user : ring.tile->getUsers())
    if (auto load = dyn_cast<LoadTileOp>(user); load && loop->isAncestor(load))
      loads.push_back(load);
  Operation *first = nullptr, *last = nullptr;
  auto topLevel = [&](Operation *op) {
    return loop.getBody()->findAncestorOpInBlock(*op);
  };
  for (LoadTileOp load : loads) {
    Operation *from = topLevel(load);
    if (!first || from->isBeforeInBlock(first))
      first = from;
    for (Operation *user : load->getUsers()) {
      Operation *to = topLevel(user);
      if (!last || last->isBeforeInBlock(to))
        last = to;
    }
    load.getSourceMutable().assign(ring.tiles);
    SmallVector<Value> indices{place.stage};
    llvm::append_range(indices, load.getIndices());
    load.getIndicesMutable().assign(indices);
  }
  if (!first || !last)
    return;
  Location loc = program.getLoc();
  builder.setInsertionPoint(first);
  WaitBarrierOp::create(builder, loc, ring.full, place.stage, place.parity);
  builder.setInsertionPointAfter(last);
  ArriveOp::create(builder, loc, ring.empty, place.stage, Value(), ring.blocks);
}

void WarpSpecializer::rewriteConsumerLoop(size_t number) {
  BlockCopies &block = program.blocks[number];
  builder.setInsertionPointToStart(block.loop.getBody());
  RingPlace place =
      rings.emitPlace(block.loop.getInductionVar(), rings.getBase(number));
  SmallVector<Value> tiles;
  for (CopyTileOp copy : block.copies) {
    tiles.push_back(copy.getDest());
    copy.erase();
  }
  for (Value tile : tiles)
    orderReads(block.loop, rings.get(tile, number), place);
  block.firstBarrier.erase();
  block.commit.erase();
  block.wait.erase();
  block.lastBarrier.erase();
}

struct FASpecializeWarps
    : public fa::impl::FASpecializeWarpsBase<FASpecializeWarps> {
  void runOnOperation() override {
    auto specialize = [](scf::ForallOp program,
                         const CompleteSchedule &schedule) {
      if (schedule.producers == 0)
        return success();
      return WarpSpecializer(program, schedule).run();
    };
    if (failed(forEachTileProgram(getOperation(), specialize)))
      signalPassFailure();
  }
};

} // namespace
