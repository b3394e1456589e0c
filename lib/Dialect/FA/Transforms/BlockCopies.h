//===- BlockCopies.h - how a loop fills its tiles of K and V ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fa-promote-tiles leaves in a loop over K/V blocks, found again by the
// passes that let copies run ahead: fa-pipeline-copies and fa-specialize-warps.
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_BLOCKCOPIES_H
#define LIB_DIALECT_FA_TRANSFORMS_BLOCKCOPIES_H

#include "TileProgram.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fa {

/// The ops by which fa-promote-tiles fills the tiles of one block:
/// barrier, copies, commit, wait, barrier, in this order in the loop's body.
struct BlockCopies {
  scf::ForOp loop;
  gpu::BarrierOp firstBarrier, lastBarrier;
  SmallVector<CopyTileOp> copies;
  CommitCopiesOp commit;
  WaitCopiesOp wait;
  Value restart; // i1, or null: the loop begins at the first block of all
};

/// Whether an op has a part in the counting of copies.
bool isCopyOp(Operation *op);

FailureOr<BlockCopies> matchBlockCopies(scf::ForOp loop);

/// Those of all loops of a program, in order: each begins where the one before
/// it ended, or at the first block of all, they copy the same tiles, and
/// nothing else touches those.
FailureOr<SmallVector<BlockCopies>> matchBlockLoops(scf::ForallOp program);

/// Repeats at the builder's place what computes `value` inside `loop`, with
/// what `mapping` says for the loop's own values. Such ops are pure in a loop
/// that was matched.
Value cloneSlice(OpBuilder &builder, Value value, scf::ForOp loop,
                 IRMapping &mapping);

/// Whether two index values are known to be the same.
bool isSameIndex(Value a, Value b);

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_BLOCKCOPIES_H
