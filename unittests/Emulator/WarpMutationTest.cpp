//===- WarpMutationTest.cpp - warps and memories by nvcc, made wrong ------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Votes, matrices that a warp shares, local memory and generic addresses, and
// the blocks of clusters: what nvcc makes of test/Emulator/CUDA.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include <gtest/gtest.h>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// A kernel with a buffer of words to read and one to write.
Subject inOut(const char *file, const char *kernel, const LaunchShape &shape,
              size_t inWords, size_t outWords) {
  auto arguments = [=](Device &d) {
    uint64_t in = makeBuffer(d, "in", someNumbers<uint32_t>(inWords, 100));
    return std::vector<Argument>{Argument::of(in),
                                 Argument::of(d.alloc(outWords * 4, "out"))};
  };
  return {readCompiled(file, kernel), kernel, shape, arguments};
}

//===----------------------------------------------------------------------===//
// Votes and reductions of a warp
//===----------------------------------------------------------------------===//

Subject votes() { return inOut("warps.sm_80", "votes", {{1}, {32}}, 32, 192); }
class VoteMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(VoteMutation, isCaught) { expectCaught(votes(), GetParam()); }
TEST(VoteMutationSubject, isClean) { expectClean(votes()); }
const MutationCase kVotes[] = {
    {"halfAWarpNamesAll", replace("%r23, 65535", "%r23, -1"), "deadlock"},
    {"lastLaneNotNamed", replace("%r7, -1", "%r7, 0x7FFFFFFF"), "warp-sync"},
    {"halfAWarpNotNamed",
     replace("bar.warp.sync   -1", "bar.warp.sync   65535"), "warp-sync"},
    {"nobodyNamed", replace("%r24, -1", "%r24, 0"), "warp-sync"},
    {"onlyOneself", replace("%r24, -1", "%r24, %lanemask_eq"), "numbers"},
    {"theOthersNamed", replace("%r24, -1", "%r24, %lanemask_gt"), "warp-sync"},
    {"votesByHalfAWarp",
     insertBefore("vote.sync.all", "setp.lt.u32 %p8, %r6, 16; @%p8"),
     "deadlock"},
    {"maskNotSet", drop("mov.u32   %r7, -1"), "registers"},
    {"voteOfAnUnsetPredicate", drop("%p3, %r1, -100"), "registers"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, VoteMutation, testing::ValuesIn(kVotes),
                         [](const auto &i) { return i.param.name; });

Subject redux() {
  return inOut("reductions.sm_80", "warp_redux", {{1}, {64}}, 64, 8);
}
class ReduxMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(ReduxMutation, isCaught) { expectCaught(redux(), GetParam()); }
TEST(ReduxMutationSubject, isClean) { expectClean(redux()); }
const MutationCase kRedux[] = {
    {"nobodyNamed", replace("%r7, -1", "%r7, 0"), "warp-sync"},
    {"lowerLanesNamed", replace("%r7, -1", "%r7, %lanemask_le"), "warp-sync"},
    {"byHalfAWarp",
     insertBefore("redux.sync.min",
                  "and.b32 %r8, %r1, 16; setp.eq.u32 %p1, %r8, 0; @%p1"),
     "deadlock"},

};
INSTANTIATE_TEST_SUITE_P(Nvcc, ReduxMutation, testing::ValuesIn(kRedux),
                         [](const auto &i) { return i.param.name; });
// Races inside a block.
TEST(ReduxMutationSubject, warpsOnTopOfEachOtherAreMissed) {
  expectMissed(redux(),
               {"", rewrite("%r10, %r9, 536870908", "mov.b32 %r10, %r8;"),
                "global-race"});
}

//===----------------------------------------------------------------------===//
// tile_f16: stores, ldmatrix and mma of one warp
//===----------------------------------------------------------------------===//

Subject tile() {
  return {readCompiled("tensor.sm_80", "tile_f16"),
          "tile_f16",
          {{1}, {32}},
          [](Device &d) {
            std::vector<uint16_t> values = someNumbers<uint16_t>(256, 5);
            for (uint16_t &v : values)
              v = uint16_t(0x3C00 + (v << 8));
            uint64_t a = makeBuffer(d, "a", values);
            values.resize(128);
            uint64_t b = makeBuffer(d, "b", values);
            return std::vector<Argument>{Argument::of(a), Argument::of(b),
                                         Argument::of(d.alloc(256, "d"))};
          }};
}
class TileMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(TileMutation, isCaught) { expectCaught(tile(), GetParam()); }
TEST(TileMutationSubject, isClean) { expectClean(tile()); }
const char *const kHalf = "setp.lt.s32 %p10, %r1, 16; @%p10";
const MutationCase kTile[] = {
    {"lanesDoNotMeet", drop("bar.warp.sync"), "race"},
    {"halfTheLanesMeet", insertBefore("bar.warp.sync", kHalf), "warp-sync"},
    {"loadByHalfAWarp", insertBefore("ldmatrix", kHalf), "warp-sync"},
    {"transposeByHalfAWarp", insertBefore("movmatrix", kHalf), "warp-sync"},
    {"productByHalfAWarp", insertBefore("mma.sync", kHalf), "warp-sync"},
    {"notTransposed", replace("x2.trans", "x2"), "numbers"},
    {"transposedOnce", drop("movmatrix"), "numbers"},
    {"bNotFilled", replace("%p6, %r1, 127", "%p6, %r1, -1"), "initialisation"},
    {"rowsBetweenThePieces",
     rewrite("%r165, %r164, 5", "mul.lo.s32 %r165, %r164, 24;"), "alignment"},
    {"rowsBehindTheTile", replace("%r165, %r164, 5", "%r165, %r164, 12"),
     "bounds"},
    {"rowsOfB", replace("%r165, %r164, 5", "%r165, %r164, 4"), "numbers"},
    {"aNotLoaded", drop("ldmatrix", 1), "registers"},
    {"sumsNotSet", drop("mov.u32   %r150, 0"), "registers"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, TileMutation, testing::ValuesIn(kTile),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// gemm_f16: two stages of cp.async
//===----------------------------------------------------------------------===//

Subject gemm() {
  return {readCompiled("tensor.sm_80", "gemm_f16"),
          "gemm_f16",
          {{1}, {128}},
          [](Device &d) {
            std::vector<uint16_t> values = someNumbers<uint16_t>(64 * 128, 5);
            for (uint16_t &v : values)
              v = uint16_t(0x3C00 + (v << 8));
            uint64_t a = makeBuffer(d, "a", values);
            uint64_t b = makeBuffer(d, "b", values);
            uint64_t c = d.alloc(64 * 64 * 4, "c");
            return std::vector<Argument>{Argument::of(a), Argument::of(b),
                                         Argument::of(c), Argument::of(64),
                                         Argument::of(128)};
          }};
}
class GemmMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(GemmMutation, isCaught) { expectCaught(gemm(), GetParam()); }
TEST(GemmMutationSubject, isClean) { expectClean(gemm()); }
const MutationCase kGemm[] = {
    {"noWaitInTheLoop", drop("cp.async.wait_group 1"), "async-wait"},
    {"waitsForOneGroupLess",
     replace("cp.async.wait_group 1", "cp.async.wait_group 2"), "async-wait"},
    {"noWaitForTheLast", drop("cp.async.wait_group 0"), "async-wait"},
    {"noWaitForTheLastLeaks", drop("cp.async.wait_group 0"), "leaks"},
    {"noFirstCommit", drop("cp.async.commit_group", 1), "async-wait"},
    {"noCommitInTheLoop", drop("cp.async.commit_group", 2), "async-wait"},
    {"waitBehindTheBarrier", moveUp("bar.sync", "cp.async.wait_group 0"),
     "race"},
    {"noBarrierBehindTheWait", drop("bar.sync", 1), "race"},
    {"noBarrierBehindTheProducts", drop("bar.sync", 2), "race"},
    {"stageInUse", rewrite("%r286, %r285, 8192", "mov.b32 %r286, %r285;"),
     "async-wait"},
    {"pieceInTheWrongPlace", rewrite("%r85, %r82, %r84", "mov.b32 %r85, %r84;"),
     "numbers"},
    {"pieceNotCopied", drop("[%r76], [%rd8]"), "initialisation"},
    {"copyBetweenThePieces", replace("[%r76], [%rd8]", "[%r76+8], [%rd8]"),
     "alignment"},
    {"copyBehindTheMatrix", replace("[%r76], [%rd8]", "[%r76], [%rd8+65536]"),
     "bounds"},
    {"tilesTooSmall", replace("5tiles[16384]", "5tiles[8192]"), "bounds"},
    {"rowsOfOtherColumns", replace("[%r486]", "[%r481]"), "numbers"},
    {"sumsNotSet", drop("%f289, 0f00000000"), "registers"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, GemmMutation, testing::ValuesIn(kGemm),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// Local memory, generic addresses, constants
//===----------------------------------------------------------------------===//

Subject sorting() {
  return inOut("memory.sm_80", "local_sort", {{1}, {32}}, 256, 256);
}
class SortMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(SortMutation, isCaught) { expectCaught(sorting(), GetParam()); }
TEST(SortMutationSubject, isClean) { expectClean(sorting()); }
const MutationCase kSort[] = {
    {"firstNotStored", drop("st.local.u32  [%rd1], %r1"), "initialisation"},
    {"lastNotStored",
     both(drop("st.local.u32  [%rd8], %r8"),
          drop("st.local.u32  [%rd38], %r8")),
     "initialisation"},
    {"oneBehindTheLast", replace("%r47, [%rd8]", "%r47, [%rd8+4]"), "bounds"},
    {"betweenTheWords", replace("%r47, [%rd8]", "%r47, [%rd8+-2]"),
     "alignment"},
    {"localAsGlobal", rewrite("%r47, [%rd8]", "ld.global.u32 %r47, [%rd8];"),
     "space"},
    {"frameTooSmall", replace("__local_depot8[32]", "__local_depot8[28]"),
     "bounds"},
    {"placeNotSet", drop("mov.u64   %rd33, %rd1"), "numbers"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, SortMutation, testing::ValuesIn(kSort),
                         [](const auto &i) { return i.param.name; });

Subject generic() {
  return inOut("memory.sm_80", "generic", {{1}, {32}}, 36, 32);
}
class GenericMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(GenericMutation, isCaught) { expectCaught(generic(), GetParam()); }
TEST(GenericMutationSubject, isClean) { expectClean(generic()); }
const MutationCase kGeneric[] = {
    {"allAddressesAreGlobal", replace("ld.u32  %r1", "ld.global.u32  %r1"),
     "space"},
    {"allAddressesAreShared", replace("ld.u32  %r2", "ld.shared.u32  %r2"),
     "space"},
    {"allAddressesAreLocal", replace("ld.u32  %r4", "ld.local.u32  %r4"),
     "space"},
    {"localStoreByAGenericAddress",
     rewrite("cvta.to.local.u64", "mov.b64 %rd10, %rd22;"), "space"},
    {"sharedAddressNotConverted",
     rewrite("cvta.shared.u64", "mov.b64 %rd15, %tmp;"), "space"},
    {"localAddressNotConverted",
     rewrite("cvta.local.u64", "mov.b64 %SP, %SPL;"), "bounds"},
    {"noBarrier", drop("bar.sync"), "race"},
    {"sharedNotStored", drop("st.shared.u32   [%r10]"), "initialisation"},
    {"oneWordTooFar", replace("[%rd1+12]", "[%rd1+16]"), "bounds"},
    {"localWordNotStored",
     replace("st.local.v4.u32   [%rd10], {%r6, %r3, %r5, "
             "%r4}",
             "st.local.v2.u32   [%rd10], {%r6, %r3}"),
     "initialisation"},

};
INSTANTIATE_TEST_SUITE_P(Nvcc, GenericMutation, testing::ValuesIn(kGeneric),
                         [](const auto &i) { return i.param.name; });
// What functions are given and give back.
TEST(GenericMutationSubject, parametersNotSetAreMissed) {
  expectMissed(generic(),
               {"", drop("st.param.b32  [func_retval0"), "initialisation"});
  expectMissed(generic(),
               {"", drop("st.param.b64  [param0"), "initialisation"});
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

Subject rotation() {
  return inOut("clusters.sm_90a", "rotate_blocks", {{8}, {64}, {4}}, 512, 512);
}
class RotationMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(RotationMutation, isCaught) { expectCaught(rotation(), GetParam()); }
TEST(RotationMutationSubject, isClean) { expectClean(rotation()); }
const MutationCase kRotation[] = {
    {"noBarrierBefore",
     both(drop("barrier.cluster.arrive", 1), drop("barrier.cluster.wait", 1)),
     "race"},
    {"noBarrierBehind",
     both(drop("barrier.cluster.arrive", 2), drop("barrier.cluster.wait", 2)),
     "race", "the CTA ends, and nothing orders that after ld.u32 at line "},
    {"barrierOfTheBlockOnly",
     both(rewrite("barrier.cluster.arrive", "bar.sync 0;"),
          drop("barrier.cluster.wait", 1)),
     "race"},
    {"relaxedArrival",
     replace("barrier.cluster.arrive", "barrier.cluster.arrive.relaxed", 1),
     "race"},
    {"waitsWithoutArrival", drop("barrier.cluster.arrive", 1), "barriers"},
    {"oneBlockSkipsTheBarrier",
     both(rewrite("barrier.cluster.arrive",
                  "{ .reg .pred q; mov.b32 %r9, %cluster_ctarank; setp.ne.u32 "
                  "q, %r9, 3; @q barrier.cluster.arrive; }"),
          rewrite("barrier.cluster.wait",
                  "{ .reg .pred q; setp.ne.u32 q, %r9, 3; @q "
                  "barrier.cluster.wait; }")),
     "race"},
    {"blockThatIsNotThere", rewrite("%r12, %r10, %r11", "mov.b32 %r12, %r10;"),
     "bounds"},
    {"itsOwnNumbers", replace("%r10, %r9, 1", "%r10, %r9, 4"), "numbers"},
    {"dividesByItsRank",
     replace("%r11, %cluster_nctarank", "%r11, %cluster_ctarank"), "division"},
    {"asGlobalMemory", rewrite("%r13, [%rd10]", "ld.global.u32 %r13, [%rd10];"),
     "space"},
    {"asItsOwnMemory",
     rewrite("%r13, [%rd10]", "{ .reg .b64 t; cvta.to.shared.u64 t, %rd10; "
                              "ld.shared::cta.u32 %r13, [t]; }"),
     "bounds"},
    {"otherNumbersBehindTheEnd", replace("[%rd10]", "[%rd10+256]"), "bounds"},
    {"otherNumbersBetweenTheWords", replace("[%rd10]", "[%rd10+2]"),
     "alignment"},
    {"numbersNotStored", drop("st.shared.u32   [%r8]"), "initialisation"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, RotationMutation, testing::ValuesIn(kRotation),
                         [](const auto &i) { return i.param.name; });

Subject spread() {
  return {readCompiled("clusters.sm_90a", "spread_histogram"),
          "spread_histogram",
          {{8}, {32}, {4}, 40},
          [](Device &d) {
            uint64_t in = makeBuffer(d, "in", someNumbers<uint32_t>(500, 40));
            uint64_t bins =
                makeBuffer(d, "bins", std::vector<uint32_t>(40), false);
            return std::vector<Argument>{Argument::of(in), Argument::of(500),
                                         Argument::of(bins), Argument::of(10)};
          }};
}
class SpreadMutation : public testing::TestWithParam<MutationCase> {};
TEST_P(SpreadMutation, isCaught) { expectCaught(spread(), GetParam()); }
TEST(SpreadMutationSubject, isClean) { expectClean(spread()); }
const MutationCase kSpread[] = {
    {"binsNotCleared", drop("st.shared.u32   [%r16], %r17"), "initialisation"},
    {"noBarrierBehindTheClearing",
     both(drop("barrier.cluster.arrive", 1), drop("barrier.cluster.wait", 1)),
     "race"},
    {"noBarrierBehindTheCounting",
     both(drop("barrier.cluster.arrive", 2), drop("barrier.cluster.wait", 2)),
     "race"},
    {"countsByLoadAndStore",
     rewrite("%r25, [%rd10], 1", "ld.u32 %r25, [%rd10]; add.u32 %r25, %r25, 1; "
                                 "st.u32 [%rd10], %r25;"),
     "race"},
    {"countsForTheBlockOnly",
     rewrite("%r25, [%rd10], 1", "atom.cta.add.u32 %r25, [%rd10], 1;"), "race"},
    {"binsOfOthers", replace("%r21, %r20, %r13", "%r21, %r20, 5"), "bounds"},
    {"dividesByTheThread", replace("%r21, %r20, %r13", "%r21, %r20, %r35"),
     "division"},
    {"addsByAStore",
     rewrite("%r32, [%rd15], %r31", "st.global.u32 [%rd15], %r31;"),
     "global-race"},
    {"addsByAnExchange",
     rewrite("%r32, [%rd15], %r31",
             "atom.global.exch.b32 %r32, [%rd15], %r31;"),
     "determinism"},
};
INSTANTIATE_TEST_SUITE_P(Nvcc, SpreadMutation, testing::ValuesIn(kSpread),
                         [](const auto &i) { return i.param.name; });
} // namespace
