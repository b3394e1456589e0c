//===- ToleranceTest.cpp - the rule that says what is right ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Reference/Tolerance.h"

#include "Case.h"

using namespace faref;
using namespace faref::test;

namespace {

TEST(Tolerance, ConstantsByTypes) {
  auto same = [](ElementType operand, ElementType out, Precision precision,
                 double u, double e, double f, double g) {
    Constants c = constantsFor(operand, out, precision);
    EXPECT_EQ(c.u, u);
    EXPECT_EQ(c.e, e);
    EXPECT_EQ(c.f, f);
    EXPECT_EQ(c.g, g);
  };
  using T = ElementType;
  same(T::F16, T::F16, Precision::Ieee, 0x1p-11, 0x1p-20, 0x1p-24, 2e-5);
  same(T::BF16, T::F16, Precision::Ieee, 0x1p-8, 0x1p-20, 0x1p-24, 2e-5);
  same(T::F16, T::F32, Precision::Ieee, 0x1p-11, 0x1p-20, 0x1p-24, 2e-5);
  same(T::F32, T::F32, Precision::Ieee, 0x1p-20, 0x1p-20, 0x1p-100, 2e-5);
  same(T::F32, T::F32, Precision::TF32x3, 0x1p-20, 0x1p-20, 0x1p-100, 2e-5);
  same(T::F32, T::F32, Precision::TF32, 0x1p-10, 0x1p-10, 0x1p-100, 0x1p-10);
  same(T::F32, T::BF16, Precision::Ieee, 0x1p-8, 0x1p-20, 0x1p-100, 2e-5);
  same(T::F8E4M3FN, T::BF16, Precision::Ieee, 0x1p-4, 0x1p-11, 0x1p-100,
       0x1p-11);
  same(T::F8E5M2, T::BF16, Precision::Ieee, 0x1p-3, 0x1p-11, 0x1p-100, 0x1p-11);
}

TEST(Tolerance, EveryTermOnAWorkedRow) {
  // Two keys, equal scores of 2, v = 1 and -3: p = 1/2, sum p|v| = 2,
  // max |v| = 3, A = |0.5| * 4 + 0, O = -1 exactly in f16: plain has no error.
  Case c({2}, {2, 2}, {1, -3}, ElementType::F16);
  c.scale(0.5);
  Result result = c.run(true);
  EXPECT_EQ(result.evidence.plainError, Values{0});
  EXPECT_EQ(result.evidence.scoreScale, Values{2});
  expectNear(result.evidence.weightedV, {2}, 1e-15);
  EXPECT_EQ(result.evidence.largestV, Values{3});
  Bounds bounds = tolerance(result, false, ElementType::F16, ElementType::F16);
  expectNear(bounds.out, {2 * (0x1p-11 + 0x1p-20 * 2) * 2 + 0x1p-24 * 3},
             1e-15);
  // LSE64 = 2 + ln 2 = 2.69 is larger than A = 2 and than 1.
  EXPECT_NEAR(bounds.lse[0], 2e-5 * (2 + std::log(2.0)), 1e-18);
}

TEST(Tolerance, ScoreScaleUsesMagnitudesBiasAndOnlyVisibleKeys) {
  // q.k = 3 - 2 = 1, but |q||k| = 5; the second key is larger and masked.
  Case c({1, 1, 1, 2}, {1, 1}, {1, 1, 2, 2}, {3, -2, 100, 100}, {1, 1, 2, 1},
         {1, 50});
  c.scale(-2).mask({2}, {1, 0}).bias({2}, {-7, 0});
  Result result = c.run(true);
  EXPECT_EQ(result.evidence.scoreScale, Values{2 * 5 + 7});
  EXPECT_EQ(result.evidence.largestV, Values{1});
  EXPECT_EQ(result.evidence.weightedV, Values{1});
}

TEST(Tolerance, PlainErrorIsTheRowsLargest) {
  // O = 1/3 and 1000/3 in one row: f16 rounds the second by up to 1/8.
  Case c({1, 1, 1, 1}, {0}, {1, 1, 3, 1}, {0, 0, 0}, {1, 1, 3, 2},
         {1, 1000, 0, 0, 0, 0}, ElementType::F16);
  Result result = c.run(true);
  double rounded = farun::roundTo(ElementType::F16, 1000.0f / 3.0f);
  EXPECT_NEAR(result.evidence.plainError[0], std::abs(rounded - 1000.0 / 3.0),
              1e-9);
}

TEST(Tolerance, PlainRoundsWeightsToTheElementType) {
  // p = (1, exp(-1)): in bf16 exp(-1) = 0.36787944 becomes 0.3671875, the row
  // sum stays unrounded.
  Case c({1}, {0, -1}, {0, 1}, ElementType::BF16);
  c.problem.outType = ElementType::F32;
  Result result = c.run(true);
  EXPECT_NEAR(result.evidence.plain[0], 0.3671875 / (1 + std::exp(-1.0)), 1e-7);
  EXPECT_NEAR(result.out[0], std::exp(-1.0) / (1 + std::exp(-1.0)), 1e-12);
}

TEST(Tolerance, AnEmptyRowAllowsNothing) {
  Case c({1}, {1}, {1}, ElementType::F16);
  c.mask({1}, {0});
  Bounds bounds =
      tolerance(c.run(true), false, ElementType::F16, ElementType::F16);
  EXPECT_EQ(bounds.out, Values{0});
}

TEST(Tolerance, AUniformRowHasWeightsOfOneNth) {
  Case c({1}, {1, 1, 1, 1}, {1, -2, 3, 2}, ElementType::F16);
  c.mask({4}, {0, 0, 0, 0});
  c.problem.emptyRow = EmptyRow::Uniform;
  Result result = c.run(true);
  EXPECT_EQ(result.out, Values{1});
  EXPECT_EQ(result.evidence.weightedV, Values{2});
  EXPECT_EQ(result.evidence.scoreScale, Values{0});
  EXPECT_EQ(result.evidence.plain, Values{1});
}

TEST(Tolerance, AnOverflowingElementDoesNotExcuseItsRow) {
  // O = (1e5, 1): the first is infinite in f16, the bound of the second stays
  // small.
  Case c({1}, {1}, {0}, ElementType::F32);
  c.problem.value = c.add(ElementType::F32, {1, 1, 1, 2}, {1e5, 1});
  c.problem.outType = ElementType::F16;
  Bounds bounds =
      tolerance(c.run(true), false, ElementType::F32, ElementType::F16);
  EXPECT_LT(bounds.out[1], 0.01);
}

TEST(Tolerance, PlainStaysInsideItsOwnBound) {
  for (ElementType type :
       {ElementType::F16, ElementType::BF16, ElementType::F32}) {
    Case c({1, 2, 40, 16}, fill(2 * 40 * 16, 1), {1, 1, 50, 16},
           fill(50 * 16, 2), {1, 1, 50, 16}, fill(50 * 16, 3), type);
    c.scale(0.25).causal(true);
    Result result = c.run(true);
    Bounds bounds = tolerance(result, false, type, type);
    for (size_t n = 0; n < result.out.size(); ++n) {
      EXPECT_LE(std::abs(result.evidence.plain[n] - result.out[n]),
                bounds.out[n]);
      // The bound is about rounding: it never reaches the size of V.
      EXPECT_LT(bounds.out[n], 0.06);
    }
  }
}

} // namespace
