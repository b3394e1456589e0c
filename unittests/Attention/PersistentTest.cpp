//===- PersistentTest.cpp - one tile after the other ----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Persistent kernels on a device of two multiprocessors, so that each block of
// threads does several tiles of the output: rings and the tile of Q go on from
// tile to tile, whatever a tile did. The bits are those of the kernel that does
// one tile a block.
//
//===----------------------------------------------------------------------===//
#include "HopperForms.h"
#include "fa/Support/ExtentExpression.h"

using namespace farun;
using namespace farun::test;

namespace {

DeviceOptions twoMultiprocessors() {
  DeviceOptions options;
  options.multiprocessors = 2;
  return options;
}

Form persistent(const Form &form) { return withKey(form, "persistent=true"); }

/// Two blocks of threads do what `trial`'s do one by one. `prepare` sets the
/// inputs of either.
void expectSameBits(const Form &form, const Extent5 &extents,
                    int numRandomOrders,
                    const std::function<void(Trial &)> &prepare) {
  Trial one(form, extents), many(persistent(form), extents);
  prepare(one);
  prepare(many);
  expectNothingFound(many, numRandomOrders, twoMultiprocessors());
  if (testing::Test::HasFailure())
    return;
  RunResult result = many.runUnchecked(*openEmulator(twoMultiprocessors()));
  EXPECT_EQ(counter(result, "ctas"), 2);
  EXPECT_TRUE(bits(result) == bits(one.runUnchecked()));
}

TEST(PersistentGrid, IsRefusedWhere32BitsCannotNumberTheTiles) {
  // Tiles of 64 rows, as many blocks as multiprocessors; but of more tiles than
  // a grid may have blocks it asks for as many, which no launch grants.
  Trial trial(persistent({.headDim = 64, .valueDim = 64}), {1, 1, 1, 64, 64});
  auto blocksFor = [&](int64_t batches, int64_t rows) {
    Extents extents = {{"B", batches}, {"Hq", 1}, {"Sq", rows}};
    extents[kMultiprocessorsName] = 132;
    return *evaluateExtent(trial.entry().launches[0].grid[0], extents);
  };
  constexpr int64_t kMost = (int64_t(1) << 31) - 1;
  EXPECT_EQ(blocksFor(1, 0), 0);
  EXPECT_EQ(blocksFor(3, 64), 3);
  EXPECT_EQ(blocksFor(1, kMost * 64), 132);
  EXPECT_EQ(blocksFor(kMost, 64), 132);
  EXPECT_EQ(blocksFor(1, kMost * 64 + 1), kMost + 1);
  EXPECT_EQ(blocksFor(kMost, 2 * 64), 2 * kMost);
}

class Persistent : public testing::TestWithParam<HopperForm> {};

TEST_P(Persistent, SameBitsAsOneTileABlock) {
  expectSameBits(GetParam().form, GetParam().extents, numTableOrders(),
                 [](Trial &trial) { trial.seed(51); });
}

INSTANTIATE_TEST_SUITE_P(, Persistent, testing::ValuesIn(hopperForms()),
                         [](const auto &info) { return info.param.name; });

TEST(PersistentTiles, NoMoreBlocksThanTilesNorThanMultiprocessors) {
  Trial trial(persistent({}), {1, 3, 1, 70, 40});
  for (int64_t multiprocessors : {1, 5, 6, 7, 500}) {
    DeviceOptions options;
    options.multiprocessors = uint64_t(multiprocessors);
    EXPECT_EQ(counter(trial.run(*openEmulator(options)), "ctas"),
              double(std::min<int64_t>(multiprocessors, 6)));
  }
  // Those of the chip, where nothing else is said.
  DeviceOptions a100;
  a100.chip = "A100";
  EXPECT_EQ(openEmulator(a100)->multiprocessors(), 108);
  EXPECT_EQ(openEmulator({})->multiprocessors(), 132);
}

TEST(PersistentTiles, OperandsWithoutMaps) {
  expectSameBits({.headDim = 64, .valueDim = 64, .clauses = kCausal},
                 {1, 3, 1, 70, 101}, 5, [](Trial &trial) {
                   trial.seed(52)
                       .strides("query", {1, 70 * 65, 65, 1})
                       .strides("key", {1, 1, 66, 1})
                       .strides("value", {1, 1, 65, 1});
                 });
}

TEST(PersistentTiles, SomeBeginAgainBetweenOthers) {
  // Rows of the second and fifth tile have huge scores; odd numbers of blocks
  // leave the rings half way round.
  expectSameBits({.type = "bf16",
                  .headDim = 64,
                  .valueDim = 64,
                  .clauses = std::string("scale(1.0) ") + kCausal},
                 {1, 2, 1, 190, 229}, 10, [](Trial &trial) {
                   trial.seed(53);
                   Values query = trial.input("query").values();
                   for (size_t d = 0; d < 64; ++d)
                     query[100 * 64 + d] *= 1e12, query[300 * 64 + d] *= 1e12;
                   trial.set("query", query);
                 });
}

TEST(PersistentTiles, SomeRowsGoKeyByKeyBetweenOthers) {
  expectSameBits({.headDim = 64, .valueDim = 64, .clauses = kCausal},
                 {1, 2, 1, 130, 130}, 5, [](Trial &trial) {
                   trial.seed(54);
                   Values value = trial.input("value").values();
                   value[70 * 64 + 3] = kInf;
                   value[90 * 64 + 5] = kNaN;
                   trial.set("value", value);
                 });
}

} // namespace
