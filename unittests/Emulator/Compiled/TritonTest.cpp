//===- TritonTest.cpp - kernels by Triton ---------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/Triton/kernels.py: mma.sync on sm_80, wgmma on sm_90a. The two
// last parameters are scratch memory that these kernels do not use.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"
#include "Types.h"

#include <bit>
#include <cmath>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};

TEST(Triton, matmulWithBordersInEveryDirection) {
  constexpr int m = 70, n = 80, k = 112;
  std::vector<int> a = integers(m * k, -4, 4), b = integers(n * k, -4, 4, 2);
  std::vector<float> want = product(a, b, m, n, k);
  std::vector<int> rows(k * n); // B comes row by row of K
  for (int e = 0; e < k; ++e)
    for (int j = 0; j < n; ++j)
      rows[size_t(e * n + j)] = b[size_t(j * k + e)];
  forAll("Triton/Inputs/matmul", kAll, [&](Session &r) {
    uint64_t x = r.in(encodeAll<uint16_t>("f16", a)),
             y = r.in(encodeAll<uint16_t>("f16", rows)),
             c = r.out<float>(m * n), none = 0;
    r.launch("matmul", {2, 2}, {128}, 24576, x, y, c, m, n, k, none, none);
    EXPECT_EQ(r.read<float>(c), want);
  });
}

static float half(uint16_t bits) {
  return float(std::bit_cast<_Float16>(bits));
}

TEST(Triton, causalAttention) {
  constexpr int heads = 2, s = 100, d = 64;
  constexpr float scale = 0.125f;
  auto numbers = [](unsigned seed) {
    std::vector<uint16_t> bits;
    for (float x : eighths(heads * s * d, seed))
      bits.push_back(std::bit_cast<uint16_t>(_Float16(x / 4)));
    return bits;
  };
  std::vector<uint16_t> q = numbers(1), k = numbers(2), v = numbers(3);
  std::vector<double> want, wantLse;
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < s; ++i) {
      std::vector<double> p(size_t(i) + 1);
      double total = 0;
      for (int j = 0; j <= i; ++j) {
        double dot = 0;
        for (int e = 0; e < d; ++e)
          dot += double(half(q[size_t((h * s + i) * d + e)])) *
                 half(k[size_t((h * s + j) * d + e)]);
        total += p[size_t(j)] = std::exp(dot * scale);
      }
      for (int e = 0; e < d; ++e) {
        double sum = 0;
        for (int j = 0; j <= i; ++j)
          sum += p[size_t(j)] * half(v[size_t((h * s + j) * d + e)]);
        want.push_back(sum / total);
      }
      wantLse.push_back(std::log2(total));
    }
  forAll("Triton/Inputs/attention", kAll, [&](Session &r) {
    uint64_t x = r.in(q), y = r.in(k), z = r.in(v),
             out = r.out<uint16_t>(q.size()), lse = r.out<float>(heads * s),
             none = 0;
    // Lanes that hold copies of one row store it to one place, all the same
    // value: a race by the memory model, told apart from those that matter.
    r.launch("attention", {2, heads}, {128}, 32768, x, y, z, out, lse, s, scale,
             none, none);
    std::vector<uint16_t> got = r.read<uint16_t>(out);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(half(got[i]), want[i], 3e-3) << i;
    std::vector<float> gotLse = r.read<float>(lse);
    for (size_t i = 0; i < wantLse.size(); ++i)
      ASSERT_NEAR(gotLse[i], wantLse[i], 1e-4) << i;
  });
}
