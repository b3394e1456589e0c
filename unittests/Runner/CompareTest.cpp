//===- CompareTest.cpp - comparisons that can fail ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace farun;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Comparison one(double found, double expected, double bound = 0.1,
               ElementType type = ElementType::F32) {
  return compare("out", Array(type, {1}, {found}), {{1}, {expected}, {bound}});
}

TEST(Compare, B179_SpecialValuesInPlaceAndSign) {
  EXPECT_FALSE(one(kNaN, 1).ok);
  EXPECT_FALSE(one(1, kNaN).ok);
  EXPECT_TRUE(one(kNaN, kNaN).ok);
  EXPECT_FALSE(one(kInf, -kInf).ok);
  EXPECT_TRUE(one(-kInf, -kInf).ok);
  EXPECT_FALSE(one(-kInf, -1e30).ok);
  EXPECT_FALSE(one(1, kInf, kInf).ok);
  EXPECT_FALSE(one(kInf, kNaN).ok);
  EXPECT_TRUE(one(0.0, -0.0, 0).ok);
  Array payload(ElementType::F32, {1});
  uint32_t bits = 0xffc12345;
  std::memcpy(payload.bytes.data(), &bits, 4);
  EXPECT_TRUE(compare("out", payload, {{1}, {kNaN}, {0}}).ok);
  // Shapes come first, even for equal counts.
  Comparison shapes =
      compare("out", Array(ElementType::F32, {2, 1}), {{1, 2}, {0, 0}, {1, 1}});
  EXPECT_FALSE(shapes.ok);
  EXPECT_EQ(shapes.str(), "check: FAILED shape=2x1 expected=1x2 result=out");
}

TEST(Compare, TheBoundIsSharp) {
  EXPECT_TRUE(one(1.125, 1.0, 0.125).ok);
  EXPECT_FALSE(one(1.25, 1.0, 0.125).ok);
  EXPECT_FALSE(one(1e-30, 0.0, 0).ok);
  EXPECT_FALSE(one(1, 1.5, kNaN).ok);
}

TEST(Compare, AnInfinityStandsForWhatTheTypeCannotHold) {
  EXPECT_TRUE(one(kInf, 70000, 1, ElementType::F16).ok);
  EXPECT_FALSE(one(-kInf, 70000, 1, ElementType::F16).ok);
  EXPECT_FALSE(one(kInf, 60000, 1, ElementType::F16).ok);
  EXPECT_TRUE(one(kInf, 65519, 32, ElementType::F16).ok);
  EXPECT_TRUE(one(65504, 65530, 32, ElementType::F16).ok);
}

TEST(Compare, TheWorstPositionIsRelativeToItsBound) {
  Array found(ElementType::F32, {2, 2}, {1.5, 2, 3.0625, 4});
  Comparison c =
      compare("lse", found, {{2, 2}, {1, 2, 3, 4}, {1, 1, 0.0625, 1}});
  EXPECT_TRUE(c.ok);
  EXPECT_EQ(c.str(),
            "check: ok max_error=0.0625 bound=0.0625 at=[1,0] result=lse");
  c = compare("lse", found, {{2, 2}, {1, 2, 3, 4}, {0.125, 1, 0.125, 1}});
  EXPECT_EQ(c.str(), "check: FAILED max_error=0.5 bound=0.125 at=[0,0] "
                     "found=1.5 expected=1 wrong=1/4 result=lse");
}

TEST(Compare, EmptyResultsAreRight) {
  EXPECT_TRUE(
      compare("out", Array(ElementType::F16, {0, 4}), {{0, 4}, {}, {}}).ok);
}

} // namespace
