//===- ClusterTest.cpp - two blocks of threads share K and V --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels with `cluster = 2`: each block of threads copies a half of each tile
// of K and V to both. The bits are those of blocks that are alone, the bytes
// asked of memory for K and V half of theirs.
//
//===----------------------------------------------------------------------===//
#include "HopperForms.h"

#include <functional>

using namespace farun;
using namespace farun::test;

namespace {

Form inClusters(const Form &form) { return withKey(form, "cluster=2"); }

using Prepare = std::function<void(Trial &)>;

/// Clusters do what `form`'s blocks do alone. `prepare` sets the inputs of
/// either.
void expectSameBits(const Form &form, const Extent5 &extents,
                    int numRandomOrders, const Prepare &prepare) {
  Trial alone(form, extents), together(inClusters(form), extents);
  prepare(alone);
  prepare(together);
  EXPECT_EQ(together.entry().launches[0].cluster[0], "2");
  expectNothingFound(together, numRandomOrders);
  if (testing::Test::HasFailure())
    return;
  EXPECT_TRUE(bits(together.runUnchecked()) == bits(alone.runUnchecked()));
}

class Cluster : public testing::TestWithParam<HopperForm> {};

TEST_P(Cluster, SameBitsAsBlocksAlone) {
  expectSameBits(GetParam().form, GetParam().extents, numTableOrders(),
                 [](Trial &trial) { trial.seed(61); });
}

INSTANTIATE_TEST_SUITE_P(, Cluster, testing::ValuesIn(hopperForms()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// What is asked of memory
//===----------------------------------------------------------------------===//

constexpr int64_t kRows = 128, kKeys = 160, kDim = 64, kTileRows = 64,
                  kTileKeys = 32, kElement = 2;

double loadedBytes(const Form &form, const Prepare &prepare) {
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  Trial trial(form, {1, 1, 1, kRows, kKeys});
  prepare(trial);
  return counter(trial.run(*device), "global.loaded_bytes");
}

TEST(ClusterBytes, OfKeysAndValuesAreHalved) {
  Form form{.headDim = kDim, .valueDim = kDim, .hasLSE = false};
  auto dense = [](Trial &trial) { trial.seed(62); };
  const double query = kRows * kDim * kElement,
               keys = 2.0 * kKeys * kDim * kElement,
               blocks = double(kRows) / kTileRows;
  EXPECT_EQ(loadedBytes(form, dense), query + blocks * keys);
  EXPECT_EQ(loadedBytes(inClusters(form), dense), query + keys);
}

TEST(ClusterBytes, OfTilesByLanesAreNot) {
  Form form{.headDim = kDim, .valueDim = kDim, .hasLSE = false};
  auto withoutMaps = [](Trial &trial) {
    trial.seed(62)
        .strides("key", {1, 1, -kDim, 1})
        .strides("value", {1, 1, -kDim, 1});
  };
  EXPECT_EQ(loadedBytes(inClusters(form), withoutMaps),
            loadedBytes(form, withoutMaps));
}

TEST(ClusterBytes, ComeToBothInHalves) {
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  Form form{.headDim = kDim, .valueDim = kDim, .hasLSE = false};
  Trial trial(inClusters(form), {1, 1, 1, kRows, kKeys});
  RunResult result = trial.seed(62).run(*device);
  // Each block of threads gets Q, and two halves of each tile of K and of V.
  EXPECT_EQ(counter(result, "shared.bulk_write.instructions"),
            2.0 * (1 + 2 * 2 * (kKeys / kTileKeys)));
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

TEST(ClusterGrid, HasWholeClusters) {
  Form form = inClusters({.headDim = kDim, .valueDim = kDim});
  for (auto [queries, ctas] : {std::pair<int64_t, double>{1, 2 * 6},
                               {128, 2 * 6},
                               {129, 4 * 6},
                               {256, 4 * 6}}) {
    Trial trial(form, {2, 3, 1, queries, 40});
    RunResult result = trial.seed(63).run();
    EXPECT_EQ(counter(result, "ctas"), ctas) << queries;
  }
}

//===----------------------------------------------------------------------===//
// Tiles by lanes, and what only one of the two does
//===----------------------------------------------------------------------===//

TEST(ClusterCopies, OperandsWithoutMaps) {
  expectSameBits({.headDim = 64, .valueDim = 64, .clauses = kCausal},
                 {1, 3, 1, 130, 101}, 5, [](Trial &trial) {
                   trial.seed(64)
                       .strides("query", {1, 130 * 65, 65, 1})
                       .strides("key", {1, 1, 66, 1})
                       .strides("value", {1, 1, 65, 1});
                 });
  // K by boxes, V by lanes.
  expectSameBits({.headDim = 64, .valueDim = 64}, {1, 1, 1, 130, 101}, 5,
                 [](Trial &trial) {
                   trial.seed(64).strides("value", {1, 1, 65, 1});
                 });
}

/// Scores of one row are huge.
Prepare makeHuge(int64_t row) {
  return [row](Trial &trial) {
    trial.seed(65);
    Values query = trial.input("query").values();
    for (int64_t d = 0; d < 64; ++d)
      query[size_t(row * 64 + d)] *= 1e12;
    trial.set("query", query);
  };
}

TEST(ClusterRestart, OfOneOrTheOtherConcernsNobodyElse) {
  Form form{.type = "bf16",
            .headDim = 64,
            .valueDim = 64,
            .clauses = std::string("scale(1.0) ") + kCausal};
  // Odd numbers of blocks leave the rings half way round; rows of the first,
  // second and third block of threads, of which the fourth has no rows.
  for (int64_t row : {10, 100, 150})
    expectSameBits(form, {1, 1, 1, 190, 229}, 7, makeHuge(row));
  // In lanes too.
  expectSameBits(form, {1, 1, 1, 128, 229}, 5, [](Trial &trial) {
    makeHuge(100)(trial);
    trial.strides("key", {1, 1, 65, 1});
  });
}

TEST(ClusterRestart, OfBoth) {
  Form form{.type = "bf16",
            .headDim = 64,
            .valueDim = 64,
            .clauses = "scale(1.0)",
            .schedule = "tile_q=64,tile_kv=32,stages=3"};
  expectSameBits(form, {1, 1, 1, 128, 229}, 7, [](Trial &trial) {
    makeHuge(10)(trial);
    Values query = trial.input("query").values();
    for (size_t d = 0; d < 64; ++d)
      query[100 * 64 + d] *= 1e12;
    trial.set("query", query);
  });
}

TEST(ClusterKeyByKey, RowsOfOneBlockGoBesideTheOther) {
  // Values that only later rows see; the others' weights of them are 0, in
  // blocks that a block alone would not have read. Rows that see none of them
  // have the bits that they have elsewhere within their bounds.
  Form form = inClusters({.headDim = 64, .valueDim = 64, .clauses = kCausal});
  Trial trial(form, {1, 2, 1, 130, 130});
  trial.seed(66);
  Values value = trial.input("value").values();
  value[100 * 64 + 3] = kInf;
  value[120 * 64 + 5] = kNaN;
  expectNothingFound(trial.set("value", value), 5);
}

} // namespace
