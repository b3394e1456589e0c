//===- ReductionsTest.cpp - sums and scans by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/reductions.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <algorithm>
#include <numeric>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kFile = "CUDA/Inputs/reductions";

TEST(Reductions, warpSums) {
  std::vector<float> in = eighths(256), want(8);
  for (size_t i = 0; i < in.size(); ++i)
    want[i / 32] += in[i];
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<float>(8);
    r.launch("warp_sums", {2}, {128}, 0, x, y);
    EXPECT_EQ(r.read<float>(y), want);
  });
}

TEST(Reductions, warpRedux) {
  std::vector<int> in = integers(64, -1000, 1000), want;
  for (auto at = in.begin(); at != in.end(); at += 32) {
    want.push_back(std::accumulate(at, at + 32, 0));
    want.push_back(*std::min_element(at, at + 32));
    want.push_back(*std::max_element(at, at + 32));
    want.push_back(std::accumulate(at, at + 32, 0, std::bit_or<int>()));
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(8);
    r.launch("warp_redux", {1}, {64}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Reductions, gridSum) {
  std::vector<float> in = eighths(3001);
  float want = std::accumulate(in.begin(), in.end(), 0.0f);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.inout(std::vector<float>{0});
    r.launch("grid_sum", {4}, {256}, 0, x, 3001, y);
    EXPECT_EQ(r.read<float>(y)[0], want);
  });
}

TEST(Reductions, blockArgmax) {
  std::vector<int> in = integers(1000, -500, 500);
  int place = int(std::max_element(in.begin(), in.end()) - in.begin());
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(2);
    r.launch("block_argmax", {1}, {256}, 0, x, 1000, y);
    EXPECT_EQ(r.read<int>(y), (std::vector<int>{in[place], place}));
  });
}

TEST(Reductions, scans) {
  std::vector<int> in = integers(512, -9, 9), blocks = in, tree(512);
  for (size_t i = 0; i < 512; i += 256)
    std::partial_sum(in.begin() + i, in.begin() + i + 256, blocks.begin() + i);
  std::exclusive_scan(in.begin(), in.end(), tree.begin(), 0);
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(512), z = r.out<int>(512);
    r.launch("block_scan", {2}, {256}, 0, x, y);
    r.launch("tree_scan", {1}, {256}, 0, x, z);
    EXPECT_EQ(r.read<int>(y), blocks);
    EXPECT_EQ(r.read<int>(z), tree);
  });
}
