//===- BlockCopies.cpp - how a loop fills its tiles of K and V --*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fa;

bool mlir::fa::isCopyOp(Operation *op) {
  return isa<CopyTileOp, CommitCopiesOp, WaitCopiesOp>(op);
}

/// The ops in their order; what stands between them may be anything that
/// touches no memory.
static bool matchSequence(BlockCopies &found) {
  for (Operation &op : *found.loop.getBody()) {
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op)) {
      if (found.wait) {
        found.lastBarrier = barrier;
        return true;
      }
      if (found.firstBarrier)
        return false;
      found.firstBarrier = barrier;
    } else if (auto copy = dyn_cast<CopyTileOp>(op)) {
      if (!found.firstBarrier || found.commit)
        return false;
      found.copies.push_back(copy);
    } else if (auto commit = dyn_cast<CommitCopiesOp>(op)) {
      if (found.copies.empty() || found.commit)
        return false;
      found.commit = commit;
    } else if (auto wait = dyn_cast<WaitCopiesOp>(op)) {
      if (!found.commit || found.wait)
        return false;
      found.wait = wait;
    } else if (found.firstBarrier && !isMemoryEffectFree(&op)) {
      return false;
    }
  }
  return false;
}

/// A copy is repeated for other blocks: what places it follows from the
/// block's number and from values before the loop, by ops that may be repeated.
static LogicalResult verifyRepeatable(CopyTileOp copy, Value value,
                                      scf::ForOp loop) {
  Operation *op = value.getDefiningOp();
  bool isInside = value.getParentRegion() == &loop.getRegion();
  if (!isInside || value == loop.getInductionVar())
    return success();
  if (!op || !isPure(op) || op->getNumRegions() != 0)
    return copy.emitOpError("cannot run ahead: its place depends on what an "
                            "iteration before it computes");
  for (Value operand : op->getOperands())
    if (failed(verifyRepeatable(copy, operand, loop)))
      return failure();
  return success();
}

FailureOr<BlockCopies> mlir::fa::matchBlockCopies(scf::ForOp loop) {
  BlockCopies found;
  found.loop = loop;
  bool isMatched = matchSequence(found);
  size_t number = 0;
  loop.walk([&](Operation *op) { number += isCopyOp(op); });
  if (!isMatched || number != found.copies.size() + 2)
    return loop.emitOpError(
        "does not fill its tiles as fa-promote-tiles "
        "leaves it: barrier, copies, commit, wait, barrier");
  for (CopyTileOp copy : found.copies) {
    if (!llvm::all_of(copy.getDestIndices(),
                      [](Value index) { return isConstantIntValue(index, 0); }))
      return copy.emitOpError("must fill its tile from the first element");
    if (copy.getSource().getParentRegion() == &loop.getRegion())
      return copy.emitOpError(
          "source must be defined before the loop over K/V blocks");
    for (Value index : copy.getSourceIndices())
      if (failed(verifyRepeatable(copy, index, loop)))
        return failure();
  }
  return found;
}

bool mlir::fa::isSameIndex(Value a, Value b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  return a == b || (x && x == y);
}

Value mlir::fa::cloneSlice(OpBuilder &builder, Value value, scf::ForOp loop,
                           IRMapping &mapping) {
  if (Value done = mapping.lookupOrNull(value))
    return done;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return value;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneSlice(builder, operand, loop, mapping));
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Whether two values are computed alike from their loops' block numbers.
static bool isSameSlice(Value a, scf::ForOp aLoop, Value b, scf::ForOp bLoop) {
  if (isSameIndex(a, b) ||
      (a == aLoop.getInductionVar() && b == bLoop.getInductionVar()))
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getBlock() != aLoop.getBody() ||
      y->getBlock() != bLoop.getBody() || x->getName() != y->getName() ||
      x->getAttrDictionary() != y->getAttrDictionary() ||
      x->getNumOperands() != y->getNumOperands() || x->getNumRegions() != 0 ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber())
    return false;
  return llvm::all_of(
      llvm::zip_equal(x->getOperands(), y->getOperands()), [&](auto pair) {
        return isSameSlice(std::get<0>(pair), aLoop, std::get<1>(pair), bLoop);
      });
}

/// Whether two loops copy the same tiles of a block, one for the other.
static bool copiesSameTiles(BlockCopies &a, BlockCopies &b) {
  auto isSame = [&](auto pair) {
    auto [x, y] = pair;
    return x.getSource() == y.getSource() && x.getDest() == y.getDest() &&
           llvm::all_of(
               llvm::zip_equal(x.getSourceIndices(), y.getSourceIndices()),
               [&](auto indices) {
                 return isSameSlice(std::get<0>(indices), a.loop,
                                    std::get<1>(indices), b.loop);
               });
  };
  return a.copies.size() == b.copies.size() &&
         llvm::all_of(llvm::zip_equal(a.copies, b.copies), isSame);
}

/// A tile becomes a ring only where all that touches it is rewritten: the
/// copies, and loads inside the loops.
static LogicalResult verifyTiles(scf::ForallOp program,
                                 ArrayRef<BlockCopies> blocks) {
  for (CopyTileOp copy : blocks.front().copies) {
    auto tile = copy.getDest().getDefiningOp<memref::AllocOp>();
    if (!tile || tile->getBlock() != program.getBody())
      return copy.emitOpError("destination must be a buffer that the tile "
                              "program allocates");
    if (llvm::count_if(tile->getUsers(), [&](Operation *user) {
          return user->getParentOp() == copy->getParentOp() &&
                 isa<CopyTileOp>(user);
        }) != 1)
      return copy.emitOpError("must be the only copy to its tile in the loop");
    for (Operation *user : tile->getUsers()) {
      bool isKnown = llvm::any_of(blocks, [&](BlockCopies block) {
        Operation *inBody = block.loop.getBody()->findAncestorOpInBlock(*user);
        auto fill = dyn_cast<CopyTileOp>(user);
        return inBody &&
               (fill ? fill.getSource() != copy.getDest()
                     : isa<LoadTileOp>(user) &&
                           block.lastBarrier->isBeforeInBlock(inBody));
      });
      if (!isKnown)
        return user->emitOpError(
            "uses a tile of K or V; only the copies and "
            "loads behind them in the loops over K/V blocks may");
    }
  }
  return success();
}

FailureOr<SmallVector<BlockCopies>>
mlir::fa::matchBlockLoops(scf::ForallOp program) {
  SmallVector<BlockCopies> blocks;
  for (scf::ForOp loop : getBlockLoops(program)) {
    if (!isConstantIntValue(loop.getStep(), 1))
      return loop.emitOpError("over K/V blocks must have step 1");
    Value begin = loop.getLowerBound(), restart;
    auto goesOn = [&] {
      return blocks.empty() ||
             isSameIndex(blocks.back().loop.getUpperBound(), begin);
    };
    if (auto choice = begin.getDefiningOp<arith::SelectOp>();
        choice && !goesOn() &&
        isSameIndex(choice.getTrueValue(),
                    blocks.front().loop.getLowerBound())) {
      restart = choice.getCondition();
      begin = choice.getFalseValue();
    }
    if (!goesOn())
      return loop.emitOpError(
          "over K/V blocks must begin where the loop before it ended");
    FailureOr<BlockCopies> block = matchBlockCopies(loop);
    if (failed(block))
      return failure();
    block->restart = restart;
    if (!blocks.empty() && !copiesSameTiles(blocks.front(), *block))
      return loop.emitOpError("copies other tiles than the loop before it");
    blocks.push_back(*block);
  }
  if (!blocks.empty() && failed(verifyTiles(program, blocks)))
    return failure();
  return blocks;
}
