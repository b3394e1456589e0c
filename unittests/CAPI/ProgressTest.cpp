//===- ProgressTest.cpp - watched and cancelled launches ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace capitest;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Watcher {
  int stopAfter = 0;
  int calls = 0;
  bool isForeignThread = false;
  uint64_t done = 0, total = 0;
  double longestPause = 0;
  std::thread::id thread = std::this_thread::get_id();
  Clock::time_point last = Clock::now();

  static int32_t see(void *data, uint64_t done, uint64_t total) {
    auto *self = static_cast<Watcher *>(data);
    self->isForeignThread |= std::this_thread::get_id() != self->thread;
    self->done = done;
    self->total = total;
    self->longestPause = std::max(self->longestPause, secondsSince(self->last));
    self->last = Clock::now();
    return ++self->calls >= self->stopAfter;
  }

  fa_launch_options options() {
    fa_launch_options options = {};
    options.progress = see;
    options.progress_data = this;
    return options;
  }
};

TEST(CAPIProgress, CancelsAnEndlessKernel) {
  Kernel kernel = loadEndless();
  OneKey arrays(4);
  arrays.out.fill(8);
  std::vector<unsigned char> before = arrays.out.bytes;
  for (int stopAfter : {1, 10}) {
    Watcher watcher;
    watcher.stopAfter = stopAfter;
    fa_run *run = nullptr;
    Answer answer = launch(kernel, arrays.inputs(), arrays.results(),
                           watcher.options(), &run);
    double late = secondsSince(watcher.last);
    EXPECT_EQ(answer.code, FA_ERROR_CANCELLED) << answer.message;
    EXPECT_EQ(answer.argument, "progress");
    EXPECT_EQ(watcher.calls, stopAfter);
    EXPECT_EQ(watcher.done, 0u);
    EXPECT_EQ(watcher.total, 1u);
    EXPECT_FALSE(watcher.isForeignThread);
    EXPECT_EQ(arrays.out.bytes, before);
    EXPECT_EQ(run, nullptr);
    // Every 20 ms on an idle machine; a busy one is forgiven much.
    EXPECT_LT(watcher.longestPause, 0.5);
    EXPECT_LT(late, 0.5);
  }
}

TEST(CAPIProgress, EndsARunThatIsNotCancelled) {
  Kernel kernel = loadOneKey();
  OneKey arrays(40);
  Watcher watcher;
  watcher.stopAfter = 1000000;
  ASSERT_TRUE(
      launch(kernel, arrays.inputs(), arrays.results(), watcher.options())
          .ok());
  EXPECT_EQ(arrays.out.get(39), -2.5);
  // The device is used again, and does not call what is gone.
  int calls = watcher.calls;
  ASSERT_TRUE(launch(kernel, arrays.inputs(), arrays.results()).ok());
  EXPECT_EQ(watcher.calls, calls);
}

} // namespace
