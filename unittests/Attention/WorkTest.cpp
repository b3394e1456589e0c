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

constexpr int64_t kLength = 4096, kLeft = 127, kSinks = 4, kDim = 64;

struct Work {
  double bytes = 0, operations = 0;
};

/// Row i sees the keys [i - kLeft, i], and beside them [0, sinks).
Work workOfWindow(const Schedule &schedule, int64_t sinks) {
  Work work;
  // Q is read and O written once, in f16.
  work.bytes = 2.0 * 2 * kLength * kDim;
  for (int64_t first = 0; first < kLength; first += schedule.tileQ) {
    int64_t last = std::min(first + schedule.tileQ, kLength) - 1;
    for (int64_t key = 0; key < kLength; key += schedule.tileKV) {
      int64_t end = std::min(key + schedule.tileKV, kLength);
      bool isSeen = key < sinks || (first - kLeft < end && key <= last);
      if (!isSeen)
        continue;
      work.bytes += 2.0 * 2 * double(end - key) * kDim;
      work.operations += 4.0 * kDim * double(schedule.tileQ * schedule.tileKV);
    }
  }
  return work;
}

struct Windowed {
  const char *name, *clauses;
  int64_t sinks;
};

constexpr Windowed kWindows[] = {
    {"by_a_mask", "masks [#fa.window<top_left, left = 127, right = 0>]", 0},
    {"by_a_region",
     R"(visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %most = arith.constant 127 : index
    %zero = arith.constant 0 : index
    %d = arith.subi %i, %j : index
    %low = arith.cmpi sge, %d, %zero : index
    %high = arith.cmpi sle, %d, %most : index
    %c = arith.andi %low, %high : i1
    fa.yield %c : i1 })",
     0},
    {"by_a_region_without_signs",
     R"(visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = arith.constant 128 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi ult, %d, %length : index
    fa.yield %c : i1 })",
     0},
    {"beside_sinks",
     R"(visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %sinks = arith.constant 4 : index
    %length = arith.constant 128 : index
    %first = arith.cmpi slt, %j, %sinks : index
    %d = arith.subi %i, %j : index
    %near = arith.cmpi slt, %d, %length : index
    %past = arith.cmpi sle, %j, %i : index
    %window = arith.andi %near, %past : i1
    %c = arith.ori %first, %window : i1
    fa.yield %c : i1 })",
     kSinks},
};

class WindowedWork : public testing::TestWithParam<Windowed> {};

TEST_P(WindowedWork, IsThatOfTheBlocksThatAreSeen) {
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  Form form{.headDim = kDim,
            .valueDim = kDim,
            .clauses = GetParam().clauses,
            .hasLSE = false,
            .schedule = ""};
  Trial trial(form, {1, 1, 1, kLength, kLength});
  Work bound = workOfWindow(trial.entry().attention.schedule, GetParam().sinks);
  RunResult result = trial.run(*device);
  EXPECT_LE(counter(result, "global.loaded_bytes") +
                counter(result, "global.stored_bytes"),
            1.02 * bound.bytes);
  EXPECT_LE(counter(result, "mma.flops"), 1.02 * bound.operations);
}

INSTANTIATE_TEST_SUITE_P(, WindowedWork, testing::ValuesIn(kWindows),
                         [](const auto &info) { return info.param.name; });

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
