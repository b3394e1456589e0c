//===- DeviceState.h - what a device holds ----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind Device: its buffers, and where the variables of each module lie.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_DEVICESTATE_H
#define FA_LIB_EMULATOR_EXECUTOR_DEVICESTATE_H

#include "../Memory/DeviceHeap.h"
#include "fa/Emulator/Module.h"

#include <deque>
#include <map>

namespace ptxvm {

struct DeviceState {
  /// A module that has been launched; the handle keeps it alive.
  struct Loaded {
    Module module;
    std::map<std::string, uint64_t> symbols;
  };
  GlobalMemory memory;
  DeviceHeap heap;
  std::deque<Loaded> modules;

  /// Gives those of a module's `.global` and `.const` variables that have none
  /// yet their buffers, and returns the addresses of all that have one.
  Expected<const std::map<std::string, uint64_t> *>
  load(const Module &module, const std::vector<std::string> &globals);
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_DEVICESTATE_H
