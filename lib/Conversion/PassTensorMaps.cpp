//===- PassTensorMaps.cpp - tensor maps are passed by value -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the lower stage, once kernels are llvm.func: the conversion from
// gpu.func drops what it does not know of an argument.
//===----------------------------------------------------------------------===//

#include "fa/Conversion/Passes.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Support/TensorMap.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAPASSTENSORMAPS
#include "fa/Conversion/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

/// Where a CUtensorMap may lie.
static constexpr int64_t kTensorMapAlignment = 64;

static void passByValue(LLVM::LLVMFuncOp kernel, unsigned argument) {
  MLIRContext *context = kernel.getContext();
  auto bytes = LLVM::LLVMArrayType::get(IntegerType::get(context, 8),
                                        farun::kTensorMapBytes);
  kernel.setArgAttr(argument, LLVM::LLVMDialect::getByValAttrName(),
                    TypeAttr::get(bytes));
  kernel.setArgAttr(argument, NVVM::NVVMDialect::getGridConstantAttrName(),
                    UnitAttr::get(context));
  kernel.setArgAttr(
      argument, LLVM::LLVMDialect::getAlignAttrName(),
      IntegerAttr::get(IntegerType::get(context, 64), kTensorMapAlignment));
}

namespace {
struct FAPassTensorMaps : fa::impl::FAPassTensorMapsBase<FAPassTensorMaps> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      auto rows = kernel->getAttrOfType<ArrayAttr>(kParametersAttr);
      if (!rows || rows.size() != kernel.getNumArguments())
        continue;
      for (auto [i, row] : llvm::enumerate(rows.getAsRange<DictionaryAttr>())) {
        auto kind = row.getAs<StringAttr>("kind");
        if (kind && kind.getValue() == "tensormap" &&
            isa<LLVM::LLVMPointerType>(kernel.getArgumentTypes()[i]))
          passByValue(kernel, i);
      }
    }
  }
};
} // namespace
