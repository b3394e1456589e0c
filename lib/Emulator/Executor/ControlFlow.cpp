//===- ControlFlow.cpp - bra, brx, exit, trap -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.12 and 9.7.19.
//
//===----------------------------------------------------------------------===//
#include "Cluster.h"
#include "Handlers.h"
#include "MemoryAccess.h"

using namespace ptxvm;

namespace {
Flow branch(Warp &w, const Instruction &i) {
  uint32_t target = uint32_t(i.imm);
  if (w.mask == w.group) {
    w.pc = target;
    return Flow::Jump;
  }
  w.others.push_back({Group::Ready, target, w.mask, 0, 0, false});
  w.group &= ~w.mask;
  ++w.pc;
  return Flow::Split;
}

Flow branchTable(Warp &w, const Instruction &i) {
  uint32_t rest = w.mask;
  for (uint32_t m = rest; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t index = w.regs[i.a + l];
    if (index >= i.aux)
      return w.cta->fault(w, "executor",
                          "brx.idx with index " + std::to_string(index) +
                              ", but its table has " + std::to_string(i.aux) +
                              " labels",
                          int(l));
  }
  while (rest) {
    uint32_t index = w.regs[i.a + unsigned(__builtin_ctz(rest))], same = 0;
    for (uint32_t m = rest; m; m &= m - 1)
      if (w.regs[i.a + unsigned(__builtin_ctz(m))] == index)
        same |= m & -m;
    w.others.push_back(
        {Group::Ready, w.lists[i.list + index], same, 0, 0, false});
    rest &= ~same;
  }
  w.group &= ~w.mask;
  ++w.pc;
  return Flow::Split;
}

Flow exitLanes(Warp &w, const Instruction &) {
  if (w.mask == w.live && !mayLeaveWarpgroup(w))
    return Flow::Stop;
  for (CTAObserver *o : w.cta->onBarrier)
    o->lanesExited(w.index, w.pc, w.mask);
  w.live &= ~w.mask;
  w.group &= ~w.mask;
  ++w.pc;
  w.cta->recheckBarriers(w);
  Cluster &cluster = *w.cta->cluster;
  cluster.recheckBarrier(w);
  if (w.isDone())
    cluster.warpExited(w);
  return cluster.failed ? Flow::Stop : Flow::Split;
}

Flow trap(Warp &w, const Instruction &) {
  return w.cta->fault(w, "trap", "the kernel executed trap",
                      __builtin_ctz(w.mask));
}

Flow nothing(Warp &, const Instruction &) { return Flow::Next; }

/// membar is fence.sc.
FenceEvent fenceEvent(const Warp &w, const Instruction &i) {
  using E = FenceEvent;
  E::Semantics s = i.mods & mod::acq_rel_   ? E::AcquireRelease
                   : i.mods & mod::acquire_ ? E::Acquire
                   : i.mods & mod::release_ ? E::Release
                                            : E::Sequential;
  auto kind = E::Kind(i.aux);
  if (kind != E::Memory && s == E::Sequential)
    s = E::AcquireRelease;
  return {w.index, w.pc, w.mask, s, scopeOf(i.mods), kind};
}

Flow fence(Warp &w, const Instruction &i) {
  if (!w.cta->onBarrier.empty()) {
    FenceEvent event = fenceEvent(w, i);
    for (CTAObserver *o : w.cta->onBarrier)
      o->fence(event);
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return Flow::Next;
}
} // namespace

void ptxvm::addControlFlow(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"bra", branch}, {"brx", branchTable}, {"exit", exitLanes},
      {"trap", trap},  {"nop", nothing},     {"fence", fence},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
