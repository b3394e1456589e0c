//===- Scheduler.cpp - warps take turns -----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thread frontiers (Decoder/ControlFlow.cpp) inside a warp, and turns among the
// warps of a cluster.
//
//===----------------------------------------------------------------------===//
#include "Cluster.h"

#include <algorithm>

using namespace ptxvm;

void ptxvm::faultNotAligned(Warp &w) {
  w.cta->fault(w, "warp-sync",
               w.cta->launch.kernel.info.instructions[w.pc].opcode +
                   " is .aligned but not all 32 lanes of the warp execute it");
}

/// Instructions a warp issues before another gets its turn. Long enough to cost
/// nothing; short enough that a spinning warp lets the others work.
static constexpr uint64_t kQuantum = 4096;
/// Rounds of turns after which a warp that waits for an asynchronous operation
/// gets it although other warps can still go on.
static constexpr unsigned kPatience = 4;
/// Instructions of a cluster before it is looked at whether it only spins: at
/// first, and after it has been found spinning.
static constexpr uint64_t kLongBudget = 1 << 20, kShortBudget = kQuantum;

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
    w.others.push_back(
        {Group::Ready, w.pc, w.group, 0, 0, w.released, w.counts});
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
  uint32_t pc = w.pc; // w.pc is the same whenever others can see it
  while (issued < quantum) {
    const Instruction &i = code[pc];
    uint32_t mask = w.group & (w.preds[i.guard] ^ i.guardXor);
    w.mask = mask;
    ++issued;
    if (Observed && !w.released && !info.instructions[pc].opcode.empty()) {
      IssueEvent event{w.index, pc, mask, w.group};
      for (CTAObserver *o : cta.onInstruction)
        o->instructionIssued(event);
    }
    Flow flow = mask ? i.handler(w, i) : Flow::Next;
    if (flow == Flow::Next) [[likely]] {
      w.pc = ++pc;
    } else {
      if (flow == Flow::Stop)
        break;
      if (flow != Flow::Jump && !selectGroup(w))
        break;
      pc = w.pc;
    }
    if (pc >= w.mergePc) {
      if (!selectGroup(w))
        break;
      pc = w.pc;
    }
  }
  w.issued += issued;
  return issued;
}
} // namespace

uint64_t ptxvm::stepWarp(Warp &w, uint64_t count) {
  const Instruction *code = w.cta->launch.code.data();
  bool isObserved = !w.cta->onInstruction.empty();
  return isObserved ? runWarp<true>(w, code, count)
                    : runWarp<false>(w, code, count);
}

static void reportLimit(Cluster &cluster, const Warp &w) {
  CTARecord &record = *w.cta->record;
  record.status = Status::InstructionLimit;
  uint32_t last = uint32_t(cluster.launch.code.size()) - 1;
  record.diagnostics.push_back(record.makeDiagnostic(
      Severity::Error, "instruction-limit",
      "the launch was stopped after " +
          std::to_string(cluster.launch.options.maxInstructions) +
          " warp instructions",
      std::min(w.pc, last), int(w.index), -1));
  cluster.failed = true;
}

ClusterRun::ClusterRun(Cluster &cluster, uint64_t seed)
    : cluster(cluster), budget(kLongBudget) {
  cluster.random.seed(seed);
  for (auto &cta : cluster.ctas)
    for (Warp &w : cta->warps)
      warps.push_back(&w);
  uint32_t n = uint32_t(warps.size());
  bool isReverse = cluster.launch.options.order.kind == OrderPolicy::Reverse;
  for (uint32_t k = 0; k < n; ++k)
    order.push_back(isReverse ? n - 1 - k : k);
  stalls.resize(n);
  issuedApart.resize(n);
}

const std::vector<uint32_t> &ClusterRun::sweep() {
  if (cluster.isRandom())
    std::shuffle(order.begin(), order.end(), cluster.random);
  return order;
}

uint64_t ClusterRun::quantum() {
  return cluster.isRandom() ? 1 + cluster.random() % 256 : kQuantum;
}

/// One turn of a warp that has a group; false when the cluster must stop.
bool ClusterRun::turn(size_t k) {
  Launch &launch = cluster.launch;
  Warp &w = *warps[k];
  uint64_t limit = launch.options.maxInstructions;
  uint64_t n = quantum();
  if (limit)
    n = std::min(n - 1, limit) + 1; // limit + 1 may be no number
  n = stepWarp(w, n);
  sinceExamined += n;
  uint64_t total = launch.issued += n;
  if (cluster.failed || launch.stop)
    return false;
  if (limit && total > limit) {
    reportLimit(cluster, w);
    return false;
  }
  // Lanes that spin on what other lanes of the warp must do: every second
  // time another group runs. A short turn that ends inside a branch says
  // nothing of spinning: those lanes meet again where the branch ends.
  issuedApart[k] = w.group && !w.others.empty() ? issuedApart[k] + n : 0;
  if (issuedApart[k] >= kQuantum) {
    issuedApart[k] = 0;
    selectGroup(w, ++stalls[k] & 1 ? 1 + stalls[k] / 2 : 0);
  }
  return true;
}

/// --order=random: copies end at any time.
void ClusterRun::completeSome(Warp &w) {
  if (!w.copies.empty() && cluster.random() % 4 == 0)
    completeCopiesBefore(w, uint32_t(cluster.random()), ~0ull);
  cluster.queue.completeSome();
}

/// A turn for each warp; false when there is nothing more to do.
bool ClusterRun::round() {
  bool isDone = true, moved = false;
  for (uint32_t k : sweep()) {
    Warp &w = *warps[k];
    if (w.isDone())
      continue;
    isDone = false;
    if (!w.group && !selectGroup(w))
      continue;
    moved = true;
    if (!turn(k))
      return false;
    if (cluster.isRandom())
      completeSome(w);
    if (cluster.failed)
      return false;
  }
  if (isDone)
    return false;
  // Warps that wait for asynchronous operations are served late.
  bool isStuck = !moved;
  if (!cluster.queue.empty() && (isStuck || ++sweeps % kPatience == 0))
    moved |= cluster.queue.completeForWaiters(isStuck);
  if (!moved && !cluster.failed)
    reportDeadlock(cluster);
  return !cluster.failed;
}

ClusterRun::Result ClusterRun::run() {
  hasChanged = false;
  if (isStuck && examine() == Stuck)
    return Stuck;
  hasChanged = true;
  isStuck = false;
  while (!cluster.failed && round()) {
    if (sinceExamined < budget)
      continue;
    Result result = examine();
    sinceExamined = 0;
    if (result == Busy) {
      budget = kLongBudget;
      continue;
    }
    isStuck = result == Stuck;
    budget = kShortBudget * warps.size();
    return result;
  }
  return Finished;
}
