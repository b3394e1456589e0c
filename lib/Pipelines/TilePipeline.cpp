//===- TilePipeline.cpp - attention becomes a loop over blocks ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Pipelines/Passes.h"
#include "fa/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fa {

void buildTilePipeline(OpPassManager &manager, const PipelineOptions &options) {
  // First: it notes the op's text as the user wrote it.
  manager.addPass(createFABufferizeAttention());
  if (!options.schedule.empty())
    manager.addPass(createFAOverrideSchedule({options.schedule}));
  manager.addPass(createFASelectSchedule({options.target}));
  manager.addNestedPass<func::FuncOp>(createFATileAttention({options.trace}));
  // No canonicalization: it inlines an scf.forall over one block, and an
  // scf.for over one, which the map stage must find.
  manager.addPass(createCSEPass());
  manager.addPass(createFAVerifyStage({"tile"}));
}

} // namespace mlir::fa
