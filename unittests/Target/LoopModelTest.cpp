//===- LoopModelTest.cpp - where polynomials pay --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Target/LoopModel.h"

#include <gtest/gtest.h>

using namespace mlir::fa;

namespace {

LoopCosts costsOf(const char *target, int64_t headDim) {
  std::string error;
  return estimateLoopCosts(*lookupTarget(target, error), headDim, headDim);
}

} // namespace

TEST(LoopModel, CyclesOfEachPipe) {
  // 32 scores of 2 * 64 multiply-adds each, of which a quarter does 512.
  EXPECT_EQ(costsOf("sm_90a", 64).tensor, 8);
  EXPECT_EQ(costsOf("sm_80", 64).tensor, 16);
  EXPECT_EQ(costsOf("sm_90a", 64).special, 8);
  EXPECT_EQ(getLongestPipe({3, 8, 5, 9}, 0), 8);
  EXPECT_EQ(getLongestPipe({3, 8, 5, 9}, 4), 7); // 5 + 8/4 beside 8 * 3/4
  EXPECT_EQ(getLongestPipe({3, 8, 5, 9}, 8), 7); // 8 * 7/8 beside 5 + 8/8
  EXPECT_EQ(getLongestPipe({9, 8, 5, 9}, 8), 9);
}

TEST(LoopModel, NoTargetGainsByPolynomials) {
  for (const TargetInfo &target : supportedTargets())
    for (int64_t headDim = 16; headDim <= 256; headDim += 16)
      EXPECT_EQ(choosePolynomial(estimateLoopCosts(target, headDim, headDim)),
                0)
          << target.name.str() << " " << headDim;
  // The most that there would be, of small head dims on sm_90a: 14 %.
  LoopCosts costs = costsOf("sm_90a", 16);
  EXPECT_NEAR(getLongestPipe(costs, 7) / getLongestPipe(costs, 0), 0.86, 0.005);
}

TEST(LoopModel, WhereTheyPayTheBestShareIsTaken) {
  // Tensor cores twice as fast, and two numbers in an instruction.
  LoopCosts costs{4, 8, 4.5, 5};
  int64_t best = choosePolynomial(costs);
  EXPECT_EQ(best, 3); // 5.33 beside 5.83; 4 makes them 6 and 5.5
  // As many exponentials as products: nothing to gain, whatever they cost.
  costs.tensor = 8;
  EXPECT_EQ(choosePolynomial(costs), 0);
  // A little more than products: not enough.
  costs.tensor = 7;
  EXPECT_EQ(choosePolynomial(costs), 0);
}
