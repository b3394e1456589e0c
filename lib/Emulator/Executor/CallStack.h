//===- CallStack.h - the calls that lanes are in ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that call together share an entry here and leave it one by one; lanes
// of one entry may have come from different ones. Registers that the callee
// uses are saved when the call begins and given back lane by lane.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_CALLSTACK_H
#define FA_LIB_EMULATOR_EXECUTOR_CALLSTACK_H

#include "../Decoder/Code.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ptxvm {

struct CallEntry {
  uint32_t lanes = 0; ///< still inside
  uint32_t returnPc = 0;
  const CallSite *site = nullptr;
  const FunctionInfo *callee = nullptr;
  /// By lane: the entry it came from, and the frame of the caller.
  std::array<int32_t, 32> parent{};
  std::array<uint32_t, 32> callerFrame{};
  std::vector<uint32_t> words, predicates; ///< narrow slots, then wide ones
};

struct CallStack {
  std::vector<CallEntry> entries;
  std::vector<uint32_t> unused;
  std::array<int32_t, 32> top;
  std::array<uint32_t, 32> frame{}; ///< offset of the lane's current frame
  std::array<uint32_t, 32> depth{};
  size_t savedWords = 0; ///< of all entries that are in use

  CallStack() { top.fill(-1); }
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_CALLSTACK_H
