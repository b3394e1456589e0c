//===- MemoryTest.cpp - spaces and parameters by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/memory.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <algorithm>
#include <cstring>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kFile = "CUDA/Inputs/memory";

TEST(Memory, constantsAndGlobals) {
  const float weights[] = {0.5f, 1, 2, 4, 8, 16, 32, 64};
  const int shorts[] = {-3, 7, -32768, 32767};
  const char text[] = "sixteen letters!";
  const float table[] = {1.5f, -2.25f};
  std::vector<int> index = integers(32, 0, 100);
  std::vector<float> want;
  for (int i = 0; i < 32; ++i)
    want.push_back(weights[index[size_t(i)] & 7] + float(shorts[i & 3]) +
                   float(text[i & 15]) + table[i % 2]);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(index), y = r.out<float>(32), z = r.out<int>(32);
    r.launch("constants", {1}, {32}, 0, x, y);
    EXPECT_EQ(r.read<float>(y), want);
    r.launch("globals", {1}, {32}, 0, z);
    EXPECT_EQ(r.read<int>(z), std::vector<int>(32, 41));
  });
}

namespace {
struct Parameters {
  int n = 20;
  float scale[5] = {1, 2.5f, -3, 4, 0.5f};
  struct {
    short a = -7;
    double b = 9.5;
  } inner;
  uint64_t out;
  char tail = 3;
};
} // namespace

TEST(Memory, structures) {
  Parameters p;
  std::vector<int> want(20), constants(20);
  for (int i = 0; i < 20; ++i) {
    want[size_t(i)] = int(p.scale[i % 5] * 2) - 7 + 9 + 3 + 'x';
    constants[size_t(i)] = int(p.scale[i % 5] * 4);
  }
  forAll(kFile, kAll, [&](Session &r) {
    p.out = r.out<int>(20);
    r.launch("structure", {1}, {32}, 0, p, 'x');
    EXPECT_EQ(r.read<int>(p.out), want);
    r.launch("grid_constant", {1}, {32}, 0, p);
    EXPECT_EQ(r.read<int>(p.out), constants);
  });
}

TEST(Memory, reverseInDynamicSharedMemory) {
  std::vector<int> in = integers(300, -9, 9), want = in;
  std::reverse(want.begin(), want.begin() + 150);
  std::reverse(want.begin() + 150, want.end());
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(300);
    r.launch("reverse", {2}, {64}, 600, x, y, 150);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Memory, cacheHints) {
  std::vector<int> a = integers(64, -100, 100);
  std::vector<short> b;
  std::vector<int8_t> c;
  for (int i = 0; i < 32; ++i) {
    b.push_back(short(i * 37 - 500));
    c.push_back(int8_t(i * 5 - 80));
  }
  std::vector<int> want;
  for (size_t i = 0; i < 32; ++i)
    for (int sign : {1, -1})
      for (int v : {sign * a[i], int(b[i]), 2 * c[i], a[i] + a[32 + i]})
        want.push_back(v);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(a), y = r.in(b), z = r.in(c), o = r.out<int>(256);
    r.launch("hints", {1}, {32}, 0, x, y, z, o);
    EXPECT_EQ(r.read<int>(o), want);
  });
}

TEST(Memory, vectors) {
  std::vector<int8_t> a;
  std::vector<short> b;
  std::vector<double> c;
  std::vector<int64_t> d, want;
  for (int i = 0; i < 32; ++i) {
    int8_t x[] = {int8_t(i - 16), int8_t(-i), 7, int8_t(3 * i)};
    short y[] = {short(-1000 * i), short(999)};
    double z[] = {i + 0.5, -2.0 * i};
    int64_t w[] = {int64_t(i) << 40, -int64_t(i)};
    a.insert(a.end(), x, x + 4);
    b.insert(b.end(), y, y + 2);
    c.insert(c.end(), z, z + 2);
    d.insert(d.end(), w, w + 2);
    want.push_back(x[0] + x[1] * 2 + x[2] * 3 + x[3] * 4 + y[0] * 5 + y[1] * 6 +
                   int64_t(z[0] * z[1]) + w[0] - w[1]);
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t p = r.in(a), q = r.in(b), s = r.in(c), t = r.in(d),
             o = r.out<int64_t>(32);
    r.launch("vectors", {1}, {32}, 0, p, q, s, t, o);
    EXPECT_EQ(r.read<int64_t>(o), want);
  });
}

TEST(Memory, localAndGenericAddresses) {
  std::vector<int> in = integers(256, -99, 99), sorted = in;
  for (auto at = sorted.begin(); at != sorted.end(); at += 8)
    std::sort(at, at + 8);
  std::vector<int> sums;
  for (int i = 0; i < 32; ++i) {
    auto at = [&](int k) { return in[size_t(k)]; };
    int g = at(i) + at(i + 1) + at(i + 2) + at(i + 3), k = i & 28;
    int s = at(k) + at(k + 1) + at(k + 2) + at(k + 3) + 4;
    sums.push_back(i % 3 == 0 ? g : i % 3 == 1 ? s : 6 * at(i));
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(256), z = r.out<int>(32);
    r.launch("local_sort", {1}, {32}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), sorted);
    r.launch("generic", {1}, {32}, 0, x, z);
    EXPECT_EQ(r.read<int>(z), sums);
  });
}
