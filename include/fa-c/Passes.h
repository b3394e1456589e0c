//===- Passes.h - passes and stages for users of MLIR's C API -----*- C -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After mlirFARegisterAllPasses() every pass and stage is reached by its name:
//
//   mlirParsePassPipeline(manager, "builtin.module(fa-pipeline{target=sm_80})",
//                         ...)
//
//===----------------------------------------------------------------------===//
#ifndef FA_C_PASSES_H
#define FA_C_PASSES_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

// Registers our passes and the pipelines fa-stage-tile, fa-stage-map,
// fa-stage-distribute, fa-stage-lower and fa-pipeline. May be called again, and
// leaves a process alone whose MLIR has them.
MLIR_CAPI_EXPORTED void mlirFARegisterAllPasses(void);

// Adds all stages, from fa.attention to llvm and nvvm. An empty schedule leaves
// it to the compiler.
MLIR_CAPI_EXPORTED void mlirFAAddPipeline(MlirOpPassManager manager,
                                          MlirStringRef target,
                                          MlirStringRef schedule);

// The PTX text of a gpu.module that was lowered. What is wrong is a diagnostic
// of the context, and so is what LLVM's code generator takes for fatal: for the
// time of the call LLVM's fatal error handler and its handlers of crash signals
// stand where the process has its own, and are put back.
MLIR_CAPI_EXPORTED MlirLogicalResult
mlirFATranslateToPTX(MlirOperation gpuModule, MlirStringRef target,
                     MlirStringCallback callback, void *userData);

#ifdef __cplusplus
}
#endif

#endif // FA_C_PASSES_H
