//===- SpeedOfLightTest.cpp - bounds by hand ------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each bound is computed by hand from the rates of the A100.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/SpeedOfLight.h"

#include <gtest/gtest.h>

using namespace farun;

namespace {
using Counts = std::vector<std::pair<std::string, double>>;

double secondsOf(const std::vector<Bound> &bounds,
                 const std::string &resource) {
  double sum = 0;
  for (const Bound &b : bounds)
    if (b.resource == resource)
      sum += b.seconds;
  return sum;
}

TEST(SpeedOfLight, boundsOfTheA100) {
  Counts counts = {{"warp_instructions", 4 * 108 * 1.41e3},
                   {"ctas", 1000},
                   {"global.loaded_sectors", 5120 * 1.41e3 / 32},
                   {"global.stored_sectors", 0},
                   {"global.touched_bytes", 2.039e6},
                   {"shared.wavefronts", 2 * 108 * 1.41e3},
                   {"mma.types.f16.flops", 312e6},
                   {"mma.types.bf16.flops", 312e6},
                   {"special.ex2", 16 * 108 * 1.41e3},
                   {"special.rcp", 16 * 108 * 1.41e3}};
  std::vector<Bound> bounds = computeBounds(*findChip("A100"), counts);
  EXPECT_NEAR(secondsOf(bounds, "issue"), 1e-6, 1e-12);
  EXPECT_NEAR(secondsOf(bounds, "L2"), 1e-6, 1e-12);
  EXPECT_NEAR(secondsOf(bounds, "memory"), 1e-6, 1e-12);
  EXPECT_NEAR(secondsOf(bounds, "shared"), 2e-6, 1e-12);
  EXPECT_NEAR(secondsOf(bounds, "tensor"), 2e-6, 1e-12);
  EXPECT_NEAR(secondsOf(bounds, "special"), 2e-6, 1e-12);
}

TEST(SpeedOfLight, fewCTAsUseFewSMs) {
  Counts counts = {{"ctas", 27}, {"mma.types.f16.flops", 312e6}};
  std::vector<Bound> bounds = computeBounds(*findChip("a100"), counts);
  EXPECT_NEAR(secondsOf(bounds, "tensor"), 4e-6, 1e-12);
}

TEST(SpeedOfLight, tableSaysWhatBinds) {
  Counts counts = {
      {"ctas", 200}, {"mma.types.e4m3.flops", 1e9}, {"special.ex2", 1e9}};
  std::string text = speedOfLightTable(*findChip("A100"), counts);
  EXPECT_NE(text.find("speed of light on A100, 108 of 108 SMs at 1.41 GHz"),
            std::string::npos);
  EXPECT_NE(text.find("no rate known"), std::string::npos) << text;
  EXPECT_NE(text.find("<- binds"), std::string::npos);
  EXPECT_NE(text.find("at least 410.428 us, by special; bounds from counts at "
                      "peak rates, not times"),
            std::string::npos)
      << text;
}

TEST(SpeedOfLight, chips) {
  EXPECT_EQ(chipNames(), "A100, H100, H200, L40S");
  EXPECT_EQ(findChip("B200"), nullptr);
  for (const Chip &chip : allChips())
    EXPECT_FALSE(chip.source.empty());
}
} // namespace
