//===- HopperMutationTest.cpp - wgmma and TMA by nvcc, made wrong ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What nvcc makes of test/Emulator/CUDA/hopper.cu: tiles that threads fill, A
// from registers, a ring of tensor copies, and warpgroups with roles, registers
// handed over, and a tensor copy back.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include "fa/Emulator/TensorMap.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// Rows of f16 numbers: whole ones, or none yet.
uint64_t makeRows(Device &device, const char *name, size_t count) {
  std::vector<uint16_t> values =
      someNumbers<uint16_t>(count, 5, uint32_t(name[0]));
  for (uint16_t &v : values)
    v = uint16_t(v ? 0x3C00 + (v << 8) : 0);
  return makeBuffer(device, name, values);
}
TensorMap mapOf(uint64_t address, uint64_t rows, uint64_t columns) {
  TensorMapShape s;
  s.type = TensorType::F16;
  s.rank = 2;
  s.address = address;
  s.dims = {columns, rows};
  s.strides = {columns * 2};
  s.box = {64, 64};
  s.swizzle = TensorSwizzle::Bytes128;
  return *encodeTiled(s);
}

/// 64 x 64 sums over 128: the tiles come by generic stores.
Subject storedTiles(const char *kernel) {
  Subject s;
  s.ptx = readCompiled("hopper.sm_90a", kernel);
  s.kernel = kernel;
  s.shape = {{1}, {128}, {1}, 16384};
  s.arguments = [](Device &device) {
    uint64_t a = makeRows(device, "a", 64 * 128);
    uint64_t b = makeRows(device, "b", 64 * 128);
    uint64_t c = device.alloc(64 * 64 * 4, "c");
    return std::vector<Argument>{Argument::of(a), Argument::of(b),
                                 Argument::of(c), Argument::of(64),
                                 Argument::of(128)};
  };
  return s;
}
/// 64 x 64 sums over 320, five steps.
Subject ring() {
  Subject s;
  s.ptx = readCompiled("hopper.sm_90a", "tma_pipeline");
  s.kernel = "tma_pipeline";
  s.shape = {{1}, {128}, {1}, 3 * 16384};
  s.arguments = [](Device &device) {
    TensorMap a = mapOf(makeRows(device, "a", 64 * 320), 64, 320);
    TensorMap b = mapOf(makeRows(device, "b", 64 * 320), 64, 320);
    uint64_t c = device.alloc(64 * 64 * 4, "c");
    return std::vector<Argument>{Argument::of(a), Argument::of(b),
                                 Argument::of(c), Argument::of(64),
                                 Argument::of(320)};
  };
  return s;
}
/// 128 x 64 sums over 320 as f16.
Subject roles() {
  Subject s;
  s.ptx = readCompiled("hopper.sm_90a", "roles");
  s.kernel = "roles";
  s.shape = {{1}, {384}, {1}, 3 * 24576 + 2 * 8192};
  s.arguments = [](Device &device) {
    TensorMap a = mapOf(makeRows(device, "a", 128 * 320), 128, 320);
    TensorMap b = mapOf(makeRows(device, "b", 64 * 320), 64, 320);
    TensorMap c = mapOf(device.alloc(128 * 64 * 2, "c"), 128, 64);
    return std::vector<Argument>{Argument::of(a), Argument::of(b),
                                 Argument::of(c), Argument::of(320)};
  };
  return s;
}

/// The loop around a wait of hopper.cu, together with the wait.
Mutation dropWait(const std::string &operands) {
  return replace("mbarrier.try_wait.parity.shared::cta.b64 p, " + operands +
                     ";\n@p bra DONE;\nbra AGAIN;",
                 "");
}
// Descriptors: all that nvcc keeps of `1 << 16 | 64 << 32 | 1 << 62`.
const char *const kDescriptor = "4611686293305360384";

class FilledMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(FilledMutation, isCaught) {
  expectCaught(storedTiles("hand_filled"), GetParam());
}
TEST(FilledMutationSubject, isClean) {
  expectClean(storedTiles("hand_filled"));
}
const MutationCase kFilled[] = {
    {"noProxyFence", drop("fence.proxy.async"), "proxy-fence"},
    {"proxyFenceAfterTheProducts",
     both(drop("fence.proxy.async"),
          insertBefore("wgmma.commit_group", "fence.proxy.async.shared::cta;")),
     "proxy-fence"},
    {"noBarrierBehindTheStores", drop("bar.sync", 1), "race"},
    {"noWait", drop("wgmma.wait_group"), "async-wait"},
    {"noCommit", drop("wgmma.commit_group"), "async-wait"},
    {"sumsTakenTooEarly",
     insertBefore("wgmma.wait_group", "mov.f32 %f0, %f225;"), "wgmma"},
    {"sumsSetBehindTheFence",
     insertBefore("wgmma.mma_async", "add.f32 %f225, %f225, %f225;"), "wgmma"},
    {"aPieceNotStored", drop("st.shared.v4.u32  [%r150]"), "initialisation"},
    {"aPieceOfBNotStored", drop("st.shared.v4.u32  [%r391+8192]"),
     "initialisation"},
    {"pieceInTheWrongPlace",
     rewrite("%r146, %r143, %r145", "mov.b32 %r146, %r145;"), "numbers"},
    {"productsWithoutSwizzle", replace(kDescriptor, "274877972480", kAll),
     "numbers"},
    {"productsOfTheNarrowSwizzle",
     replace(kDescriptor, "9223372311732748288", kAll), "numbers"},
    {"rowsTooClose", replace(kDescriptor, "4611686155866406912", kAll),
     "numbers"},
    {"descriptorsBehindTheTiles",
     replace("%r404, %r36, 8192", "%r404, %r36, 16384"), "bounds"},
    {"loadsBetweenTheElements", replace("[%rd45]", "[%rd45+8]"), "alignment"},
    {"storesBetweenThePieces", replace("[%r150]", "[%r150+4]"), "alignment"},
    {"oneStepTooMany", replace("%p14, %r425, %r18", "%p14, %r18, %r425"),
     "numbers"},
    {"storesToGlobalAddresses",
     rewrite("st.shared.v4.u32  [%r150]",
             "st.shared.v4.u32 [%rd45], {%r153, %r154, %r155, %r156};"),
     "space"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, FilledMutation, testing::ValuesIn(kFilled),
                         [](const auto &i) { return i.param.name; });

class RegisterMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(RegisterMutation, isCaught) {
  expectCaught(storedTiles("register_a"), GetParam());
}
TEST(RegisterMutationSubject, isClean) {
  expectClean(storedTiles("register_a"));
}
TEST(RegisterMutationSubject, mayReuseWhatTheWaitCovers) {
  Subject s = storedTiles("register_a");
  s.ptx = *insertBefore("wgmma.wait_group.sync.aligned 0",
                        "mov.b32 %r442, 0;")(s.ptx);
  expectClean(s);
}
const MutationCase kRegisters[] = {
    {"noFence", drop("wgmma.fence"), "wgmma"},
    {"fenceBeforeTheLoads", moveUp("wgmma.fence", "ldmatrix"), "wgmma"},
    {"fenceBeforeTheLastLoad", moveUp("wgmma.fence", "ldmatrix.sync", 1),
     "wgmma"},
    {"aChangedUnderWay",
     insertBefore("wgmma.wait_group.sync.aligned 1", "mov.b32 %r442, 0;"),
     "wgmma"},
    {"aChangedBehindTheFence",
     insertBefore("wgmma.commit_group", "mov.b32 %r447, 0;"), "wgmma"},
    {"aOfTheLastProductChanged",
     insertBefore("wgmma.wait_group.sync.aligned 0", "mov.b32 %r457, 0;"),
     "wgmma"},
    {"waitsForOneGroupLess",
     replace("wait_group.sync.aligned 0", "wait_group.sync.aligned 1"),
     "wgmma"},
    {"waitsForOneGroupLessThanTheStoresNeed",
     drop("wgmma.wait_group.sync.aligned 0"), "async-wait"},
    {"lastCommitMissing", drop("wgmma.commit_group", 4), "wgmma"},
    {"lastCommitMissingLeaks", drop("wgmma.commit_group", 4), "leaks"},
    {"noProxyFence", drop("fence.proxy.async"), "proxy-fence"},
    {"noBarrierBehindTheStores", drop("bar.sync", 1), "race"},
    {"noBarrierBehindTheProducts", drop("bar.sync", 2), "race"},
    {"aNotLoaded", drop("ldmatrix", 4), "registers"},
    {"sumsNotSet", drop("%f240, 0f00000000", kAll), "registers"},
    {"aOfAnotherColumn", replace("[%r3]", "[%r2]"), "numbers"},
    {"bOfAnotherColumn", replace("%rd106, %rd105, 2", "%rd106, %rd105, 4"),
     "numbers"},
    {"loadByHalfAWarp",
     insertBefore("ldmatrix", "and.b32 %r442, %r24, 16; "
                              "setp.ne.u32 %p1, %r442, 0; @%p1"),
     "warp-sync"},
    {"productByHalfAWarp",
     insertBefore("wgmma.mma_async", "and.b32 %r439, %r24, 16; "
                                     "setp.ne.u32 %p1, %r439, 0; @%p1"),
     "warp-sync"},
    {"fenceByHalfAWarp",
     insertBefore("wgmma.fence", "and.b32 %r439, %r24, 16; "
                                 "setp.ne.u32 %p1, %r439, 0; @%p1"),
     "warp-sync"},
    {"waitByHalfAWarp",
     insertBefore("wgmma.wait_group.sync.aligned 0",
                  "and.b32 %r439, %r24, 16; setp.ne.u32 %p1, %r439, 0; @%p1"),
     "warp-sync"},
    {"rowsBetweenThePieces", replace("[%r2]", "[%r2+8]"), "alignment"},
    {"rowsBehindTheTiles", replace("[%r2]", "[%r2+65536]"), "bounds"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, RegisterMutation, testing::ValuesIn(kRegisters),
                         [](const auto &i) { return i.param.name; });

class RingMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(RingMutation, isCaught) { expectCaught(ring(), GetParam()); }
TEST(RingMutationSubject, isClean) { expectClean(ring()); }
const MutationCase kRing[] = {
    {"lastInitMissing", drop("mbarrier.init.shared::cta.b64 [%r19]"),
     "mbarrier"},
    {"everyThreadInits", drop("@%p1 bra  $L__BB2_2"), "mbarrier"},
    {"noBarrierBehindTheInits", drop("bar.sync", 1), "race"},
    {"noFenceBehindTheInits",
     both(drop("fence.mbarrier_init"), drop("fence.proxy.async")),
     "proxy-fence"},
    {"initCountsTwo", replace("%r20, 1;", "%r20, 2;"), "deadlock"},
    {"expectsOneTileOnly", replace("%r28, 16384", "%r28, 8192"), "mbarrier"},
    {"expectsThreeTiles", replace("%r65, 16384", "%r65, 24576"), "mbarrier"},
    {"expectsNothing",
     rewrite("[%r36], %r28", "mbarrier.arrive.shared::cta.b64 state, [%r36];"),
     "mbarrier"},
    {"expectsButDoesNotArrive",
     rewrite("[%r36], %r28",
             "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r36], %r28;"),
     "deadlock"},
    {"secondTileNotCopied", drop("[%r33], [%rd7, {%r34, %r4}]"), "deadlock"},
    {"tilesOnTopOfEachOther", replace("%r33, %r29, 8192", "%r33, %r29, 0"),
     "async-wait"},
    {"halfOfTheTileAside", replace("%r33, %r29, 8192", "%r33, %r29, 12288"),
     "initialisation"},
    {"tileBetweenTheLines", replace("%r33, %r29, 8192", "%r33, %r29, 8208"),
     "alignment"},
    {"tileBehindTheRing", replace("%r33, %r29, 8192", "%r33, %r29, 65536"),
     "bounds"},
    {"barrierBetweenTheWords",
     replace("{%r34, %r4}], [%r36]", "{%r34, %r4}], [%r36+4]"), "alignment"},
    {"mapOfTheOtherMatrix", replace("%rd6, %rd3;", "%rd6, %rd4;"), "numbers"},
    {"tileOutsideTheTensor", replace("{%r71, %r68}", "{%r71, %r63}"),
     "numbers"},
    {"columnsOfAnotherStep", replace("{%r71, %r68}", "{%r68, %r68}"),
     "numbers"},
    {"mapNotConverted", rewrite("%rd6, %rd3;", "mov.b64 %rd6, %rd3;"),
     "tensor-map"},
    {"productsOfAnotherSwizzle",
     replace(kDescriptor, "9223372311732748288", kAll), "numbers"},
    {"parityNeverFlips", replace("[%r84], %r85", "[%r84], 0"), "async-wait"},
    {"parityStartsWrong", replace("[%r49], %r50", "[%r49], 1"), "async-wait"},
    {"noWait", dropWait("[%r84], %r85"), "async-wait"},
    {"waitsForTheOtherStage", replace("[%r84], %r85", "[%r49], %r85"),
     "async-wait"},
    {"waitIsNotRepeated", replace("@p bra DONE;\nbra AGAIN;", "", 1),
     "mbarrier"},
    {"noWaitForTheProducts", drop("wgmma.wait_group", kAll), "async-wait"},
    {"everyThreadCopies", replace("%p12, %p1, %p11", "%p12, %p11, %p11"),
     "mbarrier"},
    {"noFence", drop("wgmma.fence"), "wgmma"},
    {"stageTooEarly",
     both(replace("%r74, %r180, 2", "%r74, %r180, 1"),
          replace("%r99, %r180, 3", "%r99, %r180, 2", 1)),
     "mbarrier"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, RingMutation, testing::ValuesIn(kRing),
                         [](const auto &i) { return i.param.name; });

class RolesMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(RolesMutation, isCaught) { expectCaught(roles(), GetParam()); }
TEST(RolesMutationSubject, isClean) { expectClean(roles()); }
const MutationCase kRoles[] = {
    {"fullCountsTwo", replace("%r50, 1;", "%r50, 2;"), "deadlock"},
    {"emptyCountsOne", replace("[%r43], %r52", "[%r43], %r50"), "mbarrier"},
    {"lastEmptyNotInitialised", drop("mbarrier.init.shared::cta.b64 [%r51]"),
     "mbarrier"},
    {"noBarrierBehindTheInits", drop("bar.sync", 1), "race"},
    {"producerKeepsItsRegisters", drop("setmaxnreg.dec"), "deadlock"},
    {"producerGivesTooFewRegisters", replace("u32 40;", "u32 56;"), "deadlock"},
    {"consumersWantTooManyRegisters", replace("u32 232;", "u32 240;"),
     "deadlock"},
    {"producerGivesNothing", replace("u32 40;", "u32 176;"), "register-pool"},
    {"producerTakes",
     replace("dec.sync.aligned.u32 40", "inc.sync.aligned.u32 40"),
     "register-pool"},
    {"consumersTakeNothing", replace("u32 232;", "u32 160;"), "register-pool"},
    {"consumersGive",
     replace("inc.sync.aligned.u32 232", "dec.sync.aligned.u32 232"),
     "register-pool"},
    {"warpsTakeDifferentNumbers",
     rewrite("setmaxnreg.inc",
             "and.b32 %r55, %r1, 32; setp.eq.u32 %p3, %r55, 0; @%p3 bra FEW; "
             "setmaxnreg.inc.sync.aligned.u32 232; bra ALL; FEW: "
             "setmaxnreg.inc.sync.aligned.u32 224; ALL:"),
     "register-pool"},
    {"warpsTakeTheSameNumberApart",
     rewrite("setmaxnreg.dec",
             "and.b32 %r55, %r1, 32; setp.eq.u32 %p3, %r55, 0; @%p3 bra ODD; "
             "setmaxnreg.dec.sync.aligned.u32 40; bra ALL; ODD: "
             "setmaxnreg.dec.sync.aligned.u32 40; ALL:"),
     "register-pool"},
    {"oneWarpKeepsItsRegisters",
     rewrite("setmaxnreg.dec", "and.b32 %r55, %r1, 96; setp.eq.u32 %p3, %r55, "
                               "96; @!%p3 setmaxnreg.dec.sync.aligned.u32 40;"),
     "register-pool"},
    {"oneThreadGivesRegisters",
     rewrite("setmaxnreg.dec", "setp.eq.s32 %p15, %r1, 256; @%p15 "
                               "setmaxnreg.dec.sync.aligned.u32 40;"),
     "warp-sync"},
    {"expectsTooFewBytes", replace("%r289, 24576", "%r289, 16384"), "mbarrier"},
    {"expectsTooManyBytes", replace("%r289, 24576", "%r289, 32768"),
     "mbarrier"},
    {"expectsNothing",
     rewrite("[%r253], %r289",
             "mbarrier.arrive.shared::cta.b64 state, [%r253];"),
     "mbarrier"},
    {"expectsTwice",
     insertBefore("[%r253], %r289", "mbarrier.expect_tx.relaxed.cta.shared::"
                                    "cta.b64 [%r253], %r289;"),
     "mbarrier"},
    {"thirdTileNotCopied", drop("[%r250], [%rd79"), "deadlock"},
    {"stageReusedEarly", dropWait("[%r286], %r287"), "mbarrier"},
    {"parityOfTheProducerFlipped",
     rewrite("%r287, %r327, 1", "and.b32 %r287, %r323, 1;"), "mbarrier"},
    {"producerWaitsForTheFirstRound", replace("[%r238], %r239", "[%r238], 0"),
     "deadlock"},
    {"parityOfTheConsumerFlipped", replace("[%r77], %r78", "[%r77], 1"),
     "async-wait"},
    {"noWaitOfTheConsumer", dropWait("[%r98], %r99"), "async-wait"},
    {"arrivesAtTheWrongBarrier",
     replace("%r76, _ZZ5rolesE5empty", "%r76, _ZZ5rolesE4full"), "mbarrier"},
    {"consumersDoNotArrive", drop("state, [%r74]"), "deadlock"},
    {"consumersArriveTwice",
     repeat("mbarrier.arrive.shared::cta.b64 state, "
            "[%r74]"),
     "mbarrier"},
    {"everyThreadArrives", drop("@%p5 bra  $L__BB3_9"), "mbarrier"},
    {"rowsOfTheFirstHalfTwice", replace("%r24, %r23, 64", "%r24, %r23, 0"),
     "numbers"},
    {"rowsOutsideTheTensor", replace("%r24, %r23, 64", "%r24, %r23, 8192"),
     "numbers"},
    {"bInThePlaceOfA", replace("%r250, %r242, 16384", "%r250, %r242, 8192"),
     "async-wait"},
    {"bBehindItsPlace", replace("%r250, %r242, 16384", "%r250, %r242, 20480"),
     "initialisation"},
    {"stagesBetweenTheLines",
     replace("%r258, %r313, 24576", "%r258, %r313, 24592"), "alignment"},
    {"stagesTooFarApart", replace("%r258, %r313, 24576", "%r258, %r313, 98304"),
     "bounds"},
    {"barrierBetweenTheWords", replace("[%r253], %r289", "[%r253+4], %r289"),
     "alignment"},
    {"readsTheNextStage", replace("%r93, %r88, 16384", "%r93, %r88, 24576"),
     "async-wait"},
    {"noSwizzle", replace(kDescriptor, "274877972480", kAll), "numbers"},
    {"noFence", drop("wgmma.fence"), "wgmma"},
    {"noCommit", drop("wgmma.commit_group"), "async-wait"},
    {"noWaitForTheProducts", drop("wgmma.wait_group"), "async-wait"},
    {"waitsForOneGroupLess",
     replace("wait_group.sync.aligned 0", "wait_group.sync.aligned 1", kAll),
     "wgmma"},
    {"sumsTakenTooEarly",
     insertBefore("wgmma.wait_group", "mov.f32 %f0, %f1793;", 5), "wgmma"},
    {"bothGroupsMeetInOneBarrier", replace("%r194, %r53, 1", "%r194, 0, 1"),
     "race"},
    {"groupWaitsForTheOtherOne", replace("%r59, 128", "%r59, 256"), "deadlock"},
    {"noProxyFenceBehindTheSums", drop("fence.proxy.async", 2), "proxy-fence"},
    {"noBarrierBehindTheSums", drop("bar.sync %r194, 128"), "race"},
    {"noCommitOfTheStore", drop("cp.async.bulk.commit_group"), "leaks"},
    {"noWaitForTheStore", drop("cp.async.bulk.wait_group"), "leaks"},
    {"sumsOutsideTheTensor", replace("{%r223, %r224}", "{%r224, %r224}"),
     "numbers"},
    {"sumsWithoutSwizzle",
     rewrite("%r207, %r203, %r205", "mov.b32 %r207, %r203;"), "numbers"},
    {"sumsBetweenThePieces", replace("[%r162]", "[%r162+4]"), "alignment"},
    {"sumsByHalfAWarp",
     insertBefore("stmatrix", "setp.eq.u32 %p13, %r203, 0; @%p13"),
     "warp-sync"},
    {"aMatrixOfSumsNotStored", drop("stmatrix", 4), "initialisation"},
    {"sumsOfAnUnsetRegister", replace("%r158, %f1792", "%r159, %f1792"),
     "registers"},
    {"storeOfAnotherMap", replace("%rd66, %rd93;", "%rd66, %rd4;"), "bounds"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, RolesMutation, testing::ValuesIn(kRoles),
                         [](const auto &i) { return i.param.name; });
} // namespace
