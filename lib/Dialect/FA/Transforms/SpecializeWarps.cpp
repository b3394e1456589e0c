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
// n counts the blocks that went through the ring, which is not the number of
// the block: loops may begin again at the first one. Stage and phase follow
// from n (FARoleOps.td says what a phase is), so nothing needs to be carried.
//
// A tile is copied as boxes of its tensor by the unit for that (TMA), from a
// tensor map that the host makes; it writes zeros for what lies outside the
// tensor. Where there is no map, or where the sequence ends before the tensor
// does and inside the tile, the lanes of the producer copy instead. What masks
// hide of a tile comes with it.
//
// A persistent program begins as many blocks of threads as run at once, and
// each does one tile of the output after the other. Then every role is a loop
// over tiles, in which what depends on the tile is computed by each for itself.
// The rings go on from tile to tile: n is carried. Q becomes a ring of one,
// whose n is the number of the tile; a producer of its own fills it as soon as
// all consumers have given it back, while K and V of the next tile come
// already.
//
// In a cluster every block of threads goes through the same blocks of K and V.
// Each copies a part of a tile to all of them, so a stage is full when all
// parts have come, and empty when the consumers of all blocks have given it
// back. Loops that a block does again do not concern the others: it fills the
// same tiles alone then, by barriers of its own, whose numbers begin anew.
//===----------------------------------------------------------------------===//

#include "BlockCopies.h"
#include "TensorPlace.h"
#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Support/TensorMap.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FASPECIALIZEWARPS
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// A tile of workgroup memory, or a ring of them, and its barriers.
struct Ring {
  memref::AllocOp tile; ///< as fa-promote-tiles made it; goes
  int64_t stages;
  Value tiles;       ///< the ring; the tile itself where there is one
  Value full, empty; ///< barriers; no empty one where it is filled once
  int64_t blocks;    ///< of threads, that fill and empty it together
};

/// The loop over the tiles of a block of threads, in one role.
struct TileLoop {
  scf::ForOp loop;

  /// How many blocks of K and V, and how many tiles, went before: i32.
  Value getBlocksBefore() { return loop.getRegionIterArg(0); }
  Value getTilesBefore() { return loop.getRegionIterArg(1); }
};

class WarpSpecializer {
public:
  WarpSpecializer(scf::ForallOp program, const CompleteSchedule &schedule)
      : program(program), schedule(schedule), builder(program) {}

  LogicalResult run();

private:
  LogicalResult matchResident();
  LogicalResult verifyAgreement();
  void makeRings();
  Ring makeRing(CopyTileOp copy, int64_t stages);
  Value makeBarriers(int64_t number);
  void makeTensorMap(CopyTileOp copy);
  WarpRolesOp createRoles();
  void numberBlocks();

  // Of a persistent program.
  void loopOverTiles();
  SmallVector<Operation *> takeDependentOnTile();
  scf::ForallOp createWorkers(ValueRange sizes);
  Value emitRefusedGrid(Value workers);
  TileLoop createTileLoop(Region &role);
  void closeTileLoop(TileLoop tiles, Value blocksAfter);
  Value emitBlocksAfter();
  /// The parity that Q's consumers wait for, and with `before` its producer.
  Value emitTileParity(TileLoop tiles, bool before);

  void moveToConsumers();
  void waitForResident();
  void rewriteConsumerLoop(size_t number);
  void orderReads(scf::ForOp loop, const Ring &ring, Value stage, Value parity);

  TileLoop beginProducer(Region &role);
  void endProducer(TileLoop tiles, Value blocksAfter);
  void emitProducers(Value blocksAfter);
  void emitResident(TileLoop tiles);
  void emitStreams();
  void emitProducerLoop(size_t number, Value end);
  void emitFill(CopyTileOp copy, const Ring &ring, Value stage,
                IRMapping &mapping);
  void emitBoxCopy(CopyTileOp copy, const Ring &ring, Value stage,
                   ValueRange indices);
  void emitLaneCopy(CopyTileOp copy, const Ring &ring, Value stage,
                    ValueRange indices);
  Value emitMayCopyBoxes(CopyTileOp copy, Value map, ValueRange indices);
  Value emitHasMap(Value map);
  /// What stands for a consumers' value on the producer's side.
  Value onProducerSide(Value value);
  /// Maps so all that `value`, of a consumers' loop, needs from before it.
  void mapBeforeLoop(Value value, scf::ForOp loop, IRMapping &mapping);

  /// Whether a block of threads of a cluster does this loop over blocks by
  /// itself: from the first on that may begin again.
  bool isAlone(size_t loop) {
    return schedule.cluster != 1 &&
           llvm::any_of(ArrayRef(blocks).take_front(loop + 1),
                        [](const BlockCopies &block) { return block.restart; });
  }
  /// The ring of a tile in a loop over blocks.
  const Ring &ringOf(Value tile, size_t loop) {
    return isAlone(loop) ? ownRings.find(tile)->second
                         : rings.find(tile)->second;
  }
  /// The map whose boxes a ring is filled with, or null.
  Value mapOf(CopyTileOp copy, const Ring &ring) {
    return (ring.blocks == 1 ? maps : partMaps).lookup(copy.getSource());
  }

  /// Stage (index) and phase parity (i32) of block `block` of a loop.
  std::pair<Value, Value> emitStage(Value block, Value base);

  Value getIndex(int64_t value) { return getIndexConstant(program, value); }
  Value toValue(OpFoldResult index) {
    if (std::optional<int64_t> constant = getConstantIntValue(index))
      return getIndex(*constant);
    return onProducerSide(cast<Value>(index));
  }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc(), value, 32);
  }
  Location loc() { return program.getLoc(); }

  scf::ForallOp program;
  const CompleteSchedule &schedule;
  OpBuilder builder;
  SmallVector<BlockCopies> blocks;
  SmallVector<CopyTileOp> resident;
  llvm::MapVector<Value, Ring> rings;    // by the tile
  llvm::MapVector<Value, Ring> ownRings; // the same, filled alone
  DenseMap<Value, Value> maps;           // tensor map by a copy's source
  DenseMap<Value, Value> partMaps;       // for a block's part of a tile
  DenseMap<Value, TensorPlace> places;
  SmallVector<Value> bases; // for each loop: n minus the block's number, i32
  WarpRolesOp roles;
  Block *consumers = nullptr;      // what they do for one tile
  TileLoop tiles;                  // around it, in a persistent program
  Value numTiles;                  // of the output, of all
  SmallVector<Operation *> ofTile; // of the consumers, for producers too
  IRMapping producerSide;
  Block *producer = nullptr;      // the role that is being written
  DenseMap<Value, Value> hasMaps; // whether there is a map, asked in this role
};

LogicalResult WarpSpecializer::run() {
  FailureOr<SmallVector<BlockCopies>> matched = matchBlockLoops(program);
  if (failed(matched))
    return failure();
  blocks = std::move(*matched);
  if (blocks.empty())
    return program.emitOpError("has no loop over K/V blocks whose copies a "
                               "producer could take over");
  if (schedule.cluster != 1 && schedule.isPersistent)
    return program.emitOpError("schedule asks for cluster = ")
           << schedule.cluster
           << " and persistent = true; a persistent block goes from tile to "
              "tile by itself";
  if (failed(matchResident()) || failed(verifyAgreement()))
    return failure();
  makeRings();
  roles = createRoles();
  moveToConsumers();
  if (schedule.cluster != 1) {
    builder.setInsertionPoint(program.getBody()->getTerminator());
    ClusterBarrierOp::create(builder, loc());
  }
  if (schedule.isPersistent)
    loopOverTiles();
  for (CopyTileOp copy : resident)
    makeTensorMap(copy);
  for (CopyTileOp copy : blocks.front().copies)
    makeTensorMap(copy);
  numberBlocks();
  Value blocksAfter = schedule.isPersistent ? emitBlocksAfter() : Value();
  emitProducers(blocksAfter);

  for (size_t number = 0; number < blocks.size(); ++number)
    rewriteConsumerLoop(number);
  waitForResident();
  if (schedule.isPersistent)
    closeTileLoop(tiles, blocksAfter);
  for (auto &[tile, ring] : rings)
    if (ring.tiles != tile)
      ring.tile.erase();
  return success();
}

/// Q: copies and one commit directly in the program, before the loops.
LogicalResult WarpSpecializer::matchResident() {
  SmallVector<CommitCopiesOp> commits;
  for (Operation &op : *program.getBody()) {
    if (auto copy = dyn_cast<CopyTileOp>(op))
      resident.push_back(copy);
    else if (auto commit = dyn_cast<CommitCopiesOp>(op))
      commits.push_back(commit);
    else if (isa<WaitCopiesOp, gpu::BarrierOp>(op) &&
             op.isBeforeInBlock(blocks.front().loop))
      return op.emitOpError("before the loops over K/V blocks is not "
                            "understood; the schedule needs query = shared");
  }
  for (CopyTileOp copy : resident) {
    auto tile = copy.getDest().getDefiningOp<memref::AllocOp>();
    if (!tile || tile->getBlock() != program.getBody() ||
        !copy->isBeforeInBlock(blocks.front().loop))
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
  for (size_t number = 0; number < blocks.size(); ++number) {
    BlockCopies &block = blocks[number];
    if (schedule.cluster == 1 || isAlone(number))
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
        error << schedule.cluster
              << " blocks, but which ones depends on the block's rank";
        error.attachNote(rank->getLoc()) << "which is asked for here";
        return error;
      }
  }
  return success();
}

void WarpSpecializer::makeRings() {
  for (CopyTileOp copy : resident)
    rings.insert({copy.getDest(), makeRing(copy, 1)});
  for (CopyTileOp copy : blocks.front().copies) {
    Ring ring = makeRing(copy, schedule.stages);
    rings.insert({copy.getDest(), ring});
    if (!isAlone(blocks.size() - 1))
      continue;
    builder.setInsertionPoint(ring.tile);
    ring.empty = makeBarriers(ring.stages);
    ring.full = makeBarriers(ring.stages);
    ring.blocks = 1;
    ownRings.insert({copy.getDest(), ring});
  }
}

Value WarpSpecializer::makeBarriers(int64_t number) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({number}, builder.getI64Type(),
                              MemRefLayoutAttrInterface(), space);
  return memref::AllocOp::create(builder, loc(), type);
}

Ring WarpSpecializer::makeRing(CopyTileOp copy, int64_t stages) {
  Ring ring;
  ring.tile = copy.getDest().getDefiningOp<memref::AllocOp>();
  ring.stages = stages;
  builder.setInsertionPoint(ring.tile);
  bool isResident = llvm::is_contained(resident, copy);
  ring.blocks = isResident ? 1 : schedule.cluster;
  if (isResident) {
    ring.tiles = ring.tile;
  } else {
    MemRefType type = ring.tile.getType();
    SmallVector<int64_t> shape{stages};
    llvm::append_range(shape, type.getShape());
    ring.tiles = memref::AllocOp::create(
        builder, ring.tile.getLoc(),
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace()));
  }
  if (!isResident || schedule.isPersistent)
    ring.empty = makeBarriers(stages);
  ring.full = makeBarriers(stages);
  return ring;
}

/// On the host, in front of the program; none where the tensor's form is not
/// understood or a tile is larger than a box can be.
void WarpSpecializer::makeTensorMap(CopyTileOp copy) {
  Value source = copy.getSource();
  if (places.contains(source))
    return;
  std::optional<TensorPlace> place = findTensorPlace(source);
  if (!place || program.getRegion().isAncestor(place->tensor.getParentRegion()))
    return;
  ArrayRef<int64_t> tile =
      cast<MemRefType>(copy.getDest().getType()).getShape().take_back(2);
  if (tile[0] > farun::kMaxTensorBox)
    return;
  builder.setInsertionPoint(program);
  maps[source] = createTensorMap(builder, copy.getLoc(), *place, tile[0]);
  if (int64_t blocks = rings[copy.getDest()].blocks; blocks != 1)
    partMaps[source] =
        createTensorMap(builder, copy.getLoc(), *place, tile[0] / blocks);
  place->extent =
      memref::DimOp::create(builder, loc(), place->tensor, place->rowDim);
  places[source] = *place;
}

/// At the first op that is not for both sides.
WarpRolesOp WarpSpecializer::createRoles() {
  Operation *point = blocks.front().loop;
  for (Operation &op : *program.getBody())
    if (isa<CopyTileOp>(op)) {
      point = &op;
      break;
    }
  builder.setInsertionPoint(point);
  for (auto *all : {&rings, &ownRings})
    for (auto &[tile, ring] : *all) {
      InitBarriersOp::create(builder, loc(), ring.full, ring.blocks);
      if (ring.empty)
        InitBarriersOp::create(builder, loc(), ring.empty,
                               ring.blocks * schedule.warps);
    }
  if (schedule.cluster == 1)
    gpu::BarrierOp::create(builder, loc());
  else
    ClusterBarrierOp::create(builder, loc());
  // A warp for K and V, in a persistent program one for Q; the others of the
  // producers' warpgroup have nothing to do.
  SmallVector<int64_t> warps{schedule.warps, 1};
  if (schedule.isPersistent)
    warps.push_back(1);
  warps.push_back(schedule.producers + 1 - static_cast<int64_t>(warps.size()));
  RegisterShares shares =
      getRegisterShares(schedule.warps / kWarpsPerWarpgroup);
  SmallVector<int64_t> registers(warps.size(), shares.producer);
  registers.front() = shares.consumer;
  auto created = WarpRolesOp::create(builder, loc(), warps,
                                     builder.getDenseI64ArrayAttr(registers),
                                     /*rolesCount=*/warps.size());
  for (Region &region : created.getRoles())
    region.emplaceBlock();
  return created;
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
  consumers = &roles.getRoles()[0].front();
  SmallVector<Operation *> moving;
  bool isBehind = false;
  for (Operation &op : program.getBody()->without_terminator()) {
    if (&op == roles) {
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

/// Before the first read of what is filled once for a tile, which in a
/// persistent program is given back at the tile's end.
void WarpSpecializer::waitForResident() {
  for (CopyTileOp copy : resident) {
    Ring &ring = rings[copy.getDest()];
    builder.setInsertionPointToStart(consumers);
    Value parity =
        ring.empty ? emitTileParity(tiles, /*before=*/false) : i32(0);
    WaitBarrierOp::create(builder, loc(), ring.full, getIndex(0), parity);
    builder.setInsertionPointToEnd(consumers);
    if (ring.empty)
      ArriveOp::create(builder, loc(), ring.empty, getIndex(0), Value());
    copy.erase();
  }
}

//===----------------------------------------------------------------------===//
// Tile after tile
//===----------------------------------------------------------------------===//

/// `workers`; but where 32 bits cannot number the tiles, as many blocks as
/// there are tiles, which is more than a grid may have: it is not launched.
Value WarpSpecializer::emitRefusedGrid(Value workers) {
  constexpr int64_t kTooMany = int64_t(1) << 31;
  if (std::optional<int64_t> known = getConstantIntValue(numTiles);
      known && *known < kTooMany)
    return workers;
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc(), value);
  };
  Value times =
      arith::DivUIOp::create(builder, loc(), numTiles, constant(kTooMany));
  Value isTooMany = arith::MinUIOp::create(builder, loc(), times, constant(1));
  Value refused = arith::MulIOp::create(builder, loc(), numTiles, isTooMany);
  return arith::MaxUIOp::create(builder, loc(), workers, refused);
}

/// One iteration for each block of threads that runs at once; each takes every
/// tile whose number is its own and then so many more. Takes over the body.
scf::ForallOp WarpSpecializer::createWorkers(ValueRange sizes) {
  numTiles = sizes.front();
  for (Value size : sizes.drop_front())
    numTiles = builder.createOrFold<arith::MulIOp>(loc(), numTiles, size);
  Value most =
      MultiprocessorsOp::create(builder, loc(), builder.getIndexType());
  Value workers = arith::MinUIOp::create(builder, loc(), numTiles, most);
  workers = emitRefusedGrid(workers);
  auto created = scf::ForallOp::create(
      builder, loc(), ArrayRef<OpFoldResult>{workers}, /*outputs=*/ValueRange(),
      /*mapping=*/std::nullopt);
  created->setDiscardableAttrs(program->getDiscardableAttrDictionary());
  Block *from = program.getBody(), *to = created.getBody();
  to->getOperations().splice(std::prev(to->end()), from->getOperations(),
                             from->begin(), std::prev(from->end()));
  return created;
}

/// What stands before the roles and needs the tile's place, in order.
SmallVector<Operation *> WarpSpecializer::takeDependentOnTile() {
  DenseSet<Value> dependent(llvm::from_range, program.getInductionVars());
  SmallVector<Operation *> taken;
  for (Operation &op : *roles->getBlock()) {
    if (&op == roles)
      break;
    bool depends = op.walk([&](Operation *nested) {
                       return llvm::any_of(nested->getOperands(),
                                           [&](Value operand) {
                                             return dependent.contains(operand);
                                           })
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     }).wasInterrupted();
    if (!depends)
      continue;
    dependent.insert_range(op.getResults());
    taken.push_back(&op);
  }
  return taken;
}

TileLoop WarpSpecializer::createTileLoop(Region &role) {
  builder.setInsertionPointToEnd(&role.front());
  Value workers = gpu::GridDimOp::create(builder, loc(), gpu::Dimension::x);
  auto loop = scf::ForOp::create(builder, loc(), program.getInductionVar(0),
                                 numTiles, workers, ValueRange{i32(0), i32(0)});
  loop->setAttr(kTilesAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(loop.getBody());
  return {loop};
}

void WarpSpecializer::closeTileLoop(TileLoop tiles, Value blocksAfter) {
  builder.setInsertionPointToEnd(tiles.loop.getBody());
  Value done =
      arith::AddIOp::create(builder, loc(), tiles.getTilesBefore(), i32(1));
  scf::YieldOp::create(builder, loc(), ValueRange{blocksAfter, done});
}

Value WarpSpecializer::emitTileParity(TileLoop tiles, bool before) {
  Value number = tiles.getTilesBefore();
  if (before)
    number = arith::AddIOp::create(builder, loc(), number, i32(1));
  return arith::AndIOp::create(builder, loc(), number, i32(1));
}

/// Puts a loop over tiles around what consumers do, and makes the program one
/// over blocks of threads.
void WarpSpecializer::loopOverTiles() {
  scf::ForallOp old = program;
  builder.setInsertionPoint(old);
  SmallVector<Value> sizes = old.getUpperBound(builder);
  SmallVector<Operation *> dependent = takeDependentOnTile();
  SmallVector<Operation *> own;
  for (Operation &op : *consumers)
    own.push_back(&op);
  program = createWorkers(sizes);
  tiles = createTileLoop(roles.getRoles()[0]);
  consumers = tiles.loop.getBody();
  SmallVector<Value> place =
      emitPlaceOf(builder, loc(), tiles.loop.getInductionVar(), sizes);
  for (Operation *op : llvm::concat<Operation *>(dependent, own))
    op->moveBefore(consumers, consumers->end());
  for (auto [id, value] : llvm::zip_equal(old.getInductionVars(), place))
    id.replaceAllUsesWith(value);
  for (Operation &op : *consumers) {
    if (!own.empty() && &op == own.front())
      break;
    ofTile.push_back(&op);
  }
  old.erase();
}

/// How many blocks of K and V went through the rings at the end of a tile.
Value WarpSpecializer::emitBlocksAfter() {
  builder.setInsertionPointToEnd(consumers);
  scf::ForOp first = blocks.front().loop, last = blocks.back().loop;
  // No block at all may be written as an end before the beginning.
  Value end = arith::MaxSIOp::create(builder, loc(), last.getUpperBound(),
                                     first.getLowerBound());
  end = arith::IndexCastOp::create(builder, loc(), builder.getI32Type(), end);
  return arith::AddIOp::create(builder, loc(), end, bases.back());
}

//===----------------------------------------------------------------------===//
// Numbers in the rings
//===----------------------------------------------------------------------===//

/// A loop that begins again puts its blocks behind all that went through the
/// ring before; with rings of its own there is nothing before.
void WarpSpecializer::numberBlocks() {
  Value first = blocks.front().loop.getLowerBound();
  Value base; // n of the first block of all, i32
  for (auto [i, block] : llvm::enumerate(blocks)) {
    builder.setInsertionPoint(block.loop);
    auto narrow = [&](Value value) {
      return arith::IndexCastOp::create(builder, loc(), builder.getI32Type(),
                                        value)
          .getResult();
    };
    if (i == 0)
      base = arith::SubIOp::create(
          builder, loc(),
          schedule.isPersistent ? tiles.getBlocksBefore() : i32(0),
          narrow(first));
    if (isAlone(i) && !isAlone(i - 1)) {
      base = bases.front();
    } else if (block.restart) {
      Value done = arith::SubIOp::create(
          builder, loc(), narrow(blocks[i - 1].loop.getUpperBound()),
          narrow(first));
      Value more =
          arith::SelectOp::create(builder, loc(), block.restart, done, i32(0));
      base = arith::AddIOp::create(builder, loc(), base, more);
    }
    bases.push_back(base);
  }
}

std::pair<Value, Value> WarpSpecializer::emitStage(Value block, Value base) {
  Value number =
      arith::IndexCastOp::create(builder, loc(), builder.getI32Type(), block);
  number = arith::AddIOp::create(builder, loc(), number, base);
  Value stages = i32(schedule.stages);
  Value stage = arith::RemUIOp::create(builder, loc(), number, stages);
  Value round = arith::DivUIOp::create(builder, loc(), number, stages);
  Value parity = arith::AndIOp::create(builder, loc(), round, i32(1));
  stage = arith::IndexCastUIOp::create(builder, loc(), builder.getIndexType(),
                                       stage);
  return {stage, parity};
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// In one loop: waits before the first read of the ring's tile, and arrives
/// behind the last product that has read it.
void WarpSpecializer::orderReads(scf::ForOp loop, const Ring &ring, Value stage,
                                 Value parity) {
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
    SmallVector<Value> indices{stage};
    llvm::append_range(indices, load.getIndices());
    load.getIndicesMutable().assign(indices);
  }
  if (!first || !last)
    return;
  builder.setInsertionPoint(first);
  WaitBarrierOp::create(builder, loc(), ring.full, stage, parity);
  builder.setInsertionPointAfter(last);
  ArriveOp::create(builder, loc(), ring.empty, stage, Value(), ring.blocks);
}

void WarpSpecializer::rewriteConsumerLoop(size_t number) {
  BlockCopies &block = blocks[number];
  builder.setInsertionPointToStart(block.loop.getBody());
  auto [stage, parity] = emitStage(block.loop.getInductionVar(), bases[number]);
  SmallVector<Value> tiles;
  for (CopyTileOp copy : block.copies) {
    tiles.push_back(copy.getDest());
    copy.erase();
  }
  for (Value tile : tiles)
    orderReads(block.loop, ringOf(tile, number), stage, parity);
  block.firstBarrier.erase();
  block.commit.erase();
  block.wait.erase();
  block.lastBarrier.erase();
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

Value WarpSpecializer::onProducerSide(Value value) {
  if (Value known = producerSide.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != consumers)
    return value;
  for (Value operand : op->getOperands())
    producerSide.map(operand, onProducerSide(operand));
  builder.clone(*op, producerSide);
  return producerSide.lookup(value);
}

void WarpSpecializer::mapBeforeLoop(Value value, scf::ForOp loop,
                                    IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return mapping.map(value, onProducerSide(value));
  for (Value operand : op->getOperands())
    mapBeforeLoop(operand, loop, mapping);
}

/// The builder then stands where a producer's work is to be emitted.
TileLoop WarpSpecializer::beginProducer(Region &role) {
  producerSide.clear();
  hasMaps.clear();
  producer = &role.front();
  if (!schedule.isPersistent) {
    builder.setInsertionPointToStart(producer);
    return {};
  }
  TileLoop own = createTileLoop(role);
  producerSide.map(consumers->getArguments(),
                   own.loop.getBody()->getArguments());
  for (Operation *op : ofTile)
    builder.clone(*op, producerSide);
  return own;
}

void WarpSpecializer::endProducer(TileLoop own, Value blocksAfter) {
  if (!schedule.isPersistent)
    return;
  closeTileLoop(own, blocksAfter);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*own.loop.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void WarpSpecializer::emitProducers(Value blocksAfter) {
  TileLoop streams = beginProducer(roles.getRoles()[1]);
  if (!schedule.isPersistent)
    emitResident(streams);
  emitStreams();
  if (!schedule.isPersistent)
    return;
  endProducer(streams, onProducerSide(blocksAfter));
  TileLoop ofQuery = beginProducer(roles.getRoles()[2]);
  emitResident(ofQuery);
  endProducer(ofQuery, ofQuery.getBlocksBefore());
}

void WarpSpecializer::emitResident(TileLoop own) {
  IRMapping none;
  for (CopyTileOp copy : resident) {
    Ring &ring = rings[copy.getDest()];
    if (ring.empty)
      WaitBarrierOp::create(builder, loc(), ring.empty, getIndex(0),
                            emitTileParity(own, /*before=*/true));
    emitFill(copy, ring, getIndex(0), none);
  }
}

void WarpSpecializer::emitStreams() {
  size_t next = 0;
  for (Operation &op : *consumers) {
    if (auto noted = dyn_cast<AnyNotedOp>(op)) {
      Value none = arith::ConstantIntOp::create(builder, loc(), 0, 1);
      producerSide.map(
          noted.getResult(),
          AnyNotedOp::create(builder, loc(), builder.getI1Type(), none)
              .getResult());
    }
    if (next == blocks.size() || &op != blocks[next].loop)
      continue;
    // Loops in a row are one here: they copy alike.
    size_t last = next;
    while (last + 1 < blocks.size() && !blocks[last + 1].restart)
      ++last;
    emitProducerLoop(next, blocks[last].loop.getUpperBound());
    next = last + 1;
  }
}

void WarpSpecializer::emitProducerLoop(size_t number, Value end) {
  BlockCopies &block = blocks[number];
  Value begin = onProducerSide(block.loop.getLowerBound());
  end = onProducerSide(end);
  Value base = onProducerSide(bases[number]);
  auto loop = scf::ForOp::create(builder, loc(), begin, end, getIndex(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto [stage, parity] = emitStage(loop.getInductionVar(), base);
  // Before the first round nothing is waited for: the phase before phase 0
  // counts as ended.
  Value before = arith::XOrIOp::create(builder, loc(), parity, i32(1));
  IRMapping mapping;
  mapping.map(block.loop.getInductionVar(), loop.getInductionVar());
  for (CopyTileOp copy : block.copies) {
    const Ring &ring = ringOf(copy.getDest(), number);
    WaitBarrierOp::create(builder, loc(), ring.empty, stage, before);
    for (Value index : copy.getSourceIndices()) {
      mapBeforeLoop(index, block.loop, mapping);
      mapping.map(index, cloneSlice(builder, index, block.loop, mapping));
    }
    emitFill(copy, ring, stage, mapping);
  }
}

void WarpSpecializer::emitFill(CopyTileOp copy, const Ring &ring, Value stage,
                               IRMapping &mapping) {
  SmallVector<Value> indices;
  for (Value index : copy.getSourceIndices())
    indices.push_back(onProducerSide(mapping.lookupOrDefault(index)));
  Value map = mapOf(copy, ring);
  if (!map)
    return emitLaneCopy(copy, ring, stage, indices);
  Value mayCopyBoxes = emitMayCopyBoxes(copy, map, indices);
  auto branch = scf::IfOp::create(builder, loc(), mayCopyBoxes,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitBoxCopy(copy, ring, stage, indices);
  builder.setInsertionPointToStart(branch.elseBlock());
  emitLaneCopy(copy, ring, stage, indices);
}

static int64_t getTileRows(CopyTileOp copy) {
  return *std::prev(cast<MemRefType>(copy.getDest().getType()).getShape().end(),
                    2);
}

/// Asked once in a role, in front of its loops.
Value WarpSpecializer::emitHasMap(Value map) {
  Value &hasMap = hasMaps[map];
  if (hasMap)
    return hasMap;
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *loop = producer->findAncestorOpInBlock(
          *builder.getInsertionBlock()->getParentOp()))
    builder.setInsertionPoint(loop);
  return hasMap =
             HasTensorMapOp::create(builder, loc(), builder.getI1Type(), map);
}

/// There is a map, and no row of the tile lies in the tensor but outside of
/// what may be read of it.
Value WarpSpecializer::emitMayCopyBoxes(CopyTileOp copy, Value map,
                                        ValueRange indices) {
  const TensorPlace &place = places[copy.getSource()];
  Value hasMap = emitHasMap(map);
  Value rows = toValue(place.rows);
  Value end = arith::AddIOp::create(builder, loc(), indices[0],
                                    getIndex(getTileRows(copy)));
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc(), predicate, a, b).getResult();
  };
  Value isWhole = compare(arith::CmpIPredicate::sge, rows, place.extent);
  Value isInside = compare(arith::CmpIPredicate::sle, end, rows);
  Value isExact = arith::OrIOp::create(builder, loc(), isWhole, isInside);
  return arith::AndIOp::create(builder, loc(), hasMap, isExact);
}

static SmallVector<Value> atStage(const Ring &ring, Value stage, Value zero) {
  SmallVector<Value> indices(cast<MemRefType>(ring.tiles.getType()).getRank(),
                             zero);
  if (indices.size() > 2)
    indices.front() = stage;
  return indices;
}

void WarpSpecializer::emitBoxCopy(CopyTileOp copy, const Ring &ring,
                                  Value stage, ValueRange indices) {
  const TensorPlace &place = places[copy.getSource()];
  SmallVector<Value> coordinates;
  for (OpFoldResult offset : place.coordinates)
    coordinates.push_back(toValue(offset));
  for (auto [dim, index] : {std::pair(place.rowDim, indices[0]),
                            std::pair(place.columnDim, indices[1])})
    coordinates[dim] =
        builder.createOrFold<arith::AddIOp>(loc(), coordinates[dim], index);
  SmallVector<Value> dest = atStage(ring, stage, getIndex(0));
  if (ring.blocks != 1) {
    Value part = arith::MulIOp::create(
        builder, loc(), emitClusterRank(builder, loc(), ring.blocks),
        getIndex(getTileRows(copy) / ring.blocks));
    coordinates[place.rowDim] =
        arith::AddIOp::create(builder, loc(), coordinates[place.rowDim], part);
    dest[dest.size() - 2] = part;
  }
  BulkCopyOp::create(builder, copy.getLoc(), mapOf(copy, ring), coordinates,
                     ring.tiles, dest, ring.full, stage, ring.blocks);
}

void WarpSpecializer::emitLaneCopy(CopyTileOp copy, const Ring &ring,
                                   Value stage, ValueRange indices) {
  CopyTileOp::create(builder, copy.getLoc(), onProducerSide(copy.getSource()),
                     indices, ring.tiles, atStage(ring, stage, getIndex(0)),
                     /*in_bounds=*/false);
  CommitCopiesOp::create(builder, loc());
  WaitCopiesOp::create(builder, loc(), 0);
  FenceAsyncOp::create(builder, loc());
  // Nobody may be a round ahead of another block's producer.
  ArriveOp::create(builder, loc(), ring.full, stage, Value(), ring.blocks);
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
