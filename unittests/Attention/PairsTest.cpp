//===- PairsTest.cpp - each clause with each other ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All pairs (Pairs.h) in small tiles: several blocks of keys, full, partial and
// hidden ones.
//
//===----------------------------------------------------------------------===//
#include "Pairs.h"

using namespace farun::test;

namespace {

class Pairs : public testing::TestWithParam<size_t> {};

TEST_P(Pairs, WithEachBehindIt) {
  runPairs(GetParam(), {}, {{2, 6, 6, 70, 101}, {2, 6, 6, 129, 33}});
}

INSTANTIATE_TEST_SUITE_P(, Pairs,
                         testing::Range(size_t(0), pairFeatures().size() - 1),
                         [](const auto &info) {
                           return pairFeatures()[info.param];
                         });

} // namespace
