//===- ModuleToPTX.h - a gpu.module becomes PTX text ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last step of a compilation, in process: llvm + nvvm -> LLVM IR -> PTX.
// The text depends on the module and the target alone (no dates, no paths).
//
// LLVM's code generator ends the process on what it cannot select. Two lines
// of defence stand before a user's program:
//  1. verifyTranslatable: our own check, with located errors;
//  2. the guard: what LLVM still declares fatal becomes an error too. It works
//     by state that belongs to the whole process (a fatal error handler and
//     signal handlers for the time of the call), so it is asked for by option.
//
//===----------------------------------------------------------------------===//
#ifndef FA_TARGET_PTX_MODULETOPTX_H
#define FA_TARGET_PTX_MODULETOPTX_H

#include "fa/Target/TargetInfo.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir {
class DialectRegistry;
namespace gpu {
class GPUModuleOp;
} // namespace gpu

namespace fa {

struct PTXOptions {
  /// Turns LLVM's fatal errors into errors of ours. While any call is under
  /// way LLVM's fatal error handler is replaced and signals of a crash are
  /// caught; a host with handlers of its own leaves this off and calls in a
  /// process of its own.
  bool guardFatalErrors = false;
};

/// The translation interfaces that moduleToPTX needs in the context.
void registerPTXTranslations(DialectRegistry &registry);

/// Whether `module` can become PTX for `target`: only llvm and nvvm ops, each
/// of which the chip has, and no call that leaves the module. Emits located
/// errors.
LogicalResult verifyTranslatable(gpu::GPUModuleOp module,
                                 const TargetInfo &target);

/// The PTX text of `module`; emits an error on failure. The module is not
/// changed, not even by a failure in LLVM, which works on a copy of its own.
FailureOr<std::string> moduleToPTX(gpu::GPUModuleOp module,
                                   const TargetInfo &target,
                                   const PTXOptions &options = {});

} // namespace fa
} // namespace mlir

#endif // FA_TARGET_PTX_MODULETOPTX_H
