//===- CTA.cpp - a block of threads --------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its memory and registers before the first instruction, and its faults.
//
//===----------------------------------------------------------------------===//
#include "Cluster.h"

#include <algorithm>

using namespace ptxvm;

Diagnostic CTARecord::makeDiagnostic(Severity severity, std::string origin,
                                     std::string message, uint32_t pc, int warp,
                                     int lane) const {
  Diagnostic d;
  d.severity = severity;
  d.origin = std::move(origin);
  d.message = std::move(message);
  d.location = launch.kernel.info.location(pc);
  d.source = launch.kernel.info.source(pc);
  d.inlinedAt = launch.kernel.info.inlinedAt(pc);
  d.points.push_back({launch.kernel.info.kernel, id, warp, lane});
  return d;
}

Flow CTA::fault(const Warp &w, std::string origin, std::string message,
                int lane) {
  return faultAt(w.pc, w, std::move(origin), std::move(message), lane);
}

Flow CTA::faultAt(uint32_t pc, const Warp &w, std::string origin,
                  std::string message, int lane) {
  cluster->failed = true;
  record->status = Status::Fault;
  // A checker may have said it already, when it was told of the event.
  if (!record->diagnostics.empty()) {
    const Diagnostic &last = record->diagnostics.back();
    const SourceLocation at = launch.kernel.info.location(pc);
    if (last.severity == Severity::Error && last.origin == origin &&
        last.location.line == at.line && last.location.column == at.column)
      return Flow::Stop;
  }
  record->diagnostics.push_back(
      record->makeDiagnostic(Severity::Error, std::move(origin),
                             std::move(message), pc, int(w.index), lane));
  return Flow::Stop;
}

/// The registers that speak of clusters.
static uint64_t clusterValue(Special s, const CTA &cta) {
  const Dim3 &c = cta.launch.shape.cluster, &g = cta.launch.shape.grid;
  const Dim3 &id = cta.record->id;
  switch (s) {
  case Special::ClusterCtaRank:
    return cta.rank;
  case Special::ClusterNctaRank:
    return c.count();
  case Special::ClusterCtaidX:
    return id.x % c.x;
  case Special::ClusterCtaidY:
    return id.y % c.y;
  case Special::ClusterCtaidZ:
    return id.z % c.z;
  case Special::ClusterNctaidX:
    return c.x;
  case Special::ClusterNctaidY:
    return c.y;
  case Special::ClusterNctaidZ:
    return c.z;
  case Special::ClusteridX:
    return id.x / c.x;
  case Special::ClusteridY:
    return id.y / c.y;
  case Special::ClusteridZ:
    return id.z / c.z;
  case Special::NclusteridX:
    return g.x / c.x;
  case Special::NclusteridY:
    return g.y / c.y;
  case Special::NclusteridZ:
    return g.z / c.z;
  default:
    return 0;
  }
}

/// Special registers: PTX ISA 9.1 chapter 10.
static uint64_t specialValue(Special s, const CTA &cta, const Warp &w,
                             uint32_t lane) {
  const Launch &launch = cta.launch;
  const Dim3 &b = launch.shape.block, &g = launch.shape.grid;
  const Dim3 &id = cta.record->id;
  uint32_t t = w.index * 32 + lane;
  switch (s) {
  case Special::TidX:
    return t % b.x;
  case Special::TidY:
    return t / b.x % b.y;
  case Special::TidZ:
    return t / b.x / b.y;
  case Special::NtidX:
    return b.x;
  case Special::NtidY:
    return b.y;
  case Special::NtidZ:
    return b.z;
  case Special::CtaidX:
    return id.x;
  case Special::CtaidY:
    return id.y;
  case Special::CtaidZ:
    return id.z;
  case Special::NctaidX:
    return g.x;
  case Special::NctaidY:
    return g.y;
  case Special::NctaidZ:
    return g.z;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return w.index;
  case Special::NWarpId:
    return cta.warps.size();
  case Special::NSmId:
    return 1;
  case Special::LanemaskEq:
    return 1u << lane;
  case Special::LanemaskLe:
    return (2ull << lane) - 1;
  case Special::LanemaskLt:
    return (1u << lane) - 1;
  case Special::LanemaskGe:
    return uint32_t(~0u << lane);
  case Special::LanemaskGt:
    return uint32_t(~1ull << lane);
  case Special::DynamicSmemSize:
    return launch.shape.dynamicSharedBytes;
  case Special::TotalSmemSize:
    // In whole units of allocation.
    return (launch.sharedBytes + 127) / 128 * 128;
  default:
    return clusterValue(s, cta);
  }
}

void CTA::fillSpecial(Warp &w) {
  for (const ReadOnly &r : launch.kernel.readOnly) {
    if (r.kind != ReadOnly::SpecialRegister)
      continue;
    for (uint32_t l = 0; l < 32; ++l) {
      uint64_t v = specialValue(r.special, *this, w, l);
      if (r.isWide)
        reinterpret_cast<uint64_t *>(w.regs + r.slot)[l] = v;
      else
        w.regs[r.slot + l] = uint32_t(v);
    }
  }
}

void CTA::reset(std::unique_ptr<CTARecord> r) {
  const Kernel &k = launch.kernel;
  record = std::move(r);
  rank = record->rank;
  threads = record->threads;
  liveWarps = record->warps();
  // Uninitialised shared memory reads as NaNs; registers as zeros.
  shared.assign(launch.sharedBytes, 0xFF);
  local.assign(size_t(liveWarps) * 32 * k.localBytes, 0xFF);
  // 64-byte alignment for the vector loads of handlers.
  constexpr size_t kScratchWords = 64;
  size_t registerWords = size_t(liveWarps) * k.totalWords;
  registerFile.assign(registerWords + kScratchWords + 16, 0);
  predicateFile.assign(size_t(liveWarps) * k.predicates, 0);
  auto address = reinterpret_cast<uintptr_t>(registerFile.data());
  uint32_t *regs = registerFile.data() + (64 - address % 64) % 64 / 4;
  warps.assign(liveWarps, {});
  barriers = {};
  for (Barrier &b : barriers)
    b.arrived.assign(liveWarps, 0);
  mbarriers.clear();
  wgmma.reset();
  copies = bulkCopies = 0;
  for (auto *list :
       {&onInstruction, &onMemory, &onCopy, &onBarrier, &onWgmma, &onUndefined})
    list->clear();
  for (uint32_t n = 0; n < liveWarps; ++n) {
    Warp &w = warps[n];
    w.index = n;
    w.cta = this;
    w.regs = regs + size_t(n) * k.totalWords;
    w.scratch = regs + registerWords;
    w.preds = predicateFile.data() + size_t(n) * k.predicates;
    w.preds[1] = ~0u;
    if (k.explicitClusterPredicate)
      w.preds[k.explicitClusterPredicate] = launch.isExplicitCluster ? ~0u : 0;
    w.lists = k.lists.data();
    uint32_t lanes = std::min(32u, threads - n * 32);
    w.live = w.group = lanes == 32 ? ~0u : (1u << lanes) - 1;
    std::copy(launch.readOnlyImage.begin(), launch.readOnlyImage.end(),
              w.regs + k.registerWords);
    fillSpecial(w);
  }
  fillRegisterPool(*this);
}
