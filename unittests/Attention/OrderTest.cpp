//===- OrderTest.cpp - which block of rows is begun when ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first n blocks of a grid alone, for each n: what one more block writes is
// the tile that it was given.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cmath>

using namespace farun;
using namespace farun::test;

namespace {

/// "b/h/ib" of the tile that each block of the grid writes, of 64 rows.
std::vector<std::string> tilesInOrder(const Form &form,
                                      const Extent5 &extents) {
  Trial trial(form, extents);
  trial.setAll("query", 0).setAll("key", 0).setAll("value", 0);
  int64_t perHead = (extents.Sq + 63) / 64;
  int64_t count = extents.B * extents.Hq * perHead;
  std::vector<std::string> order;
  std::vector<bool> isKnown(static_cast<size_t>(count));
  for (int64_t blocks = 1; blocks <= count; ++blocks) {
    Values column = outColumn(trial.runBlocks(blocks));
    std::string written;
    for (int64_t tile = 0; tile < count && !column.empty(); ++tile) {
      int64_t head = tile / perHead, block = tile % perHead;
      if (isKnown[size_t(tile)] ||
          std::isnan(column[size_t(head * extents.Sq + block * 64)]))
        continue;
      isKnown[size_t(tile)] = true;
      written += std::to_string(head / extents.Hq) + "/" +
                 std::to_string(head % extents.Hq) + "/" +
                 std::to_string(block);
    }
    order.push_back(written);
  }
  return order;
}

using Order = std::vector<std::string>;

TEST(TileOrder, HeadAfterHeadWhereRowsAreEquallyLong) {
  EXPECT_EQ(tilesInOrder({}, {2, 2, 1, 130, 40}),
            (Order{"0/0/0", "0/0/1", "0/0/2", "0/1/0", "0/1/1", "0/1/2",
                   "1/0/0", "1/0/1", "1/0/2", "1/1/0", "1/1/1", "1/1/2"}));
}

TEST(TileOrder, LongestFirstThroughAllHeadsThatTheCacheHolds) {
  Form form{.clauses = "masks [#fa.causal<top_left>]"};
  EXPECT_EQ(tilesInOrder(form, {2, 2, 1, 130, 130}),
            (Order{"0/0/2", "0/1/2", "1/0/2", "1/1/2", "0/0/1", "0/1/1",
                   "1/0/1", "1/1/1", "0/0/0", "0/1/0", "1/0/0", "1/1/0"}));
}

TEST(TileOrder, SectionsOfHeadsWhoseKeysTheCacheHolds) {
  // The cache holds K and V of one head, and of no two.
  Form form{.headDim = 256,
            .valueDim = 256,
            .clauses = "masks [#fa.causal<top_left>]",
            .schedule = hasWarpgroups ? "tile_q=64,tile_kv=16"
                                      : "tile_q=64,tile_kv=16,warps=4"};
  EXPECT_EQ(tilesInOrder(form, {1, 4, 2, 65, 13000}),
            (Order{"0/0/1", "0/1/1", "0/0/0", "0/1/0", "0/2/1", "0/3/1",
                   "0/2/0", "0/3/0"}));
  // Two of them, of five: two sections of two and one of one.
  EXPECT_EQ(tilesInOrder(form, {1, 5, 5, 65, 10000}),
            (Order{"0/0/1", "0/1/1", "0/0/0", "0/1/0", "0/2/1", "0/3/1",
                   "0/2/0", "0/3/0", "0/4/1", "0/4/0"}));
  // Three of them, of four: two sections of two.
  EXPECT_EQ(tilesInOrder(form, {1, 4, 4, 65, 6500}),
            (Order{"0/0/1", "0/1/1", "0/0/0", "0/1/0", "0/2/1", "0/3/1",
                   "0/2/0", "0/3/0"}));
}

} // namespace
