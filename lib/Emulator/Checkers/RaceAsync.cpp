//===- RaceAsync.cpp - order by asynchronous work and in clusters ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mbarrier   arrive ---> phase completes ---> successful wait
//              bulk copy -----^
//   wgmma      reads ---> wait_group of each warp
//   cluster    barrier.cluster.arrive ---> barrier.cluster.wait
//
// An mbarrier is made by an ordinary write, and every other operation on it is
// a strong access: so a use that does not come after the init is a race.
//
//===----------------------------------------------------------------------===//
#include "RaceCTA.h"

using namespace ptxvm;

void RaceCTA::useMbarrier(const MbarrierEvent &e) {
  ++s->now;
  bool isMade =
      e.kind == MbarrierEvent::Init || e.kind == MbarrierEvent::Invalidate;
  for (uint32_t m = e.mask; m; m &= m - 1) {
    RaceAccessor who{thread(e.warp, unsigned(__builtin_ctz(m))), e.pc, !isMade};
    uint32_t clock = s->order.clock(who.thread);
    auto report = [&](const RaceFinding &f) { found(who, f); };
    if (isMade)
      s->write(who, e.ownerRank, e.address, 8, clock, report);
    else
      s->read(who, e.ownerRank, e.address, 8, clock, report);
  }
}

void RaceCTA::mbarrier(const MbarrierEvent &e) {
  if (!e.isValid)
    return; // another checker's finding
  useMbarrier(e);
  RaceState::Mbarrier &b = s->mbarrier(e.ownerRank, e.address);
  switch (e.kind) {
  case MbarrierEvent::Arrive:
  case MbarrierEvent::ArriveDrop:
    // `.cta` orders nothing for another CTA. It is also what no scope means,
    // but kernels that are in use arrive so.
    if (e.ordersMemory && (e.ownerRank == rank ||
                           opcode(e.pc).find(".cta.") == std::string::npos))
      s->order.publish(threads(e.warp, e.mask), b.arriving);
    break;
  case MbarrierEvent::PhaseComplete: {
    b.completed = b.arriving;
    std::vector<uint32_t> &clocks = b.completed.clocks;
    if (clocks.size() <= b.agent)
      clocks.resize(b.agent + 1);
    clocks[b.agent] = b.clock++;
    break;
  }
  case MbarrierEvent::CompleteTx:
    // Who waits for a st.async waits for the mbarrier, not for its thread.
    if (e.isAsync && stored && stored->who.pc == e.pc) {
      stored->who.thread = b.agent;
      s->write(stored->who, stored->rank, stored->at, stored->bytes, b.clock,
               [](const RaceFinding &) {});
    }
    stored.reset();
    break;
  case MbarrierEvent::TestWait:
    if (e.succeeded && e.ordersMemory)
      s->order.learn(threads(e.warp, e.mask), b.completed);
    break;
  default:
    break;
  }
}

void RaceCTA::clusterBarrier(const ClusterBarrierEvent &e) {
  RaceState::ClusterBarrier &b = s->clusterBarrier;
  switch (e.kind) {
  case ClusterBarrierEvent::Arrive:
    if (e.ordersMemory)
      s->order.publish(threads(e.warp, e.mask), b.arriving);
    break;
  case ClusterBarrierEvent::Complete:
    b.completed = std::move(b.arriving);
    b.arriving = {};
    break;
  case ClusterBarrierEvent::Wait:
    s->order.learn(threads(e.warp, e.mask), b.completed);
    break;
  }
}

template <typename Visit>
void RaceCTA::forDestinations(const BulkCopyEvent &e, Visit visit) {
  if (e.direction != BulkCopyEvent::GlobalToShared &&
      e.direction != BulkCopyEvent::SharedToShared)
    return;
  for (uint32_t m = e.multicast ? e.multicast : 1u << e.sharedRank; m;
       m &= m - 1)
    visit(uint32_t(__builtin_ctz(m)));
}

void RaceCTA::bulkCopyIssued(const BulkCopyEvent &e) {
  ++s->now;
  RaceAccessor who{thread(e.warp, e.lane), e.pc, false};
  uint32_t clock = s->order.clock(who.thread);
  auto report = [&](const RaceFinding &f) { found(who, f); };
  bool isInside = e.direction == BulkCopyEvent::SharedToShared;
  if (isInside || e.direction == BulkCopyEvent::SharedToGlobal) {
    uint32_t from = isInside ? e.sourceAddress : e.sharedAddress;
    ByteRange source{from, from + uint32_t(e.bytes)};
    s->look({&who, 1}, rank, {&source, 1},
            [&](const RaceAccessor &, const RaceFinding &f) { report(f); });
  }
  forDestinations(e, [&](uint32_t to) {
    s->write(who, to, e.sharedAddress, e.bytes, clock, report);
  });
}

void RaceCTA::bulkCopyRead(const BulkCopyEvent &e) {
  ++s->now;
  bool isStore = e.direction == BulkCopyEvent::SharedToGlobal;
  if (!isStore && e.direction != BulkCopyEvent::SharedToShared)
    return;
  RaceAccessor who{thread(e.warp, e.lane), e.pc, false};
  uint32_t clock = s->order.clock(who.thread);
  if (e.hasMbarrier) {
    const RaceState::Mbarrier &b =
        s->mbarrier(e.mbarrierRank, e.mbarrierAddress);
    who.thread = b.agent;
    clock = b.clock;
  }
  s->read(who, rank, isStore ? e.sharedAddress : e.sourceAddress, e.bytes,
          clock, [](const RaceFinding &) {});
}

void RaceCTA::bulkCopyCompleted(const BulkCopyEvent &e) {
  ++s->now;
  forDestinations(e, [&](uint32_t to) {
    RaceAccessor who{thread(e.warp, e.lane), e.pc, false};
    uint32_t clock = s->order.clock(who.thread);
    if (e.hasMbarrier) {
      const RaceState::Mbarrier &b =
          s->mbarrier(e.multicast ? to : e.mbarrierRank, e.mbarrierAddress);
      who.thread = b.agent;
      clock = b.clock;
    }
    s->write(who, to, e.sharedAddress, e.bytes, clock,
             [](const RaceFinding &) {});
  });
}

void RaceCTA::wgmmaIssued(const WgmmaEvent &e) {
  ++s->now;
  groupOf[e.id] = openGroup[e.firstWarp];
  // Each warp of the four must know that the operands are there.
  RaceAccessor all[4];
  for (uint32_t n = 0; n < 4; ++n)
    all[n] = {thread(e.firstWarp + n, 0), e.pc, false};
  for (const auto &ranges : {e.aShared, e.bShared})
    s->look(
        all, rank, ranges,
        [&](const RaceAccessor &who, const RaceFinding &f) { found(who, f); });
}

void RaceCTA::wgmmaCommitted(const WgmmaGroupEvent &e) {
  for (uint32_t n = 0; n < e.warps; ++n)
    ++openGroup[e.firstWarp + n];
}

void RaceCTA::wgmmaCompleted(const WgmmaEvent &e) {
  ++s->now;
  auto at = groupOf.find(e.id);
  if (at == groupOf.end())
    return;
  RaceAccessor who{s->wgmmaAgent(rank, e.firstWarp), e.pc, false};
  for (const auto &ranges : {e.aShared, e.bShared})
    for (ByteRange r : ranges)
      s->read(who, rank, r.begin, r.end - r.begin, at->second + 1,
              [](const RaceFinding &) {});
  groupOf.erase(at);
}

void RaceCTA::wgmmaWaited(const WgmmaGroupEvent &e) {
  for (uint32_t n = 0; n < e.warps; ++n) {
    uint32_t w = e.firstWarp + n;
    if (openGroup[w] <= e.pending)
      continue;
    s->order.learnClock(threads(w, ~0u), s->wgmmaAgent(rank, w / 4 * 4),
                        openGroup[w] - e.pending);
  }
}

void RaceCTA::reachOut(const AccessEvent &e) {
  if (wantsEqual)
    return;
  uint32_t owner = s->firstThread(e.ownerRank);
  for (uint32_t m = e.mask; m; m &= m - 1) {
    unsigned lane = unsigned(__builtin_ctz(m));
    uint32_t who = thread(e.warp, lane);
    auto [at, isFirst] = s->visitors[e.ownerRank].try_emplace(who);
    bool isUnknown =
        isFirst && !s->order.knowsAnyOf(who, owner, owner + s->threadsOfCTA());
    at->second = {s->order.clock(who), e.pc};
    if (isUnknown)
      return report(e.pc, e.warp, int(lane),
                    opcode(e.pc) + " reaches into CTA " +
                        std::to_string(e.ownerRank) +
                        " of the cluster, which may not have started: no "
                        "barrier.cluster or mbarrier of that CTA comes before");
  }
}

void RaceCTA::leave(uint32_t warp, uint32_t pc) {
  for (const auto &[visitor, visit] : s->visitors[rank]) {
    bool isKnown = false;
    uint32_t first = s->firstThread(rank);
    for (uint32_t t = first; t < first + s->threadsOfCTA() && !isKnown; ++t)
      isKnown = s->order.isBefore(visitor, visit.clock, t);
    if (!isKnown)
      return report(pc, warp, -1,
                    "the CTA ends, and nothing orders that after " +
                        instruction(visit.pc) + whoText(visitor) +
                        ", which reaches into its shared memory");
  }
}
