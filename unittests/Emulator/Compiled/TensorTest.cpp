//===- TensorTest.cpp - mma.sync by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/tensor.cu. Numbers are small, so that sums are exact in
// every order and type.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"
#include "Types.h"

#include <algorithm>

using namespace ptxvm::test;

static const char *const kFile = "CUDA/Inputs/tensor";

TEST(Tensor, pipelinedProduct) {
  constexpr int m = 128, n = 64, k = 96;
  std::vector<int> a = integers(m * k, -4, 4), b = integers(n * k, -4, 4, 2);
  std::vector<float> want = product(a, b, m, n, k);
  forAll(kFile, {"sm_80", "sm_89", "sm_90a"}, [&](Session &r) {
    uint64_t x = r.in(encodeAll<uint16_t>("f16", a)),
             y = r.in(encodeAll<uint16_t>("f16", b)), c = r.out<float>(m * n);
    r.launch("gemm_f16", {n / 64, m / 64}, {128}, 0, x, y, c, n, k);
    EXPECT_EQ(r.read<float>(c), want);
  });
}

/// 16 x 8 with 1, 2, 3, 4 in the accumulators of each lane.
template <typename T, typename D>
static void tile(const std::string &kernel, const std::string &typeA,
                 const std::string &typeB, int k,
                 const std::vector<std::string> &arches, int least = -4) {
  std::vector<int> a = integers(size_t(16 * k), std::max(least, -4), 4);
  std::vector<int> b = integers(size_t(8 * k), -4, 4, 2);
  if (typeB == "u8" || typeB == "b1")
    for (int &v : b)
      v = v < 0 ? -v : v;
  std::vector<float> sums = product(a, b, 16, 8, k);
  std::vector<D> want;
  for (int i = 0; i < 128; ++i)
    want.push_back(D(sums[size_t(i)]) + D(1 + i / 64 * 2 + i % 2));
  forAll(kFile, arches, [&](Session &r) {
    uint64_t x = r.in(encodeAll<T>(typeA, a)), y = r.in(encodeAll<T>(typeB, b)),
             d = r.out<D>(128);
    r.launch(kernel, {1}, {32}, 0, x, y, d);
    EXPECT_EQ(r.read<D>(d), want);
  });
}

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};

TEST(Tensor, bf16) {
  tile<uint16_t, float>("tile_bf16", "bf16", "bf16", 16, kAll);
}
TEST(Tensor, tf32) {
  tile<uint32_t, float>("tile_tf32", "tf32", "tf32", 8, kAll);
}
TEST(Tensor, fp8) {
  tile<uint8_t, float>("tile_e4m3", "e4m3", "e4m3", 32, {"sm_89", "sm_90a"});
  tile<uint8_t, float>("tile_e5m2", "e5m2", "e4m3", 32, {"sm_89", "sm_90a"});
}
TEST(Tensor, bytes) {
  tile<uint8_t, int>("tile_s8", "s8", "s8", 32, kAll);
  tile<uint8_t, int>("tile_u8s8", "u8", "s8", 32, kAll, 0);
}

TEST(Tensor, fourBitsAndOne) {
  std::vector<int> a = integers(16 * 64, -8, 7), b = integers(8 * 64, -8, 7, 2);
  std::vector<int> p = integers(16 * 256, 0, 1), q = integers(8 * 256, 0, 1, 2);
  std::vector<float> sums = product(a, b, 16, 8, 64),
                     ones = product(p, q, 16, 8, 256);
  std::vector<int> want, wantOnes;
  for (int i = 0; i < 128; ++i) {
    want.push_back(int(sums[size_t(i)]) + 1 + i / 64 * 2 + i % 2);
    wantOnes.push_back(int(ones[size_t(i)]) + 1 + i / 64 * 2 + i % 2);
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(packBits(a, 4)), y = r.in(packBits(b, 4)),
             d = r.out<int>(128), u = r.in(packBits(p, 1)),
             v = r.in(packBits(q, 1)), e = r.out<int>(128);
    r.launch("tile_s4", {1}, {32}, 0, x, y, d);
    EXPECT_EQ(r.read<int>(d), want);
    r.launch("tile_b1", {1}, {32}, 0, u, v, e);
    EXPECT_EQ(r.read<int>(e), wantOnes);
  });
}

TEST(Tensor, doubles) {
  std::vector<int> a = integers(32, -99, 99), b = integers(32, -99, 99, 2);
  std::vector<double> x(a.begin(), a.end()), y(b.begin(), b.end()), want;
  std::vector<float> sums = product(a, b, 8, 8, 4);
  for (int i = 0; i < 64; ++i)
    want.push_back(double(sums[size_t(i)]) + 1 + i % 2);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t p = r.in(x), q = r.in(y), d = r.out<double>(64);
    r.launch("tile_f64", {1}, {32}, 0, p, q, d);
    EXPECT_EQ(r.read<double>(d), want);
  });
}

TEST(Tensor, halvesThroughTransposes) {
  std::vector<int> a = integers(256, -4, 4), b = integers(128, -4, 4, 2);
  // B comes row by row of K.
  std::vector<int> rows(128), want;
  for (int k = 0; k < 16; ++k)
    for (int n = 0; n < 8; ++n)
      rows[size_t(k * 8 + n)] = b[size_t(n * 16 + k)];
  for (float v : product(a, b, 16, 8, 16))
    want.push_back(int(v));
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(encodeAll<uint16_t>("f16", a)),
             y = r.in(encodeAll<uint16_t>("f16", rows)),
             d = r.out<uint16_t>(128);
    r.launch("tile_f16", {1}, {32}, 0, x, y, d);
    EXPECT_EQ(r.read<uint16_t>(d), encodeAll<uint16_t>("f16", want));
  });
}
