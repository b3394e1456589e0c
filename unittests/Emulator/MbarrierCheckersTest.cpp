//===- MbarrierCheckersTest.cpp - mbarriers used wrongly ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The object lies at %b; %p0 is thread 0's. What an mbarrier orders is part of
// the race checker.
//
//===----------------------------------------------------------------------===//
#include "CheckerHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
class MbarrierCheckerTest : public FaultTest {};
TEST_P(MbarrierCheckerTest, findsTheFault) { findsTheFault(); }
TEST_P(MbarrierCheckerTest, passesTheNearMiss) { passesTheNearMiss(); }

#define FIRST "setp.eq.u32 %p0, %tid, 0;"
#define INIT(count)                                                            \
  FIRST "@%p0 mbarrier.init.shared.b64 [%b], " #count "; bar.sync 0;"
#define ARRIVE "mbarrier.arrive.shared.b64 %rd0, [%b];"
#define WAIT(label)                                                            \
#label ": mbarrier.test_wait.shared.b64 %p1, [%b], %rd0; @!%p1 bra " #label  \
         ";"

#define ASK                                                                    \
  "mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0; selp.u32 %r0, 1, 0, "    \
  "%p1;"

const FaultCase kMisuse[] = {
    {"notMade", "mbarrier", ARRIVE,
     "mbarrier.arrive.shared.b64 uses shared memory at byte 0, which holds no "
     "mbarrier",
     INIT(64) ARRIVE},
    {"madeTwice", "mbarrier",
     FIRST "@%p0 mbarrier.init.shared.b64 [%b], 1;"
           "@%p0 mbarrier.init.shared.b64 [%b], 1;",
     "makes an mbarrier at byte 0 where one is in use, from mbarrier.init",
     FIRST "@%p0 mbarrier.init.shared.b64 [%b], 1;"
           "@%p0 mbarrier.inval.shared.b64 [%b];"
           "@%p0 mbarrier.init.shared.b64 [%b], 1;"},
    {"usedAfterItsEnd", "mbarrier",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;"
           "mbarrier.inval.shared.b64 [%b];" ARRIVE,
     "or mbarrier.inval ended it",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;" ARRIVE
           "mbarrier.inval.shared.b64 [%b];"},
    {"tooManyArrivals", "mbarrier",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 2;"
           "mbarrier.arrive.shared.b64 %rd0, [%b], 3;",
     "arrives 3 times at the mbarrier at byte 0, whose phase 0 waits for 2 "
     "more",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 3;"
           "mbarrier.arrive.shared.b64 %rd0, [%b], 3;"},
    {"phaseThatNobodySaw", "mbarrier",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;" ARRIVE ARRIVE,
     "arrives at the mbarrier at byte 0 for phase 1, and nobody has seen phase "
     "0 complete",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;" ARRIVE WAIT(A)
         ARRIVE WAIT(B)},
    {"bytesThatDoNotCome", "mbarrier",
     INIT(1) "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 48;"
             "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 32;",
     "is left in phase 0 with 16 bytes that were expected and have not come",
     INIT(1) "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 48;"
             "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 48;"},
    {"bytesThatNobodyExpects", "mbarrier",
     INIT(1) "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 32;",
     "with 32 bytes that came and were not expected",
     INIT(1) "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 32;"
             "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 32;"},
    {"moreBytesThanItCounts", "mbarrier",
     INIT(1) "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 1048575;"
             "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 16;"
             "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 16;"
             "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 1048575;",
     "takes the byte count of the mbarrier at byte 0 to 1048591; it holds "
     "1048575 at most",
     INIT(1) "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 1048575;"
             "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 16;"
             "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 16;"
             "@%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], "
             "1048575;"},
    {"answerThatNobodyLooksAt", "mbarrier",
     INIT(64) ARRIVE "mbarrier.test_wait.shared.b64 %p1, [%b], %rd0;",
     "answers in %p1, and nobody looks at it: the phase may not be complete",
     INIT(64) ARRIVE WAIT(A)},
    {"stateOfAnOldPhase", "mbarrier",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;" ARRIVE
         WAIT(A) "mov.b64 %rd1, %rd0;" ARRIVE WAIT(
             B) "mbarrier.test_wait.shared.b64 %p1, [%b], %rd1;"
                "selp.u32 %r0, 1, 0, %p1;",
     "waits for phase 0, but phase 2 is in progress; a wait tells only the "
     "phase before that one",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;" ARRIVE WAIT(A)
         ARRIVE WAIT(B) "mbarrier.test_wait.shared.b64 %p1, [%b], %rd0;"
                        "selp.u32 %r0, 1, 0, %p1;"},
    {"parityOfAnOldPhase", "mbarrier",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;" ASK ARRIVE ARRIVE ASK,
     "waits for parity 0 of the mbarrier at byte 0 and has missed the phase "
     "it meant, but phase 2 is in progress",
     FIRST "@!%p0 ret; mbarrier.init.shared.b64 [%b], 1;" ASK ARRIVE ASK},
    {"writtenOver", "mbarrier", INIT(1) "@%p0 st.shared.u32 [%b+4], 0;",
     "st.shared.u32 touches shared memory at byte 0, which is an mbarrier "
     "since mbarrier.init.shared.b64 at line 23",
     INIT(1) "@%p0 st.shared.u32 [%b+8], 0;"},
    {"leftInThePhase", "leaks", INIT(65) ARRIVE,
     "the CTA ends while the mbarrier at byte 0 is in the middle of a phase: "
     "64 of 65 arrivals have come",
     INIT(64) ARRIVE},
};
INSTANTIATE_TEST_SUITE_P(Misuse, MbarrierCheckerTest,
                         testing::ValuesIn(kMisuse),
                         [](const auto &i) { return i.param.name; });

// The word of the thread with the other number in the pair of warps.
#define STORE "st.shared.u32 [%s+128], %tid;"
#define LOAD_OTHER                                                             \
  "xor.b32 %r0, %tid, 32; mad.lo.u32 %r0, %r0, 4, %b;"                         \
  "ld.shared.u32 %r1, [%r0+128];"
const FaultCase kOrder[] = {
    {"useWithoutBarrierAfterInit", "race",
     FIRST "@%p0 mbarrier.init.shared.b64 [%b], 64;" ARRIVE WAIT(A),
     "which mbarrier.init.shared.b64 at line 23 (warp 0, lane 0) writes too",
     INIT(64) ARRIVE WAIT(A)},
    {"arrivesBeforeTheStore", "race", INIT(64) ARRIVE STORE WAIT(A) LOAD_OTHER,
     "nothing orders the two", INIT(64) STORE ARRIVE WAIT(A) LOAD_OTHER},
    {"doesNotWait", "race",
     "st.shared.u32 [%s+128], 0;" INIT(64) STORE ARRIVE LOAD_OTHER,
     "nothing orders the two",
     "st.shared.u32 [%s+128], 0;" INIT(64) STORE ARRIVE WAIT(A) LOAD_OTHER},
    {"relaxedArrival", "race",
     INIT(64) STORE "mbarrier.arrive.relaxed.cta.shared.b64 %rd0, [%b];" WAIT(A)
         LOAD_OTHER,
     "nothing orders the two",
     INIT(64) STORE "mbarrier.arrive.release.cta.shared.b64 %rd0, [%b];" WAIT(A)
         LOAD_OTHER},
    {"copyThatArrives", "async-wait",
     INIT(64) "cp.async.ca.shared.global [%s+128], [%i], 4;"
              "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];"
              "ld.shared.u32 %r1, [%s+128];"
              "A: mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;"
              "@!%p1 bra A;",
     "is still writing",
     INIT(64) "cp.async.ca.shared.global [%s+128], [%i], 4;"
              "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];"
              "A: mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;"
              "@!%p1 bra A;" LOAD_OTHER},
};
INSTANTIATE_TEST_SUITE_P(Order, MbarrierCheckerTest, testing::ValuesIn(kOrder),
                         [](const auto &i) { return i.param.name; });
} // namespace
