//===- VerifyTranslatable.cpp - the check before LLVM ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds, with locations, what LLVM would only find by ending the process or by
// writing PTX that no driver loads.
//
//===----------------------------------------------------------------------===//
#include "fa/Target/PTX/ModuleToPTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::fa {

namespace {

bool isTranslatable(Operation *op) {
  return isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect());
}

/// A call must stay inside the module: a kernel's PTX is loaded as it is, and
/// nothing is linked to it.
LogicalResult verifyCall(LLVM::CallOp call, SymbolTable &symbols) {
  std::optional<StringRef> callee = call.getCallee();
  if (!callee)
    return call.emitOpError("calls through a pointer, which a kernel may not");
  auto function = symbols.lookup<LLVM::LLVMFuncOp>(*callee);
  if (function && !function.isExternal())
    return success();
  InFlightDiagnostic diag = call.emitError()
                            << "call of '" << *callee
                            << "', which the kernel's module does not define; "
                               "nothing is linked to its PTX";
  if (callee->starts_with("__nv_"))
    diag.attachNote() << "a math op reached the end without a lowering to PTX "
                         "instructions (fa-lower-math)";
  return diag;
}

/// Ops of NVVM that say which chips have them check it against this attribute.
LogicalResult verifyChip(gpu::GPUModuleOp module, const TargetInfo &target) {
  auto attr = NVVM::NVVMTargetAttr::get(module.getContext(), /*optLevel=*/3,
                                        "nvptx64-nvidia-cuda", target.name,
                                        target.features);
  return attr.verifyTarget(module);
}

} // namespace

LogicalResult verifyTranslatable(gpu::GPUModuleOp module,
                                 const TargetInfo &target) {
  std::string error;
  if (!lookupTarget(target.name, error))
    return module.emitError(error);

  SymbolTable symbols(module);
  bool isLegal = true;
  module.getBody()->walk([&](Operation *op) {
    if (!isTranslatable(op)) {
      op->emitError() << "'" << op->getName()
                      << "' is left in the kernel; only llvm and nvvm "
                         "operations become PTX";
      isLegal = false;
    } else if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      isLegal &= succeeded(verifyCall(call, symbols));
    }
  });
  return success(isLegal && succeeded(verifyChip(module, target)));
}

} // namespace mlir::fa
