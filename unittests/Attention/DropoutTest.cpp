//===- DropoutTest.cpp - dropped weights end to end -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bits depend on the seed and on (b, h, i, j): around the tiles, with all that
// changes scores, and seen one by one through values that name their key.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace farun;
using namespace farun::test;

namespace {

struct Row {
  const char *name;
  const char *clauses;
  bool hasBias, hasSink, hasSegments, hasKVLengths;
};

constexpr Row kRows[] = {
    {"alone", "", false, false, false, false},
    {"causal", "masks [#fa.causal<bottom_right>]", false, false, false, false},
    {"capped", "softcap(1.5)", true, true, false, false},
    {"segments", "masks [#fa.window<top_left, left = 50, right = 9>]", false,
     true, true, true},
};

class Dropped : public testing::TestWithParam<Row> {};

TEST_P(Dropped, AroundTheTiles) {
  const Row &row = GetParam();
  uint64_t seed = 0;
  for (auto [type, probability] :
       {std::pair("f16", 0.17), {"bf16", 0.9}, {"f32", 0.5}})
    for (const char *state : {",state=registers", ",state=shared"}) {
      Form form{.type = type,
                .clauses = row.clauses,
                .bias = row.hasBias ? "?x?x?x?" : "",
                .hasSink = row.hasSink,
                .hasSegments = row.hasSegments,
                .hasKVLengths = row.hasKVLengths,
                .dropout = probability,
                .schedule = kSmallTiles + std::string(state)};
      for (auto [queries, keys] : {std::pair(1, 1), {65, 31}, {70, 101}}) {
        Trial(form, {2, 6, 2, queries, keys}).seed(++seed).run();
        if (HasFailure())
          return;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, Dropped, testing::ValuesIn(kRows),
                         [](const auto &info) { return info.param.name; });

/// Scores of 0 and V = identity: O[i][j] is what is left of weight (i, j).
RunResult reveal(const Form &form, const Extent5 &extents, double seed) {
  Trial trial(form, extents);
  Values identity(size_t(extents.B * extents.Hkv * extents.Sk * form.valueDim));
  for (size_t n = 0; n < identity.size(); ++n) {
    auto dim = size_t(form.valueDim), keys = size_t(extents.Sk);
    identity[n] = n % dim == n / dim % keys;
  }
  return trial.setAll("query", 0)
      .set("value", identity)
      .set("seed", {seed})
      .run();
}

TEST(Dropout, WhatIsLeftOfARowMayBeSmall) {
  // Slopes leave one large weight in a row; where it is dropped, the others
  // are below the normal numbers of f16 and grow tenfold.
  Form form{.headDim = 16,
            .valueDim = 16,
            .hasAlibi = true,
            .dropout = 0.9,
            .schedule = kLeastTiles};
  Trial(form, {1, 1, 1, 18, 15}).seed(4210).run();
  Trial(form, {1, 1, 1, 13, 21}).seed(1165).run();
}

TEST(Cases, B112_TheSeedDecides) {
  Form form{.type = "f32",
            .headDim = 16,
            .valueDim = 64,
            .dropout = 0.5,
            .schedule = kSmallTiles};
  // Powers of two: what is kept is exactly 2/64.
  Extent5 extents{1, 1, 1, 64, 64};
  RunResult result = reveal(form, extents, 7);
  Values out = result.outputs[0].values();
  double kept = 0;
  for (double weight : out) {
    EXPECT_TRUE(weight == 0 || weight == 2.0 / 64) << weight;
    kept += weight != 0;
  }
  EXPECT_NEAR(kept / double(out.size()), 0.5, 0.03);
  EXPECT_EQ(bits(reveal(form, extents, 7)), bits(result));
  // Another low word, another high word, and a negative seed.
  std::set<Values> all = {out};
  for (double seed : {8.0, 7.0 + 0x1p32, -7.0})
    all.insert(reveal(form, extents, seed).outputs[0].values());
  EXPECT_EQ(all.size(), 4u);
}

TEST(Cases, B114_EveryScheduleDropsTheSame) {
  Extent5 extents{2, 6, 2, 40, 48};
  std::set<std::vector<std::byte>> all;
  for (const char *schedule :
       {"tile_q=16,tile_kv=16,warps=1", "tile_q=64,tile_kv=32,warps=2",
        "tile_q=128,tile_kv=64,warps=4,state=shared"}) {
    Form form{.type = "f32",
              .headDim = 16,
              .valueDim = 48,
              .dropout = 0.25,
              .schedule = schedule};
    RunResult result = reveal(form, extents, 0x1p52 + 3);
    std::vector<std::byte> kept;
    for (double weight : result.outputs[0].values())
      kept.push_back(std::byte(weight != 0));
    all.insert(kept);
  }
  EXPECT_EQ(all.size(), 1u);
}

TEST(Cases, DropoutOfEveryBatchHeadAndRowIsItsOwn) {
  Form form{.type = "f32", .headDim = 16, .valueDim = 64, .dropout = 0.5};
  RunResult result = reveal(form, {3, 4, 1, 5, 64}, 1);
  Values out = result.outputs[0].values();
  std::set<Values> rows;
  for (size_t n = 0; n < out.size(); n += 64)
    rows.insert(Values(out.begin() + long(n), out.begin() + long(n) + 64));
  EXPECT_EQ(rows.size(), 3u * 4u * 5u);
}

TEST(Cases, DropoutOfNothingAndOfAll) {
  Form form{.clauses = "scale(1.0)", .schedule = kLeastTiles};
  RunResult plain = Trial::ofRows(form, {1, 2}, {0, 1, 2}, {1, 2, 4}).run();
  form.dropout = 0.0;
  EXPECT_EQ(bits(Trial::ofRows(form, {1, 2}, {0, 1, 2}, {1, 2, 4}).run()),
            bits(plain));
  form.dropout = 1.0;
  Trial all = Trial::ofRows(form, {0, kNaN}, {0, 0}, {1, 2});
  all.expect({0, kNaN}, {std::log(2.0), kNaN});
}

TEST(Cases, B10_ADroppedValueHasNoInfluence) {
  // Whatever it holds; the rows that keep it are NaN.
  Form form{.type = "f32",
            .clauses = "scale(1.0)",
            .dropout = 0.5,
            .schedule = kLeastTiles};
  Values zeros(40, 0), values(40, 1);
  values[17] = kNaN;
  Trial trial = Trial::ofRows(form, zeros, zeros, values);
  Values out = outColumn(trial.set("seed", {5}).run());
  auto numNaN = std::count_if(out.begin(), out.end(),
                              [](double x) { return std::isnan(x); });
  EXPECT_GT(numNaN, 8);
  EXPECT_LT(numNaN, 32);
}

} // namespace
