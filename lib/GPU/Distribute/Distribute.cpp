//===- Distribute.cpp - the fa-distribute pass ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneEmitter.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/GPU/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FADISTRIBUTE
#include "fa/GPU/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

LogicalResult fa::distributeToLanes(gpu::GPUFuncOp kernel,
                                    const TargetInfo *target) {
  loadTilesAtContractions(kernel);
  return LaneEmitter(kernel, target).run();
}

/// Kernels without vectors and ops of ours are somebody else's.
static bool isOurs(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        bool isLanes =
            isa_and_nonnull<FADialect>(op->getDialect()) ||
            llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
        return isLanes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct FADistribute : fa::impl::FADistributeBase<FADistribute> {
  void runOnOperation() override {
    const TargetInfo *target = nullptr;
    auto module = getOperation()->getParentOfType<ModuleOp>();
    if (auto name = module ? module->getAttrOfType<StringAttr>(kTargetAttr)
                           : StringAttr()) {
      std::string error;
      target = lookupTarget(name, error);
      if (!target) {
        getOperation().emitError(error);
        return signalPassFailure();
      }
    }
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (isOurs(kernel) && failed(distributeToLanes(kernel, target)))
        return signalPassFailure();
  }
};
} // namespace
