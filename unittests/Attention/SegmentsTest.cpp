//===- SegmentsTest.cpp - documents side by side, end to end --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key is visible only to queries with the same number: alone, with the other
// masks and with lengths, around the tiles; then numbers worked by hand.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cmath>

using namespace farun;
using namespace farun::test;

namespace {

struct Row {
  const char *name;
  const char *clauses;
  bool hasMask, hasKVLengths;
};

constexpr Row kRows[] = {
    {"alone", "", false, false},
    {"causal", "masks [#fa.causal<bottom_right>]", false, false},
    {"window", "masks [#fa.window<top_left, left = 50, right = 20>]", false,
     false},
    {"lengths", "masks [#fa.causal<top_left>]", false, true},
    {"dense_mask", "", true, false},
    {"cap", "softcap(1.5)", false, true},
};

class Segments : public testing::TestWithParam<Row> {};

TEST_P(Segments, AroundTheTiles) {
  const Row &row = GetParam();
  uint64_t seed = 0;
  for (const char *type : {"f16", "bf16", "f32"})
    for (const char *state : {",state=registers", ",state=shared"}) {
      Form form{.type = type,
                .clauses = row.clauses,
                .mask = row.hasMask ? "?x1x?x?" : "",
                .hasSegments = true,
                .hasKVLengths = row.hasKVLengths,
                .schedule = kSmallTiles + std::string(state)};
      for (auto [queries, keys] :
           {std::pair(1, 1), {65, 31}, {70, 101}, {70, 96}}) {
        Trial(form, {2, 6, 2, queries, keys}).seed(++seed).run();
        if (HasFailure())
          return;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, Segments, testing::ValuesIn(kRows),
                         [](const auto &info) { return info.param.name; });

Form rowForm(const std::string &clauses) {
  return {.outType = "f32",
          .clauses = clauses,
          .hasSegments = true,
          .schedule = kLeastTiles};
}

TEST(Cases, SegmentsByHand) {
  // Any numbers in any order; a query whose number no key has sees nothing.
  Trial::ofRows(rowForm("scale(1.0)"), {0, 0, 0}, {0, 0, 0, 0}, {1, 2, 4, 8})
      .set("q_segments", {-7, 2147483647, 5})
      .set("kv_segments", {2147483647, -7, -2147483648.0, -7})
      .expect({5, 1, 0}, {std::log(2.0), 0, -kInf});
}

TEST(Cases, SegmentsDoNotMoveTheAlignment) {
  // Causal counts positions in the sequence, not in the document.
  Trial::ofRows(rowForm("scale(1.0) masks [#fa.causal<top_left>]"),
                {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 4, 8})
      .set("q_segments", {0, 0, 1, 1})
      .set("kv_segments", {0, 0, 0, 1})
      .expect({1, 1.5, 0, 8}, {0, std::log(2.0), -kInf, 0});
}

TEST(Cases, B10_ANaNInAnotherSegmentHasNoInfluence) {
  Form form{.headDim = 16, .valueDim = 16, .hasSegments = true};
  Extent5 extents{1, 3, 1, 70, 70};
  Values segments(70, 0);
  std::fill(segments.begin() + 40, segments.end(), 1);
  for (const char *role : {"key", "value"}) {
    Trial trial(form, extents);
    Values poisoned = trial.input(role).values();
    std::fill(poisoned.begin() + 60 * 16, poisoned.begin() + 61 * 16, kNaN);
    Values lse = lseOf(trial.set(role, poisoned)
                           .set("q_segments", segments)
                           .set("kv_segments", segments)
                           .run());
    EXPECT_TRUE(std::isfinite(lse[39]));
  }
}

/// Matrix loads of a run with these segments, for rows and keys alike.
double countMatrixLoads(const Values &segments) {
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  int64_t length = int64_t(segments.size());
  Form form{.hasSegments = true, .schedule = "tile_q=32,tile_kv=16,warps=2"};
  RunResult result = Trial(form, {1, 1, 1, length, length})
                         .set("q_segments", segments)
                         .set("kv_segments", segments)
                         .run(*device);
  return counter(result, "shared.ldmatrix.instructions");
}

TEST(SegmentBlocks, BlocksOfOtherDocumentsAreLeftOut) {
  Values one(256, 7), four(256), mixed(256);
  for (size_t i = 0; i < four.size(); ++i) {
    four[i] = double(i / 64) - 2;
    mixed[i] = double(i % 2);
  }
  double all = countMatrixLoads(one);
  EXPECT_EQ(countMatrixLoads(mixed), all);
  // 4 of 16 blocks of keys for each block of rows; Q is loaded all the same.
  EXPECT_LT(countMatrixLoads(four), 0.35 * all);
}

TEST(SegmentBlocks, OneNumberMoreMakesABlockPartial) {
  // All blocks but the last are shown whole; its number may be any i32.
  Values segments(113, 1);
  segments.back() = 2;
  Form form{.hasSegments = true, .schedule = "tile_q=32,tile_kv=16,warps=2"};
  for (auto last : {1.0, 2.0, -2147483648.0, 2147483647.0}) {
    segments.back() = last;
    Trial(form, {1, 2, 1, 113, 113})
        .set("q_segments", segments)
        .set("kv_segments", segments)
        .run();
  }
}

TEST(Cases, SegmentsOfAnyStride) {
  Form form{.hasSegments = true};
  Trial(form, {2, 2, 1, 40, 37})
      .strides("q_segments", {200, 3})
      .strides("kv_segments", {1, 2})
      .seed(3)
      .run();
}

} // namespace
