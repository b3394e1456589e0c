//===- TargetInfoTest.cpp - the table of chips ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Figures that a schedule depends on are stated here a second time, in bytes,
// so that a slip in the table's units shows.
//
//===----------------------------------------------------------------------===//
#include "fa/Target/TargetInfo.h"

#include <gtest/gtest.h>

using namespace mlir::fa;

TEST(TargetInfo, BytesOfABlockAndOfTheCache) {
  struct Row {
    const char *name;
    int64_t shared, cache;
  };
  constexpr Row rows[] = {
      {"sm_80", 166912, 41943040},  {"sm_86", 101376, 6291456},
      {"sm_87", 166912, 4194304},   {"sm_89", 101376, 100663296},
      {"sm_90", 232448, 52428800},  {"sm_90a", 232448, 52428800},
      {"sm_120", 101376, 100663296}};
  for (const Row &row : rows) {
    std::string error;
    const TargetInfo *target = lookupTarget(row.name, error);
    ASSERT_TRUE(target) << error;
    EXPECT_EQ(target->maxDynamicSharedBytes, row.shared) << row.name;
    EXPECT_EQ(target->cacheBytes, row.cache) << row.name;
    EXPECT_EQ(target->staticSharedBytes, 49152);
    EXPECT_EQ(target->maxDynamicSharedBytes + target->reservedSharedBytes,
              target->sharedBytesPerMultiprocessor);
  }
  EXPECT_EQ(supportedTargets().size(), std::size(rows));
}

TEST(TargetInfo, MatrixProducts) {
  std::string error;
  const TargetInfo *sm80 = lookupTarget("sm_80", error);
  for (MmaElement element : {MmaElement::F16, MmaElement::BF16}) {
    EXPECT_TRUE(sm80->hasMma(element, 16, 8, 16));
    EXPECT_FALSE(sm80->hasMma(element, 16, 8, 8));
  }
  EXPECT_FALSE(sm80->hasMma(MmaElement::F8, 16, 8, 32));
  EXPECT_TRUE(lookupTarget("sm_89", error)->hasMma(MmaElement::F8, 16, 8, 32));
}

TEST(TargetInfo, RefusalsNameWhatIsAccepted) {
  std::string error;
  EXPECT_EQ(lookupTarget("sm_100a", error), nullptr);
  EXPECT_EQ(error, "target 'sm_100a' is not supported yet; supported: sm_80, "
                   "sm_86, sm_87, sm_89, sm_90, sm_90a, sm_120");
  EXPECT_EQ(lookupTarget("sm_999", error), nullptr);
  EXPECT_EQ(error, "target 'sm_999' is unknown; supported: sm_80, sm_86, "
                   "sm_87, sm_89, sm_90, sm_90a, sm_120");
}

TEST(TargetInfo, ClustersAreOfTheNumberProductsOfWarpgroupsOfTheLetter) {
  std::string error;
  for (auto [name, hasClusters, hasProducts] :
       {std::tuple("sm_80", false, false),
        {"sm_89", false, false},
        {"sm_90", true, false},
        {"sm_90a", true, true},
        {"sm_120", true, false}}) {
    EXPECT_EQ(lookupTarget(name, error)->hasClusters, hasClusters) << name;
    EXPECT_EQ(lookupTarget(name, error)->hasWarpgroupProducts, hasProducts)
        << name;
  }
}

TEST(TargetInfo, WarpgroupsShareTheRegistersOfAMultiprocessor) {
  for (int64_t consumers : {1, 2, 3}) {
    RegisterShares shares = getRegisterShares(consumers);
    int64_t threads = 128 * (consumers + 1);
    // A launch gives each thread the same, in steps of 8.
    EXPECT_LE(shares.launched, std::min<int64_t>(65536 / threads / 8 * 8, 256));
    EXPECT_LE(128 * (shares.producer + consumers * shares.consumer),
              threads * shares.launched);
    // Who had to give some back would be compiled worse.
    EXPECT_GT(shares.consumer, shares.launched);
    EXPECT_EQ(shares.producer % 8, 0);
    EXPECT_EQ(shares.consumer % 8, 0);
  }
}
