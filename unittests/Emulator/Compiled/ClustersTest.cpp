//===- ClustersTest.cpp - clusters by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/clusters.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

using namespace ptxvm::test;

static const char *const kFile = "CUDA/Inputs/clusters";

TEST(Clusters, blocksReadTheNextOnesNumbers) {
  std::vector<int> in = integers(512, 0, 999), want(512);
  for (size_t i = 0; i < 512; ++i) {
    size_t block = i / 64, next = block / 4 * 4 + (block + 1) % 4;
    want[i] = in[next * 64 + i % 64];
  }
  forAll(kFile, {"sm_90a"}, [&](Session &r) {
    r.cluster = {4};
    uint64_t x = r.in(in), y = r.out<int>(512);
    r.launch("rotate_blocks", {8}, {64}, 0, x, y);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Clusters, histogramSpreadOverTheCluster) {
  std::vector<int> in = integers(500, 0, 39), want(40);
  for (int x : in)
    ++want[size_t(x)];
  forAll(kFile, {"sm_90a"}, [&](Session &r) {
    r.cluster = {4};
    uint64_t x = r.in(in), y = r.inout(std::vector<int>(40));
    r.launch("spread_histogram", {8}, {32}, 40, x, 500, y, 10);
    EXPECT_EQ(r.read<int>(y), want);
  });
}

TEST(Clusters, sum) {
  std::vector<float> in = eighths(128), want(2);
  for (size_t i = 0; i < 128; ++i)
    want[i / 64] += in[i];
  forAll(kFile, {"sm_90a"}, [&](Session &r) {
    r.cluster = {2};
    uint64_t x = r.in(in), y = r.out<float>(2);
    r.launch("cluster_sum", {4}, {32}, 0, x, y);
    EXPECT_EQ(r.read<float>(y), want);
  });
}
