//===- MasksTest.cpp - structural masks end to end ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows and chunks, alone and together with causal masks, and rows that see
// nothing. Lengths lie around the tiles, more queries than keys and the other
// way round, so that every kind of block range is empty somewhere: no block on
// the left, none in full, none at all.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cmath>

using namespace farun;
using namespace farun::test;

namespace {

struct Row {
  const char *name;
  const char *masks;
};

// Tiles are 64 queries and 32 keys.
constexpr Row kRows[] = {
    {"self_only", "#fa.window<top_left, left = 0, right = 0>"},
    {"one_back", "#fa.window<bottom_right, left = 1, right = 0>"},
    {"less_than_a_block", "#fa.window<bottom_right, left = 20, right = 7>"},
    {"a_block_and_more", "#fa.window<top_left, left = 33, right = 31>"},
    {"full_blocks", "#fa.window<top_left, left = 150, right = 120>"},
    {"left_open", "#fa.window<bottom_right, left = -1, right = 3>"},
    {"right_open", "#fa.window<bottom_right, left = 40, right = -1>"},
    {"both_open", "#fa.window<top_left, left = -1, right = -1>"},
    {"largest", "#fa.window<bottom_right, left = 2147483647, "
                "right = 2147483647>"},
    {"causal_and_window", "#fa.causal<bottom_right>, #fa.window<bottom_right, "
                          "left = 47, right = -1>"},
    {"prefix_and_window", "#fa.causal<top_left, prefix = 50>, "
                          "#fa.window<top_left, left = 70, right = 9>"},
    {"two_windows", "#fa.window<top_left, left = 90, right = 20>, "
                    "#fa.window<bottom_right, left = 30, right = 60>"},
    {"chunk_of_two_blocks", "#fa.chunk<top_left, size = 64>"},
    {"chunk_across_blocks", "#fa.chunk<bottom_right, size = 37>"},
    {"chunk_of_one", "#fa.chunk<top_left, size = 1>"},
    {"causal_chunk", "#fa.chunk<bottom_right, size = 48>, "
                     "#fa.causal<bottom_right>"},
};

class Masks : public testing::TestWithParam<Row> {};

TEST_P(Masks, AroundTheTiles) {
  std::string clauses = "masks [" + std::string(GetParam().masks) + "]";
  uint64_t seed = 0;
  for (auto [queries, keys] : {std::pair(1, 1),
                               {1, 101},
                               {65, 33},
                               {64, 64},
                               {63, 197},
                               {193, 65},
                               {200, 200}}) {
    Form form{.clauses = clauses};
    Extent5 extents{1, 3, 1, queries, keys};
    Trial(form, extents).seed(++seed).run();
    form.schedule = "tile_q=64,tile_kv=32,warps=2,state=shared,stages=3";
    Trial(form, extents).seed(seed).run();
    if (HasFailure())
      return;
  }
}

TEST_P(Masks, WithLengths) {
  // bottom_right aligns the last valid query with the last valid key.
  Form form{.type = "bf16",
            .clauses = "masks [" + std::string(GetParam().masks) + "]",
            .hasQLengths = true,
            .hasKVLengths = true};
  Trial(form, {4, 2, 2, 100, 150})
      .seed(5)
      .set("q_lengths", {100, 37, 0, 64})
      .set("kv_lengths", {150, 70, 33, 0})
      .run();
}

INSTANTIATE_TEST_SUITE_P(, Masks, testing::ValuesIn(kRows),
                         [](const auto &info) { return info.param.name; });

TEST(Restart, BehindALeftEdge) {
  // Huge scores in a full block send the rows back to the first block that they
  // see, which is not block 0.
  for (const char *masks : {"#fa.window<top_left, left = 100, right = 20>",
                            "#fa.chunk<bottom_right, size = 80>"}) {
    Form form{.type = "bf16",
              .outType = "f32",
              .clauses = "scale(3.0e9) masks [" + std::string(masks) + "]"};
    for (const char *state : {"registers", "shared"}) {
      form.schedule =
          std::string("tile_q=32,tile_kv=16,warps=2,stages=3,state=") + state;
      Trial(form, {1, 2, 1, 230, 230}).seed(4).run();
    }
  }
}

TEST(Window, WithDenseMaskAndOddHeadDims) {
  Form form{.headDim = 40,
            .valueDim = 24,
            .clauses = "masks [#fa.window<bottom_right, left = 60, right = 5>]",
            .mask = "?x1x?x?"};
  Extent5 extents{2, 3, 1, 70, 90};
  Trial trial(form, extents);
  Values mask(2 * 70 * 90);
  for (size_t n = 0; n < mask.size(); ++n)
    mask[n] = n % 3 != 0;
  trial.set("mask", mask).run();
}

/// q = k = 0: each row is the mean of the values that it sees.
RunResult meanOfSeen(const std::string &masks, const Values &expected) {
  Form form{.outType = "f32",
            .clauses = "masks [" + masks + "]",
            .schedule = kLeastTiles};
  return Trial::ofRows(form, Values(5, 0), Values(5, 0), {1, 2, 4, 8, 16})
      .expect(expected);
}

TEST(Cases, B85_WindowToTheLeftIsCausal) {
  Values expected = {1, 1.5, 7.0 / 3, 3.75, 6.2};
  std::vector<std::byte> causal =
      bits(meanOfSeen("#fa.causal<top_left>", expected));
  for (const char *left : {"-1", "5", "4", "100"}) {
    std::string window =
        "#fa.window<top_left, left = " + std::string(left) + ", right = 0>";
    EXPECT_TRUE(bits(meanOfSeen(window, expected)) == causal) << left;
  }
  // Random data, over several blocks of keys.
  Form form{.clauses = "masks [#fa.causal<top_left>]"};
  Extent5 extents{1, 2, 1, 97, 97};
  causal = bits(Trial(form, extents).seed(3).run());
  form.clauses = "masks [#fa.window<top_left, left = 96, right = 0>]";
  EXPECT_TRUE(bits(Trial(form, extents).seed(3).run()) == causal);
}

TEST(Cases, B87_WindowBoundsAreInclusiveDistances) {
  meanOfSeen("#fa.window<top_left, left = 1, right = 0>", {1, 1.5, 3, 6, 12});
  meanOfSeen("#fa.window<top_left, left = 2, right = 0>",
             {1, 1.5, 7.0 / 3, 14.0 / 3, 28.0 / 3});
}

TEST(Cases, B89_OnlyMinusOneIsUnbounded) {
  for (auto [bounds, name] : {std::pair("left = -1, right = -3", "right"),
                              {"left = -2, right = 0", "left"}}) {
    std::string error =
        compileError({.clauses = "masks [#fa.window<top_left, " +
                                 std::string(bounds) + ">]"});
    EXPECT_NE(error.find("window bound '" + std::string(name) +
                         "' must be -1 (unbounded) or between 0 and"),
              std::string::npos)
        << error;
  }
}

TEST(EmptyRows, AsNaN) {
  // Rows 0 to 9 stand before the first key.
  Form form{.clauses = "masks [#fa.causal<bottom_right>]",
            .attributes = "empty_row = \"nan\""};
  RunResult result = Trial(form, {1, 1, 1, 90, 80}).run();
  ASSERT_EQ(result.outputs.size(), 2u);
  Values column = outColumn(result), lse = lseOf(result);
  for (size_t i = 0; i < 90; ++i) {
    EXPECT_EQ(std::isnan(column[i]), i < 10) << i;
    EXPECT_EQ(std::isnan(lse[i]), i < 10) << i;
  }
  // Rows of no query are 0 and -inf all the same.
  form.hasQLengths = true;
  Trial(form, {1, 1, 1, 90, 80}).set("q_lengths", {85}).run();
}

} // namespace
