//===- Device.cpp - buffers and module variables --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device without its launch, which is in Launch.cpp.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Device.h"
#include "DeviceState.h"

#include <cerrno>
#include <cstdlib>
#include <optional>

using namespace ptxvm;

/// A whole number in decimal or hexadecimal.
static std::optional<uint64_t> parseSeed(const std::string &text) {
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return std::nullopt;
  char *end = nullptr;
  errno = 0;
  uint64_t seed = std::strtoull(text.c_str(), &end, 0);
  if (*end || errno)
    return std::nullopt;
  return seed;
}

/// Each is a launch; more would take longer than anyone waits.
static constexpr uint64_t kMaxSeeds = 1'000'000;

Expected<OrderPolicy> OrderPolicy::parse(const std::string &text) {
  Diagnostic d;
  d.origin = "options";
  if (text == "round-robin")
    return OrderPolicy{RoundRobin};
  if (text == "reverse")
    return OrderPolicy{Reverse};
  if (text.starts_with("random:")) {
    size_t dots = std::min(text.find(".."), text.size());
    auto first = parseSeed(text.substr(7, dots < 7 ? 0 : dots - 7));
    auto last = dots == text.size() ? first : parseSeed(text.substr(dots + 2));
    if (first && last && *last >= *first) {
      if (*last - *first < kMaxSeeds)
        return OrderPolicy{Random, *first, *last};
      d.message = "'" + text + "' has too many seeds; accepted are at most " +
                  std::to_string(kMaxSeeds);
      return d;
    }
  }
  d.message = "unknown order '" + text +
              "'; expected round-robin, reverse, random:SEED or "
              "random:FIRST..LAST";
  return d;
}

const char *ptxvm::statusName(Status status) {
  static constexpr const char *kNames[] = {
      "ok", "invalid", "fault", "deadlock", "instruction-limit", "cancelled"};
  return kNames[unsigned(status)];
}

Device::Device(DeviceOptions options)
    : opts(options), state(std::make_unique<DeviceState>()) {}
Device::~Device() = default;

uint64_t Device::alloc(uint64_t bytes, std::string name, bool readOnly) {
  return state->memory.allocate(bytes, std::move(name), readOnly).address;
}
void Device::free(uint64_t address) { state->memory.free(address); }

bool Device::write(uint64_t address, const void *from, uint64_t bytes) {
  if (!bytes)
    return true;
  Allocation *b = state->memory.find(address);
  if (!b || !b->contains(address, bytes))
    return false;
  uint64_t offset = address - b->address;
  std::memcpy(b->data.data() + offset, from, bytes);
  if (bytes == b->bytes)
    b->initialised.clear();
  else if (!b->initialised.empty())
    std::memset(b->initialised.data() + offset, 1, bytes);
  return true;
}

bool Device::read(uint64_t address, void *to, uint64_t bytes) const {
  if (!bytes)
    return true;
  const Allocation *b = state->memory.find(address);
  if (!b || !b->contains(address, bytes))
    return false;
  std::memcpy(to, b->data.data() + (address - b->address), bytes);
  return true;
}

bool Device::fillUninitialised(uint64_t address) {
  Allocation *b = state->memory.find(address);
  if (!b)
    return false;
  b->data.assign(b->bytes, 0xFF);
  b->initialised.assign(b->bytes, 0);
  return true;
}

const Allocation *Device::findAllocation(uint64_t address) const {
  return state->memory.find(address);
}

void Device::addObserver(ExecutionObserver &observer) {
  observers.push_back(&observer);
}
