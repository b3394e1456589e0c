//===- DeviceHeap.cpp - what malloc in a kernel gives ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceHeap.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace ptxvm;

void DeviceHeap::forget(uint64_t offset, uint64_t bytes) {
  std::memset(buffer->data.data() + offset, 0xFF, bytes);
  if (!buffer->initialised.empty())
    std::memset(buffer->initialised.data() + offset, 0, bytes);
}

uint64_t DeviceHeap::allocate(uint64_t bytes) {
  constexpr uint64_t kAlignment = 16;
  if (bytes == 0 || bytes > kBytes)
    return 0;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t offset = blocks.next;
  if (kBytes - offset >= bytes) {
    blocks.next += bytes;
  } else {
    auto fits = std::find_if(blocks.freed.begin(), blocks.freed.end(),
                             [&](auto &b) { return b.second >= bytes; });
    if (fits == blocks.freed.end())
      return 0;
    offset = fits->first;
    if (fits->second > bytes)
      blocks.freed[offset + bytes] = fits->second - bytes;
    blocks.freed.erase(offset);
  }
  blocks.used[offset] = bytes;
  forget(offset, bytes);
  return buffer->address + offset;
}

bool DeviceHeap::free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto block = blocks.used.find(address - buffer->address);
  if (block == blocks.used.end())
    return false;
  auto [offset, bytes] = *block;
  blocks.used.erase(block);
  forget(offset, bytes);
  // One with its neighbours.
  auto after = blocks.freed.lower_bound(offset);
  if (after != blocks.freed.end() && after->first == offset + bytes) {
    bytes += after->second;
    after = blocks.freed.erase(after);
  }
  if (after != blocks.freed.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return true;
    }
  }
  blocks.freed[offset] = bytes;
  return true;
}
