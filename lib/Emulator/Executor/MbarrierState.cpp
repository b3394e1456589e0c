//===- MbarrierState.cpp - phases of an mbarrier --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of Mbarrier.h. What the ISA leaves undefined is a fault.
//
//===----------------------------------------------------------------------===//
#include "Mbarrier.h"

#include <cstdio>
#include <cstring>

using namespace ptxvm;

static constexpr int64_t kMostCount = (1 << 20) - 1;

static std::string place(const MbarrierActor &actor, const SharedPlace &p) {
  std::string text = "the mbarrier at byte " + std::to_string(p.offset);
  if (p.owner != actor.warp.cta)
    text += " of CTA rank " + std::to_string(p.owner->rank);
  return text;
}

static bool fail(const MbarrierActor &actor, std::string message) {
  int lane = actor.mask ? __builtin_ctz(actor.mask) : -1;
  actor.warp.cta->faultAt(actor.pc, actor.warp, "mbarrier", std::move(message),
                          lane);
  return false;
}

void ptxvm::tellMbarrier(const MbarrierActor &actor, const SharedPlace &p,
                         const Mbarrier *m, MbarrierEvent e) {
  CTA &cta = *actor.warp.cta;
  if (cta.onBarrier.empty())
    return;
  e.warp = actor.warp.index;
  e.pc = actor.pc;
  e.mask = actor.mask;
  e.ownerRank = p.owner->rank;
  e.address = p.offset;
  e.ordersMemory = actor.ordersMemory;
  e.scope = actor.scope;
  e.isAsync = actor.isAsync;
  e.copyId = actor.copyId;
  e.isValid = m != nullptr;
  if (m) {
    e.pendingCount = m->pending;
    e.expectedCount = m->expected;
    e.txCount = m->tx;
    e.phase = m->phase;
  }
  for (CTAObserver *o : cta.onBarrier)
    o->mbarrier(e);
}

static MbarrierEvent eventOf(MbarrierEvent::Kind kind, uint32_t count = 0,
                             uint64_t bytes = 0) {
  MbarrierEvent e{};
  e.kind = kind;
  e.count = count;
  e.bytes = bytes;
  return e;
}

static void store(const SharedPlace &p, const Mbarrier &m) {
  uint64_t image = m.image();
  std::memcpy(p.owner->shared.data() + p.offset, &image, 8);
}

Mbarrier *ptxvm::findMbarrier(const MbarrierActor &actor, const SharedPlace &p,
                              MbarrierEvent::Kind kind) {
  auto found = p.owner->mbarriers.find(p.offset);
  if (found == p.owner->mbarriers.end()) {
    tellMbarrier(actor, p, nullptr, eventOf(kind));
    fail(actor, place(actor, p) +
                    " does not exist: there was no mbarrier.init, or "
                    "mbarrier.inval ended it");
    return nullptr;
  }
  uint64_t image;
  std::memcpy(&image, p.owner->shared.data() + p.offset, 8);
  if (image == found->second.image())
    return &found->second;
  char text[64];
  std::snprintf(text, sizeof(text), "0x%llx, not 0x%llx",
                (unsigned long long)image,
                (unsigned long long)found->second.image());
  fail(actor, place(actor, p) + " was written over: it holds " + text);
  return nullptr;
}

/// After an arrival or bytes: the next phase begins when nothing is missing.
static void testCompletion(const MbarrierActor &actor, const SharedPlace &p,
                           Mbarrier &m) {
  if (m.pending == 0 && m.tx == 0) {
    ++m.phase;
    m.pending = m.expected;
    tellMbarrier(actor, p, &m, eventOf(MbarrierEvent::PhaseComplete));
    for (Warp &w : p.owner->warps)
      for (Group &g : w.others)
        if (m.waiting && g.state == Group::AtMbarrier &&
            g.barrier == p.offset) {
          g.state = Group::Ready;
          g.released = true;
        }
    m.waiting = 0;
  }
  store(p, m);
}

bool ptxvm::initMbarrier(const MbarrierActor &actor, const SharedPlace &p,
                         uint32_t count) {
  if (count < 1 || count > kMostCount)
    return fail(actor, "mbarrier.init with count " + std::to_string(count) +
                           "; 1 to " + std::to_string(kMostCount) +
                           " is allowed");
  Mbarrier &m = p.owner->mbarriers[p.offset];
  m = {};
  m.expected = m.pending = count;
  store(p, m);
  tellMbarrier(actor, p, &m, eventOf(MbarrierEvent::Init, count));
  return true;
}

bool ptxvm::invalidateMbarrier(const MbarrierActor &actor,
                               const SharedPlace &p) {
  Mbarrier *m = findMbarrier(actor, p, MbarrierEvent::Invalidate);
  if (!m)
    return false;
  tellMbarrier(actor, p, m, eventOf(MbarrierEvent::Invalidate));
  p.owner->mbarriers.erase(p.offset);
  return true;
}

/// False when the byte count leaves its range.
static bool addTx(const MbarrierActor &actor, const SharedPlace &p, Mbarrier &m,
                  int64_t bytes, MbarrierEvent::Kind kind) {
  m.tx += bytes;
  tellMbarrier(actor, p, &m,
               eventOf(kind, 0, uint64_t(bytes < 0 ? -bytes : bytes)));
  if (m.tx >= -kMostCount && m.tx <= kMostCount)
    return true;
  return fail(actor, "the tx-count of " + place(actor, p) + " becomes " +
                         std::to_string(m.tx) + "; its range ends at " +
                         std::to_string(kMostCount));
}

bool ptxvm::expectTx(const MbarrierActor &actor, const SharedPlace &p,
                     uint64_t bytes) {
  Mbarrier *m = findMbarrier(actor, p, MbarrierEvent::ExpectTx);
  if (!m || !addTx(actor, p, *m, int64_t(bytes), MbarrierEvent::ExpectTx))
    return false;
  store(p, *m);
  return true;
}

bool ptxvm::completeTx(const MbarrierActor &actor, const SharedPlace &p,
                       uint64_t bytes) {
  Mbarrier *m = findMbarrier(actor, p, MbarrierEvent::CompleteTx);
  if (!m || !addTx(actor, p, *m, -int64_t(bytes), MbarrierEvent::CompleteTx))
    return false;
  testCompletion(actor, p, *m);
  return true;
}

bool ptxvm::addPending(const MbarrierActor &actor, const SharedPlace &p,
                       uint32_t count) {
  Mbarrier *m = findMbarrier(actor, p, MbarrierEvent::Arrive);
  if (!m)
    return false;
  if (m->pending + count > kMostCount)
    return fail(actor, "more than " + std::to_string(kMostCount) +
                           " pending arrivals at " + place(actor, p));
  m->pending += count;
  store(p, *m);
  return true;
}

bool ptxvm::arriveOn(const MbarrierActor &actor, const SharedPlace &p,
                     uint32_t count, MbarrierEvent::Kind kind) {
  Mbarrier *m = findMbarrier(actor, p, kind);
  if (!m)
    return false;
  bool isDrop = kind == MbarrierEvent::ArriveDrop;
  bool fits = count <= m->pending && (!isDrop || count <= m->expected);
  if (fits) {
    m->pending -= count;
    m->expected -= isDrop ? count : 0;
  }
  tellMbarrier(actor, p, m, eventOf(kind, count));
  if (!fits)
    return fail(actor, std::to_string(count) + " arrivals at " +
                           place(actor, p) + ", whose phase waits for " +
                           std::to_string(m->pending));
  testCompletion(actor, p, *m);
  return true;
}
