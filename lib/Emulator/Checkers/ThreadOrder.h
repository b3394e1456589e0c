//===- ThreadOrder.h - which accesses come before which ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Happens-before among the threads of a cluster, as vector clocks. Each thread
// has its own clock, which ticks when it publishes what it has done, and knows
// for every other thread up to which clock that thread's work is done. What a
// thread knows is nearly always what a whole warp or CTA learnt at one barrier,
// so threads share it:
//
//   thread 0 --+
//   thread 1 --+--> Knowledge {clocks = [3, 3, 3, 3, ...], all up to time 812}
//   thread 2 --+
//
// An access of thread u at clock c comes before what t does now when u = t or
// t's clocks[u] >= c. After a barrier of all threads this holds for everything
// that ever happened; `allUpTo`, counted in memory events, says so in one
// comparison.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_THREADORDER_H
#define FA_LIB_EMULATOR_CHECKERS_THREADORDER_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ptxvm {

struct Knowledge {
  std::vector<uint32_t> clocks; ///< by thread
  uint32_t allUpTo = 0;         ///< memory event
};

class ThreadOrder {
public:
  explicit ThreadOrder(uint32_t threads);

  uint32_t clock(uint32_t thread) const { return clocks[thread]; }
  uint32_t allUpTo(uint32_t thread) const { return known[thread]->allUpTo; }
  /// True when what `other` did at its `clock` comes before what `thread` does
  /// now.
  bool isBefore(uint32_t other, uint32_t clock, uint32_t thread) const {
    return other == thread || known[thread]->clocks[other] >= clock;
  }

  /// Everything that `from` have done comes before all that `to` do next.
  /// `isAll`: `from` are all threads, and nothing happened since they arrived.
  void join(const std::vector<uint32_t> &from, const std::vector<uint32_t> &to,
            const Knowledge *more, bool isAll, uint32_t now);
  /// Adds what a thread has done until now; the thread's clock ticks.
  void publish(uint32_t thread, Knowledge &to);
  /// The same for some threads, which mostly know the same.
  void publish(const std::vector<uint32_t> &threads, Knowledge &to);
  /// These threads learn that all is done that `other` did up to `clock`.
  void learnClock(const std::vector<uint32_t> &threads, uint32_t other,
                  uint32_t clock);
  /// True when a thread knows of anything that one of [begin, end) has done.
  bool knowsAnyOf(uint32_t thread, uint32_t begin, uint32_t end) const;
  /// These threads learn what others have published.
  void learn(const std::vector<uint32_t> &threads, const Knowledge &what);

  // Fences and strong accesses: PTX ISA 9.1 section 8.
  void fence(uint32_t thread);
  void strongWrite(uint32_t thread, uint64_t word, bool isRelease,
                   bool keepsOlder);
  void strongRead(uint32_t thread, uint64_t word, bool isAcquire);

private:
  static void merge(Knowledge &into, const Knowledge &other);

  std::vector<uint32_t> clocks;
  std::vector<std::shared_ptr<const Knowledge>> known;
  /// What a later relaxed write of the thread publishes: its last fence.
  std::unordered_map<uint32_t, Knowledge> fenced;
  /// What relaxed reads have seen, until the next fence.
  std::unordered_map<uint32_t, Knowledge> seen;
  std::unordered_map<uint64_t, Knowledge> words;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_THREADORDER_H
