//===- WgmmaMutationTest.cpp - rounds of wgmma, made wrong ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/wgmma-rounds.ptx: products of tiles that generic stores fill.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
Subject rounds() {
  Subject s;
  s.ptx = readInput("wgmma-rounds.ptx");
  s.kernel = "rounds";
  s.shape = {{1}, {128}, {1}, 0};
  s.arguments = [](Device &device) {
    return std::vector<Argument>{Argument::of(device.alloc(2048, "out"))};
  };
  return s;
}

class WgmmaMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(WgmmaMutation, isCaught) { expectCaught(rounds(), GetParam()); }
TEST(WgmmaMutationSubject, isClean) { expectClean(rounds()); }

const MutationCase kRounds[] = {
    {"noFence", drop("wgmma.fence"), "wgmma",
     ", and there was no wgmma.fence before the first wgmma"},
    {"noWait", drop("wgmma.wait_group"), "wgmma"},
    {"noWaitBeforeTheNextRound", drop("wgmma.wait_group"), "async-wait"},
    {"waitsForOneGroupLess",
     replace("wait_group.sync.aligned 0", "wait_group.sync.aligned 1"),
     "wgmma"},
    {"noCommit", drop("wgmma.commit_group"), "wgmma"},
    {"noCommitLeaks", drop("wgmma.commit_group"), "leaks"},
    {"noProxyFence", drop("fence.proxy.async"), "proxy-fence",
     " wrote through the generic proxy, and no fence.proxy.async lies "
     "between"},
    {"noBarrier", drop("bar.sync", 1), "race"},
    {"registerTouchedTooEarly",
     replace("wgmma.wait_group.sync.aligned 0;",
             "add.f32 %f0, %f0, %f0; wgmma.wait_group.sync.aligned 0;"),
     "wgmma", " is still using; no wgmma.wait_group lies between"},
    {"registerTouchedAfterTheFence",
     replace("wgmma.fence.sync.aligned;",
             "wgmma.fence.sync.aligned; mov.f32 %f1, 0f3F800000;"),
     "wgmma", " accesses, and no wgmma.fence lies between"},
    {"accumulatorOfAnotherShape",
     both(replace(".reg .f32 %f<4>", ".reg .f32 %f<8>"),
          insertBefore("wgmma.commit_group",
                       "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
                       "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %descA, "
                       "%descA, %p1, 1, 1, 0, 0;")),
     "wgmma", ", of another shape or as its operand, is still using"},
    {"tileWrittenTooEarly",
     replace("wgmma.wait_group.sync.aligned 0;",
             "st.shared.b32 [%r3], %r7; wgmma.wait_group.sync.aligned 0;"),
     "async-wait",
     "(warp 0 to 3) is still reading; those warps have not waited for it"},
    {"tileNotFilled", drop("@%p0 st.shared.v4.b32 [%r4]"), "initialisation"},
    {"descriptorTooFar",
     replace("%descB, 0x0000000800080000", "%descB, 0x0000000808000000"),
     "bounds"},
};
INSTANTIATE_TEST_SUITE_P(Hopper, WgmmaMutation, testing::ValuesIn(kRounds),
                         [](const auto &i) { return i.param.name; });
} // namespace
