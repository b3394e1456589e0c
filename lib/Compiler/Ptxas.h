//===- Ptxas.h - running NVIDIA's assembler ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_COMPILER_PTXAS_H
#define FA_LIB_COMPILER_PTXAS_H

#include "fa/Support/Expected.h"

#include <string>

namespace mlir::fa {

/// Assembles the PTX file `input` for `target` into `output`; a Device error
/// with the assembler's words when it fails.
farun::Status runPtxas(const std::string &ptxas, const std::string &target,
                       const std::string &input, const std::string &output);

} // namespace mlir::fa

#endif // FA_LIB_COMPILER_PTXAS_H
