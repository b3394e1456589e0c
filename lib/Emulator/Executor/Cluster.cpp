//===- Cluster.cpp - CTAs that run together ------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of other CTAs' shared memory and barrier.cluster: PTX ISA 9.1
// sections 9.7.9.22 to 24 and 9.7.13.4. Each lane arrives and waits once a
// phase; lanes that exit are not waited for.
//
//===----------------------------------------------------------------------===//
#include "Cluster.h"
#include "../Decoder/Modifiers.h"
#include "Handlers.h"

using namespace ptxvm;

std::string ptxvm::unreachable(const CTA &executing, const SharedPlace &place,
                               bool allowsRemote) {
  size_t size = executing.cluster->ctas.size();
  if (!place.owner)
    return "it names a CTA that the cluster of " + std::to_string(size) +
           " does not have";
  if (place.owner == &executing)
    return {};
  std::string owner = "CTA rank " + std::to_string(place.owner->rank);
  if (!allowsRemote)
    return "it lies in the shared memory of " + owner +
           "; this instruction reaches only the executing CTA's, rank " +
           std::to_string(executing.rank);
  if (place.owner->hasExited())
    return "it lies in the shared memory of " + owner + ", which has exited";
  return {};
}

static void tell(Warp &w, ClusterBarrierEvent::Kind kind, bool ordersMemory) {
  if (w.cta->onBarrier.empty())
    return;
  ClusterBarrierEvent event{w.index,
                            w.pc,
                            w.mask,
                            w.live,
                            kind,
                            ordersMemory,
                            w.cta->cluster->barrierPhase};
  for (CTAObserver *o : w.cta->onBarrier)
    o->clusterBarrier(event);
}

void Cluster::recheckBarrier(Warp &last) {
  bool any = false;
  for (auto &cta : ctas)
    for (const Warp &w : cta->warps) {
      if (w.live & ~w.clusterArrived)
        return;
      any |= w.clusterArrived != 0;
    }
  if (!any)
    return;
  tell(last, ClusterBarrierEvent::Complete, true);
  ++barrierPhase;
  for (auto &cta : ctas)
    for (Warp &w : cta->warps) {
      w.clusterReady |= w.clusterArrived & w.live;
      w.clusterArrived = 0;
      for (Group &g : w.others)
        if (g.state == Group::AtClusterBarrier) {
          g.state = Group::Ready;
          g.released = true;
        }
    }
}

void Cluster::warpExited(Warp &w) {
  if (--w.cta->liveWarps == 0 && !queue.empty())
    queue.completeOf(*w.cta);
}

namespace {
Flow arrive(Warp &w, const Instruction &i) {
  if (uint32_t twice = w.mask & (w.clusterArrived | w.clusterReady))
    return w.cta->fault(w, "barriers",
                        "barrier.cluster.arrive without a wait for the arrival "
                        "before",
                        __builtin_ctz(twice));
  w.clusterArrived |= w.mask;
  tell(w, ClusterBarrierEvent::Arrive, !(i.mods & mod::relaxed_));
  w.cta->cluster->recheckBarrier(w);
  if (w.others.empty())
    return Flow::Next;
  ++w.pc;
  return Flow::Split;
}

Flow wait(Warp &w, const Instruction &) {
  w.released = false;
  uint32_t absent = w.mask & ~(w.clusterArrived | w.clusterReady);
  if (absent)
    return w.cta->fault(w, "barriers",
                        "barrier.cluster.wait without an arrival before",
                        __builtin_ctz(absent));
  // The phase completes for all lanes that arrived, so either all are ready or
  // none, unless they arrived in different phases.
  uint32_t all = w.mask;
  if (uint32_t ready = all & w.clusterReady) {
    w.mask = ready;
    w.clusterReady &= ~ready;
    tell(w, ClusterBarrierEvent::Wait, true);
    w.mask = all & ~ready;
  }
  return w.mask ? parkActive(w, Group::AtClusterBarrier, 0, 0) : Flow::Next;
}

template <typename Slot> Flow map(Warp &w, const Instruction &i) {
  const Slot *a = reinterpret_cast<const Slot *>(w.regs + i.a);
  Slot *d = reinterpret_cast<Slot *>(w.regs + i.dst);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    Slot window = Slot(a[l] - uint32_t(a[l]));
    d[l] = window | mappedAddress(uint32_t(a[l]), w.regs[i.b + l]);
  }
  return Flow::Next;
}

template <typename Slot> Flow rankOf(Warp &w, const Instruction &i) {
  const Slot *a = reinterpret_cast<const Slot *>(w.regs + i.a);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t rank = uint32_t(a[l]) >> kRankShift;
    w.regs[i.dst + l] = rank ? rank - 1 : w.cta->rank;
  }
  return Flow::Next;
}

/// isspacep.shared::cta (aux 0) and .shared::cluster (aux 1).
Flow isShared(Warp &w, const Instruction &i) {
  const uint64_t *a = reinterpret_cast<const uint64_t *>(w.regs + i.a);
  uint32_t result = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    if (a[l] >> 32 << 32 != kSharedWindow)
      continue;
    SharedPlace place = resolveShared(*w.cta, uint32_t(a[l]));
    bool isIn = i.aux ? place.owner != nullptr : place.owner == w.cta;
    result |= uint32_t(isIn) << l;
  }
  w.preds[i.dst] = (w.preds[i.dst] & ~w.mask) | result;
  return Flow::Next;
}
} // namespace

void ptxvm::addCluster(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"cluster_arrive", arrive},
      {"cluster_wait", wait},
      {"mapa_u32", map<uint32_t>},
      {"mapa_u64", map<uint64_t>},
      {"getctarank_u32", rankOf<uint32_t>},
      {"getctarank_u64", rankOf<uint64_t>},
      {"isspacep_shared", isShared},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
