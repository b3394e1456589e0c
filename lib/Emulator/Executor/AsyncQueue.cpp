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
  if (!cluster.failed)
    o.finish();
}

void AsyncQueue::add(std::unique_ptr<AsyncOperation> operation) {
  if (cluster.launch.options.lateCompletion)
    pending.push_back(std::move(operation));
  else
    finish(*operation);
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
  return true;
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

AsyncSignal AsyncQueue::outstanding(const CTA &owner, uint32_t address) const {
  AsyncSignal sum;
  for (auto &o : pending)
    if (tells(*o, owner, address)) {
      sum.owner = o->signal.owner;
      sum.arrivals += o->signal.arrivals;
      sum.bytes += o->signal.bytes;
    }
  return sum;
}

void AsyncQueue::completeFor(const CTA &owner, uint32_t address) {
  completeWhere(
      [&](const AsyncOperation &o) { return tells(o, owner, address); });
}

bool AsyncQueue::completeForWaiters(bool isStuck) {
  (void)isStuck;
  return completeWhere(
      [](const AsyncOperation &o) { return o.signal.owner != nullptr; });
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
