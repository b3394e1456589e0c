//===- AsyncWait.cpp - touching what a cp.async still writes --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From its issue until a wait of its thread the destination of a cp.async (PTX
// ISA 9.1 section 9.7.9.25.3) belongs to nobody: a read may find old or new
// bytes, a write may be lost, and two copies to the same bytes have no order.
// Each 4-byte word knows the copy that is under way to it.
//
//===----------------------------------------------------------------------===//
#include "Findings.h"

#include <array>
#include <unordered_map>

using namespace ptxvm;

namespace {
struct Copy {
  uint32_t pc, warp, mask, bytes;
  std::array<uint64_t, 32> shared;
};

class AsyncWaitCTA : public CheckerCTA {
public:
  AsyncWaitCTA(const CTAEvent &event, std::string_view checker)
      : CheckerCTA(event, checker), ownerOf((event.sharedBytes + 3) / 4 + 8),
        pendingIn(event.sharedBytes / 16 + 2) {}

  void asyncCopyIssued(const AsyncCopyEvent &e) override {
    uint32_t slot = takeSlot(e.id);
    Copy &c = copies[slot];
    c = {e.pc, e.warp, e.mask, e.bytes, {}};
    std::copy_n(e.shared, 32, c.shared.begin());
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      for (uint32_t k = 0; k < e.bytes; k += 4) {
        uint64_t word = (e.shared[l] + k) / 4;
        uint32_t &owner = ownerOf[word];
        if (owner)
          found(e.pc, e.warp, l, e.shared[l] + k, "overwrites", owner - 1);
        else
          ++pendingIn[word / 4];
        owner = slot + 1;
      }
    }
  }

  void asyncCopyCompleted(uint32_t, uint64_t id, uint32_t mask) override {
    auto at = slotOf.find(id);
    if (at == slotOf.end())
      return;
    uint32_t slot = at->second;
    Copy &c = copies[slot];
    for (uint32_t m = mask & c.mask; m; m &= m - 1)
      for (uint32_t k = 0; k < c.bytes; k += 4) {
        uint64_t word = (c.shared[unsigned(__builtin_ctz(m))] + k) / 4;
        if (ownerOf[word] != slot + 1)
          continue; // a younger copy has taken it
        ownerOf[word] = 0;
        --pendingIn[word / 4];
      }
    c.mask &= ~mask;
    if (c.mask)
      return;
    freeSlots.push_back(slot);
    slotOf.erase(at);
  }

  void memoryAccess(const AccessEvent &e) override {
    bool isOwn =
        e.kind == AccessKind::AsyncRead || e.kind == AccessKind::AsyncWrite;
    if (e.space != Space::Shared || isOwn || slotOf.empty())
      return;
    bool reads = e.kind == AccessKind::Load || e.kind == AccessKind::MatrixLoad;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      uint64_t at = e.addresses[l], end = at + e.bytes;
      bool isPending = pendingIn[at / 16] || pendingIn[(end - 1) / 16];
      if (!isPending) [[likely]]
        continue;
      for (uint64_t byte = at & ~3ull; byte < end; byte += 4)
        if (uint32_t owner = ownerOf[byte / 4])
          return found(e.pc, e.warp, l, byte, reads ? "reads" : "writes",
                       owner - 1);
    }
  }

private:
  uint32_t takeSlot(uint64_t id) {
    if (freeSlots.empty()) {
      freeSlots.push_back(uint32_t(copies.size()));
      copies.emplace_back();
    }
    uint32_t slot = freeSlots.back();
    freeSlots.pop_back();
    slotOf[id] = slot;
    return slot;
  }

  void found(uint32_t pc, uint32_t warp, unsigned lane, uint64_t at,
             const char *verb, uint32_t slot) {
    if (!isNew(pc))
      return;
    const Copy &c = copies[slot];
    unsigned other = 0;
    for (uint32_t m = c.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      if (at - c.shared[l] < c.bytes)
        other = l;
    }
    report(pc, warp, int(lane),
           opcode(pc) + " " + verb + " " +
               placeName(Space::Shared, at, nullptr) + ", which " +
               instruction(c.pc) + " (warp " + std::to_string(c.warp) +
               ", lane " + std::to_string(other) +
               ") is still writing; that thread has not waited for it");
  }

  std::vector<uint32_t> ownerOf;  ///< by 4-byte word: slot + 1, or 0
  std::vector<uint8_t> pendingIn; ///< by 16 bytes: words with an owner
  std::vector<Copy> copies;
  std::vector<uint32_t> freeSlots;
  std::unordered_map<uint64_t, uint32_t> slotOf; ///< by the id of a copy
};

class AsyncWaitChecker : public Checker {
public:
  std::string_view name() const override { return "async-wait"; }
  uint32_t interests() const override { return kMemory | kAsyncCopies; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<AsyncWaitCTA>(event, name());
  }
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeAsyncWaitChecker() {
  return std::make_unique<AsyncWaitChecker>();
}
