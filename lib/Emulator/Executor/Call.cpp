//===- Call.cpp - call and ret --------------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.12.4 and 9.7.12.5. Decoder/Calls.cpp draws the
// frames; built-in functions are in Builtin.cpp.
//
//===----------------------------------------------------------------------===//
#include "CallStack.h"
#include "Handlers.h"
#include "MemoryAccess.h"

#include <algorithm>
#include <bit>
#include <cstdio>

using namespace ptxvm;

/// Calls that a lane may be inside of. The stack in local memory is the usual
/// limit; functions without variables need none of it.
static constexpr uint32_t kMaxDepth = 1024;

static uint8_t *localOf(Warp &w, unsigned lane) {
  CTA &cta = *w.cta;
  return cta.local.data() +
         size_t(w.index * 32 + lane) * cta.launch.kernel.localBytes;
}

/// Copies between frames, and tells observers that the bytes were written.
static void copyFrames(Warp &w, const Instruction &i, uint32_t mask,
                       const std::vector<CallSite::Copy> &copies,
                       const std::array<uint32_t, 32> &from,
                       const std::array<uint32_t, 32> &to) {
  for (const CallSite::Copy &c : copies) {
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      uint8_t *local = localOf(w, l);
      std::memmove(local + to[l] + c.to, local + from[l] + c.from, c.bytes);
    }
    if (w.cta->onMemory.empty())
      continue;
    for (uint32_t at = 0; at < c.bytes;) {
      uint64_t addresses[32];
      for (unsigned l = 0; l < 32; ++l)
        addresses[l] = to[l] + c.to + at;
      uint64_t place = addresses[__builtin_ctz(mask)] | 16;
      uint32_t bytes =
          std::min(uint32_t(place & -place), std::bit_floor(c.bytes - at));
      notifyAccess(w, i, w.pc, AccessKind::Store, Space::Local, mask, bytes,
                   addresses, nullptr, nullptr, w.cta->rank);
      at += bytes;
    }
  }
}

static void saveRegisters(Warp &w, const FunctionInfo &f, CallEntry &e) {
  e.words.clear();
  for (uint32_t slot : f.savedSlots)
    e.words.insert(e.words.end(), w.regs + slot, w.regs + slot + 32);
  for (uint32_t slot : f.savedWideSlots)
    e.words.insert(e.words.end(), w.regs + slot, w.regs + slot + 64);
  e.predicates.clear();
  for (uint32_t p : f.savedPredicates)
    e.predicates.push_back(w.preds[p]);
}

static void restoreRegisters(Warp &w, const CallEntry &e, uint32_t mask) {
  const FunctionInfo &f = *e.callee;
  const uint32_t *saved = e.words.data();
  for (uint32_t slot : f.savedSlots) {
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      w.regs[slot + l] = saved[l];
    }
    saved += 32;
  }
  for (uint32_t slot : f.savedWideSlots) {
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      std::copy_n(saved + 2 * l, 2, w.regs + slot + 2 * l);
    }
    saved += 64;
  }
  for (size_t n = 0; n < f.savedPredicates.size(); ++n) {
    uint32_t &p = w.preds[f.savedPredicates[n]];
    p = (p & ~mask) | (e.predicates[n] & mask);
  }
}

/// Calls that are open may save so much; a function with very many registers
/// that calls itself would else fill the host's memory.
static constexpr size_t kMaxSavedWords = size_t(1) << 26;

static size_t savedWords(const FunctionInfo &f) {
  return 32 * f.savedSlots.size() + 64 * f.savedWideSlots.size() +
         f.savedPredicates.size();
}

/// False when a lane has no room for the callee's frame: a fault.
static bool checkDepth(Warp &w, const CallStack &stack, const CallSite &site,
                       const FunctionInfo &callee, uint32_t mask) {
  const Kernel &k = w.cta->launch.kernel;
  uint32_t callerBytes = k.functions[site.caller].frameBytes;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t top = uint64_t(stack.frame[l]) + callerBytes + callee.frameBytes;
    if (top <= k.localBytes && stack.depth[l] < kMaxDepth)
      continue;
    w.cta->fault(w, "stack-overflow",
                 "the call of '" + callee.name + "' at depth " +
                     std::to_string(stack.depth[l]) + " does not fit: " +
                     (top > k.localBytes
                          ? "the thread has " + std::to_string(k.localBytes) +
                                " bytes of local memory for its stack"
                          : "at most " + std::to_string(kMaxDepth) +
                                " calls may be open"),
                 int(l));
    return false;
  }
  return true;
}

/// Lanes `mask` enter a function; false after a fault.
static bool enter(Warp &w, const Instruction &i, const CallSite &site,
                  const FunctionInfo &callee, uint32_t mask) {
  if (!w.calls)
    w.calls = std::make_shared<CallStack>();
  CallStack &stack = *w.calls;
  if (!checkDepth(w, stack, site, callee, mask))
    return false;
  size_t words = savedWords(callee);
  if (stack.savedWords + words > kMaxSavedWords) {
    w.cta->fault(w, "stack-overflow",
                 "the open calls of this warp save more than " +
                     std::to_string(kMaxSavedWords) +
                     " words of registers at the call of '" + callee.name + "'",
                 __builtin_ctz(mask));
    return false;
  }
  stack.savedWords += words;
  uint32_t number = uint32_t(stack.entries.size());
  if (stack.unused.empty()) {
    stack.entries.emplace_back();
  } else {
    number = stack.unused.back();
    stack.unused.pop_back();
  }
  CallEntry &e = stack.entries[number];
  e.lanes = mask;
  e.returnPc = w.pc + 1;
  e.site = &site;
  e.callee = &callee;
  e.parent = stack.top;
  e.callerFrame = stack.frame;
  saveRegisters(w, callee, e);
  uint32_t callerBytes = w.cta->launch.kernel.functions[site.caller].frameBytes;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    stack.top[l] = int32_t(number);
    stack.frame[l] += callerBytes;
    ++stack.depth[l];
    if (callee.frameSlot != FunctionInfo::kNoFrameSlot)
      reinterpret_cast<uint64_t *>(w.regs + callee.frameSlot)[l] =
          stack.frame[l];
  }
  copyFrames(w, i, mask, site.arguments, e.callerFrame, stack.frame);
  return true;
}

/// Lanes `mask` of the current group go on at `target`.
static void divert(Warp &w, uint32_t mask, uint32_t target) {
  w.others.push_back({Group::Ready, target, mask, 0, 0, false});
}

static Flow callDirect(Warp &w, const Instruction &i, const CallSite &site) {
  const FunctionInfo &callee = w.cta->launch.kernel.functions[site.callee];
  if (!enter(w, i, site, callee, w.mask))
    return Flow::Stop;
  if (w.mask == w.group) {
    w.pc = callee.firstPc;
    // A function may lie before lanes that wait at a lower pc.
    return w.others.empty() ? Flow::Jump : Flow::Split;
  }
  divert(w, w.mask, callee.firstPc);
  w.group &= ~w.mask;
  ++w.pc;
  return Flow::Split;
}

/// The function that lane `l` calls through a register, or null after a fault.
static const FunctionInfo *findCallee(Warp &w, const CallSite &site,
                                      uint64_t address, unsigned l) {
  const Kernel &k = w.cta->launch.kernel;
  auto found = k.functionAt.find(address);
  const char *problem = nullptr;
  if (found == k.functionAt.end())
    problem = "is the address of no function that this kernel names";
  else if (k.functions[found->second].parameterBytes != site.parameterBytes ||
           k.functions[found->second].resultBytes != site.resultBytes)
    problem = "is a function with other parameters or results";
  if (!problem)
    return &k.functions[found->second];
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
  w.cta->fault(w, "call", std::string("the target ") + text + " " + problem,
               int(l));
  return nullptr;
}

static Flow callIndirect(Warp &w, const Instruction &i, const CallSite &site) {
  const uint64_t *target = reinterpret_cast<const uint64_t *>(w.regs + i.a);
  for (uint32_t rest = w.mask; rest;) {
    unsigned l = unsigned(__builtin_ctz(rest));
    const FunctionInfo *callee = findCallee(w, site, target[l], l);
    uint32_t same = 0;
    for (uint32_t m = rest; m; m &= m - 1)
      if (target[__builtin_ctz(m)] == target[l])
        same |= m & -m;
    if (!callee || !enter(w, i, site, *callee, same))
      return Flow::Stop;
    divert(w, same, callee->firstPc);
    rest &= ~same;
  }
  w.group &= ~w.mask;
  ++w.pc;
  return Flow::Split;
}

static Flow call(Warp &w, const Instruction &i) {
  const CallSite &site = w.cta->launch.kernel.calls[i.aux];
  return site.callee == ~0u ? callIndirect(w, i, site) : callDirect(w, i, site);
}

static Flow leave(Warp &w, const Instruction &i) {
  CallStack &stack = *w.calls;
  for (uint32_t rest = w.mask; rest;) {
    int32_t number = stack.top[__builtin_ctz(rest)];
    CallEntry &e = stack.entries[size_t(number)];
    uint32_t mask = 0; // other lanes of the entry may be in deeper calls
    for (uint32_t m = rest; m; m &= m - 1)
      if (stack.top[__builtin_ctz(m)] == number)
        mask |= m & -m;
    copyFrames(w, i, mask, e.site->results, stack.frame, e.callerFrame);
    restoreRegisters(w, e, mask);
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      stack.top[l] = e.parent[l];
      stack.frame[l] = e.callerFrame[l];
      --stack.depth[l];
    }
    divert(w, mask, e.returnPc);
    e.lanes &= ~mask;
    rest &= ~mask;
    if (e.lanes)
      continue;
    stack.savedWords -= savedWords(*e.callee);
    stack.unused.push_back(uint32_t(number));
  }
  w.group &= ~w.mask;
  ++w.pc;
  return Flow::Split;
}

void ptxvm::addCall(HandlerList &list) {
  static const NamedHandler kTable[] = {{"call", call}, {"return", leave}};
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
