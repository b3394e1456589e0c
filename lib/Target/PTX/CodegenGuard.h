//===- CodegenGuard.h - LLVM's fatal errors as values -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_TARGET_PTX_CODEGENGUARD_H
#define FA_LIB_TARGET_PTX_CODEGENGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace mlir::fa {

/// Runs `body` on a thread of its own. False when LLVM gave up inside it, with
/// LLVM's words in `error`; what `body` was working on must then be abandoned,
/// not destroyed: nothing on its stack was unwound.
bool runGuarded(llvm::function_ref<void()> body, std::string &error);

} // namespace mlir::fa

#endif // FA_LIB_TARGET_PTX_CODEGENGUARD_H
