//===- TensorCopyMutationTest.cpp - tensor copies, made wrong -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/multicast.ptx: two CTAs that copy to each other's shared memory.
// Inputs/tensor-store.ptx: tiles that leave from two stages.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include "fa/Emulator/TensorMap.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// Four steps of two boxes of four rows of 16 words.
Subject halves() {
  Subject s;
  s.ptx = readInput("multicast.ptx");
  s.kernel = "halves";
  s.shape = {{2}, {64}, {2}, 0};
  s.arguments = [](Device &device) {
    TensorMapShape m;
    m.type = TensorType::U32;
    m.rank = 2;
    m.address = makeBuffer(device, "in", someNumbers<uint32_t>(32 * 16, 1000));
    m.dims = {16, 32};
    m.strides = {64};
    m.box = {16, 4};
    uint64_t out = device.alloc(64 * 4, "out");
    return std::vector<Argument>{Argument::of(*encodeTiled(m)),
                                 Argument::of(out)};
  };
  return s;
}

/// Four boxes of eight rows of 128 bytes.
Subject tiles() {
  Subject s;
  s.ptx = readInput("tensor-store.ptx");
  s.kernel = "tiles";
  s.shape = {{1}, {32}, {1}, 0};
  s.arguments = [](Device &device) {
    TensorMapShape m;
    m.type = TensorType::F16;
    m.rank = 2;
    m.address = device.alloc(32 * 128, "out");
    m.dims = {64, 32};
    m.strides = {128};
    m.box = {64, 8};
    m.swizzle = TensorSwizzle::Bytes128;
    return std::vector<Argument>{Argument::of(*encodeTiled(m))};
  };
  return s;
}

class MulticastMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(MulticastMutation, isCaught) { expectCaught(halves(), GetParam()); }
TEST(MulticastMutationSubject, isClean) { expectClean(halves()); }
const MutationCase kHalves[] = {
    {"maskLeavesTheOtherOut", replace("%mask, 3", "%mask, 1"), "deadlock"},
    {"maskLeavesCtaZeroOut", replace("%mask, 3", "%mask, 2"), "deadlock"},
    {"maskNamesACtaThatIsNotThere", replace("%mask, 3", "%mask, 7"), "bounds"},
    {"noMulticast",
     replace(".multicast::cluster [%r16], [%map, {%r8, %r17}], [%r14], %mask",
             " [%r16], [%map, {%r8, %r17}], [%r14]"),
     "deadlock"},
    {"halvesOverlap", replace("%r7, %r6, 8", "%r7, %r6, 7"), "race"},
    {"halfMissing", replace("%r7, %r6, 8", "%r7, %r6, 7"), "initialisation"},
    {"expectsItsOwnHalfOnly", replace("[%r14], 512", "[%r14], 256"),
     "mbarrier"},
    {"expectsTooMuch", replace("[%r14], 512", "[%r14], 768"), "mbarrier"},
    {"noBarrierBehindTheInits",
     both(drop("barrier.cluster.arrive"), drop("barrier.cluster.wait")),
     "mbarrier"},
    {"barrierOfTheCtaOnly",
     both(rewrite("barrier.cluster.arrive", "barrier.sync 0;"),
          drop("barrier.cluster.wait")),
     "race"},
    {"relaxedArrival",
     replace("barrier.cluster.arrive.release", "barrier.cluster.arrive.relaxed",
             1),
     "race"},
    {"noFenceBehindTheInits", drop("fence.mbarrier_init"), "proxy-fence"},
    {"nobodyWaitsAtTheEnd",
     both(drop("barrier.cluster.arrive", 2), drop("barrier.cluster.wait", 2)),
     "bounds"},
    {"arrivesAtHomeOnly", replace("%r25, %r15, %r2", "%r25, %r15, %r6"),
     "race"},
    {"arrivesAtTheOtherOnly", replace("%p5, %r2, 1", "%p5, %r2, 0"),
     "deadlock"},
    {"arrivesAtCtaTwo",
     both(insertBefore("mapa", "add.u32 %r27, %r2, 1;"),
          replace("%r25, %r15, %r2", "%r25, %r15, %r27")),
     "bounds"},
    {"arrivesWithoutMapa",
     rewrite("mapa.shared::cluster", "mov.b32 %r25, %r15;"), "race"},
    {"arrivesBeforeTheRead",
     both(drop("ld.shared.v4"),
          insertBefore("%p6, %r10, 4", "ld.shared.v4.u32 {%r21, %r22, %r23, "
                                       "%r24}, [%r17];")),
     "race"},
    {"lanesDoNotMeetBeforeTheArrival", drop("bar.warp.sync"), "race"},
    {"arrivalOfTheCtaOnly",
     replace("mbarrier.arrive.release.cluster.shared::cluster",
             "mbarrier.arrive.release.cta.shared::cluster"),
     "race"},
    {"relaxedArrivalAtEmpty",
     replace("mbarrier.arrive.release.cluster",
             "mbarrier.arrive.relaxed.cluster"),
     "race"},
    {"relaxedWaitForEmpty",
     replace("try_wait.parity.acquire.cluster",
             "try_wait.parity.relaxed.cluster", 1),
     "race"},
    {"relaxedWaitForFull",
     replace("try_wait.parity.acquire.cluster",
             "try_wait.parity.relaxed.cluster", 2),
     "race"},
    {"emptyCountsOne", replace("[%r5], 2", "[%r5], 1"), "mbarrier"},
    {"emptyCountsThree", replace("[%r5+8], 2", "[%r5+8], 3"), "deadlock"},
    {"noWaitForEmpty", both(drop("[%r15], %r13"), drop("@!%p3 bra WAIT_EMPTY")),
     "mbarrier"},
    {"noWaitForFull", both(drop("[%r14], %r12"), drop("@!%p3 bra WAIT_FULL")),
     "async-wait"},
    {"parityNeverFlips", replace("[%r14], %r12", "[%r14], 0"), "async-wait"},
    {"parityStartsWrong", replace("[%r14], %r12", "[%r14], 1"), "async-wait"},
    {"rowsOutsideTheTensor",
     replace("%r17, %r6, 4, %r17", "%r17, %r6, 64, %r17"), "numbers"},
    {"columnsOutsideTheTensor", replace("%r8, 0;", "%r8, -8;"), "numbers"},
    {"rowsOfTheOtherHalf", replace("%r17, %r6, 4, %r17", "%r17, %r6, 0, %r17"),
     "numbers"},
    {"boxBetweenTheLines", replace("[%r16], [%map", "[%r16+64], [%map"),
     "alignment"},
    {"boxBehindTheRing", replace("[%r16], [%map", "[%r16+4096], [%map"),
     "bounds"},
    {"mapNotConverted", drop("cvta.param"), "tensor-map"},
    {"mapOfAPointer", replace("[%map, {", "[%out, {"), "tensor-map"},
    {"oneStepTooMany", replace("%p6, %r10, 4", "%p6, %r10, 5"), "deadlock"},
    {"oneStepTooFew", replace("%p6, %r10, 4", "%p6, %r10, 3"), "mbarrier"},
};
INSTANTIATE_TEST_SUITE_P(Hopper, MulticastMutation, testing::ValuesIn(kHalves),
                         [](const auto &i) { return i.param.name; });

class TensorStoreMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(TensorStoreMutation, isCaught) { expectCaught(tiles(), GetParam()); }
TEST(TensorStoreMutationSubject, isClean) { expectClean(tiles()); }
const MutationCase kTiles[] = {
    {"stageWrittenWhileItLeaves", drop("wait_group.read"), "async-wait"},
    {"waitsForOneGroupLess", replace("group.read 1", "group.read 2"),
     "async-wait"},
    {"noCommit", drop("commit_group"), "async-wait"},
    {"noCommitLeaks", drop("commit_group"), "leaks"},
    {"oneStageOnly", rewrite("%r11, %r10, 10", "mov.b32 %r11, 0;"),
     "async-wait"},
    {"noWaitAtTheEnd", drop("cp.async.bulk.wait_group 0"), "leaks"},
    {"waitsForOneGroupLessAtTheEnd",
     replace("bulk.wait_group 0", "bulk.wait_group 1"), "leaks"},
    {"noProxyFence", drop("fence.proxy.async"), "proxy-fence"},
    {"proxyFenceBeforeTheStores",
     moveUp("fence.proxy.async", "mad.lo.u32 %r16"), "proxy-fence"},
    {"fenceOfMemoryOnly", rewrite("fence.proxy.async", "fence.acq_rel.gpu;"),
     "proxy-fence"},
    {"lanesDoNotMeetBeforeTheCopy", drop("bar.warp.sync", 2), "race"},
    {"lanesDoNotMeetBehindTheWait", drop("bar.warp.sync", 1), "race"},
    {"halfTheLanesMeet", replace("bar.warp.sync -1", "bar.warp.sync 0xFFFF", 2),
     "warp-sync"},
    {"everyLaneCopies", drop("@%p0 bra STORED"), "async-wait"},
    {"tilesWithoutSwizzle",
     both(rewrite("%r4, %r3, %r2", "mov.b32 %r4, %r3;"),
          drop("xor.b32 %r5, %r5, %r2")),
     "numbers"},
    {"narrowSwizzle",
     both(replace("xor.b32 %r4, %r3, %r2",
                  "and.b32 %r21, %r2, 3; xor.b32 %r4, %r3, %r21"),
          replace("xor.b32 %r5, %r5, %r2", "xor.b32 %r5, %r5, %r21")),
     "numbers"},
    {"onePieceNotSwizzled", drop("xor.b32 %r5, %r5, %r2"), "initialisation"},
    {"onePieceNotStored", drop("st.shared.v4.b32 [%r13]"), "initialisation"},
    {"tileBetweenTheLines", replace("[%r14]", "[%r14+16]"), "alignment"},
    {"tileBehindTheStages", replace("[%r14]", "[%r14+4096]"), "bounds"},
    {"tileOutsideTheTensor", replace("%r15, %r9, 3", "%r15, %r9, 6"),
     "numbers"},
    {"tileBeforeTheTensor", replace("%r20, 0;", "%r20, -1;"), "numbers"},
    {"mapNotConverted", drop("cvta.param"), "tensor-map"},
    {"mapBesideTheMap",
     insertBefore("mov.u32 %r0, %tid.x", "sub.u64 %map, %map, 64;"),
     "tensor-map"},
    {"threeCoordinates",
     both(replace("tensor.2d", "tensor.3d"),
          replace("{%r20, %r15}", "{%r20, %r15, %r20}")),
     "tensor-map"},
    {"addsToWhatIsNotThere",
     replace("cp.async.bulk.tensor.2d.global.shared::cta.tile",
             "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile"),
     "initialisation"},
};
INSTANTIATE_TEST_SUITE_P(Hopper, TensorStoreMutation, testing::ValuesIn(kTiles),
                         [](const auto &i) { return i.param.name; });
} // namespace
