//===- GlobalMemory.cpp - buffers of a device -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocation, look-up and the wording of "where is this address".
//
//===----------------------------------------------------------------------===//
#include "GlobalMemory.h"

#include <algorithm>

using namespace ptxvm;

/// Unmapped bytes after each buffer; an index that is off by less is reported
/// with the name of the buffer it left.
static constexpr uint64_t kRedZone = 1 << 20;
static constexpr uint64_t kAlignment = 256;

Allocation &GlobalMemory::allocate(uint64_t bytes, std::string name,
                                   bool readOnly) {
  auto buffer = std::make_unique<Allocation>();
  buffer->name = std::move(name);
  buffer->address = next;
  buffer->bytes = bytes;
  buffer->readOnly = readOnly;
  buffer->data.assign(bytes, 0xFF);
  buffer->initialised.assign(bytes, 0);
  next += (bytes + kRedZone + kAlignment - 1) / kAlignment * kAlignment;
  buffers.push_back(std::move(buffer));
  return *buffers.back();
}

bool GlobalMemory::free(uint64_t address) {
  for (auto it = buffers.begin(); it != buffers.end(); ++it)
    if ((*it)->address == address) {
      buffers.erase(it);
      return true;
    }
  return false;
}

Allocation *GlobalMemory::find(uint64_t address) const {
  auto it = std::upper_bound(
      buffers.begin(), buffers.end(), address,
      [](uint64_t at, const auto &buffer) { return at < buffer->address; });
  if (it == buffers.begin())
    return nullptr;
  Allocation *buffer = (--it)->get();
  return address - buffer->address < buffer->bytes ? buffer : nullptr;
}

static uint64_t distance(const Allocation &b, uint64_t address) {
  if (address < b.address)
    return b.address - address;
  return address < b.address + b.bytes ? 0 : address - (b.address + b.bytes);
}

const Allocation *GlobalMemory::nearest(uint64_t address) const {
  const Allocation *best = nullptr;
  for (const auto &buffer : buffers)
    if (!best || distance(*buffer, address) < distance(*best, address))
      best = buffer.get();
  return best;
}

std::string GlobalMemory::describe(uint64_t address) const {
  const Allocation *b = nearest(address);
  if (!b)
    return "no buffer exists";
  std::string what =
      "buffer '" + b->name + "' (" + std::to_string(b->bytes) + " bytes)";
  if (address < b->address)
    return std::to_string(b->address - address) + " bytes before " + what;
  uint64_t offset = address - b->address;
  if (offset < b->bytes)
    return "at byte " + std::to_string(offset) + " of " + what;
  return std::to_string(offset - b->bytes) + " bytes past the end of " + what;
}
