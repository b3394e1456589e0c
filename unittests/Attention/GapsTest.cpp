//===- GapsTest.cpp - hidden blocks between visible ones ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The longest stretch of hidden blocks between others is left out: its products
// are not computed, and the bits are those of a run without its keys.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <algorithm>

using namespace farun;
using namespace farun::test;

namespace {

constexpr int64_t kKeys = 200, kBlock = 16, kQueries = kLeastRows + 6;

/// Keys that all rows see, [begin, end) each, in blocks of 16: 0 to 12.
struct Row {
  const char *name;
  std::vector<std::pair<int64_t, int64_t>> seen;
  int64_t gapBegin, gapCount; ///< blocks
  int64_t steps;              ///< blocks that are gone through

  bool sees(int64_t key) const {
    return std::any_of(seen.begin(), seen.end(), [&](auto part) {
      return part.first <= key && key < part.second;
    });
  }
  bool isInGap(int64_t key) const {
    int64_t block = key / kBlock;
    return gapBegin <= block && block < gapBegin + gapCount;
  }
};

const std::vector<Row> &rows() {
  static const std::vector<Row> list = {
      {"none", {{0, 200}}, 0, 0, 13},
      {"none_inside", {{20, 30}, {33, 70}}, 0, 0, 4},
      {"of_one_block", {{0, 16}, {32, 200}}, 1, 1, 12},
      {"behind_the_first_block", {{0, 5}, {150, 200}}, 1, 8, 5},
      {"before_the_last_block", {{0, 100}, {192, 200}}, 7, 5, 8},
      {"between_hidden_ends", {{20, 30}, {130, 140}}, 2, 6, 2},
      {"of_two_the_first", {{0, 10}, {100, 110}, {140, 200}}, 1, 5, 8},
      {"of_two_the_last", {{0, 10}, {40, 50}, {150, 160}}, 4, 5, 5},
      {"of_two_alike_the_first", {{0, 10}, {64, 70}, {128, 130}}, 1, 3, 6},
      {"behind_full_blocks", {{0, 96}, {130, 140}}, 6, 2, 7},
      {"before_full_blocks", {{3, 7}, {96, 200}}, 1, 5, 8},
      {"between_full_blocks", {{0, 96}, {160, 200}}, 6, 4, 9},
      {"before_more_full_blocks", {{0, 32}, {64, 192}}, 2, 2, 10},
  };
  return list;
}

std::vector<std::string> schedules() {
  std::string least = kLeastTiles;
  std::vector<std::string> list = {least, least + ",stages=3",
                                   least + ",state=shared"};
  if (hasWarpgroups) {
    list.push_back(least + ",cluster=2");
    list.push_back(least + ",persistent=true");
    list.push_back(least + ",cluster=2,stages=3");
  }
  return list;
}

/// Segments carry it: the rows' number is 1, that of hidden keys 0. `factor`
/// makes queries and keys large, `hidden` stands in what no row sees.
Trial trialOf(const Row &row, const std::string &schedule, double factor,
              std::optional<double> hidden, bool hasGap) {
  Form form{.outType = "f32", .hasSegments = true, .schedule = schedule};
  Trial whole(form, {1, 2, 1, kQueries, kKeys});
  Values numbers, key, value;
  Values allKeys = whole.seed(7).input("key").values(),
         allValues = whole.input("value").values();
  for (int64_t j = 0; j < kKeys; ++j) {
    if (!hasGap && row.isInGap(j))
      continue;
    numbers.push_back(row.sees(j));
    bool isReplaced = hidden && !row.sees(j);
    for (int64_t d = 0; d < 16; ++d) {
      size_t n = size_t(j * 16 + d);
      key.push_back(isReplaced ? *hidden : factor * allKeys[n]);
      value.push_back(isReplaced ? *hidden : allValues[n]);
    }
  }
  Values query = whole.input("query").values();
  for (double &x : query)
    x *= factor;
  return Trial(form, {1, 2, 1, kQueries, int64_t(numbers.size())})
      .setAll("q_segments", 1)
      .set("kv_segments", numbers)
      .set("query", query)
      .set("key", key)
      .set("value", value);
}

class Gaps : public testing::TestWithParam<Row> {};

TEST_P(Gaps, AreAsIfTheirKeysWereNotThere) {
  const Row &row = GetParam();
  DeviceOptions options;
  options.counters = true;
  options.multiprocessors = 2;
  std::unique_ptr<Device> device = openEmulator(options);
  int64_t tiles = 2 * ((kQueries + kLeastRows - 1) / kLeastRows);
  double flops = 2.0 * double(kLeastRows * kBlock * (16 + 16) * tiles);
  for (const std::string &schedule : schedules())
    for (double factor : {1.0, 1e4}) {
      for (std::optional<double> hidden :
           {std::optional<double>(), std::optional(kNaN)}) {
        RunResult gapped =
            trialOf(row, schedule, factor, hidden, true).run(*device);
        RunResult dense =
            trialOf(row, schedule, factor, hidden, false).run(*device);
        EXPECT_TRUE(bits(gapped) == bits(dense)) << schedule;
        // Huge scores may be begun again.
        if (factor == 1.0) {
          EXPECT_EQ(counter(gapped, "mma.flops"), flops * double(row.steps));
        }
      }
      if (HasFailure())
        return;
    }
}

INSTANTIATE_TEST_SUITE_P(, Gaps, testing::ValuesIn(rows()),
                         [](const auto &info) { return info.param.name; });

/// The first keys and a window: j < sinks or 0 <= i - j < window.
std::string sinksAndWindow(int sinks, int window) {
  return " visible { ^bb0(%b: index, %h: index, %i: index, %j: index):\n"
         "  %sinks = arith.constant " +
         std::to_string(sinks) + " : index\n  %window = arith.constant " +
         std::to_string(window) +
         R"( : index
  %d = arith.subi %i, %j : index
  %first = arith.cmpi slt, %j, %sinks : index
  %zero = arith.constant 0 : index
  %late = arith.cmpi sge, %d, %zero : index
  %early = arith.cmpi slt, %d, %window : index
  %near = arith.andi %late, %early : i1
  %c = arith.ori %first, %near : i1
  fa.yield %c : i1 })";
}

TEST(SinksAndWindow, WithOtherClauses) {
  struct {
    const char *clauses;
    bool hasBias, hasLengths;
    std::optional<double> dropout;
  } others[] = {
      {"", false, false, std::nullopt},
      {"", false, false, 0.25},
      {"masks [#fa.causal<bottom_right>]", false, true, std::nullopt},
      {"masks [#fa.window<top_left, left = 150, right = 20>]", true, false,
       std::nullopt},
      {"softcap(1.5)", true, true, 0.5},
  };
  std::vector<std::string> all = schedules();
  size_t number = 0;
  for (const auto &other : others)
    for (auto [sinks, window] : {std::pair(1, 1), {4, 20}, {16, 48}, {33, 5}}) {
      Form form{.clauses = other.clauses + sinksAndWindow(sinks, window),
                .bias = other.hasBias ? "?x?" : "",
                .hasSink = other.hasBias,
                .hasQLengths = other.hasLengths,
                .hasKVLengths = other.hasLengths,
                .dropout = other.dropout,
                .schedule = all[number % all.size()]};
      Trial(form, {1, 2, 1, 200, 200}).seed(++number).run();
      if (HasFailure())
        return;
    }
}

TEST(SinksAndWindow, TracedBlocksHaveTheirOwnNumber) {
  // Row 190 sees the keys 0..3 and 171..190, its block of rows, of 16 or 64,
  // more of them.
  Form form{.clauses = sinksAndWindow(4, 20),
            .isTraced = true,
            .schedule = kLeastTiles};
  RunResult result = Trial(form, {1, 1, 1, 200, 200}).trace(190).run();
  std::vector<int64_t> blocks;
  for (const TraceBlock &block : result.trace)
    blocks.push_back(block.block);
  std::vector<int64_t> expected = {0, 9, 10, 11};
  if (hasWarpgroups)
    expected = {0, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(blocks, expected);
}

} // namespace
