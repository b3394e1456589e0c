//===- TilePipeline.cpp - attention becomes a loop over blocks
//----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Pipelines/Passes.h"
#include "fa/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"

namespace mlir::fa {

void buildTilePipeline(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createFAVerifyStage({"tile"}));
}

} // namespace mlir::fa
