//===- Passes.h - passes about stages ---------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_PIPELINES_PASSES_H
#define FA_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::fa {

#define GEN_PASS_DECL
#include "fa/Pipelines/Passes.h.inc"

/// registerFAPipelinesPasses().
#define GEN_PASS_REGISTRATION
#include "fa/Pipelines/Passes.h.inc"

} // namespace mlir::fa

#endif // FA_PIPELINES_PASSES_H
