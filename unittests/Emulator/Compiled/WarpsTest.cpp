//===- WarpsTest.cpp - lanes together by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/warps.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <algorithm>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kFile = "CUDA/Inputs/warps";

TEST(Warps, shuffles) {
  std::vector<int> in = integers(32, -999, 999), want(224);
  for (int l = 0; l < 32; ++l) {
    auto from = [&](int lane) { return in[size_t(lane)]; };
    int up = l % 16 >= 3 ? l - 3 : l, down = l % 4 + 2 < 4 ? l + 2 : l;
    int results[] = {from(5),
                     from(l / 8 * 8 + l / 2 % 8),
                     from(up),
                     from(down),
                     from(l ^ 9),
                     from(l ^ 1),
                     from(l < 31 ? l + 1 : l)};
    for (size_t k = 0; k < 7; ++k)
      want[32 * k + size_t(l)] = results[k];
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(224);
    r.launch("shuffles", {1}, {32}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Warps, votes) {
  std::vector<int> in = integers(32, 0, 999);
  std::vector<unsigned> want(192);
  auto mask = [&](auto test) {
    unsigned m = 0;
    for (unsigned l = 0; l < 32; ++l)
      m |= unsigned(test(in[l])) << l;
    return m;
  };
  for (unsigned l = 0; l < 32; ++l) {
    int own = in[l];
    want[l] = mask([](int x) { return x & 1; });
    want[32 + l] = 2; // all above -100, none above 1000
    want[64 + l] = mask([=](int x) { return (x & 3) == (own & 3); });
    want[96 + l] = ~0u * 2 + 1; // all are 0
    want[128 + l] =
        l < 16 ? mask([](int x) { return x >> 1 & 1; }) & 0xFFFF : 1;
    want[160 + l] = mask([=](int x) { return (x & 1) == (own & 1); });
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<unsigned>(192);
    r.launch("votes", {1}, {32}, 0, x, y);
    EXPECT_EQ(r.read<unsigned>(y), want);
  });
}

TEST(Warps, tilesOfCooperativeGroups) {
  std::vector<int> in = integers(64, -50, 50), want(6 * 64);
  for (size_t i = 0; i < 64; ++i) {
    auto first = in.begin() + long(i / 8 * 8), last = first + 8;
    int sum = 0, before = 0, most = *std::max_element(first, last);
    for (size_t k = 0; k < 8; ++k) {
      sum += first[long(k)];
      before += k < i % 8 ? first[long(k)] : 0;
    }
    bool any = most > 40;
    want[i] = sum;
    want[64 + i] = most;
    want[128 + i] = before;
    want[192 + i] = *first * 3 + int(i % 8);
    want[256 + i] = int(i / 8) + (any ? 1000 : 0);
    want[320 + i] = in[i ^ 1];
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(6 * 64);
    r.launch("tiles", {1}, {64}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Warps, coalescedGroups) {
  std::vector<int> in = integers(32, 0, 99), want(96);
  int size = 0, last = 0, even = 0;
  for (int x : in) {
    size += x % 3 == 0;
    last = x % 3 == 0 ? x : last;
    even += x % 2 == 0;
  }
  int rank = 0, ranks[2] = {0, 0};
  for (size_t l = 0; l < 32; ++l) {
    int x = in[l], sum = 0;
    for (int y : in)
      sum += y % 4 == x % 4 ? y : 0;
    want[l] = x % 3 == 0 ? rank++ * 1000 + size * 10000 + last : -1;
    want[32 + l] = sum;
    bool isEven = x % 2 == 0;
    want[64 + l] = (isEven ? even : 32 - even) * 100 + ranks[isEven]++;
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(96);
    r.launch("coalesced", {1}, {32}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}
