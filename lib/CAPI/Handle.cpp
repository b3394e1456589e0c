//===- Handle.cpp - objects behind opaque pointers ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Handle.h"

#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <unordered_map>

namespace facapi {

namespace {

// 15 bits of tag, which make the pointer one that no x86 or Arm program can
// follow; 4 of kind; 44 of count; the lowest bit is set.
constexpr int kTagShift = 49, kKindShift = 45, kCountShift = 1;
constexpr uint64_t kCountMask = (uint64_t(1) << 44) - 1;

static_assert(sizeof(void *) == 8, "handles are numbers of 64 bits");

const char *nameOf(uint64_t kind) {
  switch (Kind(kind)) {
  case Kind::Error:
    return "fa_error";
  case Kind::Kernel:
    return "fa_kernel";
  case Kind::Run:
    return "fa_run";
  }
  return nullptr;
}

class HandleTable {
public:
  static HandleTable &get() {
    // Never destroyed: other threads may still run while a process ends.
    static HandleTable *table = new HandleTable();
    return *table;
  }

  void *insert(Kind kind, std::shared_ptr<Object> object) {
    std::lock_guard<std::mutex> guard(lock);
    uint64_t value = tag << kTagShift | uint64_t(kind) << kKindShift |
                     (++count & kCountMask) << kCountShift | 1;
    objects.emplace(value, std::move(object));
    return reinterpret_cast<void *>(value);
  }

  std::shared_ptr<Object> find(Kind kind, const void *handle,
                               std::string &problem) {
    uint64_t value = reinterpret_cast<uint64_t>(handle);
    std::string expected = nameOf(uint64_t(kind));
    if (!handle) {
      problem = "the " + expected + " is null";
      return nullptr;
    }
    uint64_t found = value >> kKindShift & 0xf;
    if (value >> kTagShift != tag || !(value & 1) || !nameOf(found)) {
      problem = "the " + expected + " is no handle of this library";
      return nullptr;
    }
    if (found != uint64_t(kind)) {
      problem = "expected an " + expected + ", found an " + nameOf(found);
      return nullptr;
    }
    std::lock_guard<std::mutex> guard(lock);
    auto entry = objects.find(value);
    if (entry != objects.end())
      return entry->second;
    problem = "the " + expected + " was freed";
    return nullptr;
  }

  bool erase(Kind kind, const void *handle) {
    uint64_t value = reinterpret_cast<uint64_t>(handle);
    if ((value >> kKindShift & 0xf) != uint64_t(kind))
      return false;
    std::shared_ptr<Object> last; // destroyed without the lock
    std::lock_guard<std::mutex> guard(lock);
    auto entry = objects.find(value);
    if (entry == objects.end())
      return false;
    last = std::move(entry->second);
    objects.erase(entry);
    return true;
  }

private:
  HandleTable() {
    // The place in memory differs from one copy of the library to another.
    uint64_t place = reinterpret_cast<uint64_t>(&nameOf);
    tag = (place * 0x9e3779b97f4a7c15u >> 50) | 0x2000;
    // A child of fork() must not inherit a lock that nobody there holds.
    pthread_atfork([] { get().lock.lock(); }, [] { get().lock.unlock(); },
                   [] { get().lock.unlock(); });
  }

  uint64_t tag;
  std::mutex lock; ///< of what follows
  uint64_t count = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects;
};

} // namespace

void *insertHandle(Kind kind, std::shared_ptr<Object> object) {
  return HandleTable::get().insert(kind, std::move(object));
}

std::shared_ptr<Object> findHandle(Kind kind, const void *handle,
                                   std::string &problem) {
  return HandleTable::get().find(kind, handle, problem);
}

bool eraseHandle(Kind kind, const void *handle) {
  return HandleTable::get().erase(kind, handle);
}

} // namespace facapi
