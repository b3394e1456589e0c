//===- Wgmma.h - instructions of the wgmma and TMA families -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders for the instructions of sm_90a that fa-distribute emits. They are
// inline PTX where upstream's ops cannot say what is meant: accumulators that
// are tied to registers over several instructions, A in registers, a wait that
// holds values back.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_GPU_MMA_WGMMA_H
#define FA_LIB_GPU_MMA_WGMMA_H

#include "mlir/IR/Builders.h"

namespace mlir::fa {

/// A product of a warpgroup, m64 n k16, of 16-bit elements added up in f32.
struct WgmmaStep {
  ValueRange a;     ///< four registers (i32), or one descriptor (i64)
  Value rhs;        ///< descriptor, i64
  bool isRhsKMajor; ///< else its columns are contiguous
  ValueRange acc;   ///< n / 2 f32; empty: begins with 0
  int64_t n;
  Type element;
};
SmallVector<Value> createWgmma(OpBuilder &b, Location loc,
                               const WgmmaStep &step);
/// The descriptor of what lies `bytes` behind, computed where it stands each
/// time: neither carried over a loop nor shared between products.
Value createDescriptorAnew(OpBuilder &b, Location loc, Value descriptor,
                           int64_t bytes);
/// Orders what was done to registers before the products that use them. Leads
/// them through (f32 and i32): no copy comes between.
SmallVector<Value> createWgmmaFence(OpBuilder &b, Location loc,
                                    ValueRange registers);
void createWgmmaCommit(OpBuilder &b, Location loc);
/// Waits, and leads f32 values through: what uses the results stays behind.
SmallVector<Value> createWgmmaWait(OpBuilder &b, Location loc, int64_t pending,
                                   ValueRange values);

/// fence.proxy.async of shared memory.
void createFenceAsync(OpBuilder &b, Location loc);
void createSetMaxRegisters(OpBuilder &b, Location loc, int64_t number,
                           bool isMore);

/// A barrier of so many threads of the block, the others being elsewhere, that
/// tells whether `pred` holds in any of them. Upstream's op wants all threads.
Value createBarrierAnyOf(OpBuilder &b, Location loc, Value pred,
                         int64_t threads);

/// mbarriers in shared memory, by their i32 address.
void createBarrierInit(OpBuilder &b, Location loc, Value barrier,
                       int64_t count);
void createBarrierInitFence(OpBuilder &b, Location loc);
void createBarrierArrive(OpBuilder &b, Location loc, Value barrier);
/// At the barrier of the same place in block `rank` (i32) of the cluster. What
/// it orders is reads by products that have ended: so it needs no fence, which
/// a scope of the cluster would be.
void createBarrierArriveAt(OpBuilder &b, Location loc, Value barrier,
                           Value rank);
/// Announces so many bytes and arrives.
void createBarrierExpect(OpBuilder &b, Location loc, Value barrier,
                         int64_t bytes);
void createBarrierWait(OpBuilder &b, Location loc, Value barrier, Value parity);

/// One box of a tensor to shared memory (i32 address), of each of so many
/// blocks of the cluster. `coordinates` are i32, the innermost one first.
void createTensorCopy(OpBuilder &b, Location loc, Value dest, Value map,
                      ValueRange coordinates, Value barrier, int64_t blocks);

/// All threads of the cluster meet, and see what they wrote.
void createClusterBarrier(OpBuilder &b, Location loc);

/// A box of shared memory to a tensor; the wait closes the group of such boxes
/// and ends when shared memory has been read.
void createTensorStore(OpBuilder &b, Location loc, Value source, Value map,
                       ValueRange coordinates);
void createTensorStoreWait(OpBuilder &b, Location loc);

/// stmatrix.x4 (b16): the counterpart of ldmatrix, at an i32 address.
void createStmatrix(OpBuilder &b, Location loc, Value address,
                    ValueRange registers);

/// Barriers by number, of so many threads: waits, or only arrives.
void createNamedBarrier(OpBuilder &b, Location loc, Value id, int64_t threads,
                        bool waits);

/// `address` (i32), in a form that is there only when `after` (f32) is.
Value createAddressAfter(OpBuilder &b, Location loc, Value address,
                         Value after);

} // namespace mlir::fa

#endif // FA_LIB_GPU_MMA_WGMMA_H
