//===- Leaks.cpp - what a thread leaves behind ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory and registers belong to the CTA until it ends, so asynchronous
// work that nobody has waited for may reach memory that is somebody else's by
// then. What counts is the wait in the program, not when the machine happened
// to do the work. An mbarrier in the middle of a phase says that arrivals were
// counted wrongly.
//
//===----------------------------------------------------------------------===//
#include "ClusterState.h"
#include "Findings.h"

#include <array>

using namespace ptxvm;

namespace {
/// Asynchronous operations that await a wait, with the group of each lane.
struct Open {
  uint32_t pc, warp, mask;
  std::array<uint32_t, 32> group;
};

/// Groups of one kind (cp.async, bulk copies) of all warps.
class Groups {
public:
  explicit Groups(uint32_t warps) : next(warps) {}

  void issue(uint32_t pc, uint32_t warp, uint32_t mask) {
    for (Open &o : open)
      if (o.pc == pc && o.warp == warp && o.group == next[warp]) {
        o.mask |= mask;
        return;
      }
    open.push_back({pc, warp, mask, next[warp]});
  }
  void commit(uint32_t warp, uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1)
      ++next[warp][unsigned(__builtin_ctz(m))];
  }
  void wait(uint32_t warp, uint32_t mask, uint32_t pending) {
    close(warp, mask, [&](uint32_t lane, uint32_t group) {
      return uint64_t(group) + pending < next[warp][lane];
    });
  }
  void waitForAll(uint32_t warp, uint32_t mask) {
    close(warp, mask, [](uint32_t, uint32_t) { return true; });
  }
  const std::vector<Open> &left() const { return open; }

private:
  template <typename IsDone>
  void close(uint32_t warp, uint32_t mask, IsDone isDone) {
    for (Open &o : open)
      for (uint32_t m = o.warp == warp ? o.mask & mask : 0; m; m &= m - 1) {
        unsigned lane = unsigned(__builtin_ctz(m));
        if (isDone(lane, o.group[lane]))
          o.mask &= ~(1u << lane);
      }
    std::erase_if(open, [](const Open &o) { return !o.mask; });
  }

  std::vector<Open> open;
  std::vector<std::array<uint32_t, 32>> next; ///< open group, by warp and lane
};

struct Mbarrier {
  uint32_t pc, warp;
  uint32_t pending, expected;
  int64_t bytes;
};

/// The mbarriers of a cluster, by rank and address.
struct MbarrierTable {
  explicit MbarrierTable(const CTAEvent &) {}
  std::map<std::pair<uint32_t, uint32_t>, Mbarrier> objects;
};

class LeakCTA : public CheckerCTA {
public:
  LeakCTA(const CTAEvent &event, std::string_view checker,
          std::shared_ptr<MbarrierTable> table)
      : CheckerCTA(event, checker), copies(event.warps), bulk(event.warps),
        wgmmas(event.warps), rank(event.clusterRank), table(std::move(table)) {}

  void asyncCopyIssued(const AsyncCopyEvent &e) override {
    copies.issue(e.pc, e.warp, e.mask);
  }
  void asyncCopyCommitted(const AsyncGroupEvent &e) override {
    copies.commit(e.warp, e.mask);
  }
  void asyncCopyWaited(const AsyncGroupEvent &e) override {
    if (e.waitsForAll)
      copies.waitForAll(e.warp, e.mask);
    else
      copies.wait(e.warp, e.mask, e.pending);
  }
  void bulkCopyIssued(const BulkCopyEvent &e) override {
    bool isOfGroup = !e.hasMbarrier && e.direction != BulkCopyEvent::Prefetch;
    if (isOfGroup)
      bulk.issue(e.pc, e.warp, 1u << e.lane);
  }
  void bulkGroupCommitted(const BulkGroupEvent &e) override {
    bulk.commit(e.warp, e.mask);
  }
  void bulkGroupWaited(const BulkGroupEvent &e) override {
    bulk.wait(e.warp, e.mask, e.pending);
  }
  // A wgmma belongs to its warps; lane 0 stands for each.
  void wgmmaIssued(const WgmmaEvent &e) override {
    for (uint32_t w = 0; w < 4; ++w)
      wgmmas.issue(e.pc, e.firstWarp + w, 1);
  }
  void wgmmaCommitted(const WgmmaGroupEvent &e) override {
    for (uint32_t w = 0; w < e.warps; ++w)
      wgmmas.commit(e.firstWarp + w, 1);
  }
  void wgmmaWaited(const WgmmaGroupEvent &e) override {
    for (uint32_t w = 0; w < e.warps; ++w)
      wgmmas.wait(e.firstWarp + w, 1, e.pending);
  }

  void mbarrier(const MbarrierEvent &e) override {
    auto key = std::pair(e.ownerRank, e.address);
    if (e.kind == MbarrierEvent::Invalidate || !e.isValid) {
      table->objects.erase(key);
      return;
    }
    if (e.kind == MbarrierEvent::Arrive && e.isAsync)
      copies.waitForAll(e.warp, e.mask);
    if (e.kind == MbarrierEvent::TestWait)
      return;
    Mbarrier &m = table->objects[key];
    m = {e.pc, e.warp, e.pendingCount, e.expectedCount, e.txCount};
  }

  void atEnd() {
    for (const Open &o : copies.left())
      reportOpen(o, "wait_group or wait_all");
    for (const Open &o : bulk.left())
      reportOpen(o, "cp.async.bulk.wait_group");
    for (const Open &o : wgmmas.left())
      reportOpen(o, "wgmma.wait_group");
    for (const auto &[key, m] : table->objects)
      // Bytes that do not add up are for the checker of mbarriers.
      if (key.first == rank && !m.bytes && m.pending != m.expected)
        reportMbarrier(key.second, m);
  }

private:
  void reportOpen(const Open &o, const char *wait) {
    report(o.pc, o.warp, __builtin_ctz(o.mask),
           opcode(o.pc) + " was never waited for: no " + wait +
               " of its thread covers it before the CTA ends");
  }
  void reportMbarrier(uint32_t address, const Mbarrier &m) {
    std::string state = std::to_string(m.expected - m.pending) + " of " +
                        std::to_string(m.expected) + " arrivals have come";
    report(m.pc, m.warp, -1,
           "the CTA ends while the mbarrier at byte " +
               std::to_string(address) + " is in the middle of a phase: " +
               state + "; " + opcode(m.pc) + " was the last to touch it");
  }

  Groups copies, bulk, wgmmas;
  uint32_t rank;
  std::shared_ptr<MbarrierTable> table;
};

class LeakChecker : public Checker {
public:
  std::string_view name() const override { return "leaks"; }
  uint32_t interests() const override {
    return kAsyncCopies | kBarriers | kWgmma;
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<LeakCTA>(event, name(), tables.of(event));
  }
  void ctaEnd(const CTAEvent &event, CTAObserver &observer,
              bool completed) override {
    if (completed)
      static_cast<LeakCTA &>(observer).atEnd();
    Checker::ctaEnd(event, observer, completed);
  }
  void kernelEnd(Report &report) override {
    Checker::kernelEnd(report);
    tables.clear();
  }

private:
  ClusterStates<MbarrierTable> tables;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeLeakChecker() {
  return std::make_unique<LeakChecker>();
}
