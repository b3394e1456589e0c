//===- PipelineCopies.cpp - copies of K and V run ahead ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage, after fa-promote-tiles. With S stages each streamed
// tile becomes a ring of S tiles; block jb lies in stage jb mod S. There is
// one group of copies for each block, so with S = 3:
//
//   before the loops   copy Q, block 0 | copy block 1 |     (| closes a group)
//   iteration jb       wait until block jb is there (1 group may be pending)
//                      barrier: all see block jb, and all are done with jb - 1
//                      copy block jb + 2 into the stage of jb - 1 |
//                      compute on block jb
//   after the loops    wait for all
//
// Groups are counted, so an iteration closes one even when nothing is left to
// copy. A loop over full blocks copies without any check: it runs only where
// the rows allow 16-byte copies and ends S - 1 blocks early, so that what it
// copies is full too; the blocks that it leaves run in the loop behind it.
//
// A loop may restart: begin at the first block of all instead of where the loop
// before it ended. Then the ring is filled again before it.
//===----------------------------------------------------------------------===//

#include "BlockCopies.h"
#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAPIPELINECOPIES
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// Makes what computes `value` inside `loop` computable at `point`.
LogicalResult hoistSlice(Value value, scf::ForOp loop, Operation *point) {
  if (value.getParentRegion() != &loop.getRegion())
    return hoistBefore(value, point);
  if (Operation *op = value.getDefiningOp())
    for (Value operand : op->getOperands())
      if (failed(hoistSlice(operand, loop, point)))
        return failure();
  return success();
}

class CopyPipeliner {
public:
  CopyPipeliner(scf::ForallOp program, int64_t stages)
      : program(program), stages(stages), builder(program) {}

  LogicalResult run();

private:
  LogicalResult verifySurroundings();
  LogicalResult emitPrologue();
  void shortenFullLoops();
  void addRemainderLoop(size_t position);
  void makeRings();
  void emitIteration(BlockCopies &block);
  void emitRestart(BlockCopies &block);
  void emitFirstBlocks(BlockCopies &pattern);

  /// Copies block `block` (an index) to its stage, as the ops of `pattern` do
  /// for their loop's own block.
  void emitCopies(BlockCopies &pattern, Value block, Value stage,
                  bool inBounds);
  void emitGuardedCopies(BlockCopies &pattern, Value block, Value stage);
  Value emitAligned();

  Value getIndex(int64_t value) { return getIndexConstant(program, value); }
  Location loc() { return blocks.front().loop.getLoc(); }
  Value add(Value a, int64_t b) {
    return builder.createOrFold<arith::AddIOp>(loc(), a, getIndex(b));
  }
  Value getStage(Value block) {
    return builder.createOrFold<arith::RemUIOp>(loc(), block, getIndex(stages));
  }

  scf::ForallOp program;
  int64_t stages;
  OpBuilder builder;
  SmallVector<BlockCopies> blocks; // one for each loop, in order
  Value first, end;                // the blocks of all loops together
  llvm::MapVector<Value, Value> rings;
};

/// Groups are counted: before the loops there is one for Q at most, and none
/// is closed between them.
LogicalResult CopyPipeliner::verifySurroundings() {
  CommitCopiesOp commit;
  bool isBehindFirst = false;
  for (Operation &op : *program.getBody()) {
    if (&op == blocks.back().loop)
      break;
    isBehindFirst |= &op == blocks.front().loop;
    if (llvm::any_of(blocks,
                     [&](BlockCopies &block) { return block.loop == &op; }))
      continue;
    if (isBehindFirst && op.walk([](Operation *inner) {
                             return isCopyOp(inner) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
                           }).wasInterrupted())
      return op.emitOpError("copies, or waits for copies, between the loops "
                            "over K/V blocks");
    bool isWait = isa<WaitCopiesOp>(op);
    if ((commit && isa<CommitCopiesOp, CopyTileOp>(op)) || (!commit && isWait))
      return op.emitOpError("before the loops over K/V blocks copies are "
                            "closed by one fa.commit_copies, and waited for "
                            "behind it");
    if (auto close = dyn_cast<CommitCopiesOp>(op))
      commit = close;
  }
  return success();
}

LogicalResult CopyPipeliner::run() {
  FailureOr<SmallVector<BlockCopies>> matched = matchBlockLoops(program);
  if (failed(matched))
    return failure();
  blocks = std::move(*matched);
  if (blocks.empty())
    return success();
  if (failed(verifySurroundings()))
    return failure();
  first = blocks.front().loop.getLowerBound();
  end = blocks.back().loop.getUpperBound();
  makeRings();
  if (failed(emitPrologue()))
    return failure();
  shortenFullLoops();
  for (BlockCopies &block : blocks)
    if (block.restart)
      emitRestart(block);
  for (BlockCopies &block : blocks)
    emitIteration(block);
  for (auto [tile, ring] : rings)
    tile.getDefiningOp()->erase();
  builder.setInsertionPointAfter(blocks.back().loop);
  WaitCopiesOp::create(builder, loc(), 0);
  return success();
}

void CopyPipeliner::makeRings() {
  for (CopyTileOp copy : blocks.front().copies) {
    auto tile = copy.getDest().getDefiningOp<memref::AllocOp>();
    MemRefType type = tile.getType();
    SmallVector<int64_t> shape{stages};
    llvm::append_range(shape, type.getShape());
    builder.setInsertionPoint(tile);
    rings[tile] = memref::AllocOp::create(
        builder, tile.getLoc(),
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace()));
  }
}

void CopyPipeliner::emitCopies(BlockCopies &pattern, Value block, Value stage,
                               bool inBounds) {
  // The tile's position is arithmetic on the block's number; repeat it.
  IRMapping mapping;
  mapping.map(pattern.loop.getInductionVar(), block);
  for (CopyTileOp copy : pattern.copies) {
    SmallVector<Value> from, to{stage};
    for (Value index : copy.getSourceIndices())
      from.push_back(cloneSlice(builder, index, pattern.loop, mapping));
    to.append(copy.getDestIndices().size(), getIndex(0));
    CopyTileOp::create(builder, copy.getLoc(), copy.getSource(), from,
                       rings.lookup(copy.getDest()), to, inBounds);
  }
}

void CopyPipeliner::emitGuardedCopies(BlockCopies &pattern, Value block,
                                      Value stage) {
  Value exists = builder.createOrFold<arith::CmpIOp>(
      loc(), arith::CmpIPredicate::slt, block, end);
  auto guard = scf::IfOp::create(builder, loc(), exists, /*withElse=*/false);
  OpBuilder::InsertionGuard inside(builder);
  builder.setInsertionPointToStart(guard.thenBlock());
  emitCopies(pattern, block, stage, /*inBounds=*/false);
}

/// The first S - 1 blocks, the first of them together with Q. A wait of Q's
/// own, when Q goes to registers, becomes a wait for that group.
LogicalResult CopyPipeliner::emitPrologue() {
  CommitCopiesOp queryCommit;
  SmallVector<WaitCopiesOp> queryWaits;
  for (Operation &op : *program.getBody()) {
    if (&op == blocks.front().loop)
      break;
    if (auto commit = dyn_cast<CommitCopiesOp>(op))
      queryCommit = commit;
    else if (auto wait = dyn_cast<WaitCopiesOp>(op))
      queryWaits.push_back(wait);
  }
  Operation *point = queryCommit ? queryCommit.getOperation()
                                 : blocks.front().loop.getOperation();
  if (failed(hoistBefore(first, point)) || failed(hoistBefore(end, point)))
    return failure();
  for (CopyTileOp copy : blocks.front().copies) {
    Operation *ring = rings.lookup(copy.getDest()).getDefiningOp();
    if (point->isBeforeInBlock(ring))
      ring->moveBefore(point);
    if (failed(hoistBefore(copy.getSource(), point)))
      return failure();
    for (Value index : copy.getSourceIndices())
      if (failed(hoistSlice(index, blocks.front().loop, point)))
        return failure();
  }
  builder.setInsertionPoint(point);
  emitFirstBlocks(blocks.front());
  if (queryCommit)
    queryCommit.erase();
  for (WaitCopiesOp wait : queryWaits)
    wait.setPending(stages - 2);
  return success();
}

void CopyPipeliner::emitFirstBlocks(BlockCopies &pattern) {
  for (int64_t ahead = 0; ahead < stages - 1; ++ahead) {
    Value block = add(first, ahead);
    emitGuardedCopies(pattern, block, getStage(block));
    CommitCopiesOp::create(builder, loc());
  }
}

/// Fills the ring again: what the loop before left in flight is waited for, and
/// no thread may still read the stages.
void CopyPipeliner::emitRestart(BlockCopies &block) {
  builder.setInsertionPoint(block.loop);
  auto guard = scf::IfOp::create(builder, loc(), block.restart,
                                 /*withElse=*/false);
  builder.setInsertionPointToStart(guard.thenBlock());
  WaitCopiesOp::create(builder, loc(), 0);
  gpu::BarrierOp::create(builder, loc());
  emitFirstBlocks(block);
}

/// Whether 16-byte copies may be made from each source.
Value CopyPipeliner::emitAligned() {
  SetVector<Value> sources;
  for (CopyTileOp copy : blocks.front().copies)
    sources.insert(copy.getSource());
  Value aligned;
  for (Value source : sources) {
    Value one =
        CopyAlignedOp::create(builder, loc(), builder.getI1Type(), source);
    aligned =
        aligned
            ? arith::AndIOp::create(builder, loc(), aligned, one).getResult()
            : one;
  }
  return aligned;
}

/// A loop that does what a full loop leaves over, where no partial one follows.
void CopyPipeliner::addRemainderLoop(size_t position) {
  scf::ForOp loop = blocks[position].loop;
  builder.setInsertionPointAfter(loop);
  auto rest = cast<scf::ForOp>(builder.clone(*loop));
  rest->setAttr(kBlocksAttr, builder.getStringAttr(kPartialBlocks));
  loop->replaceAllUsesWith(rest);
  rest.getInitArgsMutable().assign(loop.getResults());
  blocks.insert(blocks.begin() + position + 1, *matchBlockCopies(rest));
}

void CopyPipeliner::shortenFullLoops() {
  Value aligned;
  for (size_t i = 0; i < blocks.size(); ++i) {
    scf::ForOp loop = blocks[i].loop;
    if (!isFullLoop(loop))
      continue;
    if (i + 1 == blocks.size() || isFullLoop(blocks[i + 1].loop))
      addRemainderLoop(i);
    builder.setInsertionPoint(blocks.front().loop);
    if (!aligned)
      aligned = emitAligned();
    builder.setInsertionPoint(loop);
    Value lower = loop.getLowerBound();
    Value early = add(loop.getUpperBound(), 1 - stages);
    early = builder.createOrFold<arith::MaxSIOp>(loc(), early, lower);
    early = arith::SelectOp::create(builder, loc(), aligned, early, lower);
    loop.setUpperBound(early);
    BlockCopies &next = blocks[i + 1];
    if (next.restart) {
      builder.setInsertionPoint(next.loop);
      early =
          arith::SelectOp::create(builder, loc(), next.restart, first, early);
    }
    next.loop.setLowerBound(early);
  }
}

/// Replaces an iteration's own copies by those of the block S - 1 ahead.
void CopyPipeliner::emitIteration(BlockCopies &block) {
  Value number = block.loop.getInductionVar();
  builder.setInsertionPoint(block.firstBarrier);
  Value stage = getStage(number);
  WaitCopiesOp::create(builder, loc(), stages - 2);
  gpu::BarrierOp::create(builder, loc());
  Value next = add(number, stages - 1);
  if (isFullLoop(block.loop))
    emitCopies(block, next, getStage(next), /*inBounds=*/true);
  else
    emitGuardedCopies(block, next, getStage(next));
  CommitCopiesOp::create(builder, loc());

  for (CopyTileOp copy : block.copies) {
    Value ring = rings.lookup(copy.getDest());
    for (Operation *user :
         llvm::make_early_inc_range(copy.getDest().getUsers()))
      if (auto load = dyn_cast<LoadTileOp>(user);
          load && block.loop->isAncestor(load)) {
        load.getSourceMutable().assign(ring);
        SmallVector<Value> indices{stage};
        llvm::append_range(indices, load.getIndices());
        load.getIndicesMutable().assign(indices);
      }
    copy.erase();
  }
  block.firstBarrier.erase();
  block.commit.erase();
  block.wait.erase();
  block.lastBarrier.erase();
}

struct FAPipelineCopies
    : public fa::impl::FAPipelineCopiesBase<FAPipelineCopies> {
  void runOnOperation() override {
    auto pipeline = [](scf::ForallOp program,
                       const CompleteSchedule &schedule) {
      if (schedule.stages < 2 || schedule.producers != 0)
        return success();
      return CopyPipeliner(program, schedule.stages).run();
    };
    if (failed(forEachTileProgram(getOperation(), pipeline)))
      signalPassFailure();
  }
};

} // namespace
