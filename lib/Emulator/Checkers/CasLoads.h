//===- CasLoads.h - loads that only begin a compare-and-swap ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_CASLOADS_H
#define FA_LIB_EMULATOR_CHECKERS_CASLOADS_H

#include "fa/Emulator/ExecutionObserver.h"

#include <vector>

namespace ptxvm {

/// By pc: loads whose value only goes into compare-and-swaps of the same word.
std::vector<char> findCasLoads(const CodeInfo &code);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_CASLOADS_H
