//===- LLVMTest.cpp - kernels by llc and mlir-opt -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/LLVM/Inputs, rows.ll and tiles.mlir.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"
#include "Types.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kRows = "LLVM/Inputs/rows";
static const char *const kTiles = "LLVM/Inputs/tiles";

TEST(LLVM, softmaxOfRows) {
  constexpr unsigned rows = 3, columns = 100;
  std::vector<float> in = eighths(rows * columns), want;
  for (unsigned r = 0; r < rows; ++r) {
    auto first = in.begin() + r * columns, last = first + columns;
    double most = *std::max_element(first, last), sum = 0;
    for (auto at = first; at != last; ++at)
      sum += std::exp2(*at - most);
    for (auto at = first; at != last; ++at)
      want.push_back(float(std::exp2(*at - most) / sum));
  }
  forAll(kRows, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<float>(in.size());
    r.launch("softmax", {rows}, {128}, 0, x, y, columns);
    std::vector<float> got = r.read<float>(y);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 1e-6f);
  });
}

static int64_t scalar(const std::vector<int> &in, unsigned t, bool flip,
                      int8_t step, int16_t bias) {
  static constexpr int kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19};
  unsigned which = t & 7;
  int x = which < 4 ? in[4 * t + which] : 0x03030303;
  int r = -5;
  switch (which) {
  case 0:
    r = int(uint32_t(x) * 17);
    break;
  case 1:
    r = std::popcount(uint32_t(x));
    break;
  case 2:
    r = int(std::clamp<int64_t>(int64_t(x) + 2147480000, INT32_MIN, INT32_MAX));
    break;
  case 3:
    r = x / 13;
    break;
  case 4:
    r = x >> 4;
    break;
  case 5:
    r = kPrimes[5];
    break;
  case 6:
    r = ~x;
    break;
  }
  uint32_t a = uint32_t(r) + uint32_t(int(bias));
  __int128 big = (__int128)x * 1000000000000 * 1000000000 + int32_t(a);
  uint64_t b = uint64_t(big >> 40), reversed = 0;
  for (int k = 0; k < 64; ++k)
    reversed |= (b >> k & 1) << (63 - k);
  uint8_t c = uint8_t(7 + step);
  // A shift of a and the step together, not a rotation.
  uint32_t by = uint32_t(step) & 31;
  uint32_t shifted = a << by | uint32_t(int(step)) >> (32 - by);
  uint64_t n = (uint64_t(shifted) ^ reversed) + c;
  return int64_t(flip ? 0 - n : n);
}

TEST(LLVM, switchesStructuresAndWideIntegers) {
  std::vector<int> in = integers(4 * 32, -1000000000, 1000000000);
  for (bool flip : {false, true}) {
    std::vector<int64_t> want;
    for (unsigned t = 0; t < 32; ++t)
      want.push_back(scalar(in, t, flip, -3, -700));
    forAll(kRows, kAll, [&](Session &r) {
      uint64_t x = r.in(in), y = r.out<int64_t>(32);
      r.launch("scalars", {1}, {32}, 0, x, y, uint8_t(flip), int8_t(-3),
               int16_t(-700));
      EXPECT_EQ(r.read<int64_t>(y), want);
    });
  }
}

TEST(LLVM, atomics) {
  float sum = 0;
  uint32_t product = 1;
  for (uint32_t t = 0; t < 64; ++t) {
    sum += 0.25f * float(1000 + t);
    product *= 2 * t + 1;
  }
  forAll(kRows, kAll, [&](Session &r) {
    uint64_t s = r.inout(std::vector<float>(1)),
             m = r.inout(std::vector<uint32_t>{7}),
             p = r.inout(std::vector<uint32_t>{1});
    r.launch("atomics", {1}, {64}, 0, s, m, p);
    EXPECT_EQ(r.read<float>(s)[0], sum);
    EXPECT_EQ(r.read<uint32_t>(m)[0], 189u);
    EXPECT_EQ(r.read<uint32_t>(p)[0], product);
  });
}

TEST(MLIR, product) {
  std::vector<int> a = integers(256, -4, 4), b = integers(128, -4, 4, 2);
  std::vector<float> want = product(a, b, 16, 8, 16);
  forAll(kTiles, kAll, [&](Session &r) {
    uint64_t x = r.in(encodeAll<uint16_t>("f16", a)),
             y = r.in(encodeAll<uint16_t>("f16", b)), c = r.out<float>(128);
    // Descriptors: two pointers, offset, sizes, strides.
    int64_t zero = 0, n8 = 8, n16 = 16, one = 1;
    r.launch("product", {1}, {32}, 0, x, x, zero, n16, n16, n16, one, y, y,
             zero, n8, n16, n16, one, c, c, zero, n16, n8, n8, one);
    EXPECT_EQ(r.read<float>(c), want);
  });
}

TEST(MLIR, normalise) {
  std::vector<float> in = eighths(256), want;
  for (size_t i = 0; i < 256; i += 32) {
    float sum = 0;
    for (size_t k = i; k < i + 32; ++k)
      sum += in[k];
    for (size_t k = i; k < i + 32; ++k)
      want.push_back(in[k] / sum * (in[k] / sum) + in[k]);
  }
  forAll(kTiles, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<float>(256);
    int64_t zero = 0, n = 256, one = 1;
    r.launch("normalise", {2}, {128}, 0, x, x, zero, n, one, y, y, zero, n,
             one);
    std::vector<float> got = r.read<float>(y);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 2e-6f * std::max(1.0f, std::fabs(want[i])));
  });
}

TEST(MLIR, columns) {
  constexpr int64_t rows = 9, width = 21;
  std::vector<float> in = eighths(rows * width), want(width);
  for (size_t i = 0; i < in.size(); ++i)
    want[i % width] = std::max(want[i % width], in[i]);
  forAll(kTiles, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<float>(width);
    int64_t zero = 0, one = 1;
    r.launch("columns", {1}, {32}, 0, x, x, zero, rows, width, width, one, y, y,
             zero, width, one);
    EXPECT_EQ(r.read<float>(y), want);
  });
}
