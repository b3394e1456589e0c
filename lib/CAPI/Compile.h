//===- Compile.h - the compiler, or its absence -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one thing that a build without MLIR lacks: WithCompiler.cpp or
// WithoutCompiler.cpp answers.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_COMPILE_H
#define FA_LIB_CAPI_COMPILE_H

#include "Failure.h"

#include "fa/Runner/Program.h"

namespace facapi {

struct CompileRequest {
  std::string text, name, target, schedule, entry;
  bool keepStages = false, traceState = false;
};

struct CompileResult {
  farun::Program program;
  std::vector<std::string> warnings;
};

Outcome compileText(const CompileRequest &request, CompileResult &result);

std::string llvmVersion();
std::vector<std::string> targetNames();

} // namespace facapi

#endif // FA_LIB_CAPI_COMPILE_H
