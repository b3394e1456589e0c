//===- ExtentsTest.cpp - one kernel at all extents ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lengths around the tiles, in queries and keys apart, times the masks, the
// ratios of heads, the places of the state and the types. One kernel serves
// all extents; the two places of the state must give the same bits.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

using namespace farun;
using namespace farun::test;

namespace {

struct Row {
  const char *name;
  const char *type;
  const char *clauses;
};

constexpr Row kRows[] = {
    {"f16_full", "f16", ""},
    {"f16_top_left", "f16", "masks [#fa.causal<top_left>]"},
    {"f16_bottom_right", "f16", "masks [#fa.causal<bottom_right>]"},
    {"bf16_full", "bf16", ""},
    {"bf16_top_left", "bf16", "masks [#fa.causal<top_left>]"},
    {"bf16_bottom_right", "bf16", "masks [#fa.causal<bottom_right>]"},
    {"f32_full", "f32", ""},
    {"f32_bottom_right", "f32", "masks [#fa.causal<bottom_right>]"},
};

/// Lengths 1, tile - 1, tile, tile + 1 and 3 tile + 5.
Shape lengthsAround(int64_t tile) {
  return {1, tile - 1, tile, tile + 1, 3 * tile + 5};
}

class Extents : public testing::TestWithParam<Row> {};
class Kernels : public testing::TestWithParam<Row> {};

/// Runs both placements; false after the first failure, which says enough.
bool runBoth(Form form, const std::string &tiles, const Extent5 &extents,
             uint64_t seed) {
  form.schedule = tiles + ",state=registers";
  RunResult registers = Trial(form, extents).seed(seed).run();
  form.schedule = tiles + ",state=shared";
  RunResult shared = Trial(form, extents).seed(seed).runUnchecked();
  EXPECT_TRUE(bits(registers) == bits(shared)) << extents.str();
  return !testing::Test::HasFailure();
}

TEST_P(Extents, AroundTheTiles) {
  Form form{.type = GetParam().type,
            .headDim = 32,
            .valueDim = 32,
            .clauses = GetParam().clauses};
  uint64_t seed = 0;
  for (auto [queryHeads, kvHeads] : {std::pair(2, 2), {6, 2}, {8, 2}})
    for (int64_t queries : lengthsAround(64))
      for (int64_t keys : lengthsAround(32))
        if (!runBoth(form, kSmallTiles, {1, queryHeads, kvHeads, queries, keys},
                     ++seed))
          return;
}

TEST_P(Kernels, OtherSchedules) {
  // Warps, stages and Q's place change the kernel; a few lengths each.
  Form form{.type = GetParam().type,
            .headDim = 64,
            .valueDim = 64,
            .clauses = GetParam().clauses};
  for (const char *tiles :
       {"tile_q=64,tile_kv=64,warps=4", "tile_q=64,tile_kv=32,warps=4,stages=3",
        "tile_q=32,tile_kv=16,warps=1,stages=4",
        "tile_q=64,tile_kv=32,warps=2,query=registers",
        "tile_q=80,tile_kv=48,warps=5"})
    for (auto [queries, keys] : {std::pair(65, 129), {129, 65}, {64, 192}})
      if (!runBoth(form, tiles, {2, 2, 1, queries, keys}, 7))
        return;
}

TEST(F32, OtherSchedules) {
  // Pitches from 64 bytes to 512, with head dims apart; one piece of
  // 16 rows a warp and two.
  for (auto [headDim, valueDim] : {std::pair(64, 128), {17, 40}, {128, 8}})
    for (const char *tiles :
         {"tile_q=32,tile_kv=16,warps=1,stages=4",
          "tile_q=80,tile_kv=48,warps=5", "tile_q=64,tile_kv=16,warps=2"}) {
      Form form{.type = "f32",
                .headDim = headDim,
                .valueDim = valueDim,
                .clauses = "masks [#fa.causal<bottom_right>]"};
      for (auto [queries, keys] : {std::pair(65, 129), {129, 65}})
        if (!runBoth(form, tiles, {2, 2, 1, queries, keys}, 7))
          return;
    }
}

TEST(Types, EveryOutputFromEveryOperand) {
  for (const char *type : {"f16", "bf16", "f32"})
    for (const char *outType : {"f16", "bf16", "f32"}) {
      Form form{
          .type = type, .outType = outType, .headDim = 24, .valueDim = 33};
      Trial(form, {1, 2, 1, 67, 35}).seed(5).run();
    }
}

TEST_P(Kernels, FixedExtents) {
  // Extents in the types fold the loops: no block, one block, several.
  for (auto [queries, keys] :
       {std::pair(1, 1), {64, 32}, {65, 33}, {1, 101}, {130, 96}}) {
    Extent5 extents{1, 3, 1, queries, keys};
    Form form{.type = GetParam().type,
              .headDim = 32,
              .valueDim = 32,
              .clauses = GetParam().clauses,
              .extents = extents};
    if (!runBoth(form, kSmallTiles, extents, 3))
      return;
  }
}

TEST(Prefix, AroundTheTiles) {
  // Keys below the prefix are visible to all; other masks still apply.
  for (const char *mask :
       {"#fa.causal<top_left, prefix = 1>",
        "#fa.causal<bottom_right, prefix = 32>",
        "#fa.causal<top_left, prefix = 33>",
        "#fa.causal<bottom_right, prefix = 100>",
        "#fa.causal<top_left>, #fa.causal<bottom_right, prefix = 40>"}) {
    Form form{.clauses = "masks [" + std::string(mask) + "]"};
    for (auto [queries, keys] :
         {std::pair(129, 193), {193, 65}, {1, 97}, {65, 1}})
      Trial(form, {1, 2, 1, queries, keys}).run();
  }
}

INSTANTIATE_TEST_SUITE_P(, Extents, testing::ValuesIn(kRows),
                         [](const auto &info) { return info.param.name; });

// Each of these compiles many kernels: one type a mask.
INSTANTIATE_TEST_SUITE_P(, Kernels,
                         testing::Values(kRows[0], kRows[2], kRows[4]),
                         [](const auto &info) { return info.param.name; });

} // namespace
