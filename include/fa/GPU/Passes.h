//===- Passes.h - from a warp's values to a lane's --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_GPU_PASSES_H
#define FA_GPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::gpu {
class GPUFuncOp;
} // namespace mlir::gpu

namespace mlir::fa {

struct TargetInfo;

#define GEN_PASS_DECL
#include "fa/GPU/Passes.h.inc"

/// Rewrites one kernel of warp-level values to lane-level ones. An instruction
/// that `target` does not have is an error; null asks for none.
LogicalResult distributeToLanes(gpu::GPUFuncOp kernel,
                                const TargetInfo *target = nullptr);

#define GEN_PASS_REGISTRATION
#include "fa/GPU/Passes.h.inc"

} // namespace mlir::fa

#endif // FA_GPU_PASSES_H
