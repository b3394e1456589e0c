//===- MmaSync.h - warp instructions of the mma.sync family -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders for the instructions that fa-distribute emits. They stand apart so
// that one file pays for the NVVM header.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_GPU_MMA_MMASYNC_H
#define FA_LIB_GPU_MMA_MMASYNC_H

#include "mlir/IR/Builders.h"

namespace mlir::fa {

/// D = A.B + C by mma.sync.m16n8k16, f32 accumulator. `a`: four registers of
/// vector<2xT>, `b`: two, `c`: four f32. Returns four f32.
SmallVector<Value> createMmaSync(OpBuilder &b, Location loc, ValueRange a,
                                 ValueRange rhs, ValueRange c);

/// ldmatrix.x4 (b16): four registers of vector<2 x element>. `address` is the
/// row address that this lane supplies, an !llvm.ptr<3>.
SmallVector<Value> createLdmatrix(OpBuilder &b, Location loc, Value address,
                                  Type element, bool transpose);

/// cp.async.cg of a chunk; `sourceBytes` (i32) of it are read and the rest is
/// zero, all of it when it is null.
void createCopyAsync(OpBuilder &b, Location loc, Value dest, Value source,
                     Value sourceBytes = {});
void createCommitGroup(OpBuilder &b, Location loc);
void createWaitGroup(OpBuilder &b, Location loc, int64_t pending);

/// Whether `pred` holds in any lane of the warp.
Value createVoteAny(OpBuilder &b, Location loc, Value pred);

/// A special register such as "%tid.x" (i32), read where this stands: no
/// optimiser moves or merges it. Code that runs seldom starts from it, so that
/// nothing of such code is computed ahead of a loop and kept in registers
/// throughout.
Value createOpaqueRead(OpBuilder &b, Location loc, StringRef specialRegister);

/// A barrier of the warp: what its lanes did to memory is ordered.
void createWarpBarrier(OpBuilder &b, Location loc);

/// A barrier of the block that tells whether `pred` holds in any thread.
Value createBarrierAny(OpBuilder &b, Location loc, Value pred);

/// `value` (f32 or i32) of lane number `lane`, an i32.
Value createShuffleIndex(OpBuilder &b, Location loc, Value value, Value lane);

/// `value` (f32 or i32) of the lane whose number differs by XOR `mask`.
Value createShuffleXor(OpBuilder &b, Location loc, Value value, int64_t mask);

} // namespace mlir::fa

#endif // FA_LIB_GPU_MMA_MMASYNC_H
