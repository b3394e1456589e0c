//===- Scheduler.cpp - warps take turns -----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thread frontiers (Decoder/ControlFlow.cpp) inside a warp, turns among the
// warps of a CTA, and the reports of a run that cannot go on.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include <algorithm>
#include <random>

using namespace ptxvm;

/// Instructions a warp issues before another gets its turn. Long enough to cost
/// nothing; short enough that a spinning warp lets the others work.
static constexpr uint64_t kQuantum = 4096;

static void updateMerge(Warp &w) {
  w.mergePc = ~0u;
  for (const Group &g : w.others) {
    bool meets = g.state == Group::Ready ||
                 (g.state == Group::AtWarpSync && g.pc > w.pc);
    if (meets)
      w.mergePc = std::min(w.mergePc, g.pc);
  }
}

/// Groups that wait for lanes which exited, or at bar.warp.sync in different
/// places, go on.
static void releaseWarpSyncs(Warp &w) {
  uint32_t atBarrier = 0;
  for (const Group &g : w.others)
    if (g.state == Group::AtWarpSync && g.barrier)
      atBarrier |= g.mask;
  for (Group &g : w.others) {
    if (g.state != Group::AtWarpSync)
      continue;
    uint32_t met = g.barrier ? atBarrier : g.mask;
    if ((g.wanted & w.live & ~met) == 0) {
      g.state = Group::Ready;
      g.released = true;
    }
  }
}

bool ptxvm::selectGroup(Warp &w, unsigned skip) {
  if (w.group)
    w.others.push_back({Group::Ready, w.pc, w.group, 0, 0, w.released, w.counts});
  w.group = 0;
  w.released = false;
  std::sort(w.others.begin(), w.others.end(),
            [](const Group &x, const Group &y) { return x.pc < y.pc; });
  auto isReady = [](const Group &g) { return g.state == Group::Ready; };
  if (std::none_of(w.others.begin(), w.others.end(), isReady))
    releaseWarpSyncs(w);
  size_t ready =
      size_t(std::count_if(w.others.begin(), w.others.end(), isReady));
  if (!ready)
    return false;
  size_t pick = skip % ready, chosen = 0;
  for (size_t k = 0; k < w.others.size(); ++k)
    if (isReady(w.others[k]) && pick-- == 0) {
      chosen = k;
      break;
    }
  Group g = w.others[chosen];
  w.others.erase(w.others.begin() + long(chosen));
  w.pc = g.pc;
  w.group = g.mask;
  w.released = g.released;
  w.counts = g.counts;
  if (!g.released)
    std::erase_if(w.others, [&](const Group &o) {
      bool joins = o.pc == w.pc && o.state != Group::AtBarrier && !o.released;
      if (joins)
        w.group |= o.mask;
      return joins;
    });
  updateMerge(w);
  if (skip)
    w.mergePc = ~0u;
  return true;
}

Flow ptxvm::parkActive(Warp &w, Group::State state, uint32_t wanted,
                       uint32_t barrier) {
  w.others.push_back({state, w.pc, w.mask, wanted, barrier, false});
  w.group &= ~w.mask;
  if (w.group)
    ++w.pc;
  return Flow::Block;
}

namespace {
template <bool Observed>
uint64_t runWarp(Warp &w, const Instruction *code, uint64_t quantum) {
  CTA &cta = *w.cta;
  const CodeInfo &info = cta.launch.kernel.info;
  uint64_t issued = 0;
  while (issued < quantum) {
    const Instruction &i = code[w.pc];
    w.mask = w.group & (w.preds[i.guard] ^ i.guardXor);
    ++issued;
    if (Observed && !w.released && !info.instructions[w.pc].opcode.empty()) {
      IssueEvent event{w.index, w.pc, w.mask, w.group};
      for (CTAObserver *o : cta.onInstruction)
        o->instructionIssued(event);
    }
    Flow flow = w.mask ? i.handler(w, i) : Flow::Next;
    if (flow == Flow::Next) [[likely]]
      ++w.pc;
    else if (flow == Flow::Stop)
      break;
    else if (flow != Flow::Jump && !selectGroup(w))
      break;
    if (w.pc >= w.mergePc && !selectGroup(w))
      break;
  }
  w.issued += issued;
  return issued;
}

/// Picks the order of the warps and the length of their turns.
class Turns {
public:
  Turns(const OrderPolicy &policy, uint64_t seed, size_t warps)
      : policy(policy), random(seed), order(warps) {
    for (size_t k = 0; k < warps; ++k)
      order[k] = policy.kind == OrderPolicy::Reverse ? warps - 1 - k : k;
  }
  const std::vector<size_t> &sweep() {
    if (policy.kind == OrderPolicy::Random)
      std::shuffle(order.begin(), order.end(), random);
    return order;
  }
  uint64_t quantum() {
    return policy.kind == OrderPolicy::Random ? 1 + random() % 256 : kQuantum;
  }

private:
  const OrderPolicy &policy;
  std::mt19937_64 random;
  std::vector<size_t> order;
};
} // namespace

static std::string hex(uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", mask);
  return text;
}

/// One diagnostic that says who waits for what.
static void reportDeadlock(CTA &cta) {
  const CodeInfo &info = cta.launch.kernel.info;
  std::string message = "deadlock: ";
  const Warp *firstWarp = nullptr;
  uint32_t firstPc = 0;
  unsigned listed = 0;
  for (const Warp &w : cta.warps)
    for (const Group &g : w.others) {
      if (!firstWarp) {
        firstWarp = &w;
        firstPc = g.pc;
      }
      if (++listed > 8)
        continue;
      message += (listed > 1 ? "; warp " : "warp ") + std::to_string(w.index) +
                 " lanes " + hex(g.mask) + " wait at line " +
                 std::to_string(info.instructions[g.pc].line);
      if (g.state == Group::AtBarrier) {
        const Barrier &b = cta.barriers[g.barrier];
        uint32_t there = 0;
        for (uint32_t lanes : b.arrived)
          there += uint32_t(__builtin_popcount(lanes));
        message += " for barrier " + std::to_string(g.barrier) + " (" +
                   std::to_string(there) + " of " +
                   std::to_string(b.expected ? b.expected : cta.threads) +
                   " threads have arrived)";
      } else {
        message += " for lanes " + hex(g.wanted & w.live & ~g.mask);
      }
    }
  if (listed > 8)
    message += "; and " + std::to_string(listed - 8) + " more";
  cta.status = Status::Deadlock;
  cta.diagnostics.push_back(
      cta.makeDiagnostic(Severity::Error, "deadlock", std::move(message),
                         firstPc, firstWarp ? int(firstWarp->index) : -1, -1));
}

static void reportLimit(CTA &cta, const Warp &w) {
  cta.status = Status::InstructionLimit;
  uint32_t last = uint32_t(cta.launch.code.size()) - 1;
  cta.diagnostics.push_back(cta.makeDiagnostic(
      Severity::Error, "instruction-limit",
      "the launch was stopped after " +
          std::to_string(cta.launch.options.maxInstructions) +
          " warp instructions",
      std::min(w.pc, last), int(w.index), -1));
}

void ptxvm::runCTA(CTA &cta, uint64_t seed) {
  Launch &launch = cta.launch;
  Turns turns(launch.options.order, seed, cta.warps.size());
  const Instruction *code = launch.code.data();
  bool isObserved = !cta.onInstruction.empty();
  uint64_t limit = launch.options.maxInstructions;
  std::vector<unsigned> stalls(cta.warps.size());
  std::vector<uint64_t> issuedApart(cta.warps.size());
  for (;;) {
    bool isDone = true, moved = false;
    for (size_t k : turns.sweep()) {
      Warp &w = cta.warps[k];
      if (w.isDone())
        continue;
      isDone = false;
      if (!w.group && !selectGroup(w))
        continue;
      uint64_t n = turns.quantum();
      if (limit)
        n = std::min(n - 1, limit) + 1; // limit + 1 may be no number
      n = isObserved ? runWarp<true>(w, code, n) : runWarp<false>(w, code, n);
      moved = true;
      uint64_t total = launch.issued += n;
      if (cta.status != Status::Ok || launch.stop)
        return;
      if (limit && total > limit)
        return reportLimit(cta, w);
      // Lanes that spin on what other lanes of the warp must do: every second
      // time another group runs. A short turn that ends inside a branch says
      // nothing of spinning: those lanes meet again where the branch ends.
      issuedApart[k] = w.group && !w.others.empty() ? issuedApart[k] + n : 0;
      if (issuedApart[k] >= kQuantum) {
        issuedApart[k] = 0;
        selectGroup(w, ++stalls[k] & 1 ? 1 + stalls[k] / 2 : 0);
      }
    }
    if (isDone)
      return;
    if (!moved)
      return reportDeadlock(cta);
  }
}
