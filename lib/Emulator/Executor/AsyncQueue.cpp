//===- AsyncQueue.cpp - operations that end later ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header for when an operation ends.
//
//===----------------------------------------------------------------------===//
#include "AsyncQueue.h"
#include "Cluster.h"

#include <algorithm>

using namespace ptxvm;

void AsyncQueue::finish(AsyncOperation &o) {
  if (!o.wasRead)
    o.read();
  o.wasRead = true;
  if (!cluster.failed && !o.isDone())
    o.finish();
}

template <typename Wants> bool AsyncQueue::completeWhere(Wants wants) {
  // Out of the queue first: what ends may ask what is still pending.
  std::vector<std::unique_ptr<AsyncOperation>> chosen;
  for (auto &o : pending)
    if (wants(*o))
      chosen.push_back(std::move(o));
  if (chosen.empty())
    return false;
  std::erase(pending, nullptr);
  for (auto &o : chosen) {
    finish(*o);
    if (cluster.failed)
      break;
  }
  std::erase_if(pending, [](const auto &o) { return o->isDone(); });
  return true;
}

/// A loop that never waits is not to fill the host's memory: the oldest
/// operations end by themselves when this many more have been issued.
static constexpr size_t kMostPending = 16384;

void AsyncQueue::add(std::unique_ptr<AsyncOperation> operation) {
  if (pending.size() >= kMostPending) {
    size_t count = kMostPending / 2;
    completeWhere([&](const AsyncOperation &) { return count && count--; });
    if (cluster.failed)
      return;
  }
  if (cluster.launch.options.lateCompletion)
    pending.push_back(std::move(operation));
  else
    finish(*operation);
}

void AsyncQueue::waitGroups(uint64_t stream, uint32_t group) {
  completeWhere([=](const AsyncOperation &o) {
    return o.stream == stream && o.group < group;
  });
}

void AsyncQueue::readGroups(uint64_t stream, uint32_t group) {
  for (auto &o : pending)
    if (o->stream == stream && o->group < group && !o->wasRead) {
      o->wasRead = true;
      o->read();
    }
}

static bool tells(const AsyncOperation &o, const CTA &owner, uint32_t address) {
  return o.signal.owner == &owner && o.signal.address == address;
}

bool AsyncQueue::completePhase(CTA &owner, uint32_t address) {
  auto found = owner.mbarriers.find(address);
  if (found == owner.mbarriers.end())
    return false;
  const Mbarrier &m = found->second;
  AsyncSignal sum;
  size_t count = 0, enough = 0;
  for (auto &o : pending) {
    if (!tells(*o, owner, address))
      continue;
    ++count;
    sum.arrivals += o->signal.arrivals;
    sum.bytes += o->signal.bytes;
    if (sum.arrivals == m.pending && int64_t(sum.bytes) == m.tx) {
      enough = count;
      break;
    }
  }
  return completeWhere([&](const AsyncOperation &o) {
    return tells(o, owner, address) && enough && enough--;
  });
}

bool AsyncQueue::completeAll() {
  return completeWhere([](const AsyncOperation &) { return true; });
}

bool AsyncQueue::completeForWaiters(bool isStuck) {
  std::vector<AsyncSignal> targets;
  for (auto &o : pending) {
    const AsyncSignal &s = o->signal;
    bool isKnown =
        !s.owner ||
        std::any_of(targets.begin(), targets.end(), [&](const AsyncSignal &t) {
          return t.owner == s.owner && t.address == s.address;
        });
    if (!isKnown)
      targets.push_back(s);
  }
  bool any = false;
  for (const AsyncSignal &t : targets) {
    auto found = t.owner->mbarriers.find(t.address);
    bool isAwaited = found != t.owner->mbarriers.end() && found->second.waiting;
    any |= isAwaited && completePhase(*t.owner, t.address);
  }
  // Nothing helps: let the report show what comes anyway.
  if (!any && isStuck)
    any = completeWhere(
        [](const AsyncOperation &o) { return o.signal.owner != nullptr; });
  return any;
}

void AsyncQueue::completeOf(const CTA &issuer) {
  completeWhere(
      [&](const AsyncOperation &o) { return o.issuer.cta == &issuer; });
}

void AsyncQueue::completeSome() {
  if (pending.empty() || cluster.random() % 4)
    return;
  size_t k = cluster.random() % pending.size();
  // The oldest of an ordered stream goes first.
  if (pending[k]->isOrdered)
    for (size_t j = 0; j < k; ++j)
      if (pending[j]->stream == pending[k]->stream)
        k = j;
  AsyncOperation &o = *pending[k];
  if (!o.wasRead && cluster.random() % 2) {
    o.wasRead = true;
    return o.read();
  }
  completeWhere([&](const AsyncOperation &other) { return &other == &o; });
}
