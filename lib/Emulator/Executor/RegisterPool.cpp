//===- RegisterPool.cpp - setmaxnreg --------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.19.5. A CTA has a pool of 65536 registers. It starts
// with what .maxnreg says, or with what the largest block allows, for each
// warp; .dec gives registers back to the pool warp by warp. .inc takes for the
// whole warpgroup when its first warp asks, so that two warpgroups never hold
// half of what each needs (*unverified*), and waits while the pool has too few.
// What an exited warp held stays with it until the CTA ends (*unverified*).
//
// The warps of a warpgroup execute the same setmaxnreg, all of them, and the
// next one only then; anything else is undefined, and a fault here.
//
//===----------------------------------------------------------------------===//
#include "Cluster.h"
#include "Handlers.h"

#include <algorithm>
#include <span>

using namespace ptxvm;

static constexpr uint32_t kPool = 65536, kMost = 255;

void ptxvm::fillRegisterPool(CTA &cta) {
  const KernelSignature &s = cta.launch.kernel.signature;
  uint64_t threads = s.requiredThreads  ? s.requiredThreads->count()
                     : s.maximumThreads ? s.maximumThreads->count()
                                        : cta.threads;
  uint32_t registers = uint32_t(kPool / std::max<uint64_t>(32, threads)) & ~7u;
  if (s.maximumRegisters)
    registers = s.maximumRegisters;
  registers = std::min(registers, kMost);
  uint32_t used = 0;
  for (Warp &w : cta.warps) {
    w.registers = registers;
    used += registers * 32;
  }
  cta.freeRegisters = used < kPool ? kPool - used : 0;
}

std::string ptxvm::describePool(const Warp &w, uint32_t wanted) {
  return "for " + std::to_string(wanted) + " registers a thread (it has " +
         std::to_string(w.registers) + ", and the pool " +
         std::to_string(w.cta->freeRegisters) + " for all of its warpgroup)";
}

namespace {
std::span<Warp> warpgroupOf(const Warp &w) {
  std::vector<Warp> &all = w.cta->warps;
  size_t first = w.index / 4 * 4;
  return std::span(all).subspan(first, std::min<size_t>(4, all.size() - first));
}

uint32_t lineAt(const Warp &w, uint32_t pc) {
  return w.cta->launch.kernel.info.instructions[pc].line;
}

/// Why this warp must not execute a setmaxnreg here, after what the others of
/// its warpgroup did; empty when it may.
std::string findDisagreement(const Warp &w) {
  const std::string group = "warpgroup " + std::to_string(w.index / 4);
  if (w.registersPc != kNowhere)
    return "comes before all warps of " + group +
           " have executed the one at line " +
           std::to_string(lineAt(w, w.registersPc));
  for (const Warp &other : warpgroupOf(w)) {
    if (other.registersPc != kNowhere && other.registersPc != w.pc)
      return "is not the one of line " +
             std::to_string(lineAt(w, other.registersPc)) +
             " that another warp of " + group + " executed";
    if (other.isDone() && other.registersPc == kNowhere)
      return "is not executed by warp " + std::to_string(other.index) + " of " +
             group + ", which has exited";
  }
  return "";
}

void noteExecuted(Warp &w) {
  w.registersPc = w.pc;
  std::span<Warp> group = warpgroupOf(w);
  if (std::all_of(group.begin(), group.end(), [](const Warp &other) {
        return other.registersPc != kNowhere;
      }))
    for (Warp &other : group)
      other.registersPc = kNowhere;
}

void tell(const Warp &w, RegisterPoolEvent::Kind kind, uint32_t previous,
          uint32_t wanted) {
  RegisterPoolEvent event{w.index,  w.pc,   kind,
                          previous, wanted, w.cta->freeRegisters};
  for (CTAObserver *o : w.cta->onBarrier)
    o->registerPool(event);
}

/// Sets registers aside for the warps of w's warpgroup; false when there are
/// too few.
bool grant(Warp &w, uint32_t wanted) {
  uint32_t need = 0;
  for (const Warp &other : warpgroupOf(w))
    if (other.registers < wanted)
      need += (wanted - other.registers) * 32;
  if (need > w.cta->freeRegisters)
    return false;
  w.cta->freeRegisters -= need;
  for (Warp &other : warpgroupOf(w))
    other.grantedRegisters = wanted;
  return true;
}

bool isWrong(Warp &w, const Instruction &i, const char *word) {
  const std::string &opcode =
      w.cta->launch.kernel.info.instructions[w.pc].opcode;
  if (w.mask != w.live) {
    faultNotAligned(w);
    return true;
  }
  if (std::string why = findDisagreement(w); !why.empty()) {
    w.cta->fault(w, "register-pool", opcode + " " + why);
    return true;
  }
  uint32_t wanted = uint32_t(i.imm);
  bool isInc = i.aux;
  if (isInc ? wanted >= w.registers : wanted <= w.registers)
    return false;
  w.cta->fault(w, "register-pool",
               opcode + " to " + std::to_string(wanted) + " does not " + word +
                   " the " + std::to_string(w.registers) +
                   " registers that a thread has");
  return true;
}

/// Warps that wait for what has come back, in their order.
void serve(CTA &cta) {
  for (Warp &w : cta.warps)
    for (Group &g : w.others)
      if (g.state == Group::AtRegisterPool &&
          (w.grantedRegisters || grant(w, g.barrier))) {
        g.state = Group::Ready;
        g.released = true;
      }
}

Flow decrease(Warp &w, const Instruction &i) {
  if (isWrong(w, i, "lower"))
    return Flow::Stop;
  noteExecuted(w);
  uint32_t previous = w.registers;
  w.registers = uint32_t(i.imm);
  w.cta->freeRegisters += (previous - w.registers) * 32;
  tell(w, RegisterPoolEvent::Released, previous, w.registers);
  serve(*w.cta);
  return Flow::Next;
}

Flow increase(Warp &w, const Instruction &i) {
  uint32_t wanted = uint32_t(i.imm);
  if (!w.released) {
    if (isWrong(w, i, "raise"))
      return Flow::Stop;
    noteExecuted(w);
    tell(w, RegisterPoolEvent::Requested, w.registers, wanted);
    if (!w.grantedRegisters && !grant(w, wanted))
      return parkActive(w, Group::AtRegisterPool, 0, wanted);
  }
  w.released = false;
  uint32_t previous = w.registers;
  w.registers = wanted;
  w.grantedRegisters = 0;
  tell(w, RegisterPoolEvent::Granted, previous, wanted);
  return Flow::Next;
}
} // namespace

bool ptxvm::mayLeaveWarpgroup(Warp &w) {
  if (w.registersPc != kNowhere)
    return true;
  for (const Warp &other : warpgroupOf(w))
    if (other.registersPc != kNowhere) {
      w.cta->fault(w, "register-pool",
                   "exits without the setmaxnreg of line " +
                       std::to_string(lineAt(w, other.registersPc)) +
                       " that another warp of warpgroup " +
                       std::to_string(w.index / 4) + " executed");
      return false;
    }
  return true;
}

void ptxvm::addRegisterPool(HandlerList &list) {
  list.push_back({"setmaxnreg_dec", decrease});
  list.push_back({"setmaxnreg_inc", increase});
}
