//===- Initialisation.cpp - reads of what nothing has written -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device keeps a mark for every byte of a buffer. For shared and local
// memory this checker keeps a bit for every byte: accesses of lanes are
// aligned, so their bits never cross a 64-bit word. What copies write counts as
// written when they are issued.
//
//===----------------------------------------------------------------------===//
#include "ClusterState.h"
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
  /// isWritten for lanes, without a branch for each.
  bool areWritten(uint32_t lanes, const uint64_t *addresses,
                  uint32_t bytes) const {
    const uint64_t *words = bits.data();
    uint64_t m = maskOf(bytes), size = bits.size(), missing = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      uint64_t at = addresses[__builtin_ctz(rest)];
      if (at / 64 >= size) [[unlikely]]
        return false;
      missing |= ~(words[at / 64] >> (at & 63)) & m;
    }
    return !missing;
  }
  void write(uint64_t at, uint32_t bytes) {
    if (at / 64 >= bits.size())
      bits.resize(at / 64 + 1);
    bits[at / 64] |= maskOf(bytes) << (at & 63);
  }
  /// Any number of bytes, with any alignment.
  void writeRange(uint64_t at, uint64_t bytes) {
    forWords(at, bytes, [&](uint64_t from, uint32_t n) { write(from, n); });
  }
  bool isRangeWritten(uint64_t at, uint64_t bytes) const {
    bool all = true;
    forWords(at, bytes,
             [&](uint64_t from, uint32_t n) { all &= isWritten(from, n); });
    return all;
  }
  uint64_t firstUnwritten(uint64_t at) const {
    while (isWritten(at, 1))
      ++at;
    return at;
  }

private:
  template <typename Visit>
  static void forWords(uint64_t at, uint64_t bytes, Visit visit) {
    for (uint64_t end = at + bytes; at < end;) {
      uint64_t next = std::min(end, (at | 63) + 1);
      visit(at, uint32_t(next - at));
      at = next;
    }
  }
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

/// Shared memory of a cluster, by rank.
struct SharedBits {
  explicit SharedBits(const CTAEvent &e)
      : of(e.clusterSize, WrittenBits(e.sharedBytes)) {}
  std::vector<WrittenBits> of;
};

class InitialisationCTA : public CheckerCTA {
public:
  InitialisationCTA(const CTAEvent &event, std::string_view checker,
                    const Device &device, std::shared_ptr<SharedBits> bits)
      : CheckerCTA(event, checker), device(device), all(std::move(bits)),
        shared(all->of[event.clusterRank]), threads(event.threads) {}

  void memoryAccess(const AccessEvent &e) override {
    if (e.space == Space::Global) {
      bool isReduction =
          e.kind == AccessKind::AsyncWrite &&
          code.instructions[e.pc].opcode.starts_with("cp.reduce");
      if (isRead(e.kind) || isReduction)
        readGlobal(e);
    } else if (e.space == Space::Shared) {
      // Bulk copies are told by their own events.
      if (e.proxy != Proxy::Generic)
        return;
      WrittenBits &bits = all->of[e.ownerRank];
      bool isLoad =
          e.kind == AccessKind::Load || e.kind == AccessKind::MatrixLoad;
      if (isLoad && bits.areWritten(e.mask, e.addresses, e.bytes)) [[likely]]
        return;
      access(e, [&](unsigned) -> WrittenBits & { return bits; });
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

  void bulkCopyIssued(const BulkCopyEvent &e) override {
    bool isStore = e.direction == BulkCopyEvent::SharedToGlobal;
    if (isStore || e.direction == BulkCopyEvent::SharedToShared)
      readRange(shared, e.pc, e.warp, int(e.lane),
                isStore ? e.sharedAddress : e.sourceAddress, e.bytes);
    if (isStore || e.direction == BulkCopyEvent::Prefetch)
      return;
    for (uint32_t m = e.multicast ? e.multicast : 1u << e.sharedRank; m;
         m &= m - 1) {
      WrittenBits &to = all->of[unsigned(__builtin_ctz(m))];
      if (e.isReduce)
        readRange(to, e.pc, e.warp, int(e.lane), e.sharedAddress, e.bytes);
      to.writeRange(e.sharedAddress, e.bytes);
    }
  }
  void wgmmaIssued(const WgmmaEvent &e) override {
    for (const auto &ranges : {e.aShared, e.bShared})
      for (ByteRange r : ranges)
        readRange(shared, e.pc, e.firstWarp, -1, r.begin, r.end - r.begin);
  }

private:
  void readRange(const WrittenBits &bits, uint32_t pc, uint32_t warp, int lane,
                 uint64_t at, uint64_t bytes) {
    if (bits.isRangeWritten(at, bytes) || !isNew(pc)) [[likely]]
      return;
    uint64_t first = bits.firstUnwritten(at);
    report(pc, warp, lane,
           opcode(pc) + " reads " + placeName(Space::Shared, first, nullptr) +
               ", which nothing has written");
  }

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
  std::shared_ptr<SharedBits> all;
  WrittenBits &shared;            ///< of this CTA
  std::vector<WrittenBits> local; ///< by thread
  uint32_t threads;
};

class InitialisationChecker : public Checker {
public:
  std::string_view name() const override { return "initialisation"; }
  uint32_t interests() const override {
    return kMemory | kAsyncCopies | kWgmma;
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<InitialisationCTA>(event, name(), *device,
                                               states.of(event));
  }
  void kernelEnd(Report &report) override {
    Checker::kernelEnd(report);
    states.clear();
  }

private:
  ClusterStates<SharedBits> states;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeInitialisationChecker() {
  return std::make_unique<InitialisationChecker>();
}
