//===- CheckersTest.cpp - kernels that trip, and near misses --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row has a kernel with one fault and its near miss, which differs by what
// was left out. All checkers are on: the fault must be found by the checker of
// its row and by no other, the near miss by none, in any order of warps.
//
//===----------------------------------------------------------------------===//
#include "CheckerHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
class CheckerTest : public FaultTest {};
TEST_P(CheckerTest, findsTheFault) { findsTheFault(); }
TEST_P(CheckerTest, passesTheNearMiss) { passesTheNearMiss(); }
TEST_P(CheckerTest, findsNothingWhenItIsOff) {
  Report r = check(GetParam().fault, "none");
  EXPECT_TRUE(r.ok()) << allText(r);
}

const FaultCase kInitialisation[] = {
    {"globalLoad", "initialisation", "ld.global.u32 %r0, [%o];",
     "ld.global.u32 reads buffer 'out' at byte 0, which nothing has written; "
     "31 other lanes do the like [initialisation; kernel k, CTA (0,0,0), warp "
     "0, lane 0]",
     "st.global.u32 [%o], %tid; ld.global.u32 %r0, [%o];"},
    {"globalVectorInPart", "initialisation",
     R"(setp.eq.u32 %p0, %tid, 3;
        @%p0 st.global.v2.u32 [%out], {%tid, %tid};
        @%p0 ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%out];)",
     "reads buffer 'out' at byte 8, which nothing has written [initialisation; "
     "kernel k, CTA (0,0,0), warp 0, lane 3]",
     R"(setp.eq.u32 %p0, %tid, 3;
        @%p0 st.global.v2.u32 [%out], {%tid, %tid};
        @%p0 st.global.u16 [%out+8], 1;
        @%p0 st.global.u16 [%out+10], 1;
        @%p0 ld.global.v2.u32 {%r0, %r1}, [%out];
        @%p0 ld.global.u32 %r2, [%out+8];)"},
    {"copySource", "initialisation",
     "cp.async.ca.shared.global [%s], [%o], 4; cp.async.wait_all;",
     "cp.async.ca.shared.global reads buffer 'out' at byte 0",
     "cp.async.ca.shared.global [%s], [%o], 4, 0; cp.async.wait_all; "
     "ld.shared.u32 %r0, [%s];"},
    {"sharedLoad", "initialisation", "ld.shared.u32 %r0, [%s];",
     "ld.shared.u32 reads shared memory at byte 0, which nothing has written",
     "st.shared.u32 [%s], 1; ld.shared.u32 %r0, [%s];"},
    {"sharedHalfOfAWord", "initialisation",
     "mov.u16 %h0, 1; st.shared.u16 [%s], %h0; ld.shared.u32 %r0, [%s];",
     "reads shared memory at byte 2, which nothing has written",
     "mov.u16 %h0, 1; st.shared.u16 [%s], %h0; st.shared.u16 [%s+2], %h0; "
     "ld.shared.u32 %r0, [%s];"},
    {"matrixRow", "initialisation",
     R"(setp.lt.u32 %p0, %tid, 24;
        @%p0 st.shared.u32 [%s], 1;
        bar.sync 0;
        and.b32 %r0, %l, 7;
        mad.lo.u32 %r0, %r0, 16, %b;
        @%first ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];)",
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 reads shared memory at byte 96, "
     "which nothing has written; 1 other lane does the like",
     R"(st.shared.u32 [%s], 1;
        bar.sync 0;
        and.b32 %r0, %l, 7;
        mad.lo.u32 %r0, %r0, 16, %b;
        @%first ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];)"},
    {"sharedAtomic", "initialisation", "red.shared.add.u32 [%s], 1;",
     "red.shared.add.u32 reads shared memory at byte 0",
     "st.shared.u32 [%s], 0; red.shared.add.u32 [%s], 1;"},
    {"localLoad", "initialisation",
     R"(.local .align 8 .b8 depot[16];
        setp.eq.u32 %p0, %tid, 40;
        @!%p0 st.local.u32 [depot+4], 1;
        ld.local.u32 %r0, [depot+4];)",
     "reads the thread's local memory at byte 4, which nothing has written "
     "[initialisation; kernel k, CTA (0,0,0), warp 1, lane 8]",
     R"(.local .align 8 .b8 depot[16];
        st.local.u32 [depot+4], 1;
        ld.local.u32 %r0, [depot+4];)"},
};
INSTANTIATE_TEST_SUITE_P(Initialisation, CheckerTest,
                         testing::ValuesIn(kInitialisation),
                         [](const auto &i) { return i.param.name; });

const FaultCase kRegisters[] = {
    {"operand", "registers", "add.u32 %r0, %r1, 1;",
     "add.u32 reads register %r1, which nothing has written [registers; kernel "
     "k, CTA (0,0,0), warp 0, lane 0]",
     "mov.u32 %r1, 5; add.u32 %r0, %r1, 1;"},
    {"someLanes", "registers",
     "setp.lt.u32 %p0, %tid, 40; @%p0 mov.u32 %r1, 5; add.u32 %r0, %r1, 1;",
     "warp 1, lane 8]",
     "setp.lt.u32 %p0, %tid, 40; @%p0 mov.u32 %r1, 5; @!%p0 mov.u32 %r1, 6; "
     "add.u32 %r0, %r1, 1;"},
    {"guard", "registers", "@%p0 mov.u32 %r0, 1;", "reads register %p0",
     "setp.eq.u32 %p0, %tid, 77; @%p0 add.u32 %r0, %r1, 1;"},
    {"throughAMove", "registers", "mov.u32 %r0, %r1; add.u32 %r2, %r0, 1;",
     "add.u32 reads register %r0", "mov.u32 %r0, %r1; mov.u32 %r2, %r0;"},
    {"takenAway", "registers",
     R"(mov.u32 %r0, 0; mov.u32 %r2, 0;
        LOOP: add.u32 %r2, %r2, 1;
        add.u32 %r3, %r2, %r0;
        setp.lt.u32 %p0, %r2, 3;
        mov.u32 %r0, %r1;
        @%p0 bra LOOP;)",
     "add.u32 reads register %r0",
     R"(mov.u32 %r0, 0; mov.u32 %r2, 0;
        LOOP: add.u32 %r2, %r2, 1;
        add.u32 %r3, %r2, %r0;
        setp.lt.u32 %p0, %r2, 3;
        mov.u32 %r0, 1;
        @%p0 bra LOOP;)"},
    {"storedValue", "registers", "st.shared.u32 [%s], %r9;",
     "st.shared.u32 reads register %r9", "st.shared.u32 [%s], %tid;"},
};
INSTANTIATE_TEST_SUITE_P(Registers, CheckerTest, testing::ValuesIn(kRegisters),
                         [](const auto &i) { return i.param.name; });

const FaultCase kAsyncWait[] = {
    {"read", "async-wait",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.commit_group; "
     "ld.shared.u32 %r0, [%s]; cp.async.wait_all;",
     "ld.shared.u32 reads shared memory at byte 0, which "
     "cp.async.ca.shared.global at line 23 (warp 0, lane 0) is still writing",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.commit_group; "
     "cp.async.wait_group 0; ld.shared.u32 %r0, [%s];"},
    {"oneGroupTooMany", "async-wait",
     R"(cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [%s+256], [%i], 4;
        cp.async.commit_group;
        cp.async.wait_group 1;
        ld.shared.u32 %r0, [%s];
        ld.shared.u32 %r1, [%s+256];
        cp.async.wait_all;)",
     "reads shared memory at byte 256",
     R"(cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [%s+256], [%i], 4;
        cp.async.commit_group;
        cp.async.wait_group 1;
        ld.shared.u32 %r0, [%s];
        cp.async.wait_group 0;
        ld.shared.u32 %r1, [%s+256];)"},
    {"notCommitted", "async-wait",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.wait_group 0; "
     "ld.shared.u32 %r0, [%s]; cp.async.wait_all;",
     "has not waited for it",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.wait_all; "
     "ld.shared.u32 %r0, [%s];"},
    {"overwrite", "async-wait",
     "cp.async.ca.shared.global [%s], [%i], 4; st.shared.u32 [%s], 1; "
     "cp.async.wait_all;",
     "st.shared.u32 writes shared memory at byte 0",
     "cp.async.ca.shared.global [%s], [%i], 4; st.shared.u32 [%s+256], 1; "
     "cp.async.wait_all; st.shared.u32 [%s], 1;"},
    {"secondCopy", "async-wait",
     "cp.async.ca.shared.global [%s], [%i], 4; "
     "cp.async.ca.shared.global [%s], [%i+256], 4; cp.async.wait_all;",
     "overwrites shared memory at byte 0",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.wait_all; "
     "cp.async.ca.shared.global [%s], [%i+256], 4; cp.async.wait_all;"},
    {"otherThread", "async-wait",
     R"(@%first cp.async.ca.shared.global [%s], [%i], 4;
        bar.sync 0;
        @%second ld.shared.u32 %r0, [%s+-128];
        bar.sync 0;
        cp.async.wait_all;)",
     "warp 1, lane 0]",
     R"(@%first cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.wait_all;
        bar.sync 0;
        @%second ld.shared.u32 %r0, [%s+-128];)"},
};
INSTANTIATE_TEST_SUITE_P(AsyncWait, CheckerTest, testing::ValuesIn(kAsyncWait),
                         [](const auto &i) { return i.param.name; });

const FaultCase kBarriers[] = {
    {"partOfAWarp", "barriers",
     R"(setp.lt.u32 %p0, %l, 16;
        @%p0 bra LOW;
        bar.sync 0;
        bra.uni END;
        LOW: bar.sync 0;
        END: bar.warp.sync -1;)",
     "needs all lanes of the warp together, and lanes 0x",
     R"(setp.lt.u32 %p0, %l, 16;
        @%p0 bra LOW;
        barrier.sync 0;
        bra.uni END;
        LOW: barrier.sync 0;
        END: bar.warp.sync -1;)"},
    {"exitedLanesAreNotMissed", "barriers",
     "setp.lt.u32 %p0, %l, 4; @%p0 bar.arrive 3, 64; @!%p0 bar.arrive 3, 64;",
     "bar.arrive needs all lanes of the warp together",
     "setp.lt.u32 %p0, %l, 4; @%p0 ret; bar.sync 0;"},
    {"partExitsBeforeTheRestComes", "barriers",
     R"(@%second bar.sync 1, 64;
        @%second ret;
        mov.u32 %r0, 16;
        NEXT: setp.lt.u32 %p0, %l, %r0;
        @%p0 bar.arrive 1, 64;
        @%p0 ret;
        add.u32 %r0, %r0, 16;
        bra NEXT;)",
     "bar.arrive needs all lanes of the warp together, and lanes 0xffff0000 "
     "are not there",
     R"(@%second bar.sync 1, 64;
        @%second ret;
        mov.u32 %r0, 16;
        NEXT: setp.lt.u32 %p0, %l, %r0;
        @%p0 barrier.arrive 1, 64;
        @%p0 ret;
        add.u32 %r0, %r0, 16;
        bra NEXT;)"},
    {"counts", "barriers", "@%first bar.sync 1, 64; @%second bar.sync 1;",
     "at barrier 1, but bar.sync at line 23 began this phase with",
     "@%first bar.sync 1, 64; @%second bar.sync 1, 64;"},
    {"reductions", "barriers",
     "setp.eq.u32 %p0, %w, 9; @%first bar.sync 1, 64; "
     "@%second bar.red.popc.u32 %r0, 1, 64, %p0;",
     "meet in one phase of barrier 1",
     "setp.eq.u32 %p0, %w, 9; @%first bar.red.popc.u32 %r0, 1, 64, %p0; "
     "@%second bar.red.popc.u32 %r0, 1, 64, %p0;"},
    {"nobodyWaits", "barriers", "@%first bar.arrive 2, 64;",
     "the CTA ends while 32 of 64 threads have arrived at barrier 2",
     "@%first bar.arrive 2, 64; @%second bar.sync 2, 64;"},
    {"twice", "barriers",
     "@%first bar.arrive 1, 64; @%first bar.arrive 1, 64; bar.sync 0; "
     "@%second bar.sync 1, 64;",
     "bar.arrive arrives at barrier 1 again before the phase",
     "@%first bar.arrive 1, 64; @%second bar.sync 1, 64; bar.sync 0; "
     "@%first bar.arrive 1, 64; @%second bar.sync 1, 64;"},
};
INSTANTIATE_TEST_SUITE_P(Barriers, CheckerTest, testing::ValuesIn(kBarriers),
                         [](const auto &i) { return i.param.name; });

const FaultCase kRace[] = {
    {"lanesWriteOneWord", "race", "@%first st.shared.u32 [%b], %tid;",
     "st.shared.u32 writes shared memory at byte 0, which st.shared.u32 at "
     "line 23 (warp 0, lane 0) writes too, and nothing orders the two [race; "
     "kernel k, CTA (0,0,0), warp 0, lane 1]",
     "mov.u16 %h0, 1; mad.lo.u32 %r0, %tid, 2, %b; st.shared.u16 [%r0], %h0; "
     "add.u32 %r1, %tid, %b; st.shared.u8 [%r1+512], %h0;"},
    {"readAfterWrite", "race",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        st.shared.u32 [%s], 1;
        xor.b32 %r0, %s, 128;
        ld.shared.u32 %r1, [%r0];
        bar.sync 0;)",
     "and nothing orders the two",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        st.shared.u32 [%s], 1;
        xor.b32 %r0, %s, 128;
        bar.sync 0;
        ld.shared.u32 %r1, [%r0];)"},
    {"writeAfterRead", "race",
     R"(st.shared.u32 [%s], 1;
        bar.sync 0;
        xor.b32 %r0, %s, 128;
        ld.shared.u32 %r1, [%r0];
        st.shared.u32 [%s], 2;)",
     "and nothing orders the two",
     R"(st.shared.u32 [%s], 1;
        bar.sync 0;
        xor.b32 %r0, %s, 128;
        ld.shared.u32 %r1, [%r0];
        bar.sync 0;
        st.shared.u32 [%s], 2;)"},
    {"insideAWarp", "race",
     "st.shared.u32 [%s], 1; xor.b32 %r0, %s, 4; ld.shared.u32 %r1, [%r0];",
     "(warp 0, lane 1) writes too",
     "st.shared.u32 [%s], 1; xor.b32 %r0, %s, 4; bar.warp.sync -1; "
     "ld.shared.u32 %r1, [%r0];"},
    {"shuffleOrdersNothing", "race",
     "st.shared.u32 [%s], 1; xor.b32 %r0, %s, 4; "
     "shfl.sync.bfly.b32 %r2, %tid, 1, 31, -1; ld.shared.u32 %r1, [%r0];",
     "nothing orders the two",
     "st.shared.u32 [%s], 1; xor.b32 %r0, %s, 4; "
     "shfl.sync.bfly.b32 %r2, %tid, 1, 31, -1; bar.warp.sync -1; "
     "ld.shared.u32 %r1, [%r0];"},
    {"divergedLanes", "race",
     R"(setp.lt.u32 %p0, %l, 16;
        st.shared.u32 [%s], 0;
        @%p0 bra LOW;
        st.shared.u32 [%s], 2;
        bar.warp.sync 0xFFFF0000;
        bra.uni END;
        LOW: bar.warp.sync 0x0000FFFF;
        ld.shared.u32 %r1, [%s+64];
        END: bar.warp.sync -1;)",
     "nothing orders the two",
     R"(setp.lt.u32 %p0, %l, 16;
        st.shared.u32 [%s], 0;
        @%p0 bra LOW;
        st.shared.u32 [%s], 2;
        bar.warp.sync -1;
        bra.uni END;
        LOW: bar.warp.sync -1;
        ld.shared.u32 %r1, [%s+64];
        END: bar.warp.sync -1;)"},
    {"waitedForByAnother", "race",
     R"(@%first cp.async.ca.shared.global [%s], [%i], 4;
        @%second cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.wait_all;
        xor.b32 %r0, %s, 4;
        ld.shared.u32 %r1, [%r0];)",
     "ld.shared.u32 reads shared memory at byte 4, which "
     "cp.async.ca.shared.global at line 23 (warp 0, lane 1) writes too",
     R"(@%first cp.async.ca.shared.global [%s], [%i], 4;
        @%second cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.wait_all;
        bar.sync 0;
        xor.b32 %r0, %s, 4;
        ld.shared.u32 %r1, [%r0];)"},
    // The copy is issued while the other warp may still read.
    {"copyOverReaders", "race",
     R"(st.shared.u32 [%s], 1;
        bar.sync 0;
        @%second ld.shared.u32 %r1, [%s+-128];
        @%first cp.async.ca.shared.global [%s], [%i], 4;
        bar.sync 0;
        cp.async.wait_all;)",
     "nothing orders the two",
     R"(st.shared.u32 [%s], 1;
        bar.sync 0;
        @%second ld.shared.u32 %r1, [%s+-128];
        bar.sync 0;
        @%first cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.wait_all;)"},
    {"producerAndConsumer", "race",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        @%first bar.arrive 1, 64;
        @%first st.shared.u32 [%s], 1;
        @%second bar.sync 1, 64;
        @%second ld.shared.u32 %r1, [%s+-128];
        bar.sync 0;)",
     "nothing orders the two",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        @%first st.shared.u32 [%s], 1;
        @%first bar.arrive 1, 64;
        @%second bar.sync 1, 64;
        @%second ld.shared.u32 %r1, [%s+-128];)"},
    // An arrival gives and does not take.
    {"arriveTakesNothing", "race",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        @%second st.shared.u32 [%s], 1;
        @%first bar.arrive 1, 64;
        @%second bar.sync 1, 64;
        @%first ld.shared.u32 %r1, [%s+128];
        bar.sync 0;)",
     "nothing orders the two",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        @%second st.shared.u32 [%s], 1;
        @%first bar.sync 1, 64;
        @%second bar.sync 1, 64;
        @%first ld.shared.u32 %r1, [%s+128];)"},
    {"atomicAgainstLoad", "race",
     R"(setp.eq.u32 %p0, %tid, 0;
        @%p0 st.shared.u32 [%b], 0;
        bar.sync 0;
        red.shared.add.u32 [%b], 1;
        @%p0 ld.shared.u32 %r0, [%b];
        bar.sync 0;)",
     "nothing orders the two",
     R"(setp.eq.u32 %p0, %tid, 0;
        @%p0 st.shared.u32 [%b], 0;
        bar.sync 0;
        red.shared.add.u32 [%b], 1;
        bar.sync 0;
        @%p0 ld.shared.u32 %r0, [%b];)"},
    {"flagWithoutFence", "race",
     R"(setp.eq.u32 %p0, %tid, 0;
        setp.eq.u32 %p1, %tid, 32;
        @%p0 st.shared.u32 [%b+4], 0;
        bar.sync 0;
        @%p0 st.shared.u32 [%b], 7;
        @%p0 st.relaxed.cta.shared.u32 [%b+4], 1;
        @!%p1 bra END;
        SPIN: ld.relaxed.cta.shared.u32 %r0, [%b+4];
        setp.eq.u32 %p2, %r0, 0;
        @%p2 bra SPIN;
        ld.shared.u32 %r1, [%b];
        END: bar.warp.sync -1;)",
     "ld.shared.u32 reads shared memory at byte 0",
     R"(setp.eq.u32 %p0, %tid, 0;
        setp.eq.u32 %p1, %tid, 32;
        @%p0 st.shared.u32 [%b+4], 0;
        bar.sync 0;
        @%p0 st.shared.u32 [%b], 7;
        @%p0 fence.acq_rel.cta;
        @%p0 st.relaxed.cta.shared.u32 [%b+4], 1;
        @!%p1 bra END;
        SPIN: ld.relaxed.cta.shared.u32 %r0, [%b+4];
        setp.eq.u32 %p2, %r0, 0;
        @%p2 bra SPIN;
        fence.acq_rel.cta;
        ld.shared.u32 %r1, [%b];
        END: bar.warp.sync -1;)"},
    {"exitedWriter", "race",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        @%first st.shared.u32 [%s], 1;
        @%first ret;
        ld.shared.u32 %r1, [%s+-128];)",
     "nothing orders the two",
     R"(st.shared.u32 [%s], 0;
        bar.sync 0;
        @%first st.shared.u32 [%s], 1;
        @%first ret;
        bar.sync 0;
        ld.shared.u32 %r1, [%s+-128];)"},
    // 16-byte, 4-byte and 1-byte accesses to the same line.
    {"mixedSizes", "race",
     R"(setp.eq.u32 %p0, %tid, 0;
        setp.eq.u32 %p1, %tid, 32;
        @%p0 st.shared.v4.u32 [%b], {%tid, %tid, %tid, %tid};
        bar.sync 0;
        mov.u16 %h0, 1;
        @%p1 st.shared.u8 [%b+5], %h0;
        @%p0 ld.shared.u32 %r0, [%b+4];
        bar.sync 0;)",
     "nothing orders the two",
     R"(setp.eq.u32 %p0, %tid, 0;
        setp.eq.u32 %p1, %tid, 32;
        @%p0 st.shared.v4.u32 [%b], {%tid, %tid, %tid, %tid};
        bar.sync 0;
        mov.u16 %h0, 1;
        @%p1 st.shared.u8 [%b+5], %h0;
        @%p0 ld.shared.u32 %r0, [%b+8];
        bar.sync 0;
        @%p0 st.shared.v4.u32 [%b], {%tid, %tid, %tid, %tid};
        bar.sync 0;
        ld.shared.u32 %r0, [%b+4];)"},
};
// A fault of order shows in one order of the warps or another.
class RaceTest : public CheckerTest {};
TEST_P(RaceTest, findsTheFaultInEveryOrder) {
  for (const char *order : kOrders) {
    Report r = check(GetParam().fault, "race", order);
    EXPECT_EQ(r.status, Status::Fault) << order << ": " << allText(r);
  }
}
INSTANTIATE_TEST_SUITE_P(Race, CheckerTest, testing::ValuesIn(kRace),
                         [](const auto &i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(Race, RaceTest, testing::ValuesIn(kRace),
                         [](const auto &i) { return i.param.name; });

TEST(CheckerSet, names) {
  auto bad = CheckerSet::parse("race,luck");
  ASSERT_FALSE(bad);
  EXPECT_EQ(
      bad.error().message,
      "'luck' names no checker; accepted are all, none, help, bounds, "
      "alignment, space, tensor-map, register-pool, deadlock, determinism, "
      "initialisation, async-wait, wgmma, registers, mbarrier, division, "
      "proxy-fence, barriers, warp-sync, leaks, race, global-race, "
      "equal-writes");
  EXPECT_FALSE(CheckerSet::parse("race,"));
  EXPECT_FALSE(CheckerSet::parse("race,none"));
  EXPECT_TRUE(CheckerSet::parse("none")->empty());
  EXPECT_TRUE(CheckerSet::parse("bounds")->empty());
  EXPECT_FALSE(CheckerSet::parse("race")->empty());
  // `all` leaves out what is asked for by name, and may be joined with it.
  const char *equal = "st.shared.u32 [%b], 1;";
  EXPECT_TRUE(check(equal, "all").ok());
  EXPECT_FALSE(check(equal, "all,equal-writes").ok());
  EXPECT_FALSE(check("st.shared.u32 [%b], %tid;", "equal-writes,all").ok());
  // By default: initialisation and waits, and not races.
  EXPECT_FALSE(check("ld.shared.u32 %r0, [%s];", "").ok());
  EXPECT_FALSE(check("add.u32 %r0, %r1, 1;", "").ok());
  EXPECT_TRUE(check("st.shared.u32 [%b], 1;", "").ok());
}

TEST(CheckerSet, aFindingNamesTheSourceLine) {
  std::string text = kernelText(".loc 1 7 3\nld.shared.u32 %r0, [%s];\n");
  text.insert(text.find(".visible"), ".file 1 \"axpy.cu\"\n");
  auto module = Module::parse(text, "test.ptx");
  ASSERT_TRUE(module);
  auto set = CheckerSet::parse("all");
  Device device;
  set->attach(device);
  Report r =
      device.launch(*module, "k", {{1}, {64}, {1}, 0},
                    {Argument::of(uint64_t(0)), Argument::of(uint64_t(0))});
  ASSERT_EQ(r.diagnostics.size(), 1u) << allText(r);
  EXPECT_EQ(r.diagnostics[0].source.file, "axpy.cu");
  EXPECT_EQ(r.diagnostics[0].source.line, 7u);
  EXPECT_NE(r.diagnostics[0].location.line, 0u);
}

TEST(CheckerSet, oneInstructionIsReportedOnce) {
  Report r = check("mov.u32 %r1, 0; L: ld.shared.u32 %r0, [%s]; "
                   "add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 9; @%p0 bra L;",
                   "all", "round-robin", 5);
  ASSERT_EQ(r.diagnostics.size(), 1u) << allText(r);
  EXPECT_NE(allText(r).find("; 4 other CTAs do the same"), std::string::npos)
      << allText(r);
}
} // namespace
