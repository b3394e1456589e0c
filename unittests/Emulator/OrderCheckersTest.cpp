//===- OrderCheckersTest.cpp - CTAs, warps and ends -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Races between CTAs, instructions for whole warps, work that is left over, and
// the core's own findings: the wrong space, out of bounds, misaligned.
//
//===----------------------------------------------------------------------===//
#include "CheckerHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
class OrderTest : public FaultTest {};
TEST_P(OrderTest, findsTheFault) { findsTheFault(); }
TEST_P(OrderTest, passesTheNearMiss) { passesTheNearMiss(); }

const FaultCase kCore[] = {
    {"pastTheEnd", "bounds", "ld.global.u32 %r0, [%i+8192];",
     "0 bytes past the end of buffer 'in' (8192 bytes)",
     "ld.global.u32 %r0, [%i+4096];"},
    {"beforeTheStart", "bounds", "ld.global.u32 %r0, [%in+-8];",
     "8 bytes before buffer 'in' (8192 bytes)", "ld.global.u32 %r0, [%in];"},
    {"readOnly", "bounds", "st.global.u32 [%i], 0;",
     "buffer 'in', which is read-only", "st.global.u32 [%o], 0;"},
    {"misaligned", "alignment", "ld.global.v2.u32 {%r0, %r1}, [%in+4];",
     "is not aligned to 8", "ld.global.v2.u32 {%r0, %r1}, [%in+8];"},
    {"genericAsGlobal", "space",
     "cvt.u64.u32 %rd0, %b; cvta.shared.u64 %rd0, %rd0; "
     "st.global.u32 [%rd0], 0;",
     "is in the wrong space: it is a generic address of shared memory; "
     "cvta.to.shared gives",
     "setp.eq.u32 %p0, %tid, 0; cvt.u64.u32 %rd0, %b; "
     "cvta.shared.u64 %rd0, %rd0; @%p0 st.u32 [%rd0], 0;"},
    {"sharedAsGlobal", "space",
     "cvt.u64.u32 %rd0, %s; st.global.u32 [%rd0+64], 0;",
     "as addresses of shared memory are", "st.shared.u32 [%s+64], 0;"},
    {"globalAsShared", "space", "ld.shared.u32 %r0, [%in];",
     "it is an address of global memory, in buffer 'in'", "ld.u32 %r0, [%in];"},
};
INSTANTIATE_TEST_SUITE_P(Core, OrderTest, testing::ValuesIn(kCore),
                         [](const auto &i) { return i.param.name; });

const FaultCase kWarpSync[] = {
    {"alignedByPart", "warp-sync",
     R"(setp.eq.u32 %p0, %tid, 0;
        @%p0 st.shared.v4.u32 [%b], {0, 0, 0, 0};
        bar.sync 0;
        setp.lt.u32 %p0, %l, 16;
        @%p0 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%b];)",
     "is .aligned but not all 32 lanes of the warp execute it",
     R"(setp.eq.u32 %p0, %tid, 0;
        @%p0 st.shared.v4.u32 [%b], {0, 0, 0, 0};
        bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%b];)"},
    {"notInItsOwnMask", "warp-sync",
     "shfl.sync.idx.b32 %r0, %tid, 0, 31, 0xFFFF;",
     "is executed by a lane that its membermask 0x0000ffff leaves out; 15 "
     "other lanes do the like",
     "setp.lt.u32 %p0, %l, 16; "
     "@%p0 shfl.sync.idx.b32 %r0, %tid, 0, 31, 0xFFFF;"},
    {"differentMasks", "warp-sync",
     R"(setp.eq.u32 %p0, %l, 3;
        selp.b32 %r0, 0xFFFFFFF, -1, %p0;
        vote.sync.ballot.b32 %r1, %p0, %r0;)",
     "is executed with different membermasks",
     R"(setp.eq.u32 %p0, %l, 3;
        selp.b32 %r0, -1, -1, %p0;
        vote.sync.ballot.b32 %r1, %p0, %r0;)"},
    {"nobodyNamed", "warp-sync",
     "setp.eq.u32 %p0, %l, 3; mov.b32 %r0, 0;"
     "vote.sync.ballot.b32 %r1, %p0, %r0;",
     " has an empty membermask",
     "setp.eq.u32 %p0, %l, 3; mov.b32 %r0, -1;"
     "vote.sync.ballot.b32 %r1, %p0, %r0;"},
    {"readsAnAbsentLane", "warp-sync",
     R"(setp.lt.u32 %p0, %l, 16;
        @%p0 shfl.sync.idx.b32 %r0, %tid, 20, 31, 0xFFFF;)",
     "reads from lane 20, which does not take part; 15 other lanes do the like",
     R"(setp.lt.u32 %p0, %l, 16;
        @%p0 shfl.sync.idx.b32 %r0, %tid, 12, 31, 0xFFFF;)"},
};

const FaultCase kDivision[] = {
    {"divides", "division", "div.u32 %r0, %tid, %l;",
     "div.u32 divides by zero [division; kernel k, CTA (0,0,0), warp 0, lane "
     "0]",
     "add.u32 %r1, %l, 1; div.u32 %r0, %tid, %r1;"},
    {"remainder", "division", "shr.s32 %r1, %l, 1; rem.s32 %r0, %tid, %r1;",
     "rem.s32 divides by zero; 1 other lane does the like",
     "or.b32 %r1, %l, 1; rem.s32 %r0, %tid, %r1;"},
    {"wide", "division",
     "cvt.u64.u32 %rd0, %tid; cvt.u64.u32 %rd1, %l; div.u64 %rd2, %rd0, %rd1;",
     "div.u64 divides by zero",
     "cvt.u64.u32 %rd0, %tid; setp.ne.u32 %p0, %l, 0; cvt.u64.u32 %rd1, %l; "
     "@%p0 div.u64 %rd2, %rd0, %rd1;"},
};
INSTANTIATE_TEST_SUITE_P(Division, OrderTest, testing::ValuesIn(kDivision),
                         [](const auto &i) { return i.param.name; });

const FaultCase kLeaks[] = {
    {"copyWithoutWait", "leaks",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.commit_group;",
     "cp.async.ca.shared.global was never waited for",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.commit_group; "
     "cp.async.wait_group 0;"},
    {"groupLeftOpen", "leaks",
     R"(cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [%s+256], [%i], 4;
        cp.async.commit_group;
        cp.async.wait_group 1;)",
     "test.ptx:25:9: error: cp.async.ca.shared.global was never waited for",
     R"(cp.async.ca.shared.global [%s], [%i], 4;
        cp.async.commit_group;
        cp.async.commit_group;
        cp.async.wait_group 1;)"},
    {"notCommitted", "leaks",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.wait_group 0;",
     "was never waited for",
     "cp.async.ca.shared.global [%s], [%i], 4; cp.async.wait_all;"},
};
INSTANTIATE_TEST_SUITE_P(Leaks, OrderTest, testing::ValuesIn(kLeaks),
                         [](const auto &i) { return i.param.name; });

/// Two or more CTAs; `message` empty = clean under every order.
struct GridCase {
  const char *name;
  const char *body;
  const char *message;
};
void PrintTo(const GridCase &c, std::ostream *os) { *os << c.name; }
class GlobalRaceTest : public testing::TestWithParam<GridCase> {};

TEST_P(GlobalRaceTest, findsWhatNothingOrders) {
  const GridCase &c = GetParam();
  std::string message = c.message;
  for (const char *order : kOrders) {
    Report r = check(c.body, "all", order, 4);
    EXPECT_EQ(r.ok(), message.empty()) << order << ": " << allText(r);
    EXPECT_NE(allText(r).find(message), std::string::npos) << allText(r);
    for (const Diagnostic &d : r.diagnostics)
      EXPECT_EQ(d.origin, "global-race") << d.str();
  }
}

// %rd1 is the CTA's own word of 'out'.
#define OWN_WORD                                                               \
  "mov.u32 %r9, %ctaid.x; mad.wide.u32 %rd1, %r9, 4, %out; "                   \
  "setp.eq.u32 %p0, %tid, 0; setp.ne.u32 %p1, %r9, 0;"
// One thread of each CTA adds 1 to 'counter' as nvcc does without an atomic;
// %rd3 is the same address in another register.
#define SWAP(next, at, between)                                                \
  OWN_WORD "mov.u64 %rd2, counter; mov.u64 %rd3, counter;"                     \
           "@!%p0 bra END; ld.global.u32 %r1, [%rd2];" between                 \
           "\nAGAIN: add.u32 %r2, %r1, 1;"                                     \
           "atom.global.cas.b32 %r3, [" at "], %r1, %r2;"                      \
           "setp.ne.u32 %p3, %r1, %r3;" next "\n@%p3 bra AGAIN;"               \
           "\nEND: bar.warp.sync -1;"
const GridCase kGlobalRace[] = {
    {"sameWord", "setp.eq.u32 %p0, %tid, 0; @%p0 st.global.u32 [%out], 1;",
     "st.global.u32 writes buffer 'out' at byte 0, which st.global.u32 at "
     "line 23 of CTA"},
    {"ownWords", OWN_WORD "@%p0 st.global.u32 [%rd1], 1;", ""},
    {"ownBytes",
     "mov.u32 %r9, %ctaid.x; cvt.u64.u32 %rd1, %r9; add.u64 %rd1, %rd1, %out; "
     "setp.eq.u32 %p0, %tid, 0; @%p0 st.global.u8 [%rd1], %r9;",
     ""},
    {"atomics",
     "setp.eq.u32 %p0, %tid, 0; @%p0 red.global.add.u32 [counter], 1;", ""},
    {"readers", "ld.global.u32 %r0, [%i];", ""},
    {"readOfAWrite",
     OWN_WORD "@%p0 st.global.u32 [%rd1], 1; xor.b32 %r9, %r9, 1; "
              "mad.wide.u32 %rd2, %r9, 4, %in; ld.global.u32 %r1, [%rd2];",
     ""},
    // The last CTA reads what the others wrote; a counter says who is last.
    {"lastWithFence", OWN_WORD R"(@%p0 st.global.u32 [%rd1], 7;
        bar.sync 0;
        @!%p0 bra END;
        fence.acq_rel.gpu;
        atom.global.inc.u32 %r1, [counter], 3;
        fence.acq_rel.gpu;
        setp.ne.u32 %p2, %r1, 3;
        @%p2 bra END;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%out];
        END: bar.warp.sync -1;)",
     ""},
    {"lastWithoutFence", OWN_WORD R"(@%p0 st.global.u32 [%rd1], 7;
        bar.sync 0;
        @!%p0 bra END;
        atom.global.inc.u32 %r1, [counter], 3;
        setp.ne.u32 %p2, %r1, 3;
        @%p2 bra END;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%out];
        END: bar.warp.sync -1;)",
     "buffer 'out' at byte"},
    {"acquireAndRelease", OWN_WORD R"(@%p0 st.global.u32 [%rd1], 7;
        @!%p0 bra END;
        atom.acq_rel.gpu.global.inc.u32 %r1, [counter], 3;
        setp.ne.u32 %p2, %r1, 3;
        @%p2 bra END;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%out];
        END: bar.warp.sync -1;)",
     ""},
    // A fence for the CTA says nothing to other CTAs.
    {"fenceTooNarrow", OWN_WORD R"(@%p0 st.global.u32 [%rd1], 7;
        bar.sync 0;
        @!%p0 bra END;
        fence.acq_rel.cta;
        atom.global.inc.u32 %r1, [counter], 3;
        fence.acq_rel.cta;
        setp.ne.u32 %p2, %r1, 3;
        @%p2 bra END;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%out];
        END: bar.warp.sync -1;)",
     "buffer 'out' at byte"},
    // An ordinary load that only begins a compare-and-swap of its word.
    {"loadBeforeSwap", SWAP("mov.u32 %r1, %r3;", "%rd2", ""), ""},
    // Its value goes elsewhere, too: the result depends on it.
    {"loadThatIsKept",
     SWAP("mov.u32 %r1, %r3;", "%rd2", "st.global.u32 [%rd1], %r1;"),
     "ld.global.u32 reads buffer 'counter' at byte 0"},
    {"loadBeforeOtherSwap", SWAP("mov.u32 %r1, %r3;", "%rd3", ""),
     "ld.global.u32 reads buffer 'counter' at byte 0"},
    {"loadThatDecides",
     SWAP("mov.u32 %r1, %r3;", "%rd2",
          "setp.eq.u32 %p2, %r1, 0; @%p2 st.global.u32 [%rd1], 1;"),
     "ld.global.u32 reads buffer 'counter' at byte 0"},
    // A store is no swap.
    {"swapAgainstStore",
     SWAP("mov.u32 %r1, %r3;", "%rd2", "@!%p1 st.global.u32 [counter], 1;"),
     "buffer 'counter' at byte 0"},
    {"volatileAgainstPlain",
     OWN_WORD "@%p0 ld.volatile.global.u32 %r1, [counter]; "
              "@%p0 st.global.u32 [counter], 1;",
     "buffer 'counter' at byte 0"},
};

TEST(EqualWrites, areToldApartFromRaces) {
  struct Case {
    const char *body;
    bool isRace;
  };
  const Case kCases[] = {
      // Lanes of one store, and warps, with the same value and with others.
      {"setp.lt.u32 %p0, %tid, 4; @%p0 st.shared.u32 [%b], 7;", false},
      {"setp.lt.u32 %p0, %tid, 4; @%p0 st.shared.u32 [%b], %tid;", true},
      {"setp.eq.u32 %p0, %l, 0; @%p0 st.shared.u32 [%b], 7;", false},
      {"setp.eq.u32 %p0, %l, 0; @%p0 st.shared.u32 [%b], %w;", true},
      {"setp.lt.u32 %p0, %tid, 4; @%p0 st.shared.v2.u32 [%b], {7, 8};", false},
      {"setp.lt.u32 %p0, %tid, 4; @%p0 st.shared.v2.u32 [%b], {7, %tid};",
       true},
      {"setp.lt.u32 %p0, %tid, 2; mov.u64 %rd0, 0x500000007;\n"
       "@%p0 st.shared.u64 [%b + 64], %rd0;",
       false},
  };
  for (const Case &c : kCases)
    for (const char *order : kOrders) {
      Report all = check(c.body, "all", order);
      EXPECT_EQ(all.ok(), !c.isRace) << c.body << allText(all);
      Report race = check(c.body, "race", order);
      EXPECT_EQ(race.ok(), !c.isRace) << c.body << allText(race);
      Report equal = check(c.body, "equal-writes", order);
      EXPECT_EQ(equal.ok(), c.isRace) << c.body << allText(equal);
      for (const Diagnostic &d : equal.diagnostics) {
        EXPECT_EQ(d.origin, "equal-writes") << d.str();
        EXPECT_NE(d.message.find(" writes with the same value, and nothing "
                                 "orders the two"),
                  std::string::npos)
            << d.str();
      }
    }
  // A write and a read of what it writes stay a race.
  Report r = check("st.shared.u32 [%s], 0; xor.b32 %r0, %s, 4; "
                   "ld.shared.u32 %r1, [%r0];");
  EXPECT_FALSE(r.ok());
}

INSTANTIATE_TEST_SUITE_P(Grid, GlobalRaceTest, testing::ValuesIn(kGlobalRace),
                         [](const auto &i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(WarpSync, OrderTest, testing::ValuesIn(kWarpSync),
                         [](const auto &i) { return i.param.name; });
} // namespace
