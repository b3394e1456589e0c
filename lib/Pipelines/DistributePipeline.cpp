//===- DistributePipeline.cpp - warp values become a lane's ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/GPU/Passes.h"
#include "fa/Pipelines/Passes.h"
#include "fa/Pipelines/Pipelines.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fa {

void buildDistributePipeline(OpPassManager &manager) {
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createFADistribute());
  // The lanes' elements repeat constants and address arithmetic.
  kernels.addPass(createCSEPass());
  manager.addPass(createFAVerifyStage({"distribute"}));
}

} // namespace mlir::fa
