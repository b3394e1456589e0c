//===- CTACounters.h - what one CTA asked for -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The events of one CTA, counted; Counters sums them when the CTA ends.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_COUNTERS_CTACOUNTERS_H
#define FA_LIB_EMULATOR_COUNTERS_CTACOUNTERS_H

#include "fa/Emulator/Counters.h"

#include <atomic>
#include <mutex>

namespace ptxvm {

/// A bit for each 32-byte sector of a buffer that a launch has touched; CTAs on
/// different host threads set them.
class TouchedSectors {
public:
  explicit TouchedSectors(const Allocation &b)
      : start(b.address / 32), bits(b.bytes / 32 / 64 + 2) {}

  void touch(uint64_t address) {
    uint64_t sector = address / 32 - start;
    std::atomic<uint64_t> &word = bits[sector / 64];
    uint64_t bit = 1ull << sector % 64;
    if (!(word.load(std::memory_order_relaxed) & bit))
      word.fetch_or(bit, std::memory_order_relaxed);
  }
  uint64_t count() const {
    uint64_t sum = 0;
    for (const auto &word : bits)
      sum += uint64_t(__builtin_popcountll(word.load()));
    return sum;
  }

private:
  uint64_t start;
  std::vector<std::atomic<uint64_t>> bits;
};

/// Of all buffers of a launch.
struct TouchedBuffers {
  std::mutex lock;
  std::map<const Allocation *, std::unique_ptr<TouchedSectors>> all;

  TouchedSectors *of(const Allocation *buffer);
};

class CTACounters : public CTAObserver {
public:
  CTACounters(const Device &device, size_t instructions,
              TouchedBuffers &touched)
      : issued(instructions), shared(instructions), device(device),
        touched(touched) {}

  void instructionIssued(const IssueEvent &e) override {
    ++issued[e.pc].instructions;
    issued[e.pc].lanes += uint64_t(__builtin_popcount(e.active));
  }
  void memoryAccess(const AccessEvent &e) override;
  void asyncCopyIssued(const AsyncCopyEvent &e) override;
  void bulkCopyIssued(const BulkCopyEvent &e) override;
  void wgmmaIssued(const WgmmaEvent &e) override;

  std::vector<OpcodeCount> issued;   ///< by pc
  std::vector<SharedTraffic> shared; ///< by pc
  std::array<SharedTraffic, kSharedKinds> byKind{};
  std::vector<SharedKind> kinds; ///< of shared[pc], made when first needed
  struct Buffer {
    const Allocation *buffer;
    BufferTraffic traffic;
    TouchedSectors *touched;
  };
  /// Those that this CTA touches; few, so they are searched.
  std::vector<Buffer> buffers;
  uint64_t asyncBytes = 0;

private:
  void addShared(uint32_t pc, SharedKind kind, const uint64_t *addresses,
                 uint32_t mask, uint32_t bytes, unsigned lanesAtOnce);
  /// Bytes that come in full wavefronts.
  void addSharedRange(uint32_t pc, SharedKind kind, uint64_t bytes);
  void addGlobal(const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                 const uint32_t *lengths, const Allocation *buffer, bool loads,
                 bool stores);
  void addGlobalRange(const AccessEvent &e);
  Buffer &trafficOf(const Allocation *buffer);
  const Allocation *findBuffer(uint64_t address) const;

  const Device &device;
  TouchedBuffers &touched;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_COUNTERS_CTACOUNTERS_H
