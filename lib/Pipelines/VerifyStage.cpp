//===- VerifyStage.cpp - the contract of a stage as a pass ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last pass of every stage; the checks are in Analysis/StageContracts.
//
//===----------------------------------------------------------------------===//
#include "fa/Analysis/StageContracts.h"
#include "fa/Pipelines/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fa {

#define GEN_PASS_DEF_FAVERIFYSTAGE
#include "fa/Pipelines/Passes.h.inc"

namespace {

struct VerifyStage final : impl::FAVerifyStageBase<VerifyStage> {
  using FAVerifyStageBase::FAVerifyStageBase;

  void runOnOperation() override {
    std::optional<Stage> which = parseStage(stage);
    if (!which) {
      getOperation().emitError() << "fa-verify-stage: stage is '" << stage
                                 << "'; accepted: tile, map, distribute, lower";
      return signalPassFailure();
    }
    if (failed(verifyStage(getOperation(), *which)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace mlir::fa
