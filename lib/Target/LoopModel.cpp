//===- LoopModel.cpp - what a loop over keys takes at least ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Target/LoopModel.h"

#include <algorithm>

namespace mlir::fa {

/// A warp's special functions, 4 lanes a clock.
static constexpr double kSpecialCycles = 8;

/// Instructions for a score beside the products: maximum, exponent,
/// exponential, sum, half a conversion, and what the block has for each. Head
/// dim 64 on sm_90a, which has the fewest of all.
static constexpr double kIssuePerScore = 5.6;

/// Those of a polynomial of degree 4 (fa/GPU/Exp2Polynomial.h): a clamp, three
/// to take the whole number out, four products, two to put it back.
static constexpr double kPolynomialIssue = 10;

/// A share that is computed otherwise must shorten the bound by so much. A
/// bound is no time: what a loop loses by its own order is up to 13 % (`async`
/// in docs/Benchmarks.md), which no share of the exponentials gives back.
static constexpr double kLeastGain = 0.15;

/// Shares that are tried: a smaller one changes nothing that counts.
static constexpr int64_t kLargestPolynomial = 32;

LoopCosts estimateLoopCosts(const TargetInfo &target, int64_t headDim,
                            int64_t valueDim) {
  double multiplyAdds = static_cast<double>(kWarpSize * (headDim + valueDim));
  return {multiplyAdds / static_cast<double>(target.multiplyAdds),
          kSpecialCycles, kIssuePerScore, kPolynomialIssue};
}

double getLongestPipe(const LoopCosts &costs, int64_t polynomial) {
  double share = polynomial == 0 ? 0 : 1.0 / static_cast<double>(polynomial);
  return std::max({costs.tensor, (1 - share) * costs.special,
                   costs.issue + share * (costs.polynomial - 1)});
}

int64_t choosePolynomial(const LoopCosts &costs) {
  double none = getLongestPipe(costs, 0), least = none;
  int64_t best = 0;
  for (int64_t polynomial = kLargestPolynomial; polynomial >= 1; --polynomial) {
    double cycles = getLongestPipe(costs, polynomial);
    if (cycles < least) {
      least = cycles;
      best = polynomial;
    }
  }
  return least <= (1 - kLeastGain) * none ? best : 0;
}

} // namespace mlir::fa
