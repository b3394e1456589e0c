//===- main.cpp - attention inside another compiler -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   embed FILE.mlir [KERNEL.ptx]
//
// A pipeline of its own around one fa.attention: upstream's bufferization of
// the whole program, our stages for the attention, upstream's loops for the
// rest. Prints the program, which launches our kernel; writes the kernel's PTX.
//
//===----------------------------------------------------------------------===//
#include "fa/Pipelines/Pipelines.h"
#include "fa/Target/PTX/ModuleToPTX.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr char kTarget[] = "sm_80";

/// What the host project registers: our dialects, and upstream's models for
/// the ops that it has besides.
static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  fa::registerAllDialects(registry);
  fa::registerPTXTranslations(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  return registry;
}

static void buildPasses(PassManager &manager) {
  // Every tensor of the program, ours among them, becomes a buffer.
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));

  // fa.attention on those buffers becomes a kernel and its launch.
  fa::PipelineOptions options;
  options.target = kTarget;
  fa::buildPipeline(manager, options);

  // The rest is the host project's to lower as it likes.
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
}

static LogicalResult writePTX(ModuleOp module, StringRef path) {
  std::string error;
  const fa::TargetInfo *target = fa::lookupTarget(kTarget, error);
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    FailureOr<std::string> ptx = fa::moduleToPTX(kernels, *target);
    if (failed(ptx))
      return failure();
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    if (code)
      return module.emitError() << path << ": " << code.message();
    os << *ptx;
  }
  return success();
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    llvm::errs() << "usage: embed FILE.mlir [KERNEL.ptx]\n";
    return 2;
  }
  MLIRContext context(makeRegistry());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 2;
  PassManager manager(&context);
  buildPasses(manager);
  if (failed(manager.run(*module)))
    return 2;
  module->print(llvm::outs());
  if (argc == 3 && failed(writePTX(*module, argv[2])))
    return 2;
  return 0;
}
