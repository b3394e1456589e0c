//===- Race.cpp - accesses that nothing puts in order ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 8: two accesses of different threads to a byte, one of
// them a write and not both strong, must be ordered. What orders here: CTA
// barriers, bar.warp.sync, fences with strong accesses, and exits (a barrier
// that does not wait for an exited thread comes after what that thread did).
// Lanes of a warp are threads like others; shfl and the like order nothing.
//
// A cp.async may write at any time between its issue and the wait of its
// thread. So it is a write twice, at the issue and at the completion: what
// others do must come before the one or after the other, and what lies between
// them is for the checker of waits.
//
//===----------------------------------------------------------------------===//
#include "AccessHistory.h"
#include "Findings.h"
#include "ThreadOrder.h"

#include <array>

using namespace ptxvm;

namespace {
struct Accessor {
  uint32_t warp = 0, lane = 0, pc = 0;
  bool isStrong = false;
  uint32_t thread() const { return warp * 32 + lane; }
};

class RaceCTA : public CheckerCTA {
public:
  RaceCTA(const CTAEvent &event, std::string_view checker,
          const std::vector<char> &isWarpBarrier)
      : CheckerCTA(event, checker), isWarpBarrier(isWarpBarrier),
        meetings(event.warps), threads(event.threads), order(event.warps * 32),
        history(event.sharedBytes), exited(event.warps, 0),
        arrivedOnly(event.warps) {}

  void memoryAccess(const AccessEvent &e) override {
    if (e.space != Space::Shared)
      return;
    ++now;
    bool reads = e.kind == AccessKind::Load || e.kind == AccessKind::MatrixLoad;
    bool isAtomic = e.kind == AccessKind::Atomic;
    Accessor who{e.warp, 0, e.pc, isAtomic || e.ordering != Ordering::Weak};
    for (uint32_t m = e.mask; m; m &= m - 1) {
      who.lane = unsigned(__builtin_ctz(m));
      uint64_t at = e.addresses[who.lane];
      if (who.isStrong) [[unlikely]]
        synchronise(e, who, at);
      if (reads)
        read(who, at, e.bytes);
      else
        write(who, at, e.bytes);
    }
  }

  void asyncCopyIssued(const AsyncCopyEvent &e) override {
    ++now;
    Accessor who{e.warp, 0, e.pc, false};
    for (uint32_t m = e.mask; m; m &= m - 1) {
      who.lane = unsigned(__builtin_ctz(m));
      write(who, e.shared[who.lane], e.bytes);
    }
  }

  void barrierArrived(const BarrierEvent &e) override {
    if (e.kind != BarrierEvent::Arrive)
      return; // it waits: what it has done is known when the phase completes
    Knowledge &sum = arrivals[e.barrier];
    for (uint32_t m = e.mask; m; m &= m - 1)
      order.publish(e.warp * 32 + unsigned(__builtin_ctz(m)), sum);
    arrivedOnly[e.warp][e.barrier] |= e.mask;
  }

  void barrierCompleted(const BarrierEvent &e) override {
    std::vector<uint32_t> waiting, from;
    for (uint32_t w = 0; w < exited.size(); ++w) {
      uint32_t &only = arrivedOnly[w][e.barrier];
      append(waiting, w, (*e.participants)[w] & ~only);
      only = 0;
      append(from, w, exited[w]);
    }
    from.insert(from.end(), waiting.begin(), waiting.end());
    Knowledge &sum = arrivals[e.barrier];
    order.join(from, waiting, &sum, from.size() == threads, now);
    sum = {};
  }

  void warpSynchronised(uint32_t warp, uint32_t, uint32_t mask,
                        bool ordersMemory) override {
    if (!ordersMemory)
      return;
    WarpMeeting &m = meetings[warp];
    std::vector<uint32_t> lanes;
    append(lanes, warp, mask);
    order.learn(lanes, m.arrived);
    m.waiting &= ~mask;
    if (!m.waiting)
      m.arrived = {};
  }

  // Lanes may meet at bar.warp.sync instructions in different places, and are
  // told of one place after the other; so what they have done is collected when
  // they come.
  void instructionIssued(const IssueEvent &e) override {
    if (!isWarpBarrier[e.pc]) [[likely]]
      return;
    WarpMeeting &m = meetings[e.warp];
    m.waiting |= e.active;
    for (uint32_t lanes = e.active; lanes; lanes &= lanes - 1)
      order.publish(e.warp * 32 + unsigned(__builtin_ctz(lanes)), m.arrived);
  }

  void fence(const FenceEvent &e) override {
    for (uint32_t m = e.mask; m; m &= m - 1)
      order.fence(e.warp * 32 + unsigned(__builtin_ctz(m)));
  }

  void lanesExited(uint32_t warp, uint32_t, uint32_t mask) override {
    exited[warp] |= mask;
  }

private:
  static void append(std::vector<uint32_t> &list, uint32_t warp,
                     uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1)
      list.push_back(warp * 32 + unsigned(__builtin_ctz(m)));
  }

  void synchronise(const AccessEvent &e, const Accessor &who, uint64_t at) {
    bool reads = e.kind != AccessKind::Store,
         writes = e.kind != AccessKind::Load;
    bool both = e.ordering == Ordering::AcquireRelease;
    if (reads)
      order.strongRead(who.thread(), at / 4,
                       both || e.ordering == Ordering::Acquire);
    if (writes)
      order.strongWrite(who.thread(), at / 4,
                        both || e.ordering == Ordering::Release, reads);
  }

  /// Visits the cells of an access, line by line.
  template <typename Visit>
  void forCells(uint64_t at, uint32_t bytes, Visit visit) {
    for (uint64_t end = at + bytes; at < end; at += 16) {
      uint32_t n = uint32_t(std::min<uint64_t>(end - at, 16));
      AccessHistory::Range range = history.find(at, n);
      for (uint32_t k = 0; k < range.count; ++k)
        visit(range.cells[k], at);
    }
  }

  void checkWrite(const Accessor &who, const HistoryCell &cell, uint64_t at,
                  const char *verb) {
    const WriteRecord &w = cell.write;
    uint32_t thread = who.thread();
    if (w.time <= order.allUpTo(thread) || (w.isStrong && who.isStrong) ||
        order.isBefore(w.thread, w.clock, thread)) [[likely]]
      return;
    found(who, at, verb, w.pc, w.thread, "writes");
  }

  void read(const Accessor &who, uint64_t at, uint32_t bytes) {
    uint32_t thread = who.thread();
    ReadRecord record{1u << who.lane, order.clock(thread), who.pc,
                      uint16_t(who.warp), who.isStrong};
    forCells(at, bytes, [&](HistoryCell &cell, uint64_t place) {
      checkWrite(who, cell, place, "reads");
      if (cell.readTime <= order.allUpTo(thread))
        history.clearReads(cell);
      history.addRead(cell, record);
      cell.readTime = now;
    });
  }

  void write(const Accessor &who, uint64_t at, uint32_t bytes) {
    uint32_t thread = who.thread();
    WriteRecord record{now, order.clock(thread), who.pc, uint16_t(thread),
                       who.isStrong};
    forCells(at, bytes, [&](HistoryCell &cell, uint64_t place) {
      checkWrite(who, cell, place, "writes");
      if (cell.readTime > order.allUpTo(thread))
        history.forReads(cell, [&](const ReadRecord &r) {
          if (!(r.isStrong && who.isStrong))
            checkRead(who, r, place);
        });
      cell.write = record;
      history.clearReads(cell);
    });
    if (bytes >= 16)
      for (uint64_t line = at; line < at + bytes; line += 16)
        history.joined(line);
  }

  void checkRead(const Accessor &who, const ReadRecord &r, uint64_t at) {
    for (uint32_t m = r.mask; m; m &= m - 1) {
      uint32_t other = r.warp * 32u + unsigned(__builtin_ctz(m));
      if (!order.isBefore(other, r.clock, who.thread()))
        return found(who, at, "writes", r.pc, other, "reads");
    }
  }

  void found(const Accessor &who, uint64_t at, const char *verb,
             uint32_t otherPc, uint32_t other, const char *otherVerb) {
    if (!isNew(who.pc))
      return;
    report(who.pc, who.warp, int(who.lane),
           opcode(who.pc) + " " + verb + " " +
               placeName(Space::Shared, at, nullptr) + ", which " +
               instruction(otherPc) + " (warp " + std::to_string(other / 32) +
               ", lane " + std::to_string(other % 32) + ") " + otherVerb +
               " too, and nothing orders the two");
  }

  /// Lanes that have come to bar.warp.sync and are not told to go on.
  struct WarpMeeting {
    uint32_t waiting = 0;
    Knowledge arrived;
  };

  const std::vector<char> &isWarpBarrier; ///< by pc
  std::vector<WarpMeeting> meetings;      ///< by warp
  uint32_t threads;
  ThreadOrder order;
  AccessHistory history;
  uint32_t now = 0;             ///< counts memory events
  std::vector<uint32_t> exited; ///< lanes, by warp
  std::vector<std::array<uint32_t, 16>> arrivedOnly;
  std::array<Knowledge, 16> arrivals;
};

class RaceChecker : public Checker {
public:
  std::string_view name() const override { return "race"; }
  uint32_t interests() const override {
    return kInstructions | kMemory | kAsyncCopies | kBarriers;
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<RaceCTA>(event, name(), isWarpBarrier);
  }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    isWarpBarrier.clear();
    for (const InstructionInfo &i : event.code.instructions)
      isWarpBarrier.push_back(!i.opcode.compare(0, 8, "bar.warp"));
  }

private:
  std::vector<char> isWarpBarrier;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeRaceChecker() {
  return std::make_unique<RaceChecker>();
}
