//===- Float16Test.cpp - small floats -------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Float16.h"

#include "fa/Support/Array.h"

#include <gtest/gtest.h>

using namespace farun;

namespace {

/// Every bit pattern survives decode and encode; the midpoint between two
/// neighbours goes to the even one and a hair beyond it does not.
template <typename Format> void checkFormat() {
  for (uint32_t bits = 0; bits < Format::kLimit; ++bits) {
    double value = Format::decode(bits);
    ASSERT_EQ(Format::encode(value), bits);
    ASSERT_EQ(Format::encode(-value), bits | Format::kSign);
    if (bits + 1 == Format::kLimit)
      break;
    double next = Format::decode(bits + 1);
    double middle = (value + next) / 2;
    ASSERT_LT(value, next);
    ASSERT_EQ(Format::encode(middle), bits % 2 ? bits + 1 : bits);
    ASSERT_EQ(Format::encode(std::nextafter(middle, 1e300)), bits + 1);
    ASSERT_EQ(Format::encode(std::nextafter(middle, -1e300)), bits);
  }
}

TEST(Float16, EveryValueRoundTripsAndTiesGoToEven) {
  checkFormat<Half>();
  checkFormat<BFloat>();
  checkFormat<Float8E4M3FN>();
  checkFormat<Float8E5M2>();
}

TEST(Float16, EdgesOfTheRange) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(toF16Bits(65504.0), 0x7bff);
  EXPECT_EQ(toF16Bits(65519.99), 0x7bff);
  EXPECT_EQ(toF16Bits(65520.0), 0x7c00);
  EXPECT_EQ(toF16Bits(-1e300), 0xfc00);
  EXPECT_EQ(toF16Bits(infinity), 0x7c00);
  EXPECT_EQ(toF16Bits(0x1p-24), 0x0001);
  EXPECT_EQ(toF16Bits(0x1p-25), 0x0000);
  EXPECT_EQ(toF16Bits(0x1.8p-25), 0x0001);
  EXPECT_EQ(toF16Bits(-0.0), 0x8000);
  EXPECT_EQ(toF16Bits(5e-324), 0x0000);
  EXPECT_TRUE(std::isnan(fromF16Bits(toF16Bits(std::nan("")))));
  EXPECT_EQ(toBF16Bits(1.0), 0x3f80);
  EXPECT_EQ(toBF16Bits(3.4e38), 0x7f80);
  EXPECT_EQ(toBF16Bits(infinity), 0x7f80);
  EXPECT_EQ(fromBF16Bits(0xff80), -infinity);
  EXPECT_EQ(Float8E4M3FN::decode(0x7e), 448.0);
  EXPECT_EQ(Float8E4M3FN::encode(1e9), 0x7fu);
  EXPECT_EQ(Float8E5M2::encode(1e9), 0x7cu);
}

TEST(Float16, RoundsOnceFromDouble) {
  // Through f32 this would first become a tie and then round down.
  EXPECT_EQ(toF16Bits(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
}

TEST(Array, StoresAndLoadsEveryType) {
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::I8,
        ElementType::U8, ElementType::I16, ElementType::U16, ElementType::I32,
        ElementType::U32, ElementType::I64, ElementType::U64}) {
    Array array(type, {2, 2}, {0, 1, 2, 96});
    EXPECT_EQ(array.values(), (std::vector<double>{0, 1, 2, 96})) << name(type);
    EXPECT_EQ(parseElementType(name(type)), type);
  }
  EXPECT_EQ(shapeText({2, 8, 1}), "2x8x1");
  EXPECT_EQ(denseStrides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
}

} // namespace
