//===- DeviceBuffer.h - a buffer between guards -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a device that does not find accesses outside a buffer by itself, each
// buffer gets a zone of 0xFF (NaN) before and behind it; findDamage says
// whether they still hold, and whether a read-only buffer does.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_RUNNER_DEVICEBUFFER_H
#define FA_LIB_RUNNER_DEVICEBUFFER_H

#include "fa/Runtime/Device.h"

#include <cstddef>

namespace farun {

/// Owns device memory; released with the object.
class DeviceBuffer {
public:
  static Expected<DeviceBuffer> create(Device &device, uint64_t bytes,
                                       const std::string &name,
                                       BufferAccess access);
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&) = delete;
  ~DeviceBuffer();

  DeviceAddress address() const { return allocation + guard; }
  Status write(const std::vector<std::byte> &content);
  Expected<std::vector<std::byte>> read() const;
  std::optional<uint64_t> firstUnwritten() const;

  /// What a kernel broke around or in this buffer, in words; empty when
  /// nothing.
  Expected<std::string> findDamage() const;

private:
  DeviceBuffer() = default;

  Device *device = nullptr;
  DeviceAddress allocation = 0;
  uint64_t guard = 0; ///< bytes of each zone
  uint64_t bytes = 0;
  BufferAccess access = BufferAccess::ReadWrite;
  std::vector<std::byte> written; ///< kept for a guarded read-only buffer
};

} // namespace farun

#endif // FA_LIB_RUNNER_DEVICEBUFFER_H
