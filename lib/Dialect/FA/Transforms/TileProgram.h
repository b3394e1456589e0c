//===- TileProgram.h - finding one's way in a tile program ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile program is an scf.forall that carries a schedule: one iteration is
// the work of one block of threads, or of a cluster of them, in which each
// block has a rank. Its loops over K/V blocks stand directly in its body, each
// beginning where the one before it ended. The passes of the map stage find
// programs, schedules and loops through this header only.
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_TILEPROGRAM_H
#define LIB_DIALECT_FA_TRANSFORMS_TILEPROGRAM_H

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fa {

/// A schedule in which nothing is left open.
struct CompleteSchedule {
  int64_t tileQ, tileKV, warps, stages;
  StateKind state;
  QueryKind query;
  int64_t producers; ///< warps that only copy
  bool takesTurns;   ///< whether consumer warpgroups issue products in turn
  bool isPersistent; ///< whether a block of threads does several tiles
  int64_t cluster;   ///< blocks of threads that do an iteration together
};

/// The schedule of a program; an error when a key is missing.
FailureOr<CompleteSchedule> getCompleteSchedule(scf::ForallOp program);

/// Calls `transform` on each tile program of `function`; stops at a failure.
LogicalResult forEachTileProgram(
    func::FuncOp function,
    function_ref<LogicalResult(scf::ForallOp, const CompleteSchedule &)>
        transform);

/// The loops over K/V blocks, in order.
SmallVector<scf::ForOp> getBlockLoops(scf::ForallOp program);

/// Whether no block of this loop needs a mask.
bool isFullLoop(scf::ForOp loop);

/// What a role does for one tile of the output: its block, or in a persistent
/// program the body of the loop over tiles in it.
Block &getTileBody(Region &role);

/// Where iteration `number` (an index below 2^31) of a loop nest of these sizes
/// is, the last dimension fastest. The first size is not asked.
SmallVector<Value> emitPlaceOf(OpBuilder &builder, Location loc, Value number,
                               ValueRange sizes);

/// Which of the `blocks` blocks of a cluster this one is, as an index.
Value emitClusterRank(OpBuilder &builder, Location loc, int64_t blocks);

/// What tells the blocks of a cluster apart and is among what `value` follows
/// from; null where all of them compute the same. Only asked of values by which
/// memory is found, which the program reads but does not write.
Operation *findClusterRank(Value value);

/// Whether a memref lies in workgroup memory.
bool isInWorkgroupMemory(Type type);

/// The buffers of workgroup memory that hold m, l and u: those that vector
/// transfers access. Tiles are accessed by tile ops instead.
SmallVector<memref::AllocOp> getStateBuffers(scf::ForallOp program);

/// A constant at the head of the program, made when it is not there yet.
Value getIndexConstant(scf::ForallOp program, int64_t value);

/// Moves the pure ops of `point`'s block on which `value` depends before
/// `point`; fails when one of them may not move.
LogicalResult hoistBefore(Value value, Operation *point);

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_TILEPROGRAM_H
