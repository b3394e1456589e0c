//===- LongPairsTest.cpp - each clause with each other, in picked tiles ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All pairs (Pairs.h) with the schedule that the compiler picks for head dims
// that are in use. Under the label `long`, for each target.
//
//===----------------------------------------------------------------------===//
#include "Pairs.h"

using namespace farun::test;

namespace {

class PickedPairs : public testing::TestWithParam<std::tuple<int64_t, size_t>> {
};

TEST_P(PickedPairs, WithEachBehindIt) {
  auto [dim, number] = GetParam();
  Form form{.headDim = dim, .valueDim = dim, .schedule = ""};
  // Beyond two tiles of rows and of keys of any schedule, and one row.
  runPairs(number, form, {{1, 3, 3, 400, 421}, {1, 3, 3, 1, 300}});
}

INSTANTIATE_TEST_SUITE_P(
    , PickedPairs,
    testing::Combine(testing::Values(64, 128),
                     testing::Range(size_t(0), pairFeatures().size() - 1)),
    [](const auto &info) {
      return pairFeatures()[std::get<1>(info.param)] + "_d" +
             std::to_string(std::get<0>(info.param));
    });

} // namespace
