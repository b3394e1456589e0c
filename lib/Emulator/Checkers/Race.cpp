//===- Race.cpp - accesses that nothing puts in order ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 8: two accesses of different threads to a byte, one of
// them a write and not both strong, must be ordered. What orders here: CTA and
// cluster barriers, bar.warp.sync, mbarriers, fences with strong accesses, and
// exits (a barrier that does not wait for an exited thread comes after what
// that thread did). Lanes of a warp are threads like others; shfl and the like
// order nothing.
//
// Two writes of the same bytes leave them in every order. The model calls that
// a race too, compilers let lanes with copies of a value do it; `race` leaves
// it to a checker of its own, equal-writes.
//
// An asynchronous copy may write at any time between its issue and a wait. So
// it is a write twice, at the issue and at the completion: what others do must
// come before the one or after the other, and what lies between them is for
// the checker of waits.
//
//===----------------------------------------------------------------------===//
#include "RaceCTA.h"

#include <cstring>

using namespace ptxvm;

std::vector<uint32_t> RaceCTA::threads(uint32_t warp, uint32_t mask) const {
  std::vector<uint32_t> list;
  append(list, warp, mask);
  return list;
}

void RaceCTA::append(std::vector<uint32_t> &list, uint32_t warp,
                     uint32_t mask) const {
  for (uint32_t m = mask; m; m &= m - 1)
    list.push_back(thread(warp, unsigned(__builtin_ctz(m))));
}

void RaceCTA::memoryAccess(const AccessEvent &e) {
  // What the async proxy does is told by the events of its operations.
  if (e.space != Space::Shared || e.proxy == Proxy::Async)
    return;
  ++s->now;
  bool reads = e.kind == AccessKind::Load || e.kind == AccessKind::MatrixLoad;
  bool isAtomic = e.kind == AccessKind::Atomic;
  if (e.ownerRank != rank) [[unlikely]]
    reachOut(e);
  // In the memory of another CTA, what is strong for its own CTA is weak.
  bool isWide = e.ownerRank == rank || e.scope != Scope::CTA;
  RaceAccessor who{0, e.pc,
                   isWide && (isAtomic || e.ordering != Ordering::Weak)};
  s->expect(e.ownerRank, e.mask, e.addresses);
  uint32_t rest = e.mask;
  if (reads && e.bytes == 16 && !who.isStrong) {
    who.thread = thread(e.warp, 0);
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned lane = unsigned(__builtin_ctz(m));
      if (s->readLine(who, lane, e.ownerRank, e.addresses[lane]))
        rest &= ~(m & -m);
    }
  }
  for (uint32_t m = rest; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    who.thread = thread(e.warp, lane);
    uint64_t at = e.addresses[lane];
    if (who.isStrong) [[unlikely]]
      synchronise(e, who.thread, at);
    auto report = [&](const RaceFinding &f) {
      found(who, f, writesEqual(e, lane, f));
    };
    uint32_t clock = s->order.clock(who.thread);
    if (e.kind == AccessKind::AsyncWrite)
      stored = {who, e.ownerRank, at, e.bytes};
    if (reads)
      s->read(who, e.ownerRank, at, e.bytes, clock, report);
    else
      s->write(who, e.ownerRank, at, e.bytes, clock, report);
  }
}

void RaceCTA::asyncCopyIssued(const AsyncCopyEvent &e) {
  ++s->now;
  s->expect(rank, e.mask, e.shared);
  for (uint32_t m = e.mask; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    RaceAccessor who{thread(e.warp, lane), e.pc, false};
    s->write(who, rank, e.shared[lane], e.bytes, s->order.clock(who.thread),
             [&](const RaceFinding &f) { found(who, f); });
  }
}

void RaceCTA::synchronise(const AccessEvent &e, uint32_t who, uint64_t at) {
  bool reads = e.kind != AccessKind::Store, writes = e.kind != AccessKind::Load;
  bool both = e.ordering == Ordering::AcquireRelease;
  uint64_t word = uint64_t(e.ownerRank) << 32 | at / 4;
  if (reads)
    s->order.strongRead(who, word, both || e.ordering == Ordering::Acquire);
  if (writes)
    s->order.strongWrite(who, word, both || e.ordering == Ordering::Release,
                         reads);
}

void RaceCTA::barrierArrived(const BarrierEvent &e) {
  if (e.kind != BarrierEvent::Arrive)
    return; // it waits: what it has done is known when the phase completes
  s->order.publish(threads(e.warp, e.mask), arrivals[e.barrier]);
  arrivedOnly[e.warp][e.barrier] |= e.mask;
}

void RaceCTA::barrierCompleted(const BarrierEvent &e) {
  std::vector<uint32_t> waiting, from;
  for (uint32_t w = 0; w < exited.size(); ++w) {
    uint32_t &only = arrivedOnly[w][e.barrier];
    append(waiting, w, (*e.participants)[w] & ~only);
    only = 0;
    append(from, w, exited[w]);
  }
  from.insert(from.end(), waiting.begin(), waiting.end());
  Knowledge &sum = arrivals[e.barrier];
  bool isAll = s->isSingle && from.size() == size;
  s->order.join(from, waiting, &sum, isAll, s->now);
  sum = {};
}

// Lanes may meet at bar.warp.sync instructions in different places, and are
// told of one place after the other; so what they have done is collected when
// they come.
void RaceCTA::instructionIssued(const IssueEvent &e) {
  if (!isWarpBarrier[e.pc]) [[likely]]
    return;
  WarpMeeting &m = meetings[e.warp];
  m.waiting |= e.active;
  s->order.publish(threads(e.warp, e.active), m.arrived);
}

void RaceCTA::warpSynchronised(uint32_t warp, uint32_t, uint32_t mask,
                               bool ordersMemory) {
  if (!ordersMemory)
    return;
  WarpMeeting &m = meetings[warp];
  s->order.learn(threads(warp, mask), m.arrived);
  m.waiting &= ~mask;
  if (!m.waiting)
    m.arrived = {};
}

void RaceCTA::fence(const FenceEvent &e) {
  bool ordersMemory =
      e.proxy == FenceEvent::Memory || e.proxy == FenceEvent::MbarrierInit;
  for (uint32_t m = ordersMemory ? e.mask : 0; m; m &= m - 1)
    s->order.fence(thread(e.warp, unsigned(__builtin_ctz(m))));
}

void RaceCTA::lanesExited(uint32_t warp, uint32_t pc, uint32_t mask) {
  exited[warp] |= mask;
  s->live[rank] -= uint32_t(__builtin_popcount(mask));
  if (!s->live[rank] && !s->visitors[rank].empty())
    leave(warp, pc);
}

std::string RaceCTA::whoText(uint32_t other) const {
  if (s->isAgent(other))
    return "";
  uint32_t perCTA = s->threadsOfCTA(), local = other % perCTA;
  std::string cta =
      other / perCTA == rank
          ? ""
          : "CTA " + std::to_string(other / perCTA) + " of the cluster, ";
  return " (" + cta + "warp " + std::to_string(local / 32) + ", lane " +
         std::to_string(local % 32) + ")";
}

bool RaceCTA::writesEqual(const AccessEvent &e, unsigned lane,
                          const RaceFinding &f) const {
  uint8_t mine[32], other[32];
  if (!e.storedBytes || f.verb[0] != 'w' || f.otherVerb[0] != 'w')
    return false;
  e.storedBytes(e, lane, mine);
  if (!f.isSameEvent)
    return std::memcmp(mine, e.memory[lane], e.bytes) == 0;
  unsigned otherLane = f.other % 32;
  if (e.addresses[otherLane] != e.addresses[lane])
    return false;
  e.storedBytes(e, otherLane, other);
  return std::memcmp(mine, other, e.bytes) == 0;
}

void RaceCTA::found(const RaceAccessor &who, const RaceFinding &f,
                    bool isEqual) {
  if (!isNew(who.pc) || isEqual != wantsEqual)
    return;
  uint32_t local = who.thread - s->firstThread(rank);
  report(who.pc, local / 32, int(local % 32),
         opcode(who.pc) + " " + f.verb + " " +
             placeName(Space::Shared, f.at, nullptr) + ", which " +
             instruction(f.otherPc) + whoText(f.other) + " " + f.otherVerb +
             (isEqual ? " with the same value, and nothing orders the two"
                      : " too, and nothing orders the two"));
}

namespace {
class RaceChecker : public Checker {
public:
  explicit RaceChecker(bool wantsEqual) : wantsEqual(wantsEqual) {}
  std::string_view name() const override {
    return wantsEqual ? "equal-writes" : "race";
  }
  uint32_t interests() const override {
    return kMemory | kAsyncCopies | kBarriers | kWgmma |
           (hasWarpBarrier ? uint32_t(kInstructions) : 0u);
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<RaceCTA>(event, name(), isWarpBarrier, wantsEqual,
                                     states.of(event, hasAgents));
  }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    hasAgents = RaceState::needsAgents(event.code);
    isWarpBarrier.clear();
    hasWarpBarrier = false;
    for (const InstructionInfo &i : event.code.instructions) {
      isWarpBarrier.push_back(i.opcode.starts_with("bar.warp"));
      hasWarpBarrier |= isWarpBarrier.back();
    }
  }
  void kernelEnd(Report &report) override {
    Checker::kernelEnd(report);
    states.clear();
  }

private:
  bool wantsEqual;
  bool hasWarpBarrier = false, hasAgents = false;
  std::vector<char> isWarpBarrier;
  ClusterStates<RaceState> states;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeRaceChecker() {
  return std::make_unique<RaceChecker>(false);
}
std::unique_ptr<ExecutionObserver> ptxvm::makeEqualWritesChecker() {
  return std::make_unique<RaceChecker>(true);
}
