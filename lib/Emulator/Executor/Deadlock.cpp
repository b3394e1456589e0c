//===- Deadlock.cpp - who waits for what ---------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The report of a cluster in which no warp can go on.
//
//===----------------------------------------------------------------------===//
#include "Cluster.h"
#include "Wgmma.h"

#include <algorithm>
#include <cstdio>

using namespace ptxvm;

static std::string hex(uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", mask);
  return text;
}

static std::string ofBarrier(const CTA &cta, const Group &g) {
  const Barrier &b = cta.barriers[g.barrier];
  uint32_t there = 0;
  for (uint32_t lanes : b.arrived)
    there += uint32_t(__builtin_popcount(lanes));
  return " for barrier " + std::to_string(g.barrier) + " (" +
         std::to_string(there) + " of " +
         std::to_string(b.expected ? b.expected : cta.threads) +
         " threads have arrived)";
}

static std::string ofClusterBarrier(const Cluster &cluster) {
  uint32_t there = 0, live = 0;
  for (auto &cta : cluster.ctas)
    for (const Warp &w : cta->warps) {
      there += uint32_t(__builtin_popcount(w.clusterArrived & w.live));
      live += uint32_t(__builtin_popcount(w.live));
    }
  return " for the cluster's barrier (" + std::to_string(there) + " of " +
         std::to_string(live) + " threads have arrived)";
}

static std::string ofMbarrier(const CTA &cta, uint32_t address) {
  std::string text = " for the mbarrier at byte " + std::to_string(address);
  auto found = cta.mbarriers.find(address);
  if (found == cta.mbarriers.end())
    return text + " (which was invalidated)";
  const Mbarrier &m = found->second;
  text += " (phase " + std::to_string(m.phase) + ", " +
          std::to_string(m.pending) + " of " + std::to_string(m.expected) +
          " arrivals missing";
  if (m.tx)
    text += m.tx > 0 ? ", " + std::to_string(m.tx) + " bytes still expected"
                     : ", " + std::to_string(-m.tx) + " bytes too many";
  return text + ")";
}

static std::string reason(const Warp &w, const Group &g) {
  switch (g.state) {
  case Group::AtBarrier:
    return ofBarrier(*w.cta, g);
  case Group::AtClusterBarrier:
    return ofClusterBarrier(*w.cta->cluster);
  case Group::AtMbarrier:
    return ofMbarrier(*w.cta, g.barrier);
  case Group::AtRegisterPool:
    return " " + describePool(w, g.barrier);
  case Group::AtWarpSync:
    return " for lanes " + hex(g.wanted & w.live & ~g.mask);
  case Group::AtWarpgroup:
    return " " + describeWgmmaWait(w);
  default:
    return {};
  }
}

static std::string who(const Warp &w, const Group &g, bool namesCTA) {
  const CTA &cta = *w.cta;
  std::string text;
  const Dim3 &id = cta.record->id;
  if (namesCTA)
    text = "CTA (" + std::to_string(id.x) + "," + std::to_string(id.y) + "," +
           std::to_string(id.z) + ") ";
  else if (cta.cluster->ctas.size() > 1)
    text = "CTA rank " + std::to_string(cta.rank) + " ";
  uint32_t line = cta.launch.kernel.info.instructions[g.pc].line;
  bool spins = g.state == Group::Ready;
  return text + "warp " + std::to_string(w.index) + " lanes " + hex(g.mask) +
         (spins ? " spin" : " wait") + " at line " + std::to_string(line);
}

namespace {
/// Collects the groups of some clusters.
struct WaitList {
  std::string text;
  const Warp *first = nullptr;
  uint32_t firstPc = 0;
  unsigned count = 0;

  void add(const Warp &w, const Group &g, bool namesCTA) {
    if (!first) {
      first = &w;
      firstPc = g.pc;
    }
    if (++count <= 8)
      text += (count > 1 ? "; " : "") + who(w, g, namesCTA) + reason(w, g);
  }
  void add(const Cluster &cluster, bool namesCTA) {
    for (auto &cta : cluster.ctas)
      for (const Warp &w : cta->warps) {
        if (w.group)
          add(w, {Group::Ready, w.pc, w.group, 0, 0, false}, namesCTA);
        for (const Group &g : w.others)
          add(w, g, namesCTA);
      }
  }
  std::string all() const {
    return count > 8 ? text + "; and " + std::to_string(count - 8) + " more"
                     : text;
  }
};

void report(Cluster &cluster, const WaitList &list, std::string message) {
  CTA &cta = list.first ? *list.first->cta : *cluster.ctas.front();
  cta.record->status = Status::Deadlock;
  cta.record->diagnostics.push_back(cta.record->makeDiagnostic(
      Severity::Error, "deadlock", std::move(message), list.firstPc,
      list.first ? int(list.first->index) : -1, -1));
  cluster.failed = true;
}
} // namespace

void ptxvm::reportDeadlock(Cluster &cluster) {
  WaitList list;
  list.add(cluster, false);
  report(cluster, list, "deadlock: " + list.all());
}

void ptxvm::reportNoProgress(const std::vector<Cluster *> &clusters,
                             uint64_t notStarted) {
  WaitList list;
  bool namesCTA =
      clusters.size() > 1 || clusters[0]->launch.shape.grid.count() > 1;
  for (Cluster *c : clusters)
    list.add(*c, namesCTA);
  std::string message = "deadlock: memory stays as it is: " + list.all();
  if (notStarted)
    message += "; " + std::to_string(notStarted) +
               " CTAs have not started, since so many others are resident";
  report(*clusters.front(), list, std::move(message));
}
