//===- Program.h - compiled kernels, from memory or a package ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX and its manifest: what the compiler gives, and what a package NAME.fapkg
// (fa/Support/Package.h) holds.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_PROGRAM_H
#define FA_RUNNER_PROGRAM_H

#include "fa/Support/Manifest.h"

#include <string>
#include <utility>
#include <vector>

namespace farun {

struct Program {
  Manifest manifest;
  std::string ptx;
  std::string ptxName; ///< for messages: a path, or "kernel.ptx"
  /// File name and text of every stage, when they were kept.
  std::vector<std::pair<std::string, std::string>> stages;
};

/// readPackage() as a program.
Expected<Program> loadPackage(const std::string &folder);

} // namespace farun

#endif // FA_RUNNER_PROGRAM_H
