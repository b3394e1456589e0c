//===- WithoutCompiler.cpp - the C API of a build without MLIR ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packages can be loaded, launched and compared; nothing can be compiled.
//
//===----------------------------------------------------------------------===//
#include "Compile.h"

namespace facapi {

Outcome compileText(const CompileRequest &, CompileResult &) {
  return Failure(FA_ERROR_UNSUPPORTED,
                 "this build has no compiler; load a package");
}

std::string llvmVersion() { return ""; }

std::vector<std::string> targetNames() { return {}; }

} // namespace facapi
