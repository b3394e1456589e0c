//===- Mbarrier.cpp - instructions on mbarriers ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.13.15. A state (what arrive returns) holds 20 bits of
// pending arrivals, 20 of expected ones, and the low 24 bits of the phase
// number; the ISA leaves its form to us.
//
// try_wait parks its lanes until the phase completes. The time after which the
// ISA lets it return false is unknown, so in random orders it returns false at
// once one time in eight, and otherwise never.
//
//===----------------------------------------------------------------------===//
#include "Mbarrier.h"
#include "Handlers.h"

using namespace ptxvm;

bool MbarrierLanes::resolve(Warp &w, const Instruction &i) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  AccessRequest request{w.mask,
                        i.a,
                        bool(aux.flags & MemoryAux::kWideAddress),
                        i.imm,
                        aux.space,
                        8,
                        AccessKind::Atomic,
                        false,
                        bool(aux.flags & MemoryAux::kCluster)};
  if (aux.space == MemoryAux::kGeneric) {
    const uint64_t *base = reinterpret_cast<const uint64_t *>(w.regs + i.a);
    for (uint32_t m = w.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      uint64_t at = base[l] + uint64_t(int64_t(i.imm));
      if (at >> 32 << 32 != kSharedWindow) {
        w.cta->fault(w, "mbarrier",
                     "an mbarrier must lie in shared memory; this generic "
                     "address is of another space",
                     int(l));
        return false;
      }
    }
  }
  return resolveAccess(w, i, request, access);
}

SharedPlace MbarrierLanes::place(unsigned lane, const Warp &w) const {
  bool isRemote = access.remote >> lane & 1;
  CTA *owner =
      isRemote ? w.cta->cluster->ctas[access.owner[lane]].get() : w.cta;
  return {owner, uint32_t(access.address[lane])};
}

uint32_t MbarrierLanes::sameObject(const Warp &w, uint32_t rest) const {
  SharedPlace first = place(unsigned(__builtin_ctz(rest)), w);
  uint32_t same = 0;
  for (uint32_t m = rest; m; m &= m - 1) {
    SharedPlace p = place(unsigned(__builtin_ctz(m)), w);
    if (p.owner == first.owner && p.offset == first.offset)
      same |= m & -m;
  }
  return same;
}

namespace {
constexpr uint64_t kPhaseMask = (1 << 24) - 1;

uint64_t tokenOf(const Mbarrier &m, uint32_t pending) {
  return pending | uint64_t(m.expected) << 20 | (m.phase & kPhaseMask) << 40;
}

MbarrierActor actorOf(Warp &w, const Instruction &i, uint32_t mask) {
  bool isCluster = i.mods & mod::cluster_;
  return {w, w.pc, mask, !(i.mods & mod::relaxed_),
          isCluster ? Scope::Cluster : Scope::CTA};
}

/// Calls act(lane, place) for each lane in turn.
template <typename Act> Flow eachLane(Warp &w, const Instruction &i, Act act) {
  MbarrierLanes objects;
  if (!objects.resolve(w, i))
    return Flow::Stop;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    if (!act(l, objects.place(l, w)))
      return Flow::Stop;
  }
  return Flow::Next;
}

Flow init(Warp &w, const Instruction &i) {
  return eachLane(w, i, [&](unsigned l, const SharedPlace &p) {
    return initMbarrier(actorOf(w, i, 1u << l), p, w.regs[i.b + l]);
  });
}
Flow invalidate(Warp &w, const Instruction &i) {
  return eachLane(w, i, [&](unsigned l, const SharedPlace &p) {
    return invalidateMbarrier(actorOf(w, i, 1u << l), p);
  });
}
Flow expect(Warp &w, const Instruction &i) {
  return eachLane(w, i, [&](unsigned l, const SharedPlace &p) {
    return expectTx(actorOf(w, i, 1u << l), p, w.regs[i.b + l]);
  });
}
Flow complete(Warp &w, const Instruction &i) {
  return eachLane(w, i, [&](unsigned l, const SharedPlace &p) {
    return completeTx(actorOf(w, i, 1u << l), p, w.regs[i.b + l]);
  });
}

/// One lane's arrive or arrive_drop.
bool arriveLane(Warp &w, const Instruction &i, unsigned l,
                const SharedPlace &p) {
  MbarrierActor actor = actorOf(w, i, 1u << l);
  bool expects = i.d & MbarrierAux::kExpectTx;
  bool isDrop = i.d & MbarrierAux::kDrop;
  if (expects && !expectTx(actor, p, w.regs[i.b + l]))
    return false;
  uint32_t count = i.d & MbarrierAux::kCount ? w.regs[i.b + l] : 1;
  auto kind = isDrop ? MbarrierEvent::ArriveDrop : MbarrierEvent::Arrive;
  Mbarrier *m = findMbarrier(actor, p, kind);
  if (!m)
    return false;
  bool hasState = !(i.d & MbarrierAux::kSink);
  std::string wrong;
  if (hasState && p.owner != w.cta)
    wrong = "an arrive at another CTA's mbarrier returns no state";
  else if (count == 0)
    wrong = "an arrive of 0";
  else if (i.d & MbarrierAux::kNoComplete && count >= m->pending)
    wrong = "a .noComplete arrive that completes the phase";
  if (!wrong.empty()) {
    w.cta->fault(w, "mbarrier", wrong, int(l));
    return false;
  }
  if (hasState)
    reinterpret_cast<uint64_t *>(w.regs + i.dst)[l] = tokenOf(*m, m->pending);
  return arriveOn(actor, p, count, kind);
}

Flow arrive(Warp &w, const Instruction &i) {
  Flow flow = eachLane(w, i, [&](unsigned l, const SharedPlace &p) {
    return arriveLane(w, i, l, p);
  });
  // Lanes of this warp that waited may be ready.
  if (flow != Flow::Next || w.others.empty())
    return flow;
  ++w.pc;
  return Flow::Split;
}

Flow pendingCount(Warp &w, const Instruction &i) {
  const uint64_t *a = reinterpret_cast<const uint64_t *>(w.regs + i.a);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    w.regs[i.dst + l] = uint32_t(a[l]) & 0xFFFFF;
  }
  return Flow::Next;
}

/// What one lane asks of an object.
struct Question {
  bool byParity;
  uint32_t parity;
  uint64_t token;

  bool isComplete(const Mbarrier &m) const {
    return byParity ? (m.phase & 1) != (parity & 1)
                    : (token >> 40) != (m.phase & kPhaseMask);
  }
  uint64_t waitPhase(const Mbarrier &m) const {
    if (byParity)
      return isComplete(m) ? m.phase - 1 : m.phase;
    return m.phase - ((m.phase - (token >> 40)) & kPhaseMask);
  }
};

Question questionOf(const Warp &w, const Instruction &i, unsigned l) {
  bool byParity = i.d & MbarrierAux::kParity;
  uint64_t token =
      byParity ? 0 : reinterpret_cast<const uint64_t *>(w.regs + i.b)[l];
  return {byParity, byParity ? w.regs[i.b + l] : 0, token};
}

void tellWait(const MbarrierActor &actor, const SharedPlace &p,
              const Mbarrier &m, const Question &q, bool succeeded) {
  MbarrierEvent e{};
  e.kind = MbarrierEvent::TestWait;
  e.byParity = q.byParity;
  e.parity = q.byParity ? q.parity & 1 : q.waitPhase(m) & 1;
  e.waitPhase = q.waitPhase(m);
  e.succeeded = succeeded;
  tellMbarrier(actor, p, &m, e);
}

/// The lanes of `same`, which name one object, whose phase is complete; false
/// after a fault.
bool testObject(Warp &w, const Instruction &i, const SharedPlace &p,
                uint32_t same, uint32_t &complete) {
  MbarrierActor actor = actorOf(w, i, same);
  Mbarrier *m = findMbarrier(actor, p, MbarrierEvent::TestWait);
  if (!m)
    return false;
  auto test = [&] {
    uint32_t result = 0;
    for (uint32_t rest = same; rest; rest &= rest - 1)
      if (questionOf(w, i, unsigned(__builtin_ctz(rest))).isComplete(*m))
        result |= rest & -rest;
    return result;
  };
  complete = test();
  // A test that asks again and again is served when it would fail.
  bool isTry = i.d & MbarrierAux::kTry;
  if (complete != same && !isTry && !w.cta->cluster->queue.empty()) {
    w.cta->cluster->queue.completePhase(*p.owner, p.offset);
    complete = test();
  }
  return !w.cta->cluster->failed;
}

/// Gives the lanes in `lanes` their answer.
void answer(Warp &w, const Instruction &i, const SharedPlace &p, uint32_t lanes,
            bool succeeded) {
  w.preds[i.dst] = (w.preds[i.dst] & ~lanes) | (succeeded ? lanes : 0);
  if (w.cta->onBarrier.empty())
    return;
  const Mbarrier &m = p.owner->mbarriers[p.offset];
  while (lanes) {
    Question q = questionOf(w, i, unsigned(__builtin_ctz(lanes)));
    uint32_t same = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      if (questionOf(w, i, unsigned(__builtin_ctz(rest))).waitPhase(m) ==
          q.waitPhase(m))
        same |= rest & -rest;
    tellWait(actorOf(w, i, same), p, m, q, succeeded);
    lanes &= ~same;
  }
}

Flow wait(Warp &w, const Instruction &i) {
  MbarrierLanes objects;
  bool wasParked = w.released;
  w.released = false;
  if (!objects.resolve(w, i))
    return Flow::Stop;
  Cluster &cluster = *w.cta->cluster;
  bool parks = i.d & MbarrierAux::kTry;
  if (parks && !wasParked && cluster.isRandom())
    parks = cluster.random() % 8 != 0;
  uint32_t parked = 0;
  for (uint32_t rest = w.mask; rest;) {
    uint32_t same = objects.sameObject(w, rest), complete = 0;
    rest &= ~same;
    SharedPlace p = objects.place(unsigned(__builtin_ctz(same)), w);
    if (!testObject(w, i, p, same, complete))
      return Flow::Stop;
    if (complete)
      answer(w, i, p, complete, true);
    uint32_t open = same & ~complete;
    if (!open)
      continue;
    if (!parks) {
      answer(w, i, p, open, false);
      continue;
    }
    ++p.owner->mbarriers[p.offset].waiting;
    w.others.push_back({Group::AtMbarrier, w.pc, open, 0, p.offset, false});
    parked |= open;
  }
  if (!parked) {
    if (w.others.empty())
      return Flow::Next;
    ++w.pc;
    return Flow::Split;
  }
  w.group &= ~parked;
  if (w.group)
    ++w.pc;
  return Flow::Block;
}
} // namespace

void ptxvm::addMbarrier(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"mbarrier_init", init},
      {"mbarrier_inval", invalidate},
      {"mbarrier_expect_tx", expect},
      {"mbarrier_complete_tx", complete},
      {"mbarrier_arrive", arrive},
      {"mbarrier_wait", wait},
      {"mbarrier_pending", pendingCount},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
