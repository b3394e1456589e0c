//===- HopperTest.cpp - wgmma and TMA by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/hopper.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"
#include "Types.h"

#include "fa/Emulator/TensorMap.h"

using namespace ptxvm;
using namespace ptxvm::test;

static const char *const kFile = "CUDA/Inputs/hopper";

namespace {
struct Product64 {
  int m, n, k;
  std::vector<int> a = integers(size_t(m * k), -4, 4);
  std::vector<int> b = integers(size_t(n * k), -4, 4, 2);
  std::vector<float> c = product(a, b, m, n, k);

  Product64(int m, int n, int k) : m(m), n(n), k(k) {}
  std::vector<uint16_t> halfA() { return encodeAll<uint16_t>("f16", a); }
  std::vector<uint16_t> halfB() { return encodeAll<uint16_t>("f16", b); }
};
} // namespace

TEST(Hopper, wgmmaOnTilesFilledByHand) {
  Product64 p(128, 64, 192);
  for (const char *kernel : {"hand_filled", "register_a"})
    forAll(kFile, {"sm_90a"}, [&](Session &r) {
      uint64_t a = r.in(p.halfA()), b = r.in(p.halfB()),
               c = r.out<float>(p.c.size());
      r.launch(kernel, {1, 2}, {128}, 16384, a, b, c, p.n, p.k);
      EXPECT_EQ(r.read<float>(c), p.c);
    });
}

/// Boxes of 64 rows of 64 halves with the 128-byte swizzle.
static TensorMap mapOf(uint64_t address, int rows, int columns) {
  TensorMapShape s;
  s.type = TensorType::F16;
  s.rank = 2;
  s.address = address;
  s.dims = {uint64_t(columns), uint64_t(rows)};
  s.strides = {uint64_t(columns) * 2};
  s.box = {64, 64};
  s.swizzle = TensorSwizzle::Bytes128;
  auto map = encodeTiled(s);
  EXPECT_TRUE(bool(map));
  return map ? *map : TensorMap{};
}

TEST(Hopper, tmaPipeline) {
  Product64 p(64, 128, 320);
  forAll(kFile, {"sm_90a"}, [&](Session &r) {
    uint64_t a = r.in(p.halfA()), b = r.in(p.halfB()),
             c = r.out<float>(p.c.size());
    r.launch("tma_pipeline", {2, 1}, {128}, 3 * 16384, mapOf(a, p.m, p.k),
             mapOf(b, p.n, p.k), c, p.n, p.k);
    EXPECT_EQ(r.read<float>(c), p.c);
  });
}

TEST(Hopper, warpgroupsWithRoles) {
  Product64 p(128, 128, 320);
  std::vector<int> sums(p.c.begin(), p.c.end());
  std::vector<uint16_t> want;
  for (int v : sums)
    want.push_back(uint16_t(encode("f16", v)));
  forAll(kFile, {"sm_90a"}, [&](Session &r) {
    uint64_t a = r.in(p.halfA()), b = r.in(p.halfB()),
             c = r.out<uint16_t>(p.c.size());
    r.launch("roles", {2, 1}, {384}, 3 * 3 * 8192 + 2 * 8192,
             mapOf(a, p.m, p.k), mapOf(b, p.n, p.k), mapOf(c, p.m, p.n), p.k);
    EXPECT_EQ(r.read<uint16_t>(c), want);
  });
}
