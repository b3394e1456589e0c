//===- PromoteState.cpp - m, l and u from memory to registers ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first pass of the map stage. The tile stage keeps the state of the
// online softmax in workgroup memory, one buffer each; where the schedule says
// state = registers, this pass turns the buffers into values that the loops
// over K/V blocks carry.
//
// A buffer may be promoted when each access covers all of it: then every row
// is read and written by the one warp that owns the row, and a barrier between
// two accesses orders nothing. The loops may be any number in a row, and the
// state may be read, but not written, inside an scf.if.
//===----------------------------------------------------------------------===//

#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAPROMOTESTATE
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// What a buffer holds at the point of the program that is being rewritten.
/// Ordered, because it decides the order of the loops' values.
using State = llvm::MapVector<Value, Value>;

/// Whether a transfer moves the whole buffer: full extents, every index 0, no
/// permutation, no mask.
template <typename TransferOp> bool coversBuffer(TransferOp op, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return op.getBase() == buffer &&
         op.getVectorType().getShape() == type.getShape() && !op.getMask() &&
         !op.hasOutOfBoundsDim() && op.getPermutationMap().isMinorIdentity() &&
         llvm::all_of(op.getIndices(),
                      [](Value index) { return isConstantIntValue(index, 0); });
}

/// Refuses a buffer that registers cannot stand in for.
LogicalResult verifyPromotable(memref::AllocOp buffer, scf::ForallOp program) {
  for (Operation *user : buffer->getUsers()) {
    auto read = dyn_cast<vector::TransferReadOp>(user);
    auto write = dyn_cast<vector::TransferWriteOp>(user);
    if (!(read && coversBuffer(read, buffer)) &&
        !(write && coversBuffer(write, buffer)))
      return user->emitOpError("accesses a part of a state buffer; state = "
                               "registers needs accesses to all of it");
    for (Operation *parent = user->getParentOp(); parent != program;
         parent = parent->getParentOp()) {
      if (isa<scf::ForOp>(parent) || (read && isa<scf::IfOp>(parent)))
        continue;
      return user->emitOpError("accesses a state buffer inside '")
             << parent->getName()
             << "'; state = registers needs accesses in loops only";
    }
  }
  return success();
}

class StatePromoter {
public:
  explicit StatePromoter(ArrayRef<memref::AllocOp> buffers)
      : buffers(buffers.begin(), buffers.end()) {}

  LogicalResult run(scf::ForallOp program) {
    State state;
    if (failed(promote(*program.getBody(), state)))
      return failure();
    for (memref::AllocOp buffer : buffers)
      buffer.erase();
    return success();
  }

private:
  bool isState(Value memref) const {
    return llvm::is_contained(buffers, memref.getDefiningOp());
  }

  /// The buffers written inside a loop, in the order of their allocation.
  SmallVector<Value> getWritten(scf::ForOp loop) {
    SmallVector<Value> written;
    for (memref::AllocOp buffer : buffers)
      if (llvm::any_of(buffer->getUsers(), [&](Operation *user) {
            return isa<vector::TransferWriteOp>(user) && loop->isAncestor(user);
          }))
        written.push_back(buffer);
    return written;
  }

  LogicalResult promote(Block &block, State &state);
  LogicalResult promote(scf::ForOp loop, State &state);

  SmallVector<memref::AllocOp> buffers;
};

/// Replaces the accesses of a block in program order.
LogicalResult StatePromoter::promote(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto write = dyn_cast<vector::TransferWriteOp>(op);
        write && isState(write.getBase())) {
      state[write.getBase()] = write.getVector();
      write.erase();
    } else if (auto read = dyn_cast<vector::TransferReadOp>(op);
               read && isState(read.getBase())) {
      Value value = state.lookup(read.getBase());
      if (!value)
        return read.emitOpError("reads a state buffer before it is written");
      read.replaceAllUsesWith(value);
      read.erase();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(promote(loop, state)))
        return failure();
    } else if (isa<scf::IfOp>(op)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (failed(promote(inner, state)))
            return failure();
    }
  }
  return success();
}

/// Lets a loop carry what its body writes.
LogicalResult StatePromoter::promote(scf::ForOp loop, State &state) {
  SmallVector<Value> written = getWritten(loop);
  if (written.empty())
    return promote(*loop.getBody(), state);

  SmallVector<Value> inits(loop.getInitArgs());
  for (Value buffer : written) {
    Value value = state.lookup(buffer);
    if (!value)
      return loop.emitOpError(
          "writes a state buffer that has no initial value");
    inits.push_back(value);
  }
  OpBuilder builder(loop);
  auto carrying =
      scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits,
                         /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  carrying->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  carrying.getRegion().takeBody(loop.getRegion());

  State inside = state;
  Block *body = carrying.getBody();
  for (Value buffer : written)
    inside[buffer] =
        body->addArgument(state.lookup(buffer).getType(), loop.getLoc());
  if (failed(promote(*body, inside)))
    return failure();
  SmallVector<Value> yields(body->getTerminator()->getOperands());
  for (Value buffer : written)
    yields.push_back(inside.lookup(buffer));
  body->getTerminator()->setOperands(yields);

  unsigned numOld = loop.getNumResults();
  loop.replaceAllUsesWith(carrying.getResults().take_front(numOld));
  for (auto [buffer, result] :
       llvm::zip_equal(written, carrying.getResults().drop_front(numOld)))
    state[buffer] = result;
  loop.erase();
  return success();
}

struct FAPromoteState : public fa::impl::FAPromoteStateBase<FAPromoteState> {
  void runOnOperation() override {
    auto promote = [](scf::ForallOp program, const CompleteSchedule &schedule) {
      if (schedule.state != StateKind::Registers)
        return success();
      SmallVector<memref::AllocOp> buffers = getStateBuffers(program);
      for (memref::AllocOp buffer : buffers)
        if (failed(verifyPromotable(buffer, program)))
          return failure();
      return StatePromoter(buffers).run(program);
    };
    if (failed(forEachTileProgram(getOperation(), promote)))
      signalPassFailure();
  }
};

} // namespace
