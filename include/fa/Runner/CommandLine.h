//===- CommandLine.h - fa-run and fa-launch ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two tools share everything but the compiler: fa-run passes a function
// that compiles .mlir, fa-launch passes none and takes packages only.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_COMMANDLINE_H
#define FA_RUNNER_COMMANDLINE_H

#include "fa/Runner/Program.h"
#include "fa/Runtime/Registry.h"

#include <functional>

namespace farun {

/// What a run asks of the compiler.
struct CompileRequest {
  std::string path, target, schedule, entry;
  bool traceState = false;
  bool keepStages = false;
};

using CompileFunction =
    std::function<Expected<Program>(const CompileRequest &)>;

/// The tool's main; returns its exit code. `compile` may be empty.
int runTool(int argc, char **argv, const DeviceRegistry &registry,
            const CompileFunction &compile);

} // namespace farun

#endif // FA_RUNNER_COMMANDLINE_H
