//===- TilesTest.cpp - transposes and the like by nvcc ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/tiles.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <algorithm>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kFile = "CUDA/Inputs/tiles";

template <typename T>
static void transposes(const std::string &kernel, int rows, int columns) {
  std::vector<T> in(size_t(rows * columns)), want(in.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      want[size_t(c * rows + r)] = in[size_t(r * columns + c)] =
          T(r * 7 + c * 3);
  unsigned gx = unsigned(columns + 31) / 32, gy = unsigned(rows + 31) / 32;
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<T>(in.size());
    r.launch(kernel, {gx, gy}, {32, 8}, 0, x, y, rows, columns);
    EXPECT_EQ(r.read<T>(y), want);
  });
}
TEST(Tiles, transposes) {
  transposes<float>("transpose_f32", 64, 32);
  transposes<float>("transpose_f32", 45, 70);
  transposes<double>("transpose_f64", 33, 31);
  transposes<uint8_t>("transpose_u8", 50, 40);
}

TEST(Tiles, histogram) {
  std::vector<uint8_t> in;
  for (int v : integers(2000, 0, 255))
    in.push_back(uint8_t(v));
  std::vector<unsigned> want(64);
  for (uint8_t v : in)
    ++want[v / 4];
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.inout(std::vector<unsigned>(64));
    r.launch("histogram", {3}, {128}, 0, x, 2000, y);
    EXPECT_EQ(r.read<unsigned>(y), want);
  });
}

TEST(Tiles, compact) {
  std::vector<int> in = integers(500, -50, 50), want;
  for (int v : in)
    if (v > 0)
      want.push_back(v);
  std::sort(want.begin(), want.end());
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<int>(512),
             count = r.inout(std::vector<int>{0});
    r.launch("compact", {4}, {128}, 0, x, 500, y, count);
    EXPECT_EQ(r.read<int>(count)[0], int(want.size()));
    std::vector<int> got = r.read<int>(y);
    got.resize(want.size());
    std::sort(got.begin(), got.end()); // warps come in any order
    EXPECT_EQ(got, want);
  });
}

TEST(Tiles, stencil) {
  constexpr int h = 20, w = 37;
  std::vector<float> in = eighths(h * w), want(h * w);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      float s = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
          s += in[size_t(std::clamp(y + j, 0, h - 1) * w +
                         std::clamp(x + i, 0, w - 1))];
      want[size_t(y * w + x)] = s * (1.0f / 9);
    }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<float>(h * w);
    r.launch("stencil", {3, 2}, {16, 16}, 0, x, y, h, w);
    EXPECT_EQ(r.read<float>(y), want);
  });
}

TEST(Tiles, axpyInVectors) {
  std::vector<float> x = eighths(203), y = eighths(203, 2), want = y;
  for (size_t i = 0; i < x.size(); ++i)
    want[i] += 3 * x[i];
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t a = r.in(x), b = r.inout(y);
    r.launch("axpy_vectors", {2}, {32}, 0, 3.0f, a, b, 203);
    EXPECT_EQ(r.read<float>(b), want);
  });
}
