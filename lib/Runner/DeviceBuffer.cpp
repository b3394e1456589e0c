//===- DeviceBuffer.cpp - a buffer between guards -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceBuffer.h"

#include <algorithm>

namespace farun {

/// A whole row of a tile fits: 256 columns of f32, and 256-byte alignment
/// stays.
static constexpr uint64_t kGuardBytes = 1024;

Expected<DeviceBuffer> DeviceBuffer::create(Device &device, uint64_t bytes,
                                            const std::string &name,
                                            BufferAccess access) {
  DeviceBuffer buffer;
  buffer.guard = device.findsOutOfBounds() ? 0 : kGuardBytes;
  Expected<DeviceAddress> allocation =
      device.allocate(bytes + 2 * buffer.guard, name, access);
  if (!allocation)
    return allocation.takeError();
  buffer.device = &device;
  buffer.allocation = *allocation;
  buffer.bytes = bytes;
  buffer.access = access;
  return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : device(std::exchange(other.device, nullptr)),
      allocation(other.allocation), guard(other.guard), bytes(other.bytes),
      access(other.access), written(std::move(other.written)) {}

DeviceBuffer::~DeviceBuffer() {
  if (device)
    device->release(allocation);
}

Status DeviceBuffer::write(const std::vector<std::byte> &content) {
  if (guard && access == BufferAccess::ReadOnly)
    written = content;
  if (content.empty())
    return {};
  return device->write(address(), content.data(), content.size());
}

Expected<std::vector<std::byte>> DeviceBuffer::read() const {
  std::vector<std::byte> content(bytes);
  if (bytes == 0)
    return content;
  if (Status status = device->read(address(), content.data(), bytes); !status)
    return status.takeError();
  return content;
}

std::optional<uint64_t> DeviceBuffer::firstUnwritten() const {
  return device->firstUnwritten(address(), bytes);
}

Expected<std::string> DeviceBuffer::findDamage() const {
  if (!guard)
    return std::string();
  for (DeviceAddress zone : {allocation, address() + bytes}) {
    std::vector<std::byte> content(guard);
    if (Status status = device->read(zone, content.data(), guard); !status)
      return status.takeError();
    auto changed =
        std::find_if(content.begin(), content.end(),
                     [](std::byte b) { return b != std::byte(0xff); });
    if (changed != content.end())
      return zone == allocation
                 ? "the kernel wrote at byte -" +
                       std::to_string(content.end() - changed) +
                       " before the start"
                 : "the kernel wrote at byte +" +
                       std::to_string(changed - content.begin()) +
                       " behind the end";
  }
  if (access == BufferAccess::ReadWrite || written.empty())
    return std::string();
  Expected<std::vector<std::byte>> content = read();
  if (!content)
    return content.takeError();
  return *content == written ? std::string()
                             : "the kernel wrote to the read-only elements";
}

} // namespace farun
