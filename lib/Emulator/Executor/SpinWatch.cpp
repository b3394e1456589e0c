//===- SpinWatch.cpp - clusters that only spin ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread may wait for a word of memory that a CTA writes which is not
// running. Every now and then a cluster is looked at for some instructions of
// each warp:
//
//   Busy      something happened: a store, a barrier, a copy, an exit
//   Spinning  nothing happened
//   Stuck     each warp waits, or has come back to the same instruction with
//             the same registers, and memory is as it was: so it goes on for
//             ever, until somebody else writes to memory
//
// A cluster that spins lets others run (GridRunner.cpp); when all that could
// run are stuck, nobody will ever write.
//
//===----------------------------------------------------------------------===//
#include "Cluster.h"

#include <algorithm>
#include <cstring>

using namespace ptxvm;

/// A loop that takes more instructions is not recognised as one.
static constexpr unsigned kSteps = 2048;

/// Instructions that change nothing but the registers of their thread.
static bool isPassive(const InstructionInfo &i) {
  switch (i.category) {
  case Category::Integer:
  case Category::Float:
  case Category::Convert:
  case Category::Compare:
  case Category::Move:
  case Category::SpecialFunction:
  case Category::Load:
  case Category::Shuffle:
  case Category::Fence:
  case Category::Atomic: // when it leaves memory as it was
    return true;
  case Category::Mma:
    return i.mnemonic == "mma";
  case Category::Control:
    return i.mnemonic.empty() || i.mnemonic == "bra" || i.mnemonic == "brx" ||
           i.mnemonic == "nanosleep";
  case Category::Barrier:
    return i.opcode.starts_with("mbarrier.test_wait") ||
           i.opcode.starts_with("mbarrier.try_wait");
  default:
    return false;
  }
}

static bool hasReady(const Warp &w) {
  return std::any_of(w.others.begin(), w.others.end(),
                     [](const Group &g) { return g.state == Group::Ready; });
}

ClusterRun::Result ClusterRun::watch(Warp &w) {
  if (!w.group && !selectGroup(w))
    return Stuck;
  const Kernel &k = cluster.launch.kernel;
  std::vector<uint32_t> registers(w.regs, w.regs + k.registerWords);
  std::vector<uint32_t> predicates(w.preds, w.preds + k.predicates);
  uint32_t pc = w.pc, group = w.group;
  for (unsigned step = 0; step < kSteps; ++step) {
    const InstructionInfo &info = k.info.instructions[w.pc];
    if (!isPassive(info) || hasReady(w))
      return Busy;
    bool isAtomic = info.category == Category::Atomic;
    w.hasWritten = true;
    cluster.launch.issued += stepWarp(w, 1);
    if (cluster.failed || (isAtomic && w.hasWritten))
      return Busy;
    if (!w.group)
      return Stuck;
    bool isSame = w.pc == pc && w.group == group && !w.released &&
                  std::equal(registers.begin(), registers.end(), w.regs) &&
                  std::equal(predicates.begin(), predicates.end(), w.preds);
    if (isSame)
      return Stuck;
  }
  return Spinning;
}

ClusterRun::Result ClusterRun::examine() {
  // The next round finds the end: who has ended waits for nobody.
  if (std::all_of(warps.begin(), warps.end(),
                  [](const Warp *w) { return w->isDone(); }))
    return Busy;
  Result all = Stuck;
  for (Warp *w : warps) {
    Result one = w->isDone() ? Stuck : watch(*w);
    if (one == Busy || cluster.launch.stop)
      return Busy;
    if (one == Spinning)
      all = Spinning;
  }
  // It may spin on what an operation of its own brings.
  return cluster.queue.completeAll() ? Busy : all;
}
