//===- CompiledMutationTest.cpp - blocks and grids by nvcc, made wrong ----===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions, tiles, the last block of a grid, and a pipelined product: what
// nvcc makes of test/Emulator/CUDA.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
Subject subject(const char *file, const char *kernel, const LaunchShape &shape,
                std::function<std::vector<Argument>(Device &)> arguments) {
  return {readCompiled(file, kernel), kernel, shape, std::move(arguments)};
}
std::vector<float> someFloats(size_t count) {
  std::vector<uint32_t> from = someNumbers<uint32_t>(count, 64);
  return {from.begin(), from.end()};
}

//===----------------------------------------------------------------------===//
// grid_sum: a tree in shared memory, shuffles, an atomic addition a block
//===----------------------------------------------------------------------===//

Subject gridSum() {
  return subject("reductions.sm_90a", "grid_sum", {{4}, {128}}, [](Device &d) {
    uint64_t in = makeBuffer(d, "in", someFloats(1001));
    uint64_t total = makeBuffer(d, "total", std::vector<float>{0}, false);
    return std::vector<Argument>{Argument::of(in), Argument::of(1001),
                                 Argument::of(total)};
  });
}
class SumMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(SumMutation, isCaught) { expectCaught(gridSum(), GetParam()); }
TEST(SumMutationSubject, isClean) { expectClean(gridSum()); }
const char *const kTotal = "%f21, [%rd6], %f4";
const MutationCase kSum[] = {
    {"noBarrierBehindTheStores", drop("bar.sync", 1), "race"},
    {"noBarrierInTheTree", drop("bar.sync", 2), "race"},
    {"partsNotStored", drop("st.shared.f32   [%r7], %f23"), "initialisation"},
    {"oneElementTooMany", replace("%p2, %r34, %r10", "%p2, %r34, 1008"),
     "bounds"},
    {"halfBehindTheParts", replace("%f9, [%r16]", "%f9, [%r16+1024]"),
     "bounds"},
    {"halfBetweenTheParts", replace("%f9, [%r16]", "%f9, [%r16+2]"),
     "alignment"},
    {"totalByAStore", rewrite(kTotal, "st.global.f32 [%rd6], %f4;"),
     "global-race"},
    {"totalByAStoreIsTheLastOnes",
     rewrite(kTotal, "st.global.f32 [%rd6], %f4;"), "determinism"},
    {"totalByLoadAndStore",
     rewrite(kTotal, "ld.global.f32 %f21, [%rd6]; add.f32 %f21, %f21, %f4; "
                     "st.global.f32 [%rd6], %f21;"),
     "global-race"},
    {"totalIsExchanged",
     rewrite(kTotal, "atom.global.exch.b32 %r33, [%rd6], %r31;"),
     "determinism"},
    {"totalForTheBlockOnly",
     rewrite(kTotal, "atom.cta.global.add.f32 %f21, [%rd6], %f4;"),
     "global-race"},
    {"totalInSharedMemory",
     rewrite(kTotal, "atom.shared.add.f32 %f21, [%rd6], %f4;"), "space"},
    {"totalNotConverted",
     rewrite(kTotal, "cvt.u64.u32 %rd6, %r7; "
                     "atom.global.add.f32 %f21, [%rd6], %f4;"),
     "space"},
    {"halfAWarpShuffles", replace("%p6, %r2, 31", "%p6, %r2, 15"), "warp-sync"},
    {"maskOfHalfAWarp", replace("%r20, -1", "%r20, 65535"), "warp-sync"},
    {"maskOfNobody", replace("%r20, -1", "%r20, 0"), "warp-sync"},
    {"sumNotSet",
     both(drop("mov.f32   %f23, 0f00000000"), drop("mov.f32   %f23, 0f0000")),
     "registers"},
    {"sizeNotLoaded", drop("ld.param.u32  %r10"), "registers"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, SumMutation, testing::ValuesIn(kSum),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// block_argmax, block_scan: one value a warp goes through shared memory
//===----------------------------------------------------------------------===//

Subject argmax() {
  return subject(
      "reductions.sm_90a", "block_argmax", {{1}, {256}}, [](Device &d) {
        uint64_t in = makeBuffer(d, "in", someNumbers<uint32_t>(1000, 30000));
        return std::vector<Argument>{Argument::of(in), Argument::of(1000),
                                     Argument::of(d.alloc(8, "out"))};
      });
}
class ArgmaxMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(ArgmaxMutation, isCaught) { expectCaught(argmax(), GetParam()); }
TEST(ArgmaxMutationSubject, isClean) { expectClean(argmax()); }
const MutationCase kArgmax[] = {
    {"noBarrier", drop("bar.sync"), "race"},
    {"barrierBeforeTheStore", moveUp("bar.sync", "@%p13 bra"), "race"},
    {"onlyTheFirstWarpStores", replace("%p13, %r48, 0", "%p13, %r1, 0"),
     "initialisation"},
    {"everyLaneStores", drop("@%p13 bra"), "race"},
    {"barrierByPart", insertBefore("bar.sync", "@%p13"), "barriers"},
    {"storesBetweenTheWords", replace("[%r52], %rd49", "[%r52+4], %rd49"),
     "alignment"},
    {"oneWarpTooMany", replace("%r6, %r55, -1", "%r6, %r55, 0"), "bounds"},
    {"leastNotSet", replace("mov.u64   %rd44", "mov.u64   %rd43", kAll),
     "registers"},
    {"masksDiffer",
     replace("mov.u32   %r44, -1", "mov.u32   %r44, %lanemask_ge"),
     "warp-sync"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, ArgmaxMutation, testing::ValuesIn(kArgmax),
                         [](const auto &i) { return i.param.name; });
// Races inside a block.
TEST(ArgmaxMutationSubject, everyThreadWritesTheResultIsMissed) {
  expectMissed(argmax(), {"", drop("@%p14 bra"), "global-race"});
}

Subject scan() {
  return subject(
      "reductions.sm_90a", "block_scan", {{2}, {256}}, [](Device &d) {
        uint64_t in = makeBuffer(d, "in", someNumbers<uint32_t>(512, 100));
        return std::vector<Argument>{Argument::of(in),
                                     Argument::of(d.alloc(2048, "out"))};
      });
}
class ScanMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(ScanMutation, isCaught) { expectCaught(scan(), GetParam()); }
TEST(ScanMutationSubject, isClean) { expectClean(scan()); }
const MutationCase kScan[] = {
    {"noBarrierBeforeTheSums", drop("bar.sync", 1), "race"},
    {"noBarrierBehindTheSums", drop("bar.sync", 2), "race"},
    {"firstWarpLooksBefore", drop("@%p21 bra"), "bounds"},
    {"firstWarpAddsNothingKnown", drop("mov.u32   %r79, 0"), "registers"},
    {"sumOfAnotherLane", replace("%p11, %r12, 31", "%p11, %r12, 30"),
     "numbers"},
    {"everyLaneLoadsASum", replace("%p13, %r12, 7", "%p13, %r12, 31"),
     "bounds"},
    {"blocksOverlap", replace("%r8, %r7, 8", "%r8, %r7, 7"), "global-race"},
    {"blocksOverlapInEveryOrder", replace("%r8, %r7, 8", "%r8, %r7, 7"),
     "determinism"},
    {"blocksTooFarApart", replace("%r8, %r7, 8", "%r8, %r7, 9"), "bounds"},
    {"scanByPart", insertBefore("shfl.sync.up.b32  %r17", "@%p2"), "registers"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, ScanMutation, testing::ValuesIn(kScan),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// histogram: atomic additions to shared, then to global memory
//===----------------------------------------------------------------------===//

Subject histogram() {
  return subject("tiles.sm_90a", "histogram", {{3}, {128}}, [](Device &d) {
    uint64_t in = makeBuffer(d, "in", someNumbers<uint8_t>(700, 256));
    uint64_t bins = makeBuffer(d, "bins", std::vector<uint32_t>(64), false);
    return std::vector<Argument>{Argument::of(in), Argument::of(700),
                                 Argument::of(bins)};
  });
}
class HistogramMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(HistogramMutation, isCaught) { expectCaught(histogram(), GetParam()); }
TEST(HistogramMutationSubject, isClean) { expectClean(histogram()); }
const MutationCase kHistogram[] = {
    {"binsNotCleared", drop("st.shared.u32   [%r2], %r11"), "initialisation"},
    {"noBarrierBehindTheClearing", drop("bar.sync", 1), "race"},
    {"noBarrierBehindTheCounting", drop("bar.sync", 2), "race"},
    {"countsByLoadAndStore",
     rewrite("%r18, [%r17], 1", "ld.shared.u32 %r18, [%r17]; add.u32 %r18, "
                                "%r18, 1; st.shared.u32 [%r17], %r18;"),
     "race"},
    {"addsByLoadAndStore",
     rewrite("%r20, [%rd8], %r19",
             "ld.global.u32 %r20, [%rd8]; add.u32 %r20, %r20, %r19; "
             "st.global.u32 [%rd8], %r20;"),
     "global-race"},
    {"addsForTheBlockOnly",
     rewrite("%r20, [%rd8], %r19", "red.cta.global.add.u32 [%rd8], %r19;"),
     "global-race"},
    {"exchangesTheBins",
     rewrite("%r20, [%rd8], %r19", "atom.global.exch.b32 %r20, [%rd8], %r19;"),
     "determinism"},
    {"binsTooWide", rewrite("%r15, %r14, 252", "shl.b32 %r15, %r14, 2;"),
     "bounds"},
    {"binsBetweenTheWords", replace("%r15, %r14, 252", "%r15, %r14, 255"),
     "alignment"},
    {"oneElementTooMany", replace("%p3, %r21, %r8", "%p3, %r21, 768"),
     "bounds"},
    {"readsSharedMemory", rewrite("%r14, [%rd5]", "ld.shared.u8 %r14, [%rd5];"),
     "space"},
    {"everyThreadClears", drop("@%p1 bra  $L__BB3_2"), "bounds"},
    {"halfTheWarpsSkipABarrier", insertBefore("bar.sync", "@!%p1"), "race"},
    {"everyThreadClearsTheFirstBin",
     insertBefore("@%p1 bra  $L__BB3_2", "st.shared.u32 [%r10], 0;"),
     "equal-writes"},
    {"twoThreadsClearABin",
     insertBefore("setp.gt.u32   %p1, %r1, 63", "shr.u32 %r1, %r1, 1;"),
     "equal-writes", " writes with the same value, and nothing orders the two"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, HistogramMutation, testing::ValuesIn(kHistogram),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// stencil and transpose_f32: two-dimensional tiles with edges
//===----------------------------------------------------------------------===//

Subject stencil() {
  return subject("tiles.sm_90a", "stencil", {{3, 2}, {16, 16}}, [](Device &d) {
    uint64_t in = makeBuffer(d, "in", someFloats(20 * 37));
    return std::vector<Argument>{Argument::of(in),
                                 Argument::of(d.alloc(20 * 37 * 4, "out")),
                                 Argument::of(20), Argument::of(37)};
  });
}
class StencilMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(StencilMutation, isCaught) { expectCaught(stencil(), GetParam()); }
TEST(StencilMutationSubject, isClean) { expectClean(stencil()); }
const MutationCase kStencil[] = {
    {"noBarrier", drop("bar.sync"), "race"},
    {"edgeNotLoaded", replace("%r27, %r124, 68", "%r27, %r124, 50"),
     "initialisation"},
    {"rowAboveTheFirst", rewrite("%r42, %r41, 0", "mov.b32 %r42, %r41;"),
     "bounds"},
    {"rowBelowTheLast", rewrite("%r43, %r42, %r9", "mov.b32 %r43, %r42;"),
     "bounds"},
    {"columnLeftOfTheFirst", rewrite("%r39, %r38, 0", "mov.b32 %r39, %r38;"),
     "bounds"},
    {"rowsNotGuarded", replace("%p8, %p7, %p6", "%p8, %p6, %p6"), "bounds"},
    {"columnsNotGuarded", replace("%p8, %p7, %p6", "%p8, %p7, %p7"),
     "global-race"},
    {"allBlocksWriteTheFirstColumns",
     replace("%r121, %r20, %r23, %r21", "%r121, %r20, %r23, %r6"),
     "global-race"},
    {"barrierByPart",
     both(drop("bar.sync"), insertBefore("%f6, [%r19]", "bar.sync 0;")),
     "barriers"},
    {"sumsBetweenTheWords", replace("[%rd16], %f24", "[%rd16+1], %f24"),
     "alignment"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, StencilMutation, testing::ValuesIn(kStencil),
                         [](const auto &i) { return i.param.name; });

Subject transpose() {
  return subject(
      "tiles.sm_90a", "transpose_f32", {{3, 2}, {32, 8}}, [](Device &d) {
        uint64_t in = makeBuffer(d, "in", someFloats(45 * 70));
        return std::vector<Argument>{Argument::of(in),
                                     Argument::of(d.alloc(45 * 70 * 4, "out")),
                                     Argument::of(45), Argument::of(70)};
      });
}
class TransposeMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(TransposeMutation, isCaught) { expectCaught(transpose(), GetParam()); }
TEST(TransposeMutationSubject, isClean) { expectClean(transpose()); }
const MutationCase kTranspose[] = {
    {"noBarrier", drop("bar.sync"), "race"},
    {"rowsOfTheTileTooClose", replace("%r29, %r2, 132", "%r29, %r2, 128"),
     "numbers"},
    {"rowsOfTheFirstBlock",
     replace("mov.u32   %r20, %ctaid.y", "mov.u32   %r20, 0"), "global-race"},
    {"rowsNotGuarded", replace("%p9, %p1, %p8", "%p9, %p1, %p1"), "bounds"},
    {"columnsOfTheResultNotGuarded",
     replace("%p15, %p13, %p14", "%p15, %p14, %p14"), "initialisation"},
    {"lastRowsNotLoaded", drop("st.shared.f32   [%r7+3168]"), "initialisation"},
    {"tileTooSmall", replace("4tile[4224]", "4tile[4092]"), "bounds"},
    {"twoThreadsCopyAColumn",
     insertBefore("add.s32   %r3, %r1, %r2", "and.b32 %r2, %r2, 30;"),
     "equal-writes"},
    {"twoThreadsCopyARow",
     insertBefore("add.s32   %r6, %r4, %r5", "and.b32 %r5, %r5, 6;"),
     "equal-writes"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, TransposeMutation, testing::ValuesIn(kTranspose),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// last_block: an atomic counter, fences
//===----------------------------------------------------------------------===//

Subject lastBlock() {
  return subject("atomics.sm_90a", "last_block", {{5}, {64}}, [](Device &d) {
    uint64_t in = makeBuffer(d, "in", someNumbers<uint32_t>(320, 100));
    uint64_t done = makeBuffer(d, "done", std::vector<uint32_t>{0}, false);
    return std::vector<Argument>{
        Argument::of(in), Argument::of(d.alloc(20, "part")), Argument::of(done),
        Argument::of(d.alloc(4, "out"))};
  });
}
// The fences order weak accesses as well.
const Mutation kWeakStore = replace("st.volatile.global", "st.global");
const Mutation kWeakLoads = replace("ld.volatile.global", "ld.global", kAll);
TEST(LastBlockMutationSubject, isCleanWithWeakAccesses) {
  Subject s = lastBlock();
  s.ptx = *both(kWeakStore, kWeakLoads)(s.ptx);
  expectClean(s);
}
class LastBlockMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(LastBlockMutation, isCaught) { expectCaught(lastBlock(), GetParam()); }
TEST(LastBlockMutationSubject, isClean) { expectClean(lastBlock()); }
const char *const kTicket = "%r29, [%rd16], %r28";
const MutationCase kLastBlock[] = {
    {"noFenceBeforeTheTicket", both(kWeakStore, drop("membar.gl", 1)),
     "global-race"},
    {"noFenceBehindTheTicket", both(kWeakLoads, drop("membar.gl", 2)),
     "global-race"},
    {"fenceOfTheBlockOnly",
     both(kWeakStore, replace("membar.gl", "membar.cta", 1)), "global-race"},
    {"ticketOfTheBlockOnly",
     rewrite(kTicket, "atom.cta.global.inc.u32 %r29, [%rd16], %r28;"),
     "global-race"},
    {"ticketByLoadAndStore",
     rewrite(kTicket, "ld.global.u32 %r29, [%rd16]; add.u32 %r27, %r29, 1; "
                      "st.global.u32 [%rd16], %r27;"),
     "global-race"},
    {"everyBlockIsTheLast", replace("setp.eq.s32   %p3", "setp.le.s32   %p3"),
     "global-race"},
    {"firstBlockIsTheLast", replace("%p3, %r29, %r28", "%p3, %r29, 0"),
     "initialisation"},
    {"writesWhichBlockItWas", replace("[%rd18], %r53", "[%rd18], %r2"),
     "determinism"},
    {"partsInTheOrderOfTickets",
     both(drop("st.volatile.global"),
          insertBefore("%p3, %r29, %r28",
                       "mul.wide.u32 %rd14, %r29, 4; add.s64 %rd15, %rd1, "
                       "%rd14; st.volatile.global.u32 [%rd15], %r26;")),
     "determinism"},
    {"everyThreadClearsTheSum", drop("@%p1 bra  $L__BB5_2"), "equal-writes"},
    {"noBarrierBehindTheZero", drop("bar.sync", 1), "race"},
    {"noBarrierBehindTheSum", drop("bar.sync", 2), "race"},
    {"noBarrierBehindTheAnswer", drop("bar.sync", 3), "race"},
    {"sumNotSet", drop("st.shared.u32   [_ZZ10last_blockE3sum]"),
     "initialisation"},
    {"partNotWritten", drop("st.volatile.global"), "initialisation"},
    {"onePartTooMany", replace("%r52, %r3, 3", "%r52, %r3, 7"), "bounds"},
    {"ticketBetweenTheWords", replace(kTicket, "%r29, [%rd16+2], %r28"),
     "alignment"},
    {"addsToAnAddressOfGlobalMemory",
     rewrite("%r25, [%r24], %r23", "atom.global.add.u32 %r25, [%rd1], %r23;"),
     "initialisation"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, LastBlockMutation, testing::ValuesIn(kLastBlock),
                         [](const auto &i) { return i.param.name; });
} // namespace
