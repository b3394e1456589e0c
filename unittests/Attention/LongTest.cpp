//===- LongTest.cpp - the tables that take minutes ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole products of which the default run takes a part: the schedules that
// the compiler picks around their own tiles, all pairs of head dims, more
// draws of longer sequences. Under the label `long`.
//
//===----------------------------------------------------------------------===//
#include "Configuration.h"

#include "fa/Runner/InputGenerator.h"

using namespace farun;
using namespace farun::test;

namespace {

constexpr const char *kMasks[] = {"", "masks [#fa.causal<top_left>]",
                                  "masks [#fa.causal<bottom_right>]"};

class Picked : public testing::TestWithParam<std::tuple<int, const char *>> {};

TEST_P(Picked, AroundItsTiles) {
  auto [dim, type] = GetParam();
  for (const char *mask : kMasks) {
    Form form{.type = type,
              .headDim = dim,
              .valueDim = dim,
              .clauses = mask,
              .schedule = ""};
    Form shared = form;
    shared.schedule = "state=shared";
    // The schedule differs between the places; what each one picks is its own.
    for (const Form &each : {form, shared}) {
      const Schedule &tiles = Trial(each, {}).entry().attention.schedule;
      for (auto [queryHeads, kvHeads] : {std::pair(1, 1), {3, 1}, {8, 2}})
        for (int64_t queries : {int64_t(1), tiles.tileQ - 1, tiles.tileQ,
                                tiles.tileQ + 1, 3 * tiles.tileQ + 5})
          for (int64_t keys : {int64_t(1), tiles.tileKV - 1, tiles.tileKV,
                               tiles.tileKV + 1, 3 * tiles.tileKV + 5}) {
            Trial(each, {1, queryHeads, kvHeads, queries, keys})
                .seed(uint64_t(queries * keys))
                .run();
            if (HasFailure())
              return;
          }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Picked,
                         testing::Combine(testing::Values(64, 128),
                                          testing::Values("f16", "bf16")),
                         [](const auto &info) {
                           return std::string(std::get<1>(info.param)) + "_d" +
                                  std::to_string(std::get<0>(info.param));
                         });

class HeadDims : public testing::TestWithParam<int> {};

TEST_P(HeadDims, EveryPair) {
  for (int64_t valueDim = 16; valueDim <= 128; valueDim += 8) {
    Form form{.headDim = GetParam(),
              .valueDim = valueDim,
              .clauses = kMasks[2],
              .schedule = ""};
    for (auto [queries, keys] : {std::pair(1, 65), {70, 97}})
      Trial(form, {1, 2, 1, queries, keys}).seed(uint64_t(valueDim)).run();
  }
}

INSTANTIATE_TEST_SUITE_P(, HeadDims, testing::Range(16, 129, 8),
                         [](const auto &info) {
                           return "d" + std::to_string(info.param);
                         });

TEST(HeadDims, AnyWithAnyType) {
  // The schedule that the compiler picks, each head dim once.
  for (int64_t dim = 1; dim <= 128; ++dim) {
    const char *types[] = {"f16", "bf16", "f32"};
    Form form{.type = types[dim % 3],
              .outType = types[dim / 3 % 3],
              .headDim = dim,
              .valueDim = 129 - dim,
              .clauses = kMasks[2],
              .schedule = ""};
    Trial(form, {1, 2, 1, 70, 97}).seed(uint64_t(dim)).run();
    if (HasFailure())
      return;
  }
}

TEST(Random, LongerSequences) {
  std::vector<Form> all;
  for (const char *mask : kMasks)
    for (const char *type : {"f16", "bf16"})
      for (const char *state : {"registers", "shared"})
        all.push_back(
            {.type = type,
             .headDim = 72,
             .valueDim = 56,
             .clauses = mask,
             .mask = all.size() % 3 ? "" : "?x1x?x?",
             .hasKVLengths = all.size() % 2 == 0,
             .schedule = std::string(kSmallTiles) + ",state=" + state});
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomSource random(seed, /*stream=*/98);
    int64_t kvHeads = 1 + random.integer(2);
    Trial trial(all[size_t(random.integer(int64_t(all.size()) - 1))],
                {1 + random.integer(2), kvHeads * (1 + random.integer(4)),
                 kvHeads, random.integer(200), random.integer(250)});
    trial.seed(seed).run();
    if (HasFailure())
      return;
  }
}

TEST(Extents, AnyOfThemInTheTypes) {
  Extent5 all{2, 6, 2, 70, 67};
  for (int fixed = 0; fixed < 32; ++fixed)
    for (const char *mask : {kMasks[0], kMasks[2]}) {
      auto pick = [&](int bit, int64_t extent) {
        return fixed >> bit & 1 ? extent : -1;
      };
      Form form{.clauses = mask,
                .mask = "?x?x?",
                .hasKVLengths = true,
                .extents = {pick(0, all.B), pick(1, all.Hq), pick(2, all.Hkv),
                            pick(3, all.Sq), pick(4, all.Sk)}};
      Trial(form, all).run();
    }
}

TEST(Cases, B45_HeadsBeyondAGridAxis) {
  Form form{.hasLSE = false, .schedule = kLeastTiles};
  RunResult result = Trial(form, {1, 65536, 1, 1, 1}).run();
  EXPECT_EQ(result.launches, 1);
}

class Configurations : public testing::TestWithParam<int> {};

TEST_P(Configurations, AreRight) {
  checkConfigurations(uint64_t(GetParam()), 500);
}

INSTANTIATE_TEST_SUITE_P(Thousands, Configurations,
                         testing::Range(1000, 7000, 500),
                         testing::PrintToStringParamName());

} // namespace
