//===- Passes.cpp - passes and stages for users of MLIR's C API -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa-c/Passes.h"

#include "fa/Pipelines/Pipelines.h"
#include "fa/Target/PTX/ModuleToPTX.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

using namespace mlir;

void mlirFARegisterAllPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    // A name that is registered twice ends the process.
    if (PassInfo::lookup("fa-tile-attention"))
      return;
    fa::registerAllPasses();
    fa::registerAllPipelines();
  });
}

void mlirFAAddPipeline(MlirOpPassManager manager, MlirStringRef target,
                       MlirStringRef schedule) {
  fa::PipelineOptions options;
  options.target = unwrap(target).str();
  options.schedule = unwrap(schedule).str();
  fa::buildPipeline(*unwrap(manager), options);
}

MlirLogicalResult mlirFATranslateToPTX(MlirOperation gpuModule,
                                       MlirStringRef target,
                                       MlirStringCallback callback,
                                       void *userData) {
  auto module = dyn_cast<gpu::GPUModuleOp>(unwrap(gpuModule));
  if (!module)
    return wrap(unwrap(gpuModule)->emitOpError("is not a gpu.module"));
  std::string error;
  const fa::TargetInfo *info = fa::lookupTarget(unwrap(target), error);
  if (!info)
    return wrap(module.emitError(error));
  fa::PTXOptions options;
  options.guardFatalErrors = true;
  FailureOr<std::string> ptx = fa::moduleToPTX(module, *info, options);
  if (failed(ptx))
    return wrap(failure());
  callback(wrap(StringRef(*ptx)), userData);
  return wrap(success());
}
