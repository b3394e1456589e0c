//===- MapPipeline.cpp - a tile program becomes a kernel ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Pipelines/Passes.h"
#include "fa/Pipelines/Pipelines.h"

#include "fa/Dialect/FA/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fa {

void buildMapPipeline(OpPassManager &manager) {
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createFAPromoteState());
  function.addPass(createFAPromoteTiles());
  function.addPass(createFAPipelineCopies());
  function.addPass(createFASpecializeWarps());
  function.addPass(createFAStageOutputs());
  function.addPass(createFAIssueProducts());
  function.addPass(createFAOverlapProducts());
  function.addPass(createFAMapRowsToWarps());
  function.addPass(createFASwizzleTiles());
  manager.addPass(createFAMapToGPU());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createFAVerifyStage({"map"}));
}

} // namespace mlir::fa
