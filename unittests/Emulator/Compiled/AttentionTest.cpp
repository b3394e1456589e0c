//===- AttentionTest.cpp - attention with roles for the warpgroups --------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/attention.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"
#include "Types.h"

#include "fa/Emulator/TensorMap.h"
#include "fa/Support/Float16.h"

#include <cmath>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
constexpr int kDepth = 64, kSharedBytes = 2 * 8192 + 4 * 16384;

/// Boxes of whole rows with the 128-byte swizzle.
TensorMap mapOf(uint64_t address, int rows, uint32_t boxRows) {
  TensorMapShape s;
  s.type = TensorType::F16;
  s.rank = 2;
  s.address = address;
  s.dims = {kDepth, uint64_t(rows)};
  s.strides = {kDepth * 2};
  s.box = {kDepth, boxRows};
  s.swizzle = TensorSwizzle::Bytes128;
  auto map = encodeTiled(s);
  EXPECT_TRUE(bool(map));
  return map ? *map : TensorMap{};
}

/// Eighths from -2 to 2, which f16 holds.
struct Matrix {
  std::vector<int> eighths;
  std::vector<uint16_t> bits;

  Matrix(int rows, unsigned seed)
      : eighths(integers(size_t(rows * kDepth), -16, 16, seed)) {
    for (int v : eighths)
      bits.push_back(farun::toF16Bits(v / 8.0));
  }
  double operator()(int row, int column) const {
    return eighths[size_t(row * kDepth + column)] / 8.0;
  }
};

std::vector<double> softmaxProduct(const Matrix &q, const Matrix &k,
                                   const Matrix &v, int rows, int keys) {
  std::vector<double> out;
  for (int i = 0; i < rows; ++i) {
    std::vector<double> sums(kDepth, 0);
    double total = 0;
    for (int j = 0; j < keys; ++j) {
      double dot = 0;
      for (int e = 0; e < kDepth; ++e)
        dot += q(i, e) * k(j, e);
      double p = std::exp(dot / 8);
      total += p;
      for (int e = 0; e < kDepth; ++e)
        sums[size_t(e)] += p * v(j, e);
    }
    for (double sum : sums)
      out.push_back(sum / total);
  }
  return out;
}
} // namespace

// Five blocks of keys: each of the two stages is filled more than once.
TEST(Attention, producerAndConsumers) {
  constexpr int kRows = 256, kKeys = 640;
  Matrix q(kRows, 1), k(kKeys, 2), v(kKeys, 3);
  std::vector<double> want = softmaxProduct(q, k, v, kRows, kKeys);
  float scale = float(0.125 * 1.4426950408889634);
  forAll("CUDA/Inputs/attention", {"sm_90a"}, [&](Session &r) {
    uint64_t x = r.in(q.bits), y = r.in(k.bits), z = r.in(v.bits),
             o = r.out<uint16_t>(want.size());
    r.launch("attention", {kRows / 128}, {384}, kSharedBytes,
             mapOf(x, kRows, 64), mapOf(y, kKeys, 128), mapOf(z, kKeys, 128),
             mapOf(o, kRows, 64), kKeys / 128, scale);
    std::vector<uint16_t> got = r.read<uint16_t>(o);
    // P is rounded to f16, and so is the result.
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(farun::fromF16Bits(got[i]), want[i], 2e-3) << i;
  });
}
