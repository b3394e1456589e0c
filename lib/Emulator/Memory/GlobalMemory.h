//===- GlobalMemory.h - buffers of a device ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Global memory: a sorted list of buffers with unmapped gaps between them.
// Addresses only grow, so a freed address is never given out again and a use
// after free is always out of bounds.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_MEMORY_GLOBALMEMORY_H
#define FA_LIB_EMULATOR_MEMORY_GLOBALMEMORY_H

#include "fa/Emulator/Device.h"

#include <memory>
#include <vector>

namespace ptxvm {

/// Windows of the generic address space (PTX ISA 9.1 section 5.1). Global
/// addresses are generic ones unchanged. The hardware's windows lie elsewhere;
/// nothing may depend on where.
inline constexpr uint64_t kGlobalBase = 0x70'0000'0000ull;
inline constexpr uint64_t kSharedWindow = 1ull << 56;
inline constexpr uint64_t kLocalWindow = 2ull << 56;
inline constexpr uint64_t kParamWindow = 3ull << 56;
/// What names of functions stand for; nothing can be read there.
inline constexpr uint64_t kCodeWindow = 4ull << 56;

class GlobalMemory {
public:
  Allocation &allocate(uint64_t bytes, std::string name, bool readOnly);
  bool free(uint64_t address);

  /// The buffer that contains `address`, or null.
  Allocation *find(uint64_t address) const;
  /// All buffers, sorted by address.
  const std::vector<std::unique_ptr<Allocation>> &all() const {
    return buffers;
  }
  /// The buffer whose start or end is nearest, for messages; or null.
  const Allocation *nearest(uint64_t address) const;
  /// "12 bytes past the end of buffer 'x' (4096 bytes)".
  std::string describe(uint64_t address) const;

private:
  /// Sorted by address.
  std::vector<std::unique_ptr<Allocation>> buffers;
  uint64_t next = kGlobalBase;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_MEMORY_GLOBALMEMORY_H
