//===- CasesTest.cpp - reported faults of attention as numbers ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test is a fault that attention kernels in the field have had, reduced
// to a few numbers and named by its label (docs/Testing.md). Rows of one
// number are padded with zeros to the least piece of a product. Those about
// strides and masks in memory are in LayoutTest.cpp.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <algorithm>
#include <cmath>

using namespace farun;
using namespace farun::test;

namespace {

constexpr const char *kScaleOne = "scale(1.0)";
constexpr const char *kBottomRight = "masks [#fa.causal<bottom_right>]";
constexpr const char *kTopLeft = "masks [#fa.causal<top_left>]";

/// Rows of one number, results in f32.
Form rowForm(const std::string &clauses = kScaleOne) {
  return {.outType = "f32", .clauses = clauses, .schedule = kLeastTiles};
}

//===----------------------------------------------------------------------===//
// M: rows without a visible key
//===----------------------------------------------------------------------===//

TEST(Cases, B01_RowsThatAMaskHides) {
  for (const char *type : {"f16", "bf16"}) {
    Form form{.type = type, .mask = "?x?", .schedule = kLeastTiles};
    Trial trial(form, {1, 1, 1, 8, 8});
    Values mask(64, 0);
    for (size_t i = 0; i < 4; ++i)
      std::fill_n(mask.begin() + int64_t(i) * 8, 4, 1);
    RunResult result = trial.set("mask", mask).run();
    ASSERT_EQ(result.outputs.size(), 2u);
    for (int64_t i = 4; i < 8; ++i) {
      EXPECT_EQ(result.outputs[1].get(i), -kInf);
      for (int64_t d = 0; d < 16; ++d)
        EXPECT_EQ(result.outputs[0].get(i * 16 + d), 0.0);
    }
  }
}

TEST(Cases, B03_SumBelowOne) {
  // Row 0 sees nothing; row 1 sees only the key whose score is 200 below.
  Form form = rowForm();
  form.mask = "?x?";
  Trial::ofRows(form, {1, 1}, {-200, 0}, {7, 1})
      .set("mask", {0, 0, 1, 0})
      .expect({0, 7}, {-kInf, -200});
}

class HiddenRows : public testing::TestWithParam<bool> {};

TEST_P(HiddenRows, B05_AnywhereInTheTile) {
  // 14 hidden rows before, between and behind 18 rows of which the n-th sees
  // n + 1 keys: the placement does not show, with a sink or without.
  Form form{.mask = "?x?",
            .hasSink = GetParam(),
            .schedule = "tile_q=32,tile_kv=16,warps=1"};
  std::vector<std::byte> first;
  for (int64_t begin : {0, 10, 18}) {
    Trial trial(form, {1, 1, 1, 32, 16});
    Array dense = Trial(form, {1, 1, 1, 32, 16}).seed(8).input("query");
    Values query(32 * 16, 1.0), mask(32 * 16, 0);
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < 32; ++i)
      if (i < begin || i >= begin + 14)
        rows.push_back(i);
    for (size_t n = 0; n < rows.size(); ++n)
      for (size_t d = 0; d < 16; ++d) {
        query[size_t(rows[n]) * 16 + d] = dense.get(int64_t(n * 16 + d));
        mask[size_t(rows[n]) * 16 + d] = d <= n;
      }
    trial.seed(8).set("query", query).set("mask", mask);
    if (form.hasSink)
      trial.set("sink", {0.3});
    RunResult result = trial.run();
    ASSERT_EQ(result.outputs.size(), 2u);
    Values column = outColumn(result), lse = lseOf(result);
    for (int64_t i = begin; i < begin + 14; ++i) {
      EXPECT_EQ(column[size_t(i)], 0.0);
      if (form.hasSink)
        EXPECT_NEAR(lse[size_t(i)], 0.3, 1e-6);
      else
        EXPECT_EQ(lse[size_t(i)], -kInf);
    }
    std::vector<std::byte> seen;
    for (int64_t i : rows)
      for (const Array &output : result.outputs) {
        auto size = int64_t(output.bytes.size()) / 32;
        seen.insert(seen.end(), output.bytes.begin() + i * size,
                    output.bytes.begin() + (i + 1) * size);
      }
    if (first.empty())
      first = seen;
    EXPECT_TRUE(seen == first) << "hidden rows from " << begin;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, HiddenRows, testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "sink" : "no_sink";
                         });

TEST(Cases, B07_FirstKeysHidden) {
  // Keys 0 to 127 of 441 hidden: attention over the others.
  Form form{.mask = "?"}, plain;
  Trial masked(form, {1, 2, 1, 4, 441});
  Values mask(441, 1);
  std::fill_n(mask.begin(), 128, 0);
  RunResult result = masked.seed(2).set("mask", mask).run();
  Trial rest(plain, {1, 2, 1, 4, 313});
  rest.set("query", masked.input("query").values());
  for (const char *role : {"key", "value"}) {
    Values all = masked.input(role).values();
    rest.set(role, Values(all.begin() + 128 * 16, all.end()));
  }
  // Blocks of 32 keys start at a block's border here and there.
  EXPECT_TRUE(bits(rest.run()) == bits(result));
}

//===----------------------------------------------------------------------===//
// X: infinite, NaN and huge scores; odd scales
//===----------------------------------------------------------------------===//

TEST(Cases, B08_ScoresFarBelowZero) {
  Trial::ofRows(rowForm(), {-300}, {200, 201}, {1, 5}).expect({1}, {-60000});
  Form form = rowForm();
  form.type = "bf16";
  for (double top : {1e4, 4.9e4, 5.1e4, 1e6, 1e30}) {
    double key = roundTo(ElementType::BF16, top);
    double next = roundTo(ElementType::BF16, top > 1e29 ? 2e30 : top + 300);
    if (next == key)
      next = roundTo(ElementType::BF16, key * 1.01);
    Trial::ofRows(form, {-1}, {key, next}, {1, 5}).expect({1}, {float(-key)});
  }
}

/// D = 4 in the first columns: Q = K = V = 0 to 7.
Trial twoByFour(const Form &form) {
  Trial trial(form, {1, 1, 1, 2, 2});
  Values rows(32, 0);
  for (size_t n = 0; n < 8; ++n)
    rows[n / 4 * 16 + n % 4] = double(n);
  return trial.set("query", rows).set("key", rows).set("value", rows);
}

TEST(Cases, B10_HiddenKeyHasNoInfluence) {
  // Key 1 hidden from both rows by a dense mask; its K may hold anything.
  Form form{.mask = "?", .schedule = kLeastTiles};
  Trial trial = twoByFour(form);
  trial.set("mask", {1, 0});
  Values key = trial.input("key").values();
  std::vector<std::byte> plain = bits(trial.run());
  for (double poison : {60000.0, kNaN, kInf}) {
    key[16 + 2] = poison;
    RunResult result = trial.set("key", key).run();
    EXPECT_TRUE(bits(result) == plain) << poison;
    EXPECT_EQ(outColumn(result), (Values{0, 0}));
  }
}

/// NaN and infinities in V at keys that some rows of a tile see and others do
/// not: the rows that see them get them, in place and sign, and the others stay
/// within their bound (both by the oracle, which skips hidden keys).
void expectValuesReachOnlyRowsThatSeeThem(const Form &form,
                                          const Extent5 &extents,
                                          const Values &mask) {
  Trial trial(form, extents);
  trial.seed(6);
  if (!mask.empty())
    trial.set("mask", mask);
  Values values = trial.input("value").values();
  for (auto [key, column, poison] :
       {std::tuple(2, 3, kNaN), {5, 4, kInf}, {37, 4, -kInf}, {40, 15, kInf}})
    values[size_t(key * 16 + column)] = poison;
  RunResult result = trial.set("value", values).run();
  ASSERT_EQ(result.outputs.size(), 2u);
  int64_t numWhole = 0, numRows = extents.Hq * extents.Sq;
  for (int64_t row = 0; row < numRows; ++row) {
    bool isWhole = true;
    for (int64_t d = 0; d < 16; ++d)
      isWhole &= std::isfinite(result.outputs[0].get(row * 16 + d));
    numWhole += isWhole;
  }
  EXPECT_GT(numWhole, 0);
  EXPECT_LT(numWhole, numRows);
}

TEST(Cases, B10_ValuesOfHiddenKeysCausal) {
  for (const char *type : {"f16", "bf16"})
    for (const char *clauses :
         {"masks [#fa.causal<top_left>]", "masks [#fa.causal<bottom_right>]",
          "scale(-0.5) masks [#fa.causal<top_left>]"})
      for (const char *schedule : {"tile_q=64,tile_kv=32,warps=2",
                                   "tile_q=32,tile_kv=16,warps=2,state=shared"})
        expectValuesReachOnlyRowsThatSeeThem(
            {.type = type, .clauses = clauses, .schedule = schedule},
            {1, 3, 1, 50, 50}, {});
}

TEST(Cases, B10_ValuesOfHiddenKeysDenseMask) {
  // Odd rows see odd keys; with lengths and columns of V beside the tile.
  Values mask(50 * 50);
  for (size_t n = 0; n < mask.size(); ++n)
    mask[n] = n / 50 % 2 == n % 50 % 2;
  for (const char *schedule : {"tile_q=64,tile_kv=32,warps=2",
                               "tile_q=32,tile_kv=16,warps=2,state=shared"})
    expectValuesReachOnlyRowsThatSeeThem({.mask = "?x?", .schedule = schedule},
                                         {1, 2, 2, 50, 50}, mask);
}

TEST(Cases, B10_ValuesOfHiddenKeysHugeScores) {
  // With scores as in B12 the sums of another order differ by whole exponents:
  // rows that are computed again need a maximum of their own.
  Form form{.type = "bf16",
            .outType = "f32",
            .clauses = "scale(0.1) " + std::string(kTopLeft)};
  Trial trial(form, {1, 1, 1, 64, 64});
  for (const char *role : {"query", "key"}) {
    Values rows = trial.seed(9).input(role).values();
    for (double &x : rows)
      x = roundTo(ElementType::BF16, x * 3e4);
    trial.set(role, rows);
  }
  Values values = trial.input("value").values();
  values[size_t(50 * 16)] = kNaN;
  RunResult result = trial.set("value", values).run();
  ASSERT_EQ(result.outputs.size(), 2u);
  // A weighted mean lies among its values.
  for (int64_t i = 0; i < 50 * 16; ++i)
    EXPECT_LT(std::abs(result.outputs[0].get(i)), 6.0) << i;
}

TEST(Cases, B10_InfiniteValuesOfSmallWeight) {
  // Weights that round to 0, in the type of V and in f32: the row sees the key.
  for (const char *clauses :
       {"scale(10.0)", "scale(10.0) masks [#fa.causal<top_left>]",
        "scale(-10.0) masks [#fa.window<top_left, left = 9, right = 3>]"}) {
    Form form{.clauses = clauses};
    Trial trial(form, {1, 1, 1, 40, 40});
    Values values = trial.seed(2).input("value").values();
    values[size_t(3 * 16 + 1)] = kInf;
    values[size_t(38 * 16 + 2)] = -kInf;
    trial.set("value", values).run();
  }
}

TEST(Cases, B10_InfiniteValuesOfNoWeight) {
  // exp(-900) is 0 in f64 too; a score of -inf hides its key, infinite or not.
  Form form = rowForm("scale(1.0)");
  Trial::ofRows(form, {1}, {0, 900}, {kInf, 3}).expect({kInf}, {900});
  Trial::ofRows(form, {1}, {-kInf, 900}, {kInf, 3}).expect({3}, {900});
}

TEST(Cases, MeansOfLargeValuesDoNotOverflow) {
  // u is beyond f32, O is not; and small columns beside it keep their digits.
  for (const char *type : {"bf16", "f32"})
    for (const char *schedule : {kLeastTiles, kSmallTiles}) {
      Form form{.type = type,
                .headDim = 2,
                .valueDim = 3,
                .clauses = "masks [#fa.causal<bottom_right>]",
                .schedule = schedule};
      Trial trial(form, {1, 1, 1, 50, 70});
      Values values;
      for (int key = 0; key < 70; ++key)
        values.insert(values.end(),
                      {3e38, 1.0 + key % 7, (key % 5 - 2) * 1e-30});
      trial.seed(3).set("value", values).run();
    }
}

TEST(Cases, B10_ValuesOfKeysHiddenFromAll) {
  // A padding mask, as in B10 itself: V of the padding may hold anything.
  Form form{.mask = "?", .schedule = kLeastTiles};
  Trial trial = twoByFour(form);
  trial.set("mask", {1, 0});
  Values values = trial.input("value").values();
  std::vector<std::byte> plain = bits(trial.run());
  for (double poison : {kNaN, kInf, -kInf}) {
    values[16 + 2] = poison;
    EXPECT_TRUE(bits(trial.set("value", values).run()) == plain) << poison;
  }
}

TEST(Cases, B10_KeysBehindTheLengthAreNotRead) {
  // K and V behind the length, in the same block and in later ones.
  Form form{.headDim = 32, .valueDim = 32, .hasKVLengths = true};
  Trial trial(form, {2, 2, 1, 40, 100});
  trial.seed(4).set("kv_lengths", {37, 64});
  std::vector<std::byte> plain = bits(trial.run());
  for (const char *role : {"key", "value"}) {
    Values values = trial.input(role).values();
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t n = (b ? 64 : 37) * 32; n < 100 * 32; ++n)
        values[size_t(b * 100 * 32 + n)] = kNaN;
    trial.set(role, values);
  }
  EXPECT_TRUE(bits(trial.run()) == plain);
}

TEST(Cases, B10_SkippedBlocksAreNotRead) {
  // Causal: queries 0 to 63 never see keys from 64 on.
  Form form{.headDim = 32, .valueDim = 32, .clauses = kTopLeft};
  Trial trial(form, {1, 1, 1, 64, 160});
  std::vector<std::byte> plain = bits(trial.seed(4).run());
  for (const char *role : {"key", "value"}) {
    Values values = trial.input(role).values();
    std::fill(values.begin() + 64 * 32, values.end(), kNaN);
    trial.set(role, values);
  }
  EXPECT_TRUE(bits(trial.run()) == plain);
}

TEST(Cases, B12_EqualHugeScores) {
  // All scores 1e12: the largest exponent must be 0 whatever the scale.
  for (const char *scale :
       {"scale(0.1)", "scale(0.125)", "scale(0.08838834764831845)"}) {
    Form form = rowForm(scale);
    form.type = "bf16";
    Trial::ofRows(form, {1e6, 1}, {1e6, 1e6, 1e6, 1e6}, {1, 2, 3, 6})
        .expect({3, 3});
  }
  // The same in f16 by many columns, beside rows of usual size.
  Form form{.outType = "f32", .headDim = 128, .clauses = "scale(0.1)"};
  Trial trial(form, {1, 1, 1, 70, 70});
  Values query(70 * 128, 60000), value;
  for (int64_t i = 0; i < 70; i += 2)
    std::fill_n(query.begin() + i * 128, 128, 0.01);
  for (int64_t n = 0; n < 70 * 16; ++n)
    value.push_back(double(n / 16));
  RunResult result =
      trial.set("query", query).setAll("key", 60000).set("value", value).run();
  for (double mean : outColumn(result))
    EXPECT_FLOAT_EQ(float(mean), 34.5f);
}

TEST(Cases, B12_EachPathIsTaken) {
  // Rows beyond 2^26 take the path that rounds the scores first: it costs
  // instructions, and only for their warp.
  Form form{.type = "bf16", .clauses = kScaleOne};
  Trial trial(form, {1, 1, 1, 64, 64});
  trial.seed(6);
  auto instructions = [&](double factor, int64_t rows) {
    Values query = trial.input("query").values();
    for (int64_t n = 0; n < rows * 16; ++n)
      query[size_t(n)] *= factor;
    Trial scaled = trial;
    RunResult result = scaled.set("query", query).run();
    for (const auto &[name, value] : result.counters)
      if (name.find("warp_instructions") != std::string::npos)
        return value;
    ADD_FAILURE() << "no count of instructions";
    return 0.0;
  };
  double usual = instructions(1, 0);
  EXPECT_EQ(instructions(1e3, 64), usual);
  double one = instructions(1e12, 1), all = instructions(1e12, 64);
  EXPECT_GT(one, usual);
  EXPECT_GT(all, one);
}

TEST(Cases, B12_AroundTheBorderOfThePaths) {
  // |r| just below and above 2^26, four equal scores and a lower one.
  for (const char *scale : {"scale(0.35)", "scale(0.5)", "scale(-0.35)"}) {
    Form form = rowForm(scale);
    for (double key : {1500.0, 2200.0, 2206.0, 2210.0, 3500.0})
      Trial::ofRows(form, {60000, -60000}, {key, key, key, key, 1},
                    {1, 2, 3, 6, 100})
          .run();
  }
}

TEST(Cases, B14_ScaleZeroAndNegative) {
  for (bool isOperand : {false, true}) {
    auto form = [&](const std::string &scale) {
      Form form = rowForm(isOperand ? "" : "scale(" + scale + ")");
      form.hasScaleOperand = isOperand;
      form.mask = "?";
      return form;
    };
    auto withScale = [&](Trial trial, double scale) {
      if (isOperand)
        trial.set("scale", {scale});
      return trial.setAll("mask", 1);
    };
    withScale(Trial::ofRows(form("0.0"), {5}, {1, 9, 4}, {1, 3, 100}), 0)
        .set("mask", {1, 1, 0})
        .expect({2}, {std::log(2.0)});
    withScale(Trial::ofRows(form("-1.0"), {1}, {1, 3}, {1, 3}), -1)
        .expect({1.238406}, {-0.873072});
    withScale(Trial::ofRows(form("-1.0"), {1}, {100, 0}, {1, 3}), -1)
        .expect({3}, {0});
    withScale(Trial::ofRows(form("-0.0"), {5}, {1, 9}, {1, 3}), -0.0)
        .expect({2}, {std::log(2.0)});
    // Small beyond what f32 holds normally, and large.
    withScale(Trial::ofRows(form("1.0e-39"), {5}, {1, 9}, {1, 3}), 1e-39)
        .expect({2}, {std::log(2.0)});
    withScale(Trial::ofRows(form("1.0e30"), {5}, {1, 9}, {1, 3}), 1e30)
        .expect({3});
  }
}

TEST(Cases, B14_ScaleOperandIsTheAttribute) {
  // The operand's path and the number's give the same bits.
  for (double scale : {0.3, -0.3, 0.125}) {
    float rounded = float(scale);
    char text[64];
    std::snprintf(text, sizeof(text), "scale(%.17g)", double(rounded));
    Form number{.clauses = text}, operand{.hasScaleOperand = true};
    Extent5 extents{1, 2, 1, 40, 70};
    RunResult a = Trial(number, extents).seed(9).run();
    Trial trial(operand, extents);
    // The seeded stream of each operand is its place, which is the same.
    RunResult b = trial.seed(9).set("scale", {double(rounded)}).run();
    EXPECT_TRUE(bits(a) == bits(b)) << scale;
  }
}

TEST(Cases, B14_ScalesBelowTheNormalNumbers) {
  // No finite score of f16 makes a difference, an infinite one does; with f32
  // a score may be large enough.
  for (double scale : {1e-39, -1e-39, 1e-44})
    for (bool isOperand : {false, true}) {
      char text[64];
      std::snprintf(text, sizeof(text), "scale(%.17g)", double(float(scale)));
      Form form = rowForm(isOperand ? "" : text);
      form.hasScaleOperand = isOperand;
      auto run = [&](double q, double k0, double k1) {
        Trial trial = Trial::ofRows(form, {q}, {k0, k1}, {1, 3});
        if (isOperand)
          trial.set("scale", {double(float(scale))});
        return trial;
      };
      run(1, 5, 1000).expect({2}, {std::log(2.0)});
      run(1, scale < 0 ? kInf : -kInf, 1000).expect({3}, {0});
      form.type = "f32";
      run(1e20, 1e18, 0).run();
    }
}

TEST(Cases, B149_NegativeScoresAndANaNRow) {
  // All scores -5, over one, two and three blocks; then row 1 becomes NaN.
  for (int64_t keys : {1, 16, 17, 40}) {
    Form form = rowForm();
    Trial trial = Trial::ofRows(form, {-5, -5, -5}, Values(size_t(keys), 1),
                                Values(size_t(keys), 3));
    double lse = -5 + std::log(double(keys));
    trial.expect({3, 3, 3}, {float(lse), float(lse), float(lse)});
    Trial::ofRows(form, {-5, kNaN, -5}, Values(size_t(keys), 1),
                  Values(size_t(keys), 3))
        .expect({3, kNaN, 3}, {float(lse), kNaN, float(lse)});
  }
}

TEST(Cases, InfiniteScoresStayInTheirRow) {
  // Row 1: +inf against a positive key is NaN, -inf alone blocks the key.
  Trial::ofRows(rowForm(), {1, kInf, -kInf}, {1, 2}, {1, 3})
      .expect({2.462117, kNaN, 0}, {2.313262, kNaN, -kInf});
  // A visible V that is infinite or NaN reaches the rows that see it.
  Form form = rowForm("scale(1.0) masks [#fa.causal<bottom_right>]");
  Trial::ofRows(form, {0, 0}, {0, 0}, {kInf, 1}).expect({kInf, kInf});
}

//===----------------------------------------------------------------------===//
// C, L: lengths
//===----------------------------------------------------------------------===//

TEST(Cases, B16_MoreQueriesThanKeys) {
  Values q(4, 1), k{0, 1}, v{1, 3};
  Trial::ofRows(rowForm("scale(1.0) masks [#fa.causal<bottom_right>]"), q, k, v)
      .expect({0, 0, 1, 2.462117}, {-kInf, -kInf, 0, 1.313262});
  Trial::ofRows(rowForm("scale(1.0) masks [#fa.causal<top_left>]"), q, k, v)
      .expect({1, 2.462117, 2.462117, 2.462117});
}

TEST(Cases, B18_MoreKeysThanQueries) {
  Trial::ofRows(rowForm("scale(0.5)"), {1, -1}, {0, 1, 2, 3, 4},
                {0, 1, 2, 3, 4})
      .expect({2.905633, 1.094367}, {2.847102, 0.847102});
}

TEST(Cases, B20_CausalByValidLength) {
  Form form = rowForm(kBottomRight);
  form.hasKVLengths = true;
  Trial trial(form, {2, 1, 1, 3, 4});
  Values v;
  for (int64_t n = 0; n < 2 * 4 * 16; ++n)
    v.push_back(double(n / 16 % 4 + 1));
  trial.setAll("query", 0).setAll("key", 0).set("value", v);
  trial.set("kv_lengths", {4, 2})
      .expect({1.5, 2, 2.5, 0, 1, 1.5},
              {std::log(2.0), std::log(3.0), std::log(4.0), -kInf, 0,
               std::log(2.0)});
}

TEST(Cases, B20_LengthsAcrossBlocks) {
  // Lengths of queries and keys, 0 and whole among them, with every mask.
  for (const char *clauses : {"", kTopLeft, kBottomRight,
                              "masks [#fa.causal<bottom_right, prefix = 40>]"})
    for (const char *state : {",state=registers", ",state=shared"}) {
      Form form{.headDim = 32,
                .valueDim = 32,
                .clauses = clauses,
                .hasQLengths = true,
                .hasKVLengths = true,
                .schedule = std::string(kSmallTiles) + state};
      Trial trial(form, {6, 2, 1, 130, 101});
      trial.seed(3)
          .set("q_lengths", {130, 0, 64, 65, 1, 100})
          .set("kv_lengths", {101, 50, 0, 32, 33, 7})
          .run();
    }
}

TEST(Cases, B23_TailsOfBothLengths) {
  Form form;
  Trial(form, {1, 1, 1, 1, 1}).run();
  for (int64_t queries : {1, 63, 64, 65, 96, 127})
    for (int64_t keys : {1, 31, 32, 33, 48, 63}) {
      Trial trial(form, {1, 1, 1, queries, keys});
      trial.set("query", fill(queries * 16, 1))
          .set("key", fill(keys * 16, 2))
          .set("value", fill(keys * 16, 3))
          .run();
    }
}

TEST(Cases, B25_OneQueryOneKey) {
  Form form{.schedule = kLeastTiles};
  Trial trial(form, {1, 1, 1, 1, 1});
  Values q, v;
  for (int64_t n = 0; n < 16; ++n) {
    q.push_back(3 + 0.25 * double(n));
    v.push_back(7 - 0.25 * double(n));
  }
  RunResult result = trial.set("query", q).set("key", q).set("value", v).run();
  ASSERT_EQ(result.outputs.size(), 2u);
  EXPECT_EQ(result.outputs[0].values(), v);
}

TEST(Cases, B27_NoKeys) {
  for (const char *clauses : {"", kTopLeft, kBottomRight})
    for (const char *state : {",state=registers", ",state=shared"}) {
      Form form{.clauses = clauses,
                .schedule = std::string(kLeastTiles) + state};
      Trial trial(form, {2, 3, 3, 5, 0});
      RunResult result = trial.run();
      EXPECT_EQ(outColumn(result), Values(30, 0.0));
      EXPECT_EQ(lseOf(result), Values(30, -kInf));
    }
}

TEST(Cases, B27_NothingToDo) {
  for (const char *clauses : {"", kBottomRight}) {
    Form form{.clauses = clauses};
    for (const Extent5 &extents : {Extent5{0, 3, 3, 5, 4}, {2, 3, 3, 0, 4}}) {
      RunResult result = Trial(form, extents).run();
      ASSERT_EQ(result.outputs.size(), 2u) << extents.str();
      EXPECT_EQ(result.outputs[0].size(), 0);
      EXPECT_EQ(result.launches, 0);
    }
  }
}

TEST(Cases, B27_ZeroInTheTypes) {
  for (const Extent5 &extents :
       {Extent5{2, 3, 3, 5, 0}, {0, 3, 3, 5, 4}, {2, 3, 3, 0, 4}}) {
    RunResult result = Trial({.extents = extents}, extents).run();
    ASSERT_EQ(result.outputs.size(), 2u) << extents.str();
    EXPECT_EQ(result.shapes[1], (Shape{extents.B, 3, extents.Sk, 16}));
    EXPECT_EQ(result.launches, extents.B && extents.Sq ? 1 : 0);
    if (extents.Sk == 0) {
      EXPECT_EQ(outColumn(result), Values(30, 0.0));
      EXPECT_EQ(lseOf(result), Values(30, -kInf));
    }
  }
}

TEST(Cases, B29_LSEBelowTheRangeOfExp) {
  Trial::ofRows(rowForm(), {10}, {-10, -10, -10}, {1, 2, 3})
      .expect({2}, {-98.901388});
}

TEST(Cases, B102_LSEOfNoKeysIsMinusInfinity) {
  Form form = rowForm();
  form.mask = "?";
  Trial::ofRows(form, {1}, {1, 2, 3, 4}, {1, 2, 3, 4})
      .setAll("mask", 0)
      .expect({0}, {-kInf});
}

TEST(Cases, B110_LSEDoesNotChangeO) {
  Form with{.headDim = 32, .valueDim = 32}, without = with;
  without.hasLSE = false;
  Extent5 extents{1, 2, 1, 70, 70};
  RunResult a = Trial(with, extents).run(), b = Trial(without, extents).run();
  ASSERT_EQ(b.outputs.size(), 1u);
  EXPECT_TRUE(a.outputs[0].bytes == b.outputs[0].bytes);
}

//===----------------------------------------------------------------------===//
// D, G: head dims, heads
//===----------------------------------------------------------------------===//

TEST(Cases, B31_EveryColumnTakesPart) {
  // Q and K are zero but in the last column; columns of V name themselves.
  for (int64_t dim : {16, 64, 72, 128}) {
    Form form{.outType = "f32",
              .headDim = dim,
              .valueDim = dim,
              .clauses = "scale(0.5)"};
    Trial trial(form, {1, 1, 1, 1, 2});
    Values q(size_t(dim), 0), k(size_t(dim * 2), 0), v;
    q[size_t(dim - 1)] = 2;
    k[size_t(dim - 1)] = 1;
    k[size_t(2 * dim - 1)] = -1;
    for (int64_t n = 0; n < 2 * dim; ++n)
      v.push_back(n < dim ? 1 : 3);
    trial.set("query", q).set("key", k).set("value", v).expect({1.238406});
  }
}

TEST(Cases, B33_HeadDimBeyondTheLimitIsRefused) {
  std::string error = compileError({.headDim = 512, .valueDim = 512});
  EXPECT_NE(error.find("head dim D = 512 is not supported yet, supported are "
                       "those from 1 to 256"),
            std::string::npos)
      << error;
}

TEST(Cases, B37_AnyHeadDim) {
  // Rows whose pitch is no multiple of 16 bytes, or of 2 elements.
  for (const char *type : {"f16", "bf16", "f32"})
    for (int64_t dim : {46, 1, 2, 3, 5, 7}) {
      Form form{.type = type,
                .headDim = dim,
                .valueDim = dim,
                .schedule = kLeastTiles};
      Trial(form, {2, 2, 1, 33, 33}).seed(uint64_t(dim)).run();
    }
}

TEST(Cases, B37_PaddingDoesNotChangeTheScale) {
  // Without a scale it is 1/3; the oracle takes it from the compiler.
  Form picked{.headDim = 9}, said = picked;
  said.clauses = "scale(0.3333333432674408)";
  Extent5 extents{1, 1, 1, 20, 20};
  EXPECT_TRUE(bits(Trial(picked, extents).seed(1).run()) ==
              bits(Trial(said, extents).seed(1).run()));
}

class HeadDim : public testing::TestWithParam<int> {};

TEST_P(HeadDim, B35_AnyMultipleOfEight) {
  // The schedule that the compiler picks; D and Dv alike, then apart.
  int64_t dim = GetParam();
  for (int64_t valueDim : {dim, 144 - dim}) {
    Form form{.headDim = dim,
              .valueDim = valueDim,
              .clauses = kBottomRight,
              .schedule = ""};
    for (int64_t queries : {1, 65})
      Trial(form, {1, 2, 1, queries, 97}).seed(uint64_t(dim)).run();
  }
}

INSTANTIATE_TEST_SUITE_P(, HeadDim, testing::Range(16, 129, 8),
                         [](const auto &info) {
                           return "d" + std::to_string(info.param);
                         });

class WideHeadDim : public testing::TestWithParam<std::pair<int64_t, int64_t>> {
};

TEST_P(WideHeadDim, ByTheScheduleThatIsPicked) {
  auto [dim, valueDim] = GetParam();
  for (const char *type : {"f16", "bf16"}) {
    Form form{.type = type,
              .headDim = dim,
              .valueDim = valueDim,
              .clauses = kBottomRight,
              .schedule = ""};
    for (int64_t queries : {1, 130})
      Trial(form, {1, 3, 1, queries, 150}).seed(uint64_t(dim)).run();
  }
}

INSTANTIATE_TEST_SUITE_P(
    , WideHeadDim,
    testing::Values(std::pair(136, 136), std::pair(192, 128),
                    std::pair(192, 192), std::pair(64, 256), std::pair(256, 64),
                    std::pair(250, 250), std::pair(256, 256)),
    [](const auto &info) {
      return "d" + std::to_string(info.param.first) + "x" +
             std::to_string(info.param.second);
    });

TEST(Cases, B39_EachQueryHeadReadsItsOwn) {
  // V names its head; equal scores give it back exactly.
  Form form;
  for (auto [queryHeads, kvHeads] : {std::pair(12, 4),
                                     {6, 2},
                                     {9, 3},
                                     {5, 1},
                                     {7, 1},
                                     {28, 4},
                                     {14, 2},
                                     {3, 3}}) {
    Trial trial(form, {2, queryHeads, kvHeads, 2, 96});
    Values v;
    for (int64_t n = 0; n < 2 * kvHeads * 96 * 16; ++n)
      v.push_back(double(n / (96 * 16)));
    RunResult result = trial.seed(1).setAll("query", 0).set("value", v).run();
    Values column = outColumn(result);
    ASSERT_EQ(column.size(), size_t(2 * queryHeads * 2));
    for (int64_t n = 0; n < int64_t(column.size()); ++n) {
      int64_t b = n / (queryHeads * 2), h = n / 2 % queryHeads;
      EXPECT_EQ(column[size_t(n)],
                double(b * kvHeads + h / (queryHeads / kvHeads)))
          << queryHeads << "/" << kvHeads << " head " << h;
    }
  }
}

TEST(Cases, B39_HeadsInTheTypes) {
  for (auto [queryHeads, kvHeads] : {std::pair(6, 2), {5, 1}}) {
    Extent5 open{-1, queryHeads, kvHeads, -1, -1};
    Form form{.headDim = 32, .valueDim = 32, .extents = open};
    Trial(form, {2, queryHeads, kvHeads, 3, 96}).run();
  }
}

TEST(Cases, B41_HeadsThatDoNotDivideAreRefused) {
  for (auto [queryHeads, kvHeads] : {std::pair(33, 2), {3, 2}, {2, 0}}) {
    std::string message = Trial({}, {1, queryHeads, kvHeads, 4, 4}).refusal();
    for (int64_t count : {queryHeads, kvHeads})
      EXPECT_NE(message.find(std::to_string(count)), std::string::npos)
          << message;
    std::string error =
        compileError({.extents = {1, queryHeads, kvHeads, 4, 4}});
    EXPECT_NE(error.find("Hq = " + std::to_string(queryHeads) +
                         " and Hkv = " + std::to_string(kvHeads)),
              std::string::npos)
        << error;
  }
}

//===----------------------------------------------------------------------===//
// I, F: launches, ranges of types
//===----------------------------------------------------------------------===//

TEST(Cases, B45_BatchBeyondAGridAxis) {
  Form form{.hasLSE = false, .schedule = kLeastTiles};
  RunResult result = Trial(form, {65536, 1, 1, 1, 1}).run();
  EXPECT_EQ(result.launches, 1);
}

TEST(Cases, B49_OffsetsHave64Bits) {
  // Strides are passed as 64 bits, and the kernel narrows none of them.
  Form form{.mask = "?x?x?x?", .hasKVLengths = true};
  const Program &program = compileForm(form);
  const Entry &entry = program.manifest.entries[0];
  ASSERT_EQ(entry.launches.size(), 1u);
  const Launch &launch = entry.launches[0];
  int strides = 0;
  for (size_t n = 0; n < launch.arguments.size(); ++n) {
    const Parameter &parameter = entry.parameters[size_t(launch.arguments[n])];
    if (parameter.kind != ParameterKind::Stride)
      continue;
    ++strides;
    EXPECT_EQ(parameter.type, "i64");
    // ld.param.b64 %rd7, [attention_kernel_param_12];
    std::string source =
        "[" + launch.kernel + "_param_" + std::to_string(n) + "];";
    size_t at = program.ptx.find(source);
    if (at == std::string::npos) {
      ADD_FAILURE() << "no load of stride " << source;
      continue;
    }
    size_t begin = program.ptx.rfind('%', at);
    std::string name =
        program.ptx.substr(begin, program.ptx.find(',', begin) - begin);
    for (size_t use = program.ptx.find(", " + name + ";");
         use != std::string::npos;
         use = program.ptx.find(", " + name + ";", use + 1)) {
      size_t line = program.ptx.rfind('\n', use) + 1;
      EXPECT_NE(program.ptx.compare(line, 12, "\tcvt.u32.u64"), 0)
          << program.ptx.substr(line, use - line) << " of stride " << source;
    }
  }
  // Four each of Q, K, V, O and the mask, three of LSE, one of the lengths.
  EXPECT_EQ(strides, 5 * 4 + 3 + 1);
}

TEST(Cases, B74_LengthBeyondTheKeysIsRefused) {
  Form form{.hasKVLengths = true};
  Trial trial(form, {1, 1, 1, 10, 5});
  std::string message = trial.set("kv_lengths", {8}).refusal();
  EXPECT_NE(message.find("8"), std::string::npos) << message;
  EXPECT_NE(message.find("5"), std::string::npos) << message;
}

TEST(Cases, B129_UniformHugeInputs) {
  Values filled = fill(16 * 16, 1);
  for (double base : {-900.0, 900.0}) {
    Values rows;
    for (double value : filled)
      rows.push_back(base + value);
    Form form{.schedule = kLeastTiles};
    Trial trial(form, {1, 1, 1, 16, 16});
    RunResult result =
        trial.set("query", rows).set("key", rows).set("value", filled).run();
    for (double value : outColumn(result))
      EXPECT_TRUE(std::isfinite(value));
  }
}

//===----------------------------------------------------------------------===//
// N: order and neighbours
//===----------------------------------------------------------------------===//

TEST(Cases, B121_SameBitsInAnyOrder) {
  for (const char *schedule : {"tile_q=64,tile_kv=32,warps=4,stages=3",
                               "tile_q=64,tile_kv=32,warps=4,state=shared"}) {
    Form form{.headDim = 64,
              .valueDim = 64,
              .clauses = kBottomRight,
              .schedule = schedule};
    Trial trial(form, {1, 2, 1, 130, 165});
    std::vector<std::byte> plain = bits(trial.run());
    for (const char *order :
         {"reverse", "random:1", "random:2", "random:3", "random:4"}) {
      DeviceOptions options;
      options.order = order;
      std::unique_ptr<Device> device = openEmulator(options);
      EXPECT_TRUE(bits(trial.runUnchecked(*device)) == plain) << order;
    }
  }
}

} // namespace
