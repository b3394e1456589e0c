//===- Package.h - a compiled kernel as files -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two forms. A path that ends in ".ptx" gets the PTX text, and beside it the
// manifest as ".json" (and, on request, the machine code as ".cubin"). Any
// other path, by custom NAME.fapkg, becomes a folder with manifest.json,
// kernel.ptx and perhaps kernel.cubin.
//
// Everything is written under another name first and put in place at the end:
// a failure leaves what was there before.
//
//===----------------------------------------------------------------------===//
#ifndef FA_COMPILER_PACKAGE_H
#define FA_COMPILER_PACKAGE_H

#include "fa/Compiler/Compiler.h"

#include <string>
#include <string_view>

namespace mlir::fa {

struct PackageOptions {
  /// Also assemble, by this program (see findPtxas); empty for PTX alone.
  std::string ptxas;
};

/// Writes `kernel` to `path` in the form that the path asks for.
farun::Status writePackage(const CompiledKernel &kernel,
                           const std::string &path,
                           const PackageOptions &options = {});

/// Writes `stages` as files of a folder, which is made when it is missing.
farun::Status writeStages(const std::vector<StageText> &stages,
                          const std::string &folder);

/// NVIDIA's assembler: what $FA_PTXAS names if that is set, else on PATH, in
/// $CUDA_HOME/bin or /usr/local/cuda/bin. A Device error that names it when
/// there is none.
farun::Expected<std::string> findPtxas();

} // namespace mlir::fa

#endif // FA_COMPILER_PACKAGE_H
