//===- TouchedMemory.h - the global bytes that a CTA touched ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit sets over pages of global memory, one bit a byte, for each way to touch
// it, and for each 32 bytes the instruction that did so last.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_TOUCHEDMEMORY_H
#define FA_LIB_EMULATOR_CHECKERS_TOUCHEDMEMORY_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace ptxvm {

enum class Touch : uint8_t { Read, Write, StrongRead, StrongWrite };
constexpr unsigned kTouches = 4;

struct TouchedPage {
  static constexpr uint64_t kBytes = 2048;
  using Bits = std::array<uint64_t, kBytes / 64>;
  struct Kind {
    Bits bits{};
    std::array<uint32_t, kBytes / 32> pcs{};
  };
  std::array<std::unique_ptr<Kind>, kTouches> kinds;

  Kind &of(Touch touch) {
    std::unique_ptr<Kind> &k = kinds[unsigned(touch)];
    if (!k)
      k = std::make_unique<Kind>();
    return *k;
  }
};

class TouchedMemory {
public:
  void add(uint64_t address, uint64_t bytes, Touch touch, uint32_t pc) {
    while (bytes) {
      uint64_t offset = address % TouchedPage::kBytes;
      uint64_t n = std::min(bytes, TouchedPage::kBytes - offset);
      TouchedPage::Kind &kind = page(address / TouchedPage::kBytes).of(touch);
      for (uint64_t at = offset; at < offset + n;) {
        uint64_t end = std::min(offset + n, (at | 63) + 1), size = end - at;
        kind.bits[at / 64] |= (size == 64 ? ~0ull : (1ull << size) - 1)
                              << at % 64;
        kind.pcs[at / 32] = kind.pcs[(end - 1) / 32] = pc;
        at = end;
      }
      address += n;
      bytes -= n;
    }
  }
  std::unordered_map<uint64_t, TouchedPage> pages;

private:
  TouchedPage &page(uint64_t number) {
    if (number != lastNumber) {
      lastNumber = number;
      last = &pages[number];
    }
    return *last;
  }
  uint64_t lastNumber = ~0ull;
  TouchedPage *last = nullptr;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_TOUCHEDMEMORY_H
