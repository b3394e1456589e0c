//===- BarrierMutationTest.cpp - named barriers and divisions, made wrong -===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/named-barriers.ptx: a producer warp and two consumers that meet in
// four barriers. Inputs/segments.ptx: divisions that some threads must not do.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
Subject handover() {
  Subject s;
  s.ptx = readInput("named-barriers.ptx");
  s.kernel = "handover";
  s.shape = {{1}, {96}, {1}, 0};
  s.arguments = [](Device &device) {
    uint64_t in = makeBuffer(device, "in", someNumbers<uint32_t>(256, 1000));
    return std::vector<Argument>{Argument::of(in),
                                 Argument::of(device.alloc(256, "out"))};
  };
  return s;
}
Subject ring() {
  Subject s;
  s.ptx = readInput("async-arrive.ptx");
  s.kernel = "ring";
  s.shape = {{1}, {64}, {1}, 0};
  s.arguments = [](Device &device) {
    uint64_t in = makeBuffer(device, "in", someNumbers<uint32_t>(128, 1000));
    return std::vector<Argument>{Argument::of(in),
                                 Argument::of(device.alloc(128, "out"))};
  };
  return s;
}
Subject chain() {
  Subject s;
  s.ptx = readInput("chain.ptx");
  s.kernel = "chain";
  s.shape = {{4}, {64}, {1}, 0};
  s.arguments = [](Device &device) {
    uint64_t in = makeBuffer(device, "in", someNumbers<uint32_t>(256, 1000));
    uint64_t sums = device.alloc(1024, "sums");
    uint64_t flags =
        makeBuffer(device, "flags", std::vector<uint32_t>(4), false);
    return std::vector<Argument>{Argument::of(in), Argument::of(sums),
                                 Argument::of(flags)};
  };
  return s;
}
Subject segments() {
  Subject s;
  s.ptx = readInput("segments.ptx");
  s.kernel = "means";
  s.shape = {{1}, {32}, {1}, 0};
  s.arguments = [](Device &device) {
    std::vector<uint32_t> ends = someNumbers<uint32_t>(32, 4);
    for (size_t k = 1; k < ends.size(); ++k)
      ends[k] += ends[k - 1];
    uint64_t in = makeBuffer(device, "in", someNumbers<uint32_t>(96, 1000));
    return std::vector<Argument>{
        Argument::of(makeBuffer(device, "ends", ends)), Argument::of(in),
        Argument::of(device.alloc(512, "out")), Argument::of(7)};
  };
  return s;
}

class HandoverMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(HandoverMutation, isCaught) { expectCaught(handover(), GetParam()); }
TEST(HandoverMutationSubject, isClean) { expectClean(handover()); }
const MutationCase kHandover[] = {
    {"producerDoesNotWait", drop("bar.sync %r13, 96"), "race"},
    {"producerDoesNotWaitForArrivals", drop("bar.sync %r13, 96"), "barriers"},
    {"consumersDoNotWait", drop("bar.sync %r12, 96"), "race"},
    {"producerArrivesBeforeItStores", moveUp("bar.arrive %r12", "st.shared.v2"),
     "race"},
    {"consumersArriveBeforeTheyLoad",
     both(drop("ld.shared.u32"),
          insertBefore("%p4, %r10, 4", "ld.shared.u32 %r21, [%r14];")),
     "race"},
    {"consumersCountOthers", replace("bar.sync %r12, 96", "bar.sync %r12, 64"),
     "barriers"},
    {"producerCountsOthers",
     replace("bar.arrive %r12, 96", "bar.arrive %r12, 128"), "barriers"},
    {"everybodyCountsOneWarpMore", replace("%r12, 96", "%r12, 128", kAll),
     "deadlock"},
    {"everybodyCountsOneWarpLess", replace("%r12, 96", "%r12, 64", kAll),
     "race"},
    {"producerDoesNotArrive", drop("bar.arrive %r12"), "deadlock"},
    {"consumersDoNotArrive", drop("bar.arrive %r13"), "deadlock"},
    {"halfOfTheProducerArrives",
     insertBefore("bar.arrive %r12", "setp.lt.u32 %p5, %r2, 16; @%p5"),
     "barriers"},
    {"halfOfAConsumerWaits",
     insertBefore("bar.sync %r12", "setp.lt.u32 %p5, %r2, 16; @%p5"),
     "barriers"},
    {"producerArrivesTwice", repeat("bar.arrive %r12"), "barriers"},
    {"consumersAlwaysArrive", drop("@%p3 bra NEXT"), "barriers"},
    {"oneBarrierForBothStages",
     replace("add.u32 %r12, %r11, 1", "mov.b32 %r12, 1", 1), "deadlock"},
    {"fullAndEmptyShareABarrier",
     replace("%r13, %r11, 3", "%r13, %r11, 1", kAll), "race"},
    {"consumersReduceWhereOthersArrive",
     rewrite("bar.sync %r12", "bar.red.popc.u32 %r22, %r12, 96, %p0;"),
     "barriers"},
    {"barrierSixteen", replace("%r13, %r11, 3", "%r13, %r11, 15", kAll),
     "barriers"},
    {"oneBlockMoreForTheConsumers", replace("%p4, %r10, 4", "%p4, %r10, 5"),
     "deadlock"},
    {"oneBlockMoreForTheProducer", replace("%p2, %r10, 4", "%p2, %r10, 5"),
     "deadlock"},
    {"stageInUse", replace("%p1, %r10, 2", "%p1, %r10, 3"), "race"},
    {"blocksOnTopOfEachOther",
     replace("%r14, %r11, 256, %r3", "%r14, %r11, 0, %r3", 1),
     "initialisation"},
    {"wordsBetweenTheWords", replace("[%r14], {", "[%r14+4], {"), "alignment"},
    {"wordsBehindTheStages", replace("[%r14], {", "[%r14+512], {"), "bounds"},
};
INSTANTIATE_TEST_SUITE_P(Ampere, HandoverMutation, testing::ValuesIn(kHandover),
                         [](const auto &i) { return i.param.name; });

class ArriveMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(ArriveMutation, isCaught) { expectCaught(ring(), GetParam()); }
TEST(ArriveMutationSubject, isClean) { expectClean(ring()); }
const MutationCase kArrive[] = {
    {"arrivalCountsUp", replace(".noinc", ""), "deadlock"},
    {"arrivesBeforeTheCopy", moveUp("cp.async.mbarrier", "cp.async.ca"),
     "async-wait"},
    {"arrivesByItself",
     rewrite("cp.async.mbarrier", "mbarrier.arrive.shared.b64 %state, [%r14];"),
     "async-wait"},
    {"arrivesTwice", repeat("cp.async.mbarrier"), "mbarrier"},
    {"doesNotArrive", drop("cp.async.mbarrier"), "deadlock"},
    {"arrivesAtEmpty",
     replace("cp.async.mbarrier.arrive.noinc.shared.b64 [%r14]",
             "cp.async.mbarrier.arrive.noinc.shared.b64 [%r15]"),
     "deadlock"},
    {"halfTheLanesArrive",
     insertBefore("cp.async.mbarrier", "setp.lt.u32 %p4, %r2, 16; @%p4"),
     "deadlock"},
    {"fullCountsHalf", replace("[%r4], 32", "[%r4], 16"), "mbarrier"},
    {"fullCountsMore", replace("[%r4], 32", "[%r4], 64"), "deadlock"},
    {"noWaitForFull", both(drop("[%r14], %r12"), drop("@!%p2 bra WAIT_FULL")),
     "async-wait"},
    {"waitForFullOnce", drop("@!%p2 bra WAIT_FULL"), "mbarrier"},
    {"noWaitForEmpty", both(drop("[%r15], %r13"), drop("@!%p2 bra WAIT_EMPTY")),
     "mbarrier"},
    {"parityOfFullFlipped", replace("[%r14], %r12", "[%r14], %r21"),
     "async-wait"},
    {"parityOfEmptyFlipped", replace("[%r15], %r13", "[%r15], %r12"),
     "deadlock"},
    {"consumerArrivesFirst",
     both(drop("mbarrier.arrive.shared.b64 %state"),
          insertBefore("ld.shared.u32 %r18",
                       "mbarrier.arrive.shared.b64 %state, [%r15];")),
     "race"},
    {"consumerDropsOut",
     replace("mbarrier.arrive.shared.b64 %state",
             "mbarrier.arrive_drop.shared.b64 %state"),
     "mbarrier"},
    {"readsAsAWord",
     insertBefore("ld.shared.u32 %r18", "ld.shared.u32 %r19, [%r14];"),
     "mbarrier"},
    {"initialisedAgain",
     insertBefore("setp.ne.u32 %p1, %r1, 0",
                  "@!%p0 mbarrier.init.shared.b64 [%r4], 32;"),
     "mbarrier"},
    {"endedTooEarly", both(drop("bar.sync", 2), drop("cp.async.wait_all")),
     "mbarrier"},
    {"noBarrierBeforeTheEnd", drop("bar.sync", 2), "race"},
    {"endedAndUsed",
     insertBefore("mbarrier.inval.shared.b64 [%r5+8]",
                  "mbarrier.inval.shared.b64 [%r5+8]; "
                  "mbarrier.arrive.shared.b64 %state, [%r5+8];"),
     "mbarrier"},
    {"barrierBetweenTheWords",
     replace("noinc.shared.b64 [%r14]", "noinc.shared.b64 [%r14+4]"),
     "alignment"},
    {"barrierBehindTheMemory",
     replace("noinc.shared.b64 [%r14]", "noinc.shared.b64 [%r14+8192]"),
     "bounds"},
};
INSTANTIATE_TEST_SUITE_P(Hopper, ArriveMutation, testing::ValuesIn(kArrive),
                         [](const auto &i) { return i.param.name; });

class ChainMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(ChainMutation, isCaught) { expectCaught(chain(), GetParam()); }
TEST(ChainMutationSubject, isClean) { expectClean(chain()); }
const MutationCase kChain[] = {
    {"relaxedFlag", replace("st.release.gpu", "st.relaxed.gpu"), "global-race"},
    {"weakFlag", replace("st.release.gpu.global", "st.global"), "global-race"},
    {"relaxedWait", replace("ld.acquire.gpu", "ld.relaxed.gpu"), "global-race"},
    {"weakWait", replace("ld.acquire.gpu.global", "ld.global"), "global-race"},
    {"flagBeforeTheSums",
     both(drop("st.release.gpu"),
          insertBefore("st.global.u32 [%sum]",
                       "mov.u32 %r8, 1; st.release.gpu.global.u32 [%flag], "
                       "%r8;")),
     "global-race"},
    {"noWait", both(drop("ld.acquire"), drop("@%p2 bra WAIT")), "global-race"},
    {"waitsOnce", drop("@%p2 bra WAIT"), "global-race"},
    {"noFlag", drop("st.release"), "deadlock"},
    {"waitsForItself", replace("[%flag+-4]", "[%flag]"), "deadlock"},
    {"waitsForTheNext", replace("[%flag+-4]", "[%flag+4]"), "bounds"},
    {"firstOneWaitsToo", drop("@%p0 bra SUM"), "bounds"},
    {"flagOfTheNext", replace("[%flag], %r8", "[%flag+4], %r8"), "deadlock"},
    {"sumsOfTheFirst", replace("%sum, %r1, 256", "%sum, %r1, 0"), "bounds"},
    {"sumsNotLeft", drop("st.global.u32 [%sum]"), "initialisation"},
    {"sumsTwiceAsFarApart", replace("%sum, %r1, 256", "%sum, %r1, 512"),
     "initialisation"},
    {"flagIsAHalf", replace("[%flag], %r8", "[%flag+2], %r8"), "alignment"},
    {"flagNotSetToOne", drop("mov.u32 %r8, 1"), "registers"},
};
INSTANTIATE_TEST_SUITE_P(Ampere, ChainMutation, testing::ValuesIn(kChain),
                         [](const auto &i) { return i.param.name; });

class SegmentMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(SegmentMutation, isCaught) { expectCaught(segments(), GetParam()); }
TEST(SegmentMutationSubject, isClean) { expectClean(segments()); }
const MutationCase kSegments[] = {
    {"meanOfNothing", unguard("div.s32"), "division"},
    {"restOfNothing", unguard("rem.u32"), "division"},
    {"wideMeanOfNothing", unguard("div.u64"), "division"},
    {"narrowRestOfNothing", unguard("rem.u16"), "division"},
    {"guardTheOtherWay", replace("setp.ne.u32 %p3", "setp.eq.u32 %p3"),
     "division"},
    {"guardTooWide", replace("setp.ne.u32 %p3", "setp.ge.u32 %p3"), "division"},
    {"partsOfTheThread", replace("%r9, %r5, %r1", "%r9, %r5, %r0"), "division"},
    {"dividesByTheSum", replace("%r9, %r5, %r1", "%r9, %r1, %r5"), "division"},
    {"meanNotSet", drop("mov.u32 %r6, 0"), "registers"},
    {"restOfOneThreadNotSet", drop("mov.b16 %h2, 0"), "registers"},
    {"firstSegmentHasNoBegin", drop("mov.u32 %r2, 0"), "registers"},
    {"firstThreadLooksBefore", drop("@%p0 bra FIRST"), "bounds"},
    {"segmentsOneTooLong", replace("setp.lt.u32 %p2", "setp.le.u32 %p2"),
     "numbers"},
    {"sumsOfEmptySegments", replace("setp.ge.u32 %p1", "setp.gt.u32 %p1"),
     "numbers"},
    {"resultsBetweenTheRows", replace("[%out], {", "[%out+4], {"), "alignment"},
    {"resultsTooFarApart", replace("%out, %r0, 16", "%out, %r0, 32"), "bounds"},
    {"endsOfSharedMemory", replace("ld.global.u32 %r3", "ld.shared.u32 %r3"),
     "space"},
};
INSTANTIATE_TEST_SUITE_P(Ampere, SegmentMutation, testing::ValuesIn(kSegments),
                         [](const auto &i) { return i.param.name; });
} // namespace
