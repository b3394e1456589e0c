//===- RaceState.h - the order of accesses in a cluster ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the race checker keeps of a cluster: happens-before and the history of
// every byte of its shared memory. Threads are numbered over the cluster:
//
//   | CTA 0: warps x 32 | CTA 1: warps x 32 | ... | agents |
//
// An agent stands for asynchronous work that belongs to no thread: the bulk
// copies that tell one mbarrier, or the wgmmas of one warpgroup. Its clock
// counts phases, or groups; who waits for one learns the agent's clock.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_RACESTATE_H
#define FA_LIB_EMULATOR_CHECKERS_RACESTATE_H

#include "AccessHistory.h"
#include "ThreadOrder.h"
#include "fa/Emulator/ExecutionObserver.h"

#include <array>
#include <map>
#include <span>

namespace ptxvm {

struct RaceAccessor {
  uint32_t thread = 0; ///< of the cluster
  uint32_t pc = 0;
  bool isStrong = false;
};

/// Two accesses without an order.
struct RaceFinding {
  uint64_t at;
  const char *verb;
  uint32_t otherPc, other; ///< other: its thread
  const char *otherVerb;
  bool isSameEvent = false; ///< by another lane of the same instruction
};

class RaceState {
public:
  /// `hasAgents`: what needsAgents says of the kernel.
  RaceState(const CTAEvent &event, bool hasAgents);
  static bool needsAgents(const CodeInfo &code);

  /// First thread of a CTA.
  uint32_t firstThread(uint32_t rank) const { return rank * perCTA; }
  uint32_t threadsOfCTA() const { return perCTA; }
  bool isAgent(uint32_t thread) const { return thread >= agents; }

  /// Accesses to these bytes of lanes follow.
  void expect(uint32_t rank, uint32_t mask, const uint64_t *addresses) const {
    for (uint32_t m = mask; m; m &= m - 1)
      histories[rank].prefetch(addresses[__builtin_ctz(m)]);
  }
  // Accesses; `report` is called for a pair without an order.
  template <typename Report>
  void read(const RaceAccessor &who, uint32_t rank, uint64_t at, uint64_t bytes,
            uint32_t clock, Report report);
  template <typename Report>
  void write(const RaceAccessor &who, uint32_t rank, uint64_t at,
             uint64_t bytes, uint32_t clock, Report report);
  /// Lane `lane` of the warp of `first` reads 16 aligned bytes; false when the
  /// general way has to be gone. Most bytes that a kernel reads from shared
  /// memory are read so.
  bool readLine(const RaceAccessor &first, unsigned lane, uint32_t rank,
                uint64_t at);
  /// Only looks whether what has been written comes before what each of these
  /// does; calls report(accessor, finding).
  template <typename Report>
  void look(std::span<const RaceAccessor> all, uint32_t rank,
            std::span<const ByteRange> ranges, Report report);

  struct Mbarrier {
    Knowledge arriving, completed;
    uint32_t agent = 0;
    uint32_t clock = 1; ///< of the agent, in the phase in progress
  };
  Mbarrier &mbarrier(uint32_t rank, uint32_t address);
  uint32_t wgmmaAgent(uint32_t rank, uint32_t firstWarp) const {
    return agents + rank * kAgents + firstWarp / 4;
  }

  ThreadOrder order;
  uint32_t now = 0; ///< counts memory events
  bool isSingle;    ///< one CTA, and no agents
  struct ClusterBarrier {
    Knowledge arriving, completed;
  } clusterBarrier;
  /// By rank: lanes that have not exited.
  std::vector<uint32_t> live;
  /// By owner: who of other CTAs has reached into its memory: clock and pc of
  /// the last time, by thread.
  struct Reach {
    uint32_t clock, pc;
  };
  std::vector<std::map<uint32_t, Reach>> visitors;

private:
  template <typename Visit>
  void forCells(uint32_t rank, uint64_t at, uint64_t bytes, Visit visit);
  /// A write after `order.allUpTo`.
  template <typename Report>
  void checkWrite(const RaceAccessor &who, const HistoryCell &cell, uint64_t at,
                  const char *verb, Report report);

  static constexpr uint32_t kAgents = 96; ///< of a CTA, 8 for warpgroups
  uint32_t perCTA, agents;
  std::vector<AccessHistory> histories; ///< by rank
  std::map<std::pair<uint32_t, uint32_t>, Mbarrier> mbarriers;
};

template <typename Visit>
void RaceState::forCells(uint32_t rank, uint64_t at, uint64_t bytes,
                         Visit visit) {
  AccessHistory &history = histories[rank];
  for (uint64_t end = at + bytes; at < end; at += 16) {
    uint32_t n = uint32_t(std::min<uint64_t>(end - at, 16));
    AccessHistory::Range range = history.find(at, n);
    for (uint32_t k = 0; k < range.count; ++k)
      visit(range.cells[k], at);
  }
}

template <typename Report>
void RaceState::checkWrite(const RaceAccessor &who, const HistoryCell &cell,
                           uint64_t at, const char *verb, Report report) {
  const WriteRecord &w = cell.write;
  if ((w.isStrong && who.isStrong) ||
      order.isBefore(w.thread, w.clock, who.thread)) [[likely]]
    return;
  report(RaceFinding{at, verb, w.pc, w.thread, "writes", w.time == now});
}

template <typename Report>
void RaceState::look(std::span<const RaceAccessor> all, uint32_t rank,
                     std::span<const ByteRange> ranges, Report report) {
  // A tile has mostly been written by one copy.
  WriteRecord known;
  auto visit = [&](HistoryCell &cell, uint64_t place) {
    if (cell.write == known)
      return;
    bool isKnown = true;
    for (const RaceAccessor &who : all)
      if (cell.write.time > order.allUpTo(who.thread))
        checkWrite(who, cell, place, "reads", [&](const RaceFinding &f) {
          isKnown = false;
          report(who, f);
        });
    if (isKnown)
      known = cell.write;
  };
  for (ByteRange r : ranges)
    forCells(rank, r.begin, r.end - r.begin, visit);
}

template <typename Report>
void RaceState::read(const RaceAccessor &who, uint32_t rank, uint64_t at,
                     uint64_t bytes, uint32_t clock, Report report) {
  ReadRecord record{1u << who.thread % 32, clock, who.pc,
                    uint16_t(who.thread / 32), who.isStrong};
  AccessHistory &history = histories[rank];
  bool isChecked = !isAgent(who.thread);
  uint32_t settled = order.allUpTo(who.thread);
  forCells(rank, at, bytes, [&](HistoryCell &cell, uint64_t place) {
    if (isChecked && cell.write.time > settled)
      checkWrite(who, cell, place, "reads", report);
    if (cell.readTime <= settled)
      history.clearReads(cell);
    history.addRead(cell, record);
    cell.readTime = now;
  });
}

inline bool RaceState::readLine(const RaceAccessor &first, unsigned lane,
                                uint32_t rank, uint64_t at) {
  AccessHistory &history = histories[rank];
  HistoryCell *cell = history.whole(at);
  uint32_t thread = first.thread + lane, settled = order.allUpTo(thread);
  if (!cell || cell->write.time > settled)
    return false;
  if (cell->readTime <= settled)
    history.clearReads(*cell);
  history.addRead(*cell, {1u << lane, order.clock(thread), first.pc,
                          uint16_t(first.thread / 32), first.isStrong});
  cell->readTime = now;
  return true;
}

template <typename Report>
void RaceState::write(const RaceAccessor &who, uint32_t rank, uint64_t at,
                      uint64_t bytes, uint32_t clock, Report report) {
  AccessHistory &history = histories[rank];
  WriteRecord record{now, clock, who.pc, uint16_t(who.thread), who.isStrong};
  auto checkRead = [&](const ReadRecord &r, uint64_t place) {
    if (r.isStrong && who.isStrong)
      return;
    for (uint32_t m = r.mask; m; m &= m - 1) {
      uint32_t other = r.warp * 32u + unsigned(__builtin_ctz(m));
      if (!order.isBefore(other, r.clock, who.thread))
        return report(RaceFinding{place, "writes", r.pc, other, "reads"});
    }
  };
  // What an agent does was looked at when its thread issued it.
  bool isChecked = !isAgent(who.thread);
  uint32_t settled = order.allUpTo(who.thread);
  forCells(rank, at, bytes, [&](HistoryCell &cell, uint64_t place) {
    if (isChecked && cell.write.time > settled)
      checkWrite(who, cell, place, "writes", report);
    if (isChecked && cell.readTime > settled)
      history.forReads(cell, [&](const ReadRecord &r) { checkRead(r, place); });
    cell.write = record;
    history.clearReads(cell);
  });
  if (bytes >= 16)
    for (uint64_t line = at; line < at + bytes; line += 16)
      history.joined(line);
}

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_RACESTATE_H
