//===- ClusterMutationTest.cpp - CTAs of a cluster, made wrong ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/cluster-exchange.ptx: two CTAs that reach into each other's shared
// memory between two barriers of the cluster.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
Subject exchange() {
  Subject s;
  s.ptx = readInput("cluster-exchange.ptx");
  s.kernel = "exchange";
  s.shape = {{4}, {32}, {2}, 0};
  s.arguments = [](Device &device) {
    return std::vector<Argument>{Argument::of(device.alloc(1024, "out"))};
  };
  return s;
}

class ExchangeMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(ExchangeMutation, isCaught) { expectCaught(exchange(), GetParam()); }
TEST(ExchangeMutationSubject, isClean) { expectClean(exchange()); }

const MutationCase kExchange[] = {
    {"noBarrierBefore",
     both(drop("barrier.cluster.arrive.release"),
          drop("barrier.cluster.wait.acquire")),
     "race",
     " reaches into CTA 0 of the cluster, which may not have started: no "
     "barrier.cluster or mbarrier of that CTA comes before"},
    {"relaxedArrival",
     replace("arrive.release.aligned", "arrive.relaxed.aligned"), "race"},
    {"ctaBarrierOnly",
     both(replace("barrier.cluster.arrive.release.aligned", "bar.sync 0"),
          drop("barrier.cluster.wait.acquire")),
     "race"},
    {"noBarrierBehind",
     both(drop("barrier.cluster.arrive.aligned"),
          drop("barrier.cluster.wait.aligned")),
     "bounds"},
    {"rankTooHigh", replace("xor.b32 %r2, %r1, 1", "add.u32 %r2, %r1, 2"),
     "bounds"},
    {"counterNotSet", drop("@%p0 st.shared.u32 [%r6]"), "initialisation"},
    {"waitByPart",
     replace("barrier.cluster.wait.aligned",
             "@%p0 barrier.cluster.wait.aligned"),
     "warp-sync"},
};
INSTANTIATE_TEST_SUITE_P(Hopper, ExchangeMutation, testing::ValuesIn(kExchange),
                         [](const auto &i) { return i.param.name; });
} // namespace
