//===- Compiler.h - MLIR text in, PTX and manifest out ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only door to the compiler for the runner, the C API and the tools. No
// type of MLIR or LLVM appears here, so users need none of their headers.
//
//===----------------------------------------------------------------------===//
#ifndef FA_COMPILER_COMPILER_H
#define FA_COMPILER_COMPILER_H

#include "fa/Support/Expected.h"
#include "fa/Support/Manifest.h"

#include <string>
#include <vector>

namespace mlir::fa {

struct CompileOptions {
  /// The file to read, or only its name in messages when `text` is given.
  std::string path;
  /// MLIR text; when empty, `path` is read.
  std::string text;
  std::string target = farun::kDefaultTarget;
  /// "KEY=V,KEY=V" as in #fa.schedule; empty leaves the choice to the compiler.
  std::string schedule;
  /// The function to compile; empty means every one that holds attention.
  std::string entry;
  /// The kernel also stores m, l and u of one row after every K/V block (see
  /// ParameterKind::Trace).
  bool traceState = false;
  /// Fill CompiledKernel::stages.
  bool keepStages = false;
};

/// The program after one stage: name "0-input.mlir" ... "5-kernel.ptx".
struct StageText {
  std::string name;
  std::string text;
};

struct CompiledKernel {
  farun::Manifest manifest;
  std::string ptx;
  std::vector<StageText> stages;
  /// Warnings and remarks, each "file:line:column: kind: message".
  std::vector<std::string> diagnostics;
};

/// Compiles; a problem is a located Error whose message may span several
/// lines (one a diagnostic). Thread-safe. What LLVM takes for fatal is an error
/// too: for that its fatal error handler is replaced and signals of a crash
/// are caught while a call writes PTX (fa/Target/PTX/ModuleToPTX.h).
farun::Expected<CompiledKernel> compile(const CompileOptions &options);

/// Every target that `compile` takes: "sm_80", ...
std::vector<std::string> targetNames();

/// The LLVM that is linked: "22.1.8".
std::string llvmVersion();

} // namespace mlir::fa

#endif // FA_COMPILER_COMPILER_H
