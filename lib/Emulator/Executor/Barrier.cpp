//===- Barrier.cpp - barriers of a CTA ------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.13.1. A barrier counts lanes, so lanes of one warp
// may arrive separately; observers judge whether they may. Without a thread
// count a barrier waits for all lanes that have not exited. With one, a warp
// whose live lanes have all arrived counts 32, exited lanes too (*unverified*).
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "Machine.h"

using namespace ptxvm;

bool CTA::isComplete(const Barrier &b) const {
  uint32_t count = 0;
  bool all = true;
  for (const Warp &w : warps) {
    uint32_t lanes = b.arrived[w.index];
    bool whole = w.live && (lanes & w.live) == w.live;
    all &= whole || !w.live;
    count += whole ? 32 : uint32_t(__builtin_popcount(lanes));
  }
  return b.expected ? count >= b.expected : all;
}

void CTA::complete(Warp &w, uint32_t number, BarrierEvent::Kind kind) {
  Barrier &b = barriers[number];
  if (!onBarrier.empty()) {
    BarrierEvent event{w.index, w.pc,       number, w.mask,
                       w.live,  b.expected, kind,   &b.arrived};
    for (CTAObserver *o : onBarrier)
      o->barrierCompleted(event);
  }
  for (Warp &other : warps)
    for (Group &g : other.others)
      if (g.state == Group::AtBarrier && g.barrier == number) {
        g.state = Group::Ready;
        g.released = true;
        // The next phase may be over before this group runs again.
        g.counts = b.counts;
      }
  w.counts = b.counts;
  std::fill(b.arrived.begin(), b.arrived.end(), 0);
  b.counts = {};
  b.inUse = false;
}

bool CTA::arrive(Warp &w, uint32_t number, uint32_t expected,
                 BarrierEvent::Kind kind) {
  Barrier &b = barriers[number];
  if (!b.inUse) {
    b.expected = expected;
    b.firstPc = w.pc;
    b.inUse = true;
  }
  b.arrived[w.index] |= w.mask;
  if (!onBarrier.empty()) {
    BarrierEvent event{w.index, w.pc,     number, w.mask,
                       w.live,  expected, kind,   nullptr};
    for (CTAObserver *o : onBarrier)
      o->barrierArrived(event);
  }
  if (!isComplete(b))
    return false;
  complete(w, number, kind);
  return true;
}

void CTA::recheckBarriers(Warp &w) {
  for (uint32_t n = 0; n < barriers.size(); ++n)
    if (barriers[n].inUse && isComplete(barriers[n]))
      complete(w, n, BarrierEvent::Sync);
}

namespace {
/// Reads the number and the thread count; false after a fault.
bool operands(Warp &w, const Instruction &i, uint32_t &number,
              uint32_t &threads) {
  unsigned l = unsigned(__builtin_ctz(w.mask));
  number = w.regs[i.a + l];
  threads = i.aux & 1 ? w.regs[i.b + l] : 0;
  if (number >= 16) {
    w.cta->fault(w, "barriers",
                 "barrier number " + std::to_string(number) +
                     " is not among the 16 of a CTA",
                 int(l));
    return false;
  }
  bool isWrong = (i.aux & 1) && (threads == 0 || threads % 32);
  if (isWrong) {
    w.cta->fault(w, "barriers",
                 "a barrier's thread count must be a positive multiple of 32, "
                 "found " +
                     std::to_string(threads),
                 int(l));
    return false;
  }
  return true;
}

Flow sync(Warp &w, const Instruction &i) {
  if (w.released) {
    w.released = false;
    return Flow::Next;
  }
  uint32_t number, threads;
  if (!operands(w, i, number, threads))
    return Flow::Stop;
  if (w.cta->arrive(w, number, threads, BarrierEvent::Sync)) {
    // Lanes of this warp that waited are ready too.
    if (w.others.empty())
      return Flow::Next;
    ++w.pc;
    return Flow::Split;
  }
  return parkActive(w, Group::AtBarrier, 0, number);
}

Flow arriveOnly(Warp &w, const Instruction &i) {
  uint32_t number, threads;
  if (!operands(w, i, number, threads))
    return Flow::Stop;
  w.cta->arrive(w, number, threads, BarrierEvent::Arrive);
  return Flow::Next;
}

void writeReduction(Warp &w, const Instruction &i) {
  const BarrierCounts &c = w.counts;
  if (i.imm) {
    bool t = i.imm == 1 ? c.isTrue == c.total : c.isTrue != 0;
    w.preds[i.dst] = (w.preds[i.dst] & ~w.mask) | (t ? w.mask : 0);
    return;
  }
  for (uint32_t m = w.mask; m; m &= m - 1)
    w.regs[i.dst + unsigned(__builtin_ctz(m))] = c.isTrue;
}

Flow reduce(Warp &w, const Instruction &i) {
  if (w.released) {
    w.released = false;
    writeReduction(w, i);
    return Flow::Next;
  }
  uint32_t number, threads;
  if (!operands(w, i, number, threads))
    return Flow::Stop;
  Barrier &b = w.cta->barriers[number];
  uint32_t p = w.preds[i.c] ^ (i.aux & 2 ? ~0u : 0);
  b.counts.isTrue += uint32_t(__builtin_popcount(p & w.mask));
  b.counts.total += uint32_t(__builtin_popcount(w.mask));
  if (!w.cta->arrive(w, number, threads, BarrierEvent::Reduce))
    return parkActive(w, Group::AtBarrier, 0, number);
  writeReduction(w, i);
  if (w.others.empty())
    return Flow::Next;
  ++w.pc;
  return Flow::Split;
}
} // namespace

void ptxvm::addBarrier(HandlerList &list) {
  list.push_back({"bar_sync", sync});
  list.push_back({"bar_arrive", arriveOnly});
  list.push_back({"bar_red", reduce});
}
