//===- WorkTest.cpp - what a kernel moves and multiplies ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks that no row sees cost nothing: bytes and operations of the schedules
// that the compiler picks, counted by the PTX machine, against those of the
// blocks in which some score is visible.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

using namespace farun;
using namespace farun::test;

namespace {

constexpr int64_t kLength = 4096, kLeft = 127, kDim = 64;

struct Work {
  double bytes = 0, operations = 0;
};

/// Row i sees the keys [i - kLeft, i].
Work workOfWindow(const Schedule &schedule) {
  Work work;
  // Q is read and O written once, in f16.
  work.bytes = 2.0 * 2 * kLength * kDim;
  for (int64_t first = 0; first < kLength; first += schedule.tileQ) {
    int64_t last = std::min(first + schedule.tileQ, kLength) - 1;
    int64_t begin = std::max<int64_t>(0, first - kLeft) / schedule.tileKV;
    int64_t end = last / schedule.tileKV + 1;
    int64_t keys =
        std::min(end * schedule.tileKV, kLength) - begin * schedule.tileKV;
    work.bytes += 2.0 * 2 * double(keys) * kDim;
    work.operations += 4.0 * kDim * double(end - begin) *
                       double(schedule.tileQ * schedule.tileKV);
  }
  return work;
}

class WindowedWork : public testing::TestWithParam<const char *> {};

TEST_P(WindowedWork, IsThatOfTheBlocksThatAreSeen) {
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  Form form{.headDim = kDim,
            .valueDim = kDim,
            .clauses = GetParam(),
            .hasLSE = false,
            .schedule = ""};
  Trial trial(form, {1, 1, 1, kLength, kLength});
  Work bound = workOfWindow(trial.entry().attention.schedule);
  RunResult result = trial.run(*device);
  EXPECT_LE(counter(result, "global.loaded_bytes") +
                counter(result, "global.stored_bytes"),
            1.02 * bound.bytes);
  EXPECT_LE(counter(result, "mma.flops"), 1.02 * bound.operations);
}

INSTANTIATE_TEST_SUITE_P(
    , WindowedWork,
    testing::Values(
        "masks [#fa.window<top_left, left = 127, right = 0>]",
        R"(visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %most = arith.constant 127 : index
    %zero = arith.constant 0 : index
    %d = arith.subi %i, %j : index
    %low = arith.cmpi sge, %d, %zero : index
    %high = arith.cmpi sle, %d, %most : index
    %c = arith.andi %low, %high : i1
    fa.yield %c : i1 })"),
    [](const auto &info) {
      return std::string(info.index == 0 ? "by_a_mask" : "by_a_region");
    });

TEST(Work, RowsWithoutAKeyTakeNoSecondLoop) {
  // The last tile has rows behind the last query, which the window shows no
  // key; a bias of f32 makes rows that have seen no score begin again.
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  double operations[2];
  for (int n : {0, 1}) {
    Form form{.clauses = "masks [#fa.window<top_left, left = 20, right = 0>]",
              .bias = "?x?",
              .biasType = n == 0 ? "f16" : "f32",
              .schedule = kSmallTiles};
    RunResult result = Trial(form, {1, 1, 1, 200, 200}).run(*device);
    operations[n] = counter(result, "mma.flops");
  }
  EXPECT_EQ(operations[0], operations[1]);
}

} // namespace
