//===- PrintBlockMap.cpp - draws which blocks are skipped -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The drawing is of a tile program; what has not been tiled yet is tiled in a
// copy. Analysis/BlockMap evaluates it.
//
//===----------------------------------------------------------------------===//
#include "fa/Analysis/BlockMap.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Pipelines/Passes.h"
#include "fa/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::fa {

#define GEN_PASS_DEF_FAPRINTBLOCKMAP
#include "fa/Pipelines/Passes.h.inc"

namespace {

struct PrintBlockMap final : impl::FAPrintBlockMapBase<PrintBlockMap> {
  using FAPrintBlockMapBase::FAPrintBlockMapBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager tiling(ModuleOp::getOperationName());
    buildTiling(tiling);
    tiling.getDependentDialects(registry);
  }

  void runOnOperation() override {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    bool isTiled =
        !copy->walk([](AttentionOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
    PassManager tiling(&getContext());
    buildTiling(tiling);
    if (!isTiled && failed(tiling.run(*copy)))
      return signalPassFailure();
    GivenNumbers given;
    if (failed(parseGiven(given)))
      return signalPassFailure();
    for (auto function : copy->getOps<func::FuncOp>())
      if (!function.isDeclaration() && failed(print(function, given)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  void buildTiling(OpPassManager &tiling) const {
    PipelineOptions options;
    options.target = target;
    options.schedule = schedule;
    buildTilePipeline(tiling, options);
  }

  /// "Sk=300" in words.
  LogicalResult parseGiven(GivenNumbers &numbers) {
    for (StringRef one : given) {
      auto [name, text] = one.split('=');
      int64_t number;
      if (name.empty() || text.getAsInteger(10, number) || number < 0)
        return getOperation().emitError()
               << "fa-print-block-map: given has '" << one
               << "'; accepted is NAME=NUMBER, as in Sk=300 or kv_lengths=100";
      numbers[name] = number;
    }
    return success();
  }

  LogicalResult print(func::FuncOp function, const GivenNumbers &numbers) {
    FailureOr<SmallVector<BlockMap>> maps =
        computeBlockMaps(function, numbers, batch, head);
    if (failed(maps))
      return failure();
    for (const BlockMap &map : *maps)
      llvm::errs() << "@" << function.getSymName() << " batch " << batch
                   << " head " << head << ": blocks of " << map.tileQ
                   << " queries and " << map.tileKV << " keys\n"
                   << map.str();
    return success();
  }
};

} // namespace

} // namespace mlir::fa
