//===- BulkMutationTest.cpp - a ring of bulk copies, made wrong -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/bulk-pipeline.ptx: a producer and a consumer with mbarriers, and a
// bulk store at the end.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
Subject pipeline() {
  Subject s;
  s.ptx = readInput("bulk-pipeline.ptx");
  s.kernel = "pipeline";
  s.shape = {{1}, {64}, {1}, 0};
  s.arguments = [](Device &device) {
    std::vector<uint32_t> values(4 * 32);
    for (uint32_t k = 0; k < values.size(); ++k)
      values[k] = k * k;
    uint64_t in = device.alloc(512, "in", true), out = device.alloc(128, "out");
    device.write(in, values.data(), 512);
    return std::vector<Argument>{Argument::of(in), Argument::of(out)};
  };
  return s;
}

class PipelineMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(PipelineMutation, isCaught) { expectCaught(pipeline(), GetParam()); }
TEST(PipelineMutationSubject, isClean) { expectClean(pipeline()); }

const MutationCase kPipeline[] = {
    {"noBarrierAfterInit", drop("bar.sync"), "race"},
    {"noInit", drop("mbarrier.init.shared.b64 [%r4],"), "mbarrier"},
    {"everyThreadInits", drop("@%p0 bra READY"), "mbarrier"},
    {"noFenceAfterInit", drop("fence.mbarrier_init"), "proxy-fence",
     " made, and neither fence.mbarrier_init nor fence.proxy.async lies "
     "between"},
    {"noLoopAroundTheWait", drop("@!%p3 bra WAIT_FULL"), "mbarrier",
     " answers in %p3, and nobody looks at it: the phase may not be complete"},
    {"noWaitForTheCopy",
     both(drop("@!%p3 bra WAIT_FULL"),
          drop("mbarrier.try_wait.parity.shared.b64 %p3, "
               "[%r14]")),
     "async-wait"},
    {"wrongParityOfTheConsumer", replace("[%r14], %r12;", "[%r14], %r13;"),
     "registers"},
    {"parityNeverFlips", replace("[%r14], %r12;", "[%r14], 0;"), "async-wait"},
    {"parityStartsWrong", replace("[%r14], %r12;", "[%r14], 1;"), "async-wait"},
    {"wrongParityOfTheProducer", replace("[%r15], %r13;", "[%r15], %r12;"),
     "deadlock"},
    {"noLoopAroundTheProducersWait", drop("@!%p3 bra WAIT_EMPTY"), "mbarrier"},
    {"noWaitForTheConsumer",
     both(drop("@!%p3 bra WAIT_EMPTY"),
          drop("mbarrier.try_wait.parity.shared.b64 %p3, [%r15]")),
     "mbarrier"},
    {"expectsTooFewBytes", replace("[%r14], 128;", "[%r14], 64;"), "mbarrier"},
    {"expectsTooManyBytes", replace("[%r14], 128;", "[%r14], 192;"),
     "mbarrier"},
    {"copiesTooFewBytes", replace("[%from], 128,", "[%from], 112,"),
     "mbarrier"},
    {"emptyCountsTooMany", replace("[%r5], 32;", "[%r5], 33;"), "deadlock"},
    {"emptyCountsTooFew", replace("[%r5], 32;", "[%r5], 16;"), "mbarrier"},
    {"consumerDoesNotArrive", drop("mbarrier.arrive.shared.b64 %state, [%r15]"),
     "deadlock"},
    {"consumerArrivesTooEarly",
     moveUp("mbarrier.arrive.shared.b64 %state, [%r15]", "ld.shared.u32 %r18"),
     "race"},
    {"consumerArrivesTwice",
     repeat("mbarrier.arrive.shared.b64 %state, [%r15]"), "mbarrier"},
    {"producerArrivesTwice", repeat("mbarrier.arrive.expect_tx"), "mbarrier"},
    {"oneBlockTooMany", replace("%p4, %r10, 4;", "%p4, %r10, 5;"), "bounds"},
    {"oneBlockTooManyForTheConsumer", replace("%p5, %r10, 4;", "%p5, %r10, 5;"),
     "deadlock"},
    {"noProxyFence", drop("fence.proxy.async"), "proxy-fence"},
    {"noWarpBarrier", drop("bar.warp.sync"), "race"},
    {"noCommit", drop("cp.async.bulk.commit_group"), "leaks"},
    {"noWaitForTheStore", drop("cp.async.bulk.wait_group"), "leaks"},
    {"storeReadsTooMuch", replace("[%r6], 128;", "[%r6], 256;"), "bounds"},
};
INSTANTIATE_TEST_SUITE_P(Hopper, PipelineMutation, testing::ValuesIn(kPipeline),
                         [](const auto &i) { return i.param.name; });
} // namespace
