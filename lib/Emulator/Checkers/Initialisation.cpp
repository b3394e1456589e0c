//===- Initialisation.cpp - reads of what nothing has written -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device keeps a mark for every byte of a buffer. For shared and local
// memory this checker keeps a bit for every byte: accesses are aligned, so a
// lane's bits never cross a 64-bit word.
//
//===----------------------------------------------------------------------===//
#include "Findings.h"

using namespace ptxvm;

namespace {
/// One bit a byte.
class WrittenBits {
public:
  explicit WrittenBits(size_t bytes = 0) : bits((bytes + 63) / 64) {}

  bool isWritten(uint64_t at, uint32_t bytes) const {
    uint64_t m = maskOf(bytes);
    return at / 64 < bits.size() && (bits[at / 64] >> (at & 63) & m) == m;
  }
  void write(uint64_t at, uint32_t bytes) {
    if (at / 64 >= bits.size())
      bits.resize(at / 64 + 1);
    bits[at / 64] |= maskOf(bytes) << (at & 63);
  }
  uint64_t firstUnwritten(uint64_t at) const {
    while (isWritten(at, 1))
      ++at;
    return at;
  }

private:
  static uint64_t maskOf(uint32_t bytes) {
    return bytes >= 64 ? ~0ull : (1ull << bytes) - 1;
  }
  std::vector<uint64_t> bits;
};

/// Allocation::isInitialised, faster for the sizes of lanes.
bool isInitialised(const Allocation &b, uint64_t at, uint32_t bytes) {
  const uint8_t *marks = &b.initialised[at - b.address];
  constexpr uint64_t kAll = 0x0101010101010101ull;
  uint64_t word[2];
  switch (bytes) {
  case 16:
    std::memcpy(word, marks, 16);
    return (word[0] & word[1]) == kAll;
  case 8:
    std::memcpy(word, marks, 8);
    return word[0] == kAll;
  default:
    return b.isInitialised(at, bytes);
  }
}

bool isRead(AccessKind kind) {
  return kind == AccessKind::Load || kind == AccessKind::Atomic ||
         kind == AccessKind::MatrixLoad || kind == AccessKind::AsyncRead;
}

class InitialisationCTA : public CheckerCTA {
public:
  InitialisationCTA(const CTAEvent &event, std::string_view checker,
                    const Device &device)
      : CheckerCTA(event, checker), device(device), shared(event.sharedBytes),
        threads(event.threads) {}

  void memoryAccess(const AccessEvent &e) override {
    if (e.space == Space::Global) {
      if (isRead(e.kind))
        readGlobal(e);
    } else if (e.space == Space::Shared) {
      access(e, [this](unsigned) -> WrittenBits & { return shared; });
    } else if (e.space == Space::Local) {
      if (local.empty())
        local.resize((threads + 31) / 32 * 32);
      access(e, [&](unsigned lane) -> WrittenBits & {
        return local[e.warp * 32 + lane];
      });
    }
  }

  void asyncCopyIssued(const AsyncCopyEvent &e) override {
    for (uint32_t m = e.mask; m; m &= m - 1)
      shared.write(e.shared[__builtin_ctz(m)], e.bytes);
  }

private:
  template <typename BitsOf> void access(const AccessEvent &e, BitsOf bitsOf) {
    bool reads = isRead(e.kind), writes = e.kind != AccessKind::Load &&
                                          e.kind != AccessKind::MatrixLoad;
    uint32_t bad = 0;
    uint64_t first = 0;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      WrittenBits &bits = bitsOf(l);
      if (reads && !bits.isWritten(e.addresses[l], e.bytes)) [[unlikely]] {
        if (!bad)
          first = bits.firstUnwritten(e.addresses[l]);
        bad |= m & -m;
      }
      if (writes)
        bits.write(e.addresses[l], e.bytes);
    }
    if (bad && isNew(e.pc))
      found(e, bad, placeName(e.space, first, nullptr));
  }

  void readGlobal(const AccessEvent &e) {
    uint32_t bad = 0;
    const Allocation *b = e.allocation;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      uint32_t n = e.lengths ? e.lengths[l] : e.bytes;
      if (!b || !b->contains(e.addresses[l], n))
        b = device.findAllocation(e.addresses[l]);
      bool isBad =
          b && !b->initialised.empty() && !isInitialised(*b, e.addresses[l], n);
      if (isBad) [[unlikely]]
        bad |= m & -m;
    }
    if (!bad || !isNew(e.pc))
      return;
    uint64_t at = e.addresses[__builtin_ctz(bad)];
    b = device.findAllocation(at);
    while (b->initialised[at - b->address])
      ++at;
    found(e, bad, placeName(e.space, at, b));
  }

  void found(const AccessEvent &e, uint32_t lanes, const std::string &place) {
    std::string message = opcode(e.pc) + " reads " + place +
                          ", which nothing has written" +
                          othersText(__builtin_popcount(lanes) - 1);
    report(e.pc, e.warp, __builtin_ctz(lanes), std::move(message));
  }

  const Device &device;
  WrittenBits shared;
  std::vector<WrittenBits> local; ///< by thread
  uint32_t threads;
};

class InitialisationChecker : public Checker {
public:
  std::string_view name() const override { return "initialisation"; }
  uint32_t interests() const override { return kMemory | kAsyncCopies; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<InitialisationCTA>(event, name(), *device);
  }
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeInitialisationChecker() {
  return std::make_unique<InitialisationChecker>();
}
