//===- ExtentExpressionTest.cpp - geometry text ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/ExtentExpression.h"

#include <gtest/gtest.h>

using namespace farun;

namespace {

const Extents kExtents = {{"B", 2},  {"Hq", 12}, {"Hkv", 4}, {"Sq", 100},
                          {"Sk", 7}, {"D", 64},  {"Dv", 32}};

int64_t value(std::string_view text) {
  Expected<int64_t> result = evaluateExtent(text, kExtents);
  EXPECT_TRUE(bool(result)) << (result ? "" : result.error().message);
  return result ? *result : -12345;
}

std::string message(std::string_view text) {
  Expected<int64_t> result = evaluateExtent(text, kExtents);
  return result ? "no error" : result.error().message;
}

TEST(ExtentExpression, GrammarAndPrecedence) {
  EXPECT_EQ(value("42"), 42);
  EXPECT_EQ(value("B + Hq * 2"), 26);
  EXPECT_EQ(value("(B+Hq)*2"), 28);
  EXPECT_EQ(value("Sq - 1 - 2"), 97);
  EXPECT_EQ(value("Sq / 3 % 4"), 1);
  EXPECT_EQ(value("-Sk + 8"), 1);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("ceildiv(Sq, 64) * B * Hq"), 48);
  EXPECT_EQ(value("min(Sq, Sk) + max( D , Dv )"), 71);
  EXPECT_EQ(value("ceildiv(0, 64)"), 0);
  EXPECT_EQ(value("ceildiv(0-7, 2)"), -3);
  EXPECT_EQ(value("-7 / 2"), -3);
}

TEST(ExtentExpression, ProblemsNameTheColumn) {
  EXPECT_EQ(message("B +"), "unexpected end at column 4 of the extent "
                            "expression 'B +'");
  EXPECT_EQ(message("B Hq"),
            "unexpected 'H' at column 3 of the extent expression 'B Hq'");
  EXPECT_EQ(message("Blocks"), "unknown name 'Blocks' at column 1 of the "
                               "extent expression 'Blocks'");
  EXPECT_EQ(message("2 * Tq"), "the extent Tq has no value at column 5 of the "
                               "extent expression '2 * Tq'");
  EXPECT_NE(message("min(1)").find("expected ','"), std::string::npos);
  EXPECT_NE(message("1 / (B - 2)").find("division by zero"), std::string::npos);
  EXPECT_NE(message("").find("unexpected end"), std::string::npos);
  EXPECT_NE(message(std::string(5000, '(')).find("nesting"), std::string::npos);
  EXPECT_NE(message(std::string(5000, '-')).find("nesting"), std::string::npos);
}

TEST(ExtentExpression, OverflowIsAnError) {
  EXPECT_NE(message("9223372036854775807 + B").find("overflow"),
            std::string::npos);
  EXPECT_NE(message("9223372036854775808").find("does not fit"),
            std::string::npos);
  EXPECT_NE(message("4611686018427387904 * B").find("overflow"),
            std::string::npos);
  // 32 bits are not the limit: 65536 * 65536.
  EXPECT_EQ(value("65536 * 65536"), int64_t(1) << 32);
}

TEST(ExtentExpression, MultiprocessorsAreNoExtent) {
  Extents extents = kExtents;
  extents[kMultiprocessorsName] = 132;
  EXPECT_EQ(*evaluateExtent("min(B * Hq, SMs)", extents), 24);
  EXPECT_EQ(*evaluateExtent("min(Sq * Hq, SMs)", extents), 132);
  EXPECT_NE(message("min(B, SMs)").find("the extent SMs has no value"),
            std::string::npos);
  EXPECT_FALSE(isExtentName(kMultiprocessorsName));
  ExtentNames names = {"B"};
  EXPECT_TRUE(bool(checkExtentSyntax("min(B, SMs)", &names)));
  EXPECT_FALSE(bool(checkExtentSyntax("min(Sq, SMs)", &names)));
}

TEST(ExtentExpression, SyntaxCheckNeedsNoValues) {
  EXPECT_TRUE(bool(checkExtentSyntax("ceildiv(Tq, 0) / (B - B)")));
  EXPECT_FALSE(bool(checkExtentSyntax("ceildiv(Tq 64)")));
  EXPECT_FALSE(bool(checkExtentSyntax("N")));
}

} // namespace
