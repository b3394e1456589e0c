//===- AtomicsTest.cpp - atomic operations by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/atomics.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <algorithm>
#include <bit>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kFile = "CUDA/Inputs/atomics";

TEST(Atomics, integers) {
  constexpr int n = 128; // two blocks
  std::vector<int> s32 = {5, 0, 0, 7};
  std::vector<unsigned> u32 = {~0u, 0, 1, ~0u, 0, 3, 4};
  std::vector<uint64_t> u64 = {1, ~0ull, 0, 0, 9};
  std::vector<int64_t> s64 = {0, 0};
  auto a = s32;
  auto b = u32;
  auto c = u64;
  auto d = s64;
  for (int t = 0; t < n; ++t) {
    unsigned u = unsigned(t);
    uint64_t w = u;
    a[0] += t - 100;
    a[1] = std::min(a[1], 50 - t);
    a[2] = std::max(a[2], t * 3 - 7);
    a[3] -= t;
    b[0] &= ~(1u << t % 32);
    b[1] |= 1u << t % 31;
    b[2] ^= u * 2654435761u;
    b[3] = std::min(b[3], 1000 - u);
    b[4] = std::max(b[4], u);
    b[5] = b[5] >= 6 ? 0 : b[5] + 1;
    b[6] = b[6] == 0 || b[6] > 9 ? 9 : b[6] - 1;
    c[0] += w << 35;
    c[1] = std::min(c[1], ~w);
    c[2] = std::max(c[2], w << 40);
    c[3] |= 1ull << t % 64;
    c[4] ^= 0x9E3779B97F4A7C15ull * w;
    d[0] = std::min(d[0], int64_t(t * -77777777777ll));
    d[1] = std::max(d[1], int64_t(t * 77777777777ll));
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t p = r.inout(s32), q = r.inout(u32), s = r.inout(u64),
             t = r.inout(s64);
    r.launch("integers", {2}, {n / 2}, 0, p, q, s, t);
    EXPECT_EQ(r.read<int>(p), a);
    EXPECT_EQ(r.read<unsigned>(q), b);
    EXPECT_EQ(r.read<uint64_t>(s), c);
    EXPECT_EQ(r.read<int64_t>(t), d);
  });
}

TEST(Atomics, floats) {
  std::vector<float> f(3);
  std::vector<double> d(5);
  int halves[2] = {0, 0}, bfloats[2] = {0, 0}, half = 0;
  for (int t = 0; t < 64; ++t) {
    f[size_t(t % 3)] += 0.25f * float(t % 8);
    d[size_t(t % 5)] += 0.125 * t;
    halves[0] += t % 4;
    halves[1] -= t % 2;
    bfloats[0] += t % 2;
    bfloats[1] -= 1;
    half += t % 2;
  }
  // 96, -32; 32, -64; 32: exact in both types.
  ASSERT_EQ(halves[0], 96);
  ASSERT_EQ(bfloats[1], -64);
  ASSERT_EQ(half, 32);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.inout(std::vector<float>(3)),
             y = r.inout(std::vector<double>(5)),
             h = r.inout(std::vector<uint32_t>(1)),
             b = r.inout(std::vector<uint32_t>(1)),
             h1 = r.inout(std::vector<uint16_t>(2));
    // Without an instruction of their own, bf16 pairs are read by an ordinary
    // load first, which only begins a compare-and-swap.
    r.launch("floats", {4}, {16}, 0, x, y, h, b, h1);
    EXPECT_EQ(r.read<float>(x), f);
    EXPECT_EQ(r.read<double>(y), d);
    EXPECT_EQ(r.read<uint32_t>(h)[0], 0xD0005600u);
    EXPECT_EQ(r.read<uint32_t>(b)[0], 0xC2804200u);
    EXPECT_EQ(r.read<uint16_t>(h1)[0], 0x5000u);
  });
}

TEST(Atomics, everyTicketIsHandedOutOnce) {
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t next = r.inout(std::vector<unsigned>(1)),
             taken = r.inout(std::vector<unsigned>(64)),
             last = r.inout(std::vector<unsigned>(1)),
             chain = r.out<unsigned>(64);
    r.launch("tickets", {2}, {32}, 0, next, taken, last, chain);
    EXPECT_EQ(r.read<unsigned>(next)[0], 64u);
    EXPECT_EQ(r.read<unsigned>(taken), std::vector<unsigned>(64, 1));
    // 0 and all tickets but that of the last.
    std::vector<unsigned> found = r.read<unsigned>(chain);
    found.push_back(r.read<unsigned>(last)[0]);
    std::sort(found.begin(), found.end());
    for (unsigned i = 0; i < 65; ++i)
      EXPECT_EQ(found[i], i);
  });
}

TEST(Atomics, compareAndSwap) {
  std::vector<float> in;
  for (float x : eighths(32))
    in.push_back(std::abs(x));
  float most = *std::max_element(in.begin(), in.end());
  uint64_t product = 1;
  for (uint64_t i = 0; i < 32; ++i)
    product *= 2 * i + 1;
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.inout(std::vector<uint32_t>(2)),
             p = r.inout(std::vector<uint64_t>{1});
    r.launch("swaps", {1}, {32}, 0, x, y, p);
    EXPECT_EQ(std::bit_cast<float>(r.read<uint32_t>(y)[0]), most);
    EXPECT_EQ(r.read<uint32_t>(y)[1], 96u);
    EXPECT_EQ(r.read<uint64_t>(p)[0], product);
  });
}

TEST(Atomics, references) {
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.inout(std::vector<int>(3)),
             y = r.inout(std::vector<uint64_t>(1));
    r.launch("references", {2}, {64}, 0, x, y);
    EXPECT_EQ(r.read<int>(x), (std::vector<int>{128, 63, 63}));
    EXPECT_EQ(r.read<uint64_t>(y)[0], 384u);
  });
}

TEST(Atomics, theLastBlockAddsUp) {
  std::vector<int> in = integers(256, -99, 99);
  int want = 0;
  for (int x : in)
    want += x;
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), part = r.out<int>(4),
             done = r.inout(std::vector<unsigned>(1)), y = r.out<int>(1);
    r.launch("last_block", {4}, {64}, 0, x, part, done, y);
    EXPECT_EQ(r.read<int>(y)[0], want);
    EXPECT_EQ(r.read<unsigned>(done)[0], 0u);
  });
}
