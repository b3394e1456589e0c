//===- TensorMapTest.cpp - the rules of tensor maps -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rule of the encoder by one shape that breaks it and nothing else, and
// shapes at the edge of the rules.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/TensorMap.h"

#include <gtest/gtest.h>

using namespace ptxvm;

namespace {
TensorMapShape good() {
  TensorMapShape s;
  s.type = TensorType::F16;
  s.rank = 3;
  s.address = 0x7000000000;
  s.dims = {64, 100, 7};
  s.strides = {128, 12800};
  s.box = {64, 32, 2};
  return s;
}

void breaks(void (*change)(TensorMapShape &), const std::string &rule) {
  TensorMapShape s = good();
  change(s);
  auto map = encodeTiled(s);
  ASSERT_FALSE(map) << rule;
  EXPECT_EQ(map.error().message, "tensor map: " + rule);
  EXPECT_EQ(map.error().origin, "tensor-map");
}

TEST(TensorMap, whatIsPackedComesBack) {
  TensorMapShape s = good();
  s.swizzle = TensorSwizzle::Bytes128Atom32Flip8;
  s.promotion = TensorPromotion::L2_256;
  s.fill = TensorFill::NaN;
  s.elementStrides = {1, 2, 8, 1, 1};
  auto map = encodeTiled(s);
  ASSERT_TRUE(map);
  auto back = unpackTensorMap(map->bytes.data());
  ASSERT_TRUE(back);
  EXPECT_TRUE(*back == s);
  map->bytes[0] ^= 1;
  EXPECT_FALSE(unpackTensorMap(map->bytes.data()));
  EXPECT_EQ(sizeof(TensorMap), 128u);
}

TEST(TensorMap, rulesOfKinds) {
  using S = TensorMapShape;
  breaks([](S &s) { s.rank = 0; }, "rank 0 is not 1 to 5");
  breaks([](S &s) { s.rank = 6; }, "rank 6 is not 1 to 5");
  breaks([](S &s) { s.type = TensorType(13); }, "unknown element type 13");
  breaks([](S &s) { s.interleave = TensorInterleave(3); },
         "unknown interleave 3");
  breaks([](S &s) { s.swizzle = TensorSwizzle(7); }, "unknown swizzle 7");
  breaks([](S &s) { s.promotion = TensorPromotion(4); },
         "unknown L2 promotion 4");
  breaks([](S &s) { s.fill = TensorFill(2); }, "unknown fill 2");
  breaks(
      [](S &s) {
        s.rank = 2;
        s.interleave = TensorInterleave::Bytes16;
      },
      "an interleaved tensor has rank 3 or more, found 2");
  breaks([](S &s) { s.interleave = TensorInterleave::Bytes32; },
         "a tensor interleaved by 32 bytes needs the swizzle of 32 bytes");
  breaks(
      [](S &s) {
        s.type = TensorType::U16;
        s.fill = TensorFill::NaN;
      },
      "only float types can be filled with NaN");
}

TEST(TensorMap, rulesOfTheTensor) {
  using S = TensorMapShape;
  breaks([](S &s) { s.address += 8; }, "the address is not a multiple of 16");
  breaks(
      [](S &s) {
        s.address += 16;
        s.interleave = TensorInterleave::Bytes32;
        s.swizzle = TensorSwizzle::Bytes32;
      },
      "the address is not a multiple of 32");
  breaks([](S &s) { s.dims[1] = 0; },
         "extent 0 of dimension 1 is not 1 to 2^32");
  breaks([](S &s) { s.dims[2] = (1ull << 32) + 1; },
         "extent 4294967297 of dimension 2 is not 1 to 2^32");
  breaks([](S &s) { s.strides[0] = 136; },
         "stride 136 of dimension 1 is not a multiple of 16");
  breaks(
      [](S &s) {
        s.interleave = TensorInterleave::Bytes32;
        s.swizzle = TensorSwizzle::Bytes32;
        s.strides[0] = 144;
      },
      "stride 144 of dimension 1 is not a multiple of 32");
  breaks([](S &s) { s.strides[1] = 1ull << 40; },
         "stride 1099511627776 of dimension 2 is not below 2^40");
  breaks(
      [](S &s) {
        s.strides[1] = (1ull << 40) - 16;
        s.dims[2] = 1ull << 32;
      },
      "stride 1099511627760 of dimension 2 makes the tensor larger than 2^64 "
      "bytes");
}

TEST(TensorMap, rulesOfTheBox) {
  using S = TensorMapShape;
  breaks([](S &s) { s.box[1] = 0; },
         "box size 0 of dimension 1 is not 1 to 256");
  breaks([](S &s) { s.box[2] = 257; },
         "box size 257 of dimension 2 is not 1 to 256");
  breaks([](S &s) { s.elementStrides[1] = 0; },
         "element stride 0 of dimension 1 is not 1 to 8");
  breaks([](S &s) { s.elementStrides[2] = 9; },
         "element stride 9 of dimension 2 is not 1 to 8");
  breaks([](S &s) { s.box[0] = 60; },
         "a row of the box has 120 bytes, which is not a multiple of 16");
  breaks([](S &s) { s.swizzle = TensorSwizzle::Bytes64; },
         "a row of the box has 128 bytes, more than the swizzle's 64");
  breaks([](S &s) { s.swizzle = TensorSwizzle::Bytes32; },
         "a row of the box has 128 bytes, more than the swizzle's 32");
  breaks(
      [](S &s) {
        s.box[0] = 72;
        s.swizzle = TensorSwizzle::Bytes128Atom64;
      },
      "a row of the box has 144 bytes, more than the swizzle's 128");
}

TEST(TensorMap, shapesAtTheEdge) {
  TensorMapShape s = good();
  s.dims = {1ull << 32, 1, 1};
  s.strides = {16, (1ull << 40) - 16};
  s.box = {256, 256, 256};
  s.elementStrides = {1, 8, 8, 1, 1};
  EXPECT_TRUE(encodeTiled(s));
  EXPECT_EQ(boxBytes(s), 512u * 32 * 32);
  // A permuted tensor: the stride of a row is larger than that of a head.
  s = good();
  s.strides = {4096, 128};
  EXPECT_TRUE(encodeTiled(s));
  s.elementStrides[0] = 8; // means nothing without interleave
  EXPECT_EQ(boxCount(s, 0), 64u);
}

TEST(TensorMap, swizzlesAreTheirOwnInverse) {
  for (unsigned k = 0; k < unsigned(TensorSwizzle::Count); ++k)
    for (uint32_t a = 0; a < 4096; ++a)
      ASSERT_EQ(
          swizzleAddress(TensorSwizzle(k), swizzleAddress(TensorSwizzle(k), a)),
          a);
}
} // namespace
