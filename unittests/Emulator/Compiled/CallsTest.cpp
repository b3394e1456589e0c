//===- CallsTest.cpp - functions and tables by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/calls.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <algorithm>
#include <bit>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kFile = "CUDA/Inputs/calls";

static uint32_t reversed(uint32_t x) {
  uint32_t r = 0;
  for (int b = 0; b < 32; ++b)
    r |= (x >> b & 1) << (31 - b);
  return r;
}

TEST(Calls, recursion) {
  std::vector<int> fib = {0, 1}, want;
  for (size_t i = 2; i < 12; ++i)
    fib.push_back(fib[i - 1] + fib[i - 2]);
  for (size_t i = 0; i < 32; ++i)
    want.push_back(fib[i % 12]);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t y = r.out<int>(32);
    r.launch("recursion", {1}, {32}, 0, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Calls, pointers) {
  std::vector<int> which = integers(64, 0, 2), want;
  for (int i = 0; i < 64; ++i)
    want.push_back(which[size_t(i)] == 0   ? 2 * i
                   : which[size_t(i)] == 1 ? i * i
                                           : -i);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(which), y = r.out<int>(64);
    r.launch("pointers", {1}, {64}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Calls, cases) {
  std::vector<int> op = integers(64, -1, 10), want;
  for (int i = 0; i < 64; ++i) {
    int x = i + 1;
    switch (op[size_t(i)]) {
    case 0:
      want.push_back(x * 7);
      break;
    case 1:
      want.push_back(x ^ 0x5A5A);
      break;
    case 2:
      want.push_back(std::popcount(unsigned(x)) + 100);
      break;
    case 3:
      want.push_back(int(reversed(uint32_t(x))));
      break;
    case 4:
      want.push_back(x % 7);
      break;
    case 5:
      want.push_back(x << 5 | 3);
      break;
    case 6:
      want.push_back(std::countl_zero(unsigned(x)));
      break;
    case 7:
      want.push_back(x / 3 - 9);
      break;
    case 8:
      want.push_back(std::min(x, 11));
      break;
    case 9:
      want.push_back(std::bit_cast<int>(float(x)));
      break;
    default:
      want.push_back(-1);
    }
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(op), y = r.out<int>(64);
    r.launch("cases", {1}, {64}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Calls, structures) {
  std::vector<double> want;
  for (int i = 0; i < 32; ++i) {
    double s = (1 + i + 2) + 0.5 * i * 2;
    for (int k = 0; k < 5; ++k) // twice moved on
      s += int8_t(k + 1 + i + 2);
    want.push_back(s);
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t y = r.out<double>(32);
    r.launch("structures", {1}, {32}, 0, y);
    EXPECT_EQ(r.read<double>(y), want);
  });
}

TEST(Calls, virtuals) {
  std::vector<float> want;
  for (int i = 0; i < 32; ++i)
    want.push_back(float(i % 2 ? 3 * i * i : i * i));
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t y = r.out<float>(32);
    r.launch("virtuals", {1}, {32}, 0, y);
    EXPECT_EQ(r.read<float>(y), want);
  });
}

TEST(Calls, loopsThatLanesLeaveOneByOne) {
  std::vector<int> want;
  for (unsigned i = 0; i < 64; ++i) {
    int steps = 0;
    bool isDone = false;
    for (int limit = 1; limit <= 64 && !isDone; limit *= 2) {
      unsigned x = i + 1;
      for (int k = 0; k < limit && !isDone; ++k) {
        isDone = x == 1;
        if (isDone)
          break;
        x = x & 1 ? 3 * x + 1 : x / 2;
        ++steps;
      }
    }
    want.push_back(steps);
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t y = r.out<int>(64);
    r.launch("collatz", {1}, {64}, 0, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}
