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
  case Group::AtWarpSync:
    return " for lanes " + hex(g.wanted & w.live & ~g.mask);
  case Group::AtWarpgroup:
    return " " + describeWgmmaWait(w);
  default:
    return {};
  }
}

static std::string who(const Warp &w, const Group &g) {
  const CTA &cta = *w.cta;
  std::string text;
  if (cta.cluster->ctas.size() > 1)
    text = "CTA rank " + std::to_string(cta.rank) + " ";
  uint32_t line = cta.launch.kernel.info.instructions[g.pc].line;
  return text + "warp " + std::to_string(w.index) + " lanes " + hex(g.mask) +
         " wait at line " + std::to_string(line);
}

void ptxvm::reportDeadlock(Cluster &cluster) {
  std::string message = "deadlock: ";
  const Warp *first = nullptr;
  uint32_t firstPc = 0;
  unsigned listed = 0;
  for (auto &cta : cluster.ctas)
    for (const Warp &w : cta->warps)
      for (const Group &g : w.others) {
        if (!first) {
          first = &w;
          firstPc = g.pc;
        }
        if (++listed <= 8)
          message += (listed > 1 ? "; " : "") + who(w, g) + reason(w, g);
      }
  if (listed > 8)
    message += "; and " + std::to_string(listed - 8) + " more";
  CTA &cta = first ? *first->cta : *cluster.ctas.front();
  cta.record->status = Status::Deadlock;
  cta.record->diagnostics.push_back(cta.record->makeDiagnostic(
      Severity::Error, "deadlock", std::move(message), firstPc,
      first ? int(first->index) : -1, -1));
  cluster.failed = true;
}
