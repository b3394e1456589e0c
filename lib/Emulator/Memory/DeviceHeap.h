//===- DeviceHeap.h - what malloc in a kernel gives -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One buffer of a fixed size, CUDA's default, that lives as long as the device.
// Blocks that were given back are used again only when nothing else is left:
// bytes of a freed block count as uninitialised, so a use after free is seen,
// and CTAs that use one after the other are no race.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_MEMORY_DEVICEHEAP_H
#define FA_LIB_EMULATOR_MEMORY_DEVICEHEAP_H

#include "GlobalMemory.h"

#include <map>
#include <mutex>

namespace ptxvm {

class DeviceHeap {
public:
  static constexpr uint64_t kBytes = 8 << 20;

  /// Makes the buffer, once; before any CTA runs.
  void open(GlobalMemory &memory) {
    if (!buffer)
      buffer = &memory.allocate(kBytes, "the device heap", false);
  }
  /// Of the buffer; 0 before it is there.
  uint64_t address() const { return buffer ? buffer->address : 0; }
  /// An address, aligned to 16; 0 when there is no room, or for no bytes.
  uint64_t allocate(uint64_t bytes);
  /// False when no block in use begins there.
  bool free(uint64_t address);

  /// Which blocks are in use; taken and put back around repeated launches.
  struct Blocks {
    std::map<uint64_t, uint64_t> used, freed; ///< bytes by offset
    uint64_t next = 0;                        ///< never used from here on
  };
  Blocks blocks;

private:
  void forget(uint64_t offset, uint64_t bytes);

  std::mutex mutex;
  Allocation *buffer = nullptr;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_MEMORY_DEVICEHEAP_H
