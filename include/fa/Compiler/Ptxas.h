//===- Ptxas.h - running NVIDIA's assembler ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_COMPILER_PTXAS_H
#define FA_COMPILER_PTXAS_H

#include "fa/Support/Expected.h"

#include <string>

namespace mlir::fa {

/// NVIDIA's assembler: what $FA_PTXAS names if that is set, else on PATH, in
/// $CUDA_HOME/bin or /usr/local/cuda/bin. A Device error that names it when
/// there is none.
farun::Expected<std::string> findPtxas();

/// Assembles the PTX file `input` for `target` into `output`; a Device error
/// with the assembler's words when it fails.
farun::Status runPtxas(const std::string &ptxas, const std::string &target,
                       const std::string &input, const std::string &output);

} // namespace mlir::fa

#endif // FA_COMPILER_PTXAS_H
