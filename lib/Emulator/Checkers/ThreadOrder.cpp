//===- ThreadOrder.cpp - which accesses come before which -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins cost a vector of the CTA's threads, once for all that take part.
//
//===----------------------------------------------------------------------===//
#include "ThreadOrder.h"

#include <algorithm>

using namespace ptxvm;

ThreadOrder::ThreadOrder(uint32_t threads) : clocks(threads, 1) {
  auto nothing = std::make_shared<Knowledge>();
  nothing->clocks.assign(threads, 0);
  known.assign(threads, nothing);
}

void ThreadOrder::merge(Knowledge &into, const Knowledge &other) {
  if (into.clocks.empty())
    into.clocks.assign(other.clocks.size(), 0);
  for (size_t t = 0; t < other.clocks.size(); ++t)
    into.clocks[t] = std::max(into.clocks[t], other.clocks[t]);
  into.allUpTo = std::max(into.allUpTo, other.allUpTo);
}

void ThreadOrder::join(const std::vector<uint32_t> &from,
                       const std::vector<uint32_t> &to, const Knowledge *more,
                       bool isAll, uint32_t now) {
  auto sum = std::make_shared<Knowledge>();
  sum->clocks.assign(clocks.size(), 0);
  const Knowledge *last = nullptr;
  for (uint32_t t : from) {
    // Neighbours mostly share what they know.
    if (known[t].get() != last)
      merge(*sum, *(last = known[t].get()));
  }
  if (more && !more->clocks.empty())
    merge(*sum, *more);
  for (uint32_t t : from) {
    sum->clocks[t] = std::max(sum->clocks[t], clocks[t]);
    ++clocks[t];
  }
  if (isAll)
    sum->allUpTo = now;
  for (uint32_t t : to)
    known[t] = sum;
}

void ThreadOrder::publish(uint32_t thread, Knowledge &to) {
  merge(to, *known[thread]);
  to.clocks[thread] = std::max(to.clocks[thread], clocks[thread]);
  ++clocks[thread];
}

void ThreadOrder::publish(const std::vector<uint32_t> &threads, Knowledge &to) {
  const Knowledge *last = nullptr;
  for (uint32_t t : threads)
    if (known[t].get() != last)
      merge(to, *(last = known[t].get()));
  for (uint32_t t : threads) {
    to.clocks[t] = std::max(to.clocks[t], clocks[t]);
    ++clocks[t];
  }
}

void ThreadOrder::learnClock(const std::vector<uint32_t> &threads,
                             uint32_t other, uint32_t clock) {
  std::shared_ptr<const Knowledge> before, after;
  for (uint32_t t : threads) {
    if (known[t]->clocks[other] >= clock)
      continue;
    if (known[t] != before) {
      before = known[t];
      auto sum = std::make_shared<Knowledge>(*before);
      sum->clocks[other] = clock;
      after = sum;
    }
    known[t] = after;
  }
}

bool ThreadOrder::knowsAnyOf(uint32_t thread, uint32_t begin,
                             uint32_t end) const {
  const std::vector<uint32_t> &clocks = known[thread]->clocks;
  return std::any_of(clocks.begin() + begin, clocks.begin() + end,
                     [](uint32_t clock) { return clock > 0; });
}

void ThreadOrder::learn(const std::vector<uint32_t> &threads,
                        const Knowledge &what) {
  std::shared_ptr<const Knowledge> before, after;
  for (uint32_t t : threads) {
    if (known[t] != before) {
      before = known[t];
      auto sum = std::make_shared<Knowledge>(*before);
      merge(*sum, what);
      after = sum;
    }
    known[t] = after;
  }
}

void ThreadOrder::fence(uint32_t thread) {
  if (auto at = seen.find(thread); at != seen.end()) {
    learn({thread}, at->second);
    seen.erase(at);
  }
  Knowledge &own = fenced[thread];
  own = {};
  publish(thread, own);
}

void ThreadOrder::strongWrite(uint32_t thread, uint64_t word, bool isRelease,
                              bool keepsOlder) {
  auto at = fenced.find(thread);
  if (!isRelease && at == fenced.end()) {
    // Publishes nothing; a plain store also ends what was there.
    if (!keepsOlder)
      words.erase(word);
    return;
  }
  Knowledge &w = words[word];
  if (!keepsOlder)
    w = {};
  if (isRelease)
    publish(thread, w);
  else
    merge(w, at->second);
}

void ThreadOrder::strongRead(uint32_t thread, uint64_t word, bool isAcquire) {
  auto at = words.find(word);
  if (at == words.end())
    return;
  if (isAcquire)
    learn({thread}, at->second);
  else
    merge(seen[thread], at->second);
}
