//===- fa-run.cpp - compile, run, check, report ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins the compiler to the runner, which do not know each other.
//
//===----------------------------------------------------------------------===//
#include "fa/Compiler/Compiler.h"
#include "fa/Runner/CommandLine.h"
#include "fa/Runtime/RegisterDevices.h"

#include <cstdio>

static farun::Expected<farun::Program>
compile(const farun::CompileRequest &request) {
  mlir::fa::CompileOptions options;
  options.path = request.path;
  options.target = request.target;
  options.schedule = request.schedule;
  options.entry = request.entry;
  options.traceState = request.traceState;
  options.keepStages = request.keepStages;
  farun::Expected<mlir::fa::CompiledKernel> kernel = mlir::fa::compile(options);
  if (!kernel)
    return kernel.takeError();
  for (const std::string &line : kernel->diagnostics)
    std::fprintf(stderr, "%s\n", line.c_str());
  farun::Program program;
  program.manifest = std::move(kernel->manifest);
  program.ptx = std::move(kernel->ptx);
  program.ptxName = "kernel.ptx";
  for (mlir::fa::StageText &stage : kernel->stages)
    program.stages.push_back({std::move(stage.name), std::move(stage.text)});
  return program;
}

int main(int argc, char **argv) {
  farun::DeviceRegistry registry;
  farun::registerAllDevices(registry);
  return farun::runTool(argc, argv, registry, compile);
}
