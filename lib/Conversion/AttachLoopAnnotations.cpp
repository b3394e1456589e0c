//===- AttachLoopAnnotations.cpp - loop attributes reach LLVM ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last pass of the lower stage that changes anything: it needs llvm.br.
//===----------------------------------------------------------------------===//

#include "fa/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAATTACHLOOPANNOTATIONS
#include "fa/Conversion/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;

namespace {
struct FAAttachLoopAnnotations
    : fa::impl::FAAttachLoopAnnotationsBase<FAAttachLoopAnnotations> {
  void runOnOperation() override {
    getOperation().walk([](LLVM::BrOp branch) {
      auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
          branch->removeDiscardableAttr("llvm.loop_annotation"));
      if (annotation)
        branch.setLoopAnnotationAttr(annotation);
    });
  }
};
} // namespace
