//===- PolynomialTest.cpp - exponentials by sums and products -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels with the schedule key `polynomial`: the answers keep their bounds,
// what is hidden, infinite or NaN is treated as without the key, and as many
// exponentials as the key says are none of the special unit's.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cmath>

using namespace farun;
using namespace farun::test;

namespace {

/// `form` with one of `polynomial` exponentials by polynomial.
Form byPolynomial(Form form, int64_t polynomial) {
  form.schedule += form.schedule.empty() ? "" : ",";
  form.schedule += "polynomial=" + std::to_string(polynomial);
  return form;
}

//===----------------------------------------------------------------------===//
// Within the bounds of the oracle
//===----------------------------------------------------------------------===//

struct Row {
  const char *name;
  Form form;
  int64_t polynomial;
  Extent5 extents;
};

const std::vector<Row> &rows() {
  static const std::vector<Row> list = {
      {"all_of_f16", {}, 1, {2, 2, 1, 70, 101}},
      {"one_of_three_of_bf16", {.type = "bf16"}, 3, {1, 2, 1, 70, 101}},
      {"one_of_eight_without_lse", {.hasLSE = false}, 8, {1, 1, 1, 70, 101}},
      {"causal",
       {.clauses = "masks [#fa.causal<bottom_right>]"},
       2,
       {1, 2, 1, 70, 45}},
      {"window_in_bf16",
       {.type = "bf16",
        .clauses = "masks [#fa.window<top_left, left = 20, right = 3>]"},
       1,
       {1, 1, 1, 130, 70}},
      {"dense_mask_and_bias",
       {.mask = "?x?x?x?", .bias = "?x?", .hasAlibi = true, .hasSink = true},
       2,
       {2, 2, 1, 40, 70}},
      {"lengths_and_segments",
       {.hasSegments = true, .hasQLengths = true, .hasKVLengths = true},
       1,
       {3, 1, 1, 40, 70}},
      {"negative_scale_and_softcap",
       {.clauses = "scale(-0.5) softcap(1.5)"},
       2,
       {1, 1, 1, 40, 70}},
      {"dropout", {.dropout = 0.9}, 1, {1, 1, 1, 70, 101}},
      {"out_of_f32", {.outType = "f32"}, 1, {1, 1, 1, 40, 70}},
      {"state_in_shared_memory",
       {.schedule = std::string(kSmallTiles) + ",state=shared"},
       2,
       {1, 1, 1, 70, 101}},
      {"picked_d64",
       {.headDim = 64, .valueDim = 64, .schedule = ""},
       8,
       {1, 2, 1, 130, 300}},
      {"picked_d128_causal",
       {.type = "bf16",
        .headDim = 128,
        .valueDim = 128,
        .clauses = "masks [#fa.causal<top_left>]",
        .schedule = ""},
       8,
       {1, 1, 1, 200, 200}},
  };
  return list;
}

class Polynomial : public testing::TestWithParam<Row> {};

TEST_P(Polynomial, WithinTheBoundsInAnyOrder) {
  const Row &row = GetParam();
  Trial trial(byPolynomial(row.form, row.polynomial), row.extents);
  expectNothingFound(trial.seed(81), 3);
}

INSTANTIATE_TEST_SUITE_P(, Polynomial, testing::ValuesIn(rows()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Single exponents
//===----------------------------------------------------------------------===//

constexpr const char *kLn2Scale = "scale(0.6931471805599453)";

/// Scores are exponents: q times k.
Form rowForm() {
  return byPolynomial(
      {.outType = "f32", .clauses = kLn2Scale, .schedule = kLeastTiles}, 1);
}

TEST(PolynomialExponents, SumsKeepTheirBoundForEach) {
  // Two keys each: 1 and 2^x, from x = 0 to -18 and far below, also where the
  // polynomial is furthest off. The oracle's bound of LSE is 2e-5.
  Values exponents;
  for (int n = 0; n <= 576; ++n)
    exponents.push_back(-n / 32.0);
  for (double far : {-24.0, -100.0, -125.5, -126.25, -127.0, -300.0, -6e4})
    exponents.push_back(far);
  for (bool isSmallFirst : {false, true})
    Trial::ofRows(rowForm(), exponents,
                  isSmallFirst ? Values{1, 0} : Values{0, 1},
                  isSmallFirst ? Values{4, 1} : Values{1, 4})
        .run();
}

TEST(PolynomialExponents, PowersOfTwoAreExact) {
  // The very bits of the instruction's: m, l and u are exact, whoever sums.
  auto resultOf = [](int64_t polynomial) {
    Form form = byPolynomial(
        {.outType = "f32", .clauses = kLn2Scale, .schedule = kLeastTiles},
        polynomial);
    return Trial::ofRows(form, {1, 2}, {3, 1, 0, -5, -20}, {7, 14, 28, 8, 1})
        .run();
  };
  EXPECT_TRUE(bits(resultOf(1)) == bits(resultOf(0)));
}

/// 32 keys of score 1 and value 3, but for one key, wherever it is.
void expectWithOneKey(double score, double out, double lse) {
  for (size_t at = 0; at < 32; ++at) {
    Values keys(32, 1);
    keys[at] = score;
    Form form = byPolynomial({.schedule = kSmallTiles}, 2);
    Trial::ofRows(form, {1}, keys, Values(32, 3)).expect({out}, {lse});
  }
}

TEST(PolynomialExponents, NaNStaysNaN) { expectWithOneKey(kNaN, kNaN, kNaN); }

TEST(PolynomialExponents, InfinityMakesNaN) {
  expectWithOneKey(kInf, kNaN, kNaN);
}

TEST(PolynomialExponents, MinusInfinityHides) {
  expectWithOneKey(-kInf, 3, float(0.25 + std::log(31.0)));
}

TEST(PolynomialExponents, HiddenKeysWeighNothing) {
  // A row that sees no key stays one, and another's hidden keys do not count.
  // bf16 would keep a weight of 2^-126, which f16 rounds to 0.
  Form form = rowForm();
  form.mask = "1x1x?x?";
  for (const char *type : {"f16", "bf16"}) {
    form.type = type;
    Trial trial = Trial::ofRows(form, {1, 1}, {0, 0, 0, 0}, {8, 1, 2, 4});
    trial.set("mask", {0, 0, 0, 0, 0, 1, 0, 1});
    trial.expect({0, 2.5}, {-kInf, std::log(2.0)});
  }
}

TEST(PolynomialExponents, HugeScoresAreSafe) {
  // Beyond 2^26 a row begins again, whatever the loop without care made of it.
  Form form = rowForm();
  form.clauses = "scale(1.0)";
  form.type = "bf16";
  for (double top : {1e4, 1e9, 1e30}) {
    double key = roundTo(ElementType::BF16, top);
    for (double sign : {1.0, -1.0})
      Trial::ofRows(form, {sign, 0}, {key, key * 2, key, 0}, {1, 5, 1, 9})
          .run();
  }
}

//===----------------------------------------------------------------------===//
// How many
//===----------------------------------------------------------------------===//

TEST(PolynomialShare, IsOfEachRow) {
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  constexpr int64_t kRows = 128, kKeys = 256;
  auto exponentials = [&](int64_t polynomial) {
    Form form = byPolynomial({.schedule = kSmallTiles}, polynomial);
    Trial trial(form, {1, 1, 1, kRows, kKeys});
    return counter(trial.run(*device), "special.ex2");
  };
  // A lane has 8 of the 32 columns of a tile: of these 4, 3, 2, 1 and all.
  double all = exponentials(0), scores = kRows * kKeys;
  EXPECT_EQ(exponentials(2), all - scores / 2);
  EXPECT_EQ(exponentials(3), all - scores * 3 / 8);
  EXPECT_EQ(exponentials(4), all - scores / 4);
  EXPECT_EQ(exponentials(8), all - scores / 8);
  EXPECT_EQ(exponentials(1), all - scores);
}

TEST(PolynomialShare, NoneIsNoKey) {
  Form form;
  EXPECT_EQ(compileForm(byPolynomial(form, 0)).ptx, compileForm(form).ptx);
}

TEST(PolynomialShare, IsNoLessThanOneOfARow) {
  std::string error = compileError(byPolynomial({.schedule = kSmallTiles}, 9));
  EXPECT_NE(error.find("schedule key polynomial = 9 exceeds the 8 exponentials "
                       "that a lane has of a row of tile_kv = 32"),
            std::string::npos)
      << error;
}

TEST(PolynomialShare, IsForWeightsOfSixteenBits) {
  Form form = byPolynomial({.type = "f32", .schedule = ""}, 2);
  std::string error = compileError(form);
  EXPECT_NE(error.find("schedule key polynomial = 2 needs operands of 16 bits, "
                       "found f32; polynomial = 0 is compiled"),
            std::string::npos)
      << error;
}

} // namespace
