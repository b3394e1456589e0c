//===- TensorMapRead.h - tensor maps in memory ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between a generic address and a TensorMapShape.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_TENSORMAPREAD_H
#define FA_LIB_EMULATOR_EXECUTOR_TENSORMAPREAD_H

#include "Machine.h"
#include "fa/Emulator/TensorMap.h"

namespace ptxvm {

/// The map at a generic address of parameter, const or global space, which must
/// keep the rules; otherwise nothing, and `wrong` says why.
std::optional<TensorMapShape> readTensorMap(Warp &w, uint64_t address,
                                            std::string &wrong);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_TENSORMAPREAD_H
