//===- ConfigurationTest.cpp - two hundred random attentions --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All clauses together as a seed draws them, regions among them, each with
// small tiles, on the emulator, against the oracle. More of them under the
// label `long`.
//
//===----------------------------------------------------------------------===//
#include "Configuration.h"

using namespace farun::test;

namespace {

class Configurations : public testing::TestWithParam<int> {};

TEST_P(Configurations, AreRight) {
  checkConfigurations(uint64_t(GetParam()), 25);
}

INSTANTIATE_TEST_SUITE_P(, Configurations, testing::Range(0, 200, 25),
                         testing::PrintToStringParamName());

} // namespace
