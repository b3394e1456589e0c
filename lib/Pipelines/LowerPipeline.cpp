//===- LowerPipeline.cpp - a lane's program becomes llvm + nvvm -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's conversions in an order that works, after one pass of ours. Only
// gpu.modules change: the host function keeps its gpu.launch_func.
//
//===----------------------------------------------------------------------===//
#include "fa/Conversion/Passes.h"
#include "fa/Pipelines/Passes.h"
#include "fa/Pipelines/Pipelines.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fa {

void buildLowerPipeline(OpPassManager &manager) {
  // Conversions of an earlier stage's words fail without saying so.
  manager.addPass(createFAVerifyStage({"distribute"}));
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  // Before the conversion to NVVM, which calls the device library.
  kernels.addPass(createFALowerMath());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createFAPassTensorMaps());
  kernels.addPass(createFAAttachLoopAnnotations());
  manager.addPass(createFAVerifyStage({"lower"}));
}

} // namespace mlir::fa
