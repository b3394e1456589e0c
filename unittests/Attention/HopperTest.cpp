//===- HopperTest.cpp - roles, rings and copies of boxes ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What only kernels with producers can get wrong (docs/Hopper.md): the order of
// the two sides, operands that no tensor map describes, sequences that end
// before their buffers, and rings that a restart finds half way round.
//
//===----------------------------------------------------------------------===//
#include "HopperForms.h"

#include <functional>

using namespace farun;
using namespace farun::test;

namespace {

Device &countingEmulator() {
  static std::unique_ptr<Device> device = [] {
    DeviceOptions options;
    options.counters = true;
    return openEmulator(options);
  }();
  return *device;
}

//===----------------------------------------------------------------------===//
// Both sides in many orders
//===----------------------------------------------------------------------===//

class HopperOrders : public testing::TestWithParam<HopperForm> {};

TEST_P(HopperOrders, NothingFoundInAnyOrder) {
  Trial trial(GetParam().form, GetParam().extents);
  expectNothingFound(trial.seed(31), numTableOrders());
}

INSTANTIATE_TEST_SUITE_P(, HopperOrders, testing::ValuesIn(hopperForms()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// With and without tensor maps
//===----------------------------------------------------------------------===//

using Strides = std::vector<std::pair<std::string, Shape>>;

/// The same elements by other strides give the bits of the dense run; as many
/// boxes are copied as the operands that have maps need.
void expectSameBits(const Trial &dense, const char *what,
                    const Strides &strides, double numBoxes) {
  SCOPED_TRACE(what);
  Trial other = dense;
  for (const auto &[role, values] : strides)
    other.strides(role, values);
  RunResult result = other.run(countingEmulator());
  EXPECT_TRUE(bits(result) == bits(dense.runUnchecked()));
  EXPECT_EQ(counter(result, "shared.bulk_write.instructions"), numBoxes);
}

TEST(HopperCopies, OperandsWithoutMapsGiveTheSameBits) {
  Form form{.headDim = 64, .valueDim = 64};
  Trial dense(form, {2, 1, 1, 64, 101});
  dense.seed(5);
  // In each of two batches one tile of Q, four of K and four of V.
  expectSameBits(dense, "dense", {}, 2 * (1 + 4 + 4));
  expectSameBits(dense, "odd rows of Q", {{"query", {64 * 65, 1, 65, 1}}},
                 2 * (4 + 4));
  expectSameBits(dense, "odd rows of K", {{"key", {101 * 65, 1, 65, 1}}},
                 2 * (1 + 4));
  expectSameBits(dense, "odd rows of V", {{"value", {101 * 65, 1, 65, 1}}},
                 2 * (1 + 4));
  expectSameBits(dense, "rows of 4 bytes more",
                 {{"query", {64 * 66, 1, 66, 1}},
                  {"key", {101 * 66, 1, 66, 1}},
                  {"value", {101 * 66, 1, 66, 1}}},
                 0);
  // Rows that maps take again.
  expectSameBits(dense, "rows of 16 bytes more",
                 {{"query", {64 * 72, 1, 72, 1}},
                  {"key", {101 * 72, 1, 72, 1}},
                  {"value", {101 * 72, 1, 72, 1}}},
                 2 * (1 + 4 + 4));
  expectSameBits(
      dense, "batches an odd number of elements apart",
      {{"key", {101 * 64 + 1, 1, 64, 1}}, {"value", {101 * 64 + 1, 1, 64, 1}}},
      2 * 1);
  // A reversed batch puts batch 0 behind an odd number of elements.
  expectSameBits(dense, "bases behind one element",
                 {{"query", {-(64 * 64 + 1), 1, 64, 1}},
                  {"key", {-(101 * 64 + 1), 1, 64, 1}},
                  {"value", {-(101 * 64 + 1), 1, 64, 1}}},
                 0);
  expectSameBits(
      dense, "rows reversed",
      {{"key", {101 * 64, 1, -64, 1}}, {"value", {101 * 64, 1, -64, 1}}},
      2 * 1);
  expectSameBits(
      dense, "columns reversed",
      {{"query", {64 * 64, 1, 64, -1}}, {"key", {101 * 64, 1, 64, -1}}}, 2 * 4);
  expectSameBits(dense, "every other element",
                 {{"value", {101 * 128, 1, 128, 2}}}, 2 * (1 + 4));
}

TEST(HopperCopies, RowsOfAllHeadsTogether) {
  Form form{.headDim = 64, .valueDim = 64, .isBSHD = true};
  Trial dense(form, {1, 2, 2, 64, 70});
  dense.seed(6);
  // Two heads of one tile of Q and three of K and of V.
  expectSameBits(dense, "dense", {}, 2 * (1 + 3 + 3));
  expectSameBits(dense, "odd rows",
                 {{"query", {64 * 129, 129, 64, 1}},
                  {"key", {70 * 129, 129, 64, 1}},
                  {"value", {70 * 129, 129, 64, 1}}},
                 0);
}

TEST(HopperCopies, WithoutMapsNothingIsFoundInAnyOrder) {
  Form form{.headDim = 64, .valueDim = 64, .clauses = kCausal};
  Trial trial(form, {1, 1, 1, 70, 101});
  trial.seed(7)
      .strides("query", {1, 1, 65, 1})
      .strides("key", {1, 1, 66, 1})
      .strides("value", {1, 1, 65, 1});
  expectNothingFound(trial, 5);
  // Q by a box, K and V element by element.
  expectNothingFound(trial.strides("query", {64 * 70, 64 * 70, 64, 1}), 5);
}

TEST(HopperCopies, TilesThatAMaskCutsComeWhole) {
  // Two blocks of rows; the first one sees the keys [0, 95), of which the third
  // tile has all but one.
  Form form{.headDim = 64, .valueDim = 64, .clauses = kCausal};
  for (const char *schedule : {kSmallTiles, "tile_q=64,tile_kv=32,"
                                            "persistent=true"}) {
    form.schedule = schedule;
    Trial trial(form, {1, 1, 1, 70, 101});
    RunResult result = trial.seed(10).run(countingEmulator());
    EXPECT_EQ(counter(result, "async.copies"), 0);
    EXPECT_EQ(counter(result, "shared.bulk_write.instructions"),
              (1 + 2 * 3) + (1 + 2 * 4));
    expectNothingFound(trial, 3);
  }
  // The tiles that the compiler picks, none of which ends with a block of rows.
  for (int64_t headDim : {64, 128}) {
    Form picked{.headDim = headDim,
                .valueDim = headDim,
                .clauses = "masks [#fa.causal<top_left>]",
                .schedule = ""};
    RunResult result =
        Trial(picked, {1, 1, 1, 400, 400}).run(countingEmulator());
    EXPECT_EQ(counter(result, "async.copies"), 0);
  }
}

TEST(HopperCopies, SequencesUnderAMaskEndByLanes) {
  Form form{.headDim = 64,
            .valueDim = 64,
            .clauses = "masks [#fa.causal<top_left>]",
            .hasKVLengths = true};
  auto copiesOf = [&](double length) {
    Trial trial(form, {1, 1, 1, 128, 128});
    trial.seed(11).set("kv_lengths", {length});
    RunResult result = trial.run(countingEmulator());
    return std::pair(counter(result, "async.copies"),
                     counter(result, "shared.bulk_write.instructions"));
  };
  // The rows [0, 64) see two tiles, the others those that the sequence has.
  EXPECT_EQ(copiesOf(128), std::pair(0.0, 2.0 + 2 * (2 + 4)));
  EXPECT_EQ(copiesOf(96), std::pair(0.0, 2.0 + 2 * (2 + 3)));
  auto [copies, boxes] = copiesOf(90);
  EXPECT_GT(copies, 0);
  EXPECT_EQ(boxes, 2 + 2 * (2 + 2));
}

TEST(HopperCopies, WhatAMaskHidesOfATileStaysWithoutEffect) {
  // Key 95 comes to the rows [0, 64), which do not see it, in their last tile.
  Form form{.headDim = 64, .valueDim = 64, .clauses = kCausal};
  for (double hidden : {kNaN, kInf, 60000.0})
    for (const char *role : {"key", "value"}) {
      Trial trial(form, {1, 1, 1, 70, 101});
      Values values = trial.seed(12).input(role).values();
      std::fill_n(values.begin() + 95 * 64, 64, hidden);
      expectNothingFound(trial.set(role, values), 2);
    }
}

TEST(HopperCopies, WhatLiesBehindASequenceStaysThere) {
  Form form{.headDim = 64, .valueDim = 64, .hasKVLengths = true};
  constexpr int64_t keys = 101;
  const std::vector<int64_t> lengths = {37, 64, 101, 0};
  Trial trial(form, {4, 1, 1, 64, keys});
  trial.seed(8).set("kv_lengths", Values(lengths.begin(), lengths.end()));
  auto fillBehind = [&](double filler) {
    Trial filled = trial;
    for (const char *role : {"key", "value"}) {
      Values values = trial.input(role).values();
      for (size_t b = 0; b < lengths.size(); ++b)
        std::fill(values.begin() + (int64_t(b) * keys + lengths[b]) * 64,
                  values.begin() + (int64_t(b) + 1) * keys * 64, filler);
      filled.set(role, values);
    }
    return filled;
  };
  RunResult zeros = fillBehind(0).run(countingEmulator());
  for (double filler : {kNaN, kInf, 60000.0}) {
    RunResult result = fillBehind(filler).run(countingEmulator());
    EXPECT_TRUE(bits(result) == bits(zeros)) << filler;
    // No row is sent the slow way, key by key.
    EXPECT_EQ(counter(result, "warp_instructions"),
              counter(zeros, "warp_instructions"))
        << filler;
  }
  expectNothingFound(fillBehind(kNaN), 5);
}

//===----------------------------------------------------------------------===//
// Restarts: the loop for huge scores goes on in the rings
//===----------------------------------------------------------------------===//

struct Restart {
  int64_t keys;
  int64_t blocks; ///< of 32 keys
  int64_t huge;   ///< the key whose scores are huge
};
void PrintTo(const Restart &r, std::ostream *os) {
  *os << r.keys << " keys, huge at " << r.huge;
}

class HopperRestart : public testing::TestWithParam<Restart> {};

TEST_P(HopperRestart, AllBlocksAreDoneAgain) {
  const Restart &row = GetParam();
  Form form{
      .type = "bf16", .headDim = 64, .valueDim = 64, .clauses = "scale(1.0)"};
  Trial trial(form, {1, 1, 1, 64, row.keys});
  trial.seed(9);
  // Q once, and each block's K and V.
  EXPECT_EQ(
      counter(trial.run(countingEmulator()), "shared.bulk_write.instructions"),
      double(1 + 2 * row.blocks));
  if (row.keys == 0)
    return;
  Values keys = trial.input("key").values();
  for (int64_t d = 0; d < 64; ++d)
    keys[size_t(row.huge * 64 + d)] *= 1e12;
  trial.set("key", keys);
  EXPECT_EQ(
      counter(trial.run(countingEmulator()), "shared.bulk_write.instructions"),
      double(1 + 2 * 2 * row.blocks));
  expectNothingFound(trial, 4);
}

INSTANTIATE_TEST_SUITE_P(
    , HopperRestart,
    testing::Values(Restart{0, 0, 0}, Restart{20, 1, 19}, Restart{32, 1, 0},
                    Restart{50, 2, 3}, Restart{50, 2, 49}, Restart{64, 2, 63},
                    Restart{90, 3, 40}, Restart{90, 3, 80}, Restart{96, 3, 95},
                    Restart{210, 7, 100}, Restart{210, 7, 205},
                    Restart{224, 7, 0}));

TEST(HopperRestartOfSome, BesideRowsAndBlocksThatDoNot) {
  // Only the second block of rows begins again; masks leave it more keys.
  Form form{.type = "bf16",
            .headDim = 64,
            .valueDim = 64,
            .clauses = std::string("scale(1.0) ") + kCausal};
  Trial trial(form, {1, 1, 1, 130, 229});
  trial.seed(10);
  Values query = trial.input("query").values();
  for (int64_t d = 0; d < 64; ++d)
    query[size_t(100 * 64 + d)] *= 1e12;
  expectNothingFound(trial.set("query", query), 5);
}

} // namespace
