//===- MbarrierTest.cpp - phases, counts and waits ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every form of mbarrier and cp.async.mbarrier.arrive, against a model of the
// object written here, and what is refused.
//
//===----------------------------------------------------------------------===//
#include "KernelHarness.h"

#include <random>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
const KernelSetup kOneThread{{{1}, {1}, {0, 0, 0}, 0}};
const KernelSetup kOneWarp{{{1}, {32}, {0, 0, 0}, 0}};

std::string say(const KernelRun &r) { return r.message(); }
#define EXPECT_OK(r) EXPECT_TRUE((r).report.ok()) << say(r)

/// Stores predicate p0 as word `n` of the output.
std::string put(int n) {
  return "selp.u32 %r50, 1, 0, %p0; st.global.u32 [%out+" +
         std::to_string(4 * n) + "], %r50;\n";
}

TEST(Mbarrier, phasesOfOneThread) {
  KernelRun r = runBody(R"(
    mbarrier.init.shared::cta.b64 [bar], 2;
    mbarrier.test_wait.parity.shared::cta.b64 %p0, [bar], 1;
)" + put(0) + R"(
    mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;
)" + put(1) + R"(
    mbarrier.arrive.shared::cta.b64 %rd1, [bar];
    mbarrier.test_wait.shared.b64 %p0, [bar], %rd1;
)" + put(2) + R"(
    mbarrier.pending_count.b64 %r1, %rd1;
    mbarrier.arrive.shared.b64 %rd2, [bar];
    mbarrier.pending_count.b64 %r2, %rd2;
    mbarrier.test_wait.shared.b64 %p0, [bar], %rd1;
)" + put(3) + R"(
    mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;
)" + put(4) + R"(
    mbarrier.test_wait.parity.shared.b64 %p0, [bar], 1;
)" + put(5) + R"(
    mbarrier.arrive.shared.b64 %rd3, [bar], 2;
    mbarrier.test_wait.shared.b64 %p0, [bar], %rd3;
)" + put(6) + R"(
    st.global.v2.u32 [%out+32], {%r1, %r2};
    mbarrier.inval.shared.b64 [bar];
    mbarrier.init.b64 [%rd9], 1;
    mbarrier.arrive.b64 %rd4, [%rd9];
    mbarrier.try_wait.b64 %p0, [%rd9], %rd4, 100;
)" + put(7),
                        kOneThread);
  EXPECT_EQ(r.report.status, Status::Fault); // %rd9 is 0: not shared memory
  EXPECT_EQ(r.message(), "an mbarrier must lie in shared memory; this generic "
                         "address is of another space");
  const uint32_t want[] = {1, 0, 0, 1, 1, 0, 1};
  for (int k = 0; k < 7; ++k)
    EXPECT_EQ(r.out[k], want[k]) << k;
  EXPECT_EQ(r.out[8], 2u);
  EXPECT_EQ(r.out[9], 1u);
}

TEST(Mbarrier, genericAddresses) {
  KernelRun r = runBody(R"(
    mov.u64 %rd8, bar;
    cvta.shared.u64 %rd9, %rd8;
    mbarrier.init.b64 [%rd9+8], 1;
    mbarrier.arrive.b64 %rd4, [%rd9+8];
    mbarrier.try_wait.b64 %p0, [%rd9+8], %rd4, 100;
)" + put(0) + "mbarrier.inval.b64 [%rd9+8];",
                        kOneThread);
  EXPECT_OK(r);
  EXPECT_EQ(r.out[0], 1u);
}

/// The object as the ISA tells it, kept apart from the machine's.
struct Model {
  int64_t expected, pending, tx = 0;
  uint64_t phase = 0;
  void settle() {
    if (pending == 0 && tx == 0) {
      ++phase;
      pending = expected;
    }
  }
};

TEST(Mbarrier, randomHistoriesAgreeWithTheModel) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    Model m{int64_t(1 + random() % 6), 0};
    m.pending = m.expected;
    std::string body =
        "mbarrier.init.shared.b64 [bar], " + std::to_string(m.expected) + ";\n";
    std::vector<uint32_t> want;
    auto probe = [&] {
      for (uint32_t parity : {0u, 1u}) {
        body += "mbarrier.test_wait.parity.shared.b64 %p0, [bar], " +
                std::to_string(parity) + ";\n" + put(int(want.size()));
        want.push_back((m.phase & 1) != parity);
      }
    };
    for (int step = 0; step < 30 && m.expected; ++step) {
      uint32_t bytes = 16 * (1 + random() % 4);
      std::string b = std::to_string(bytes);
      switch (random() % 7) {
      case 0:
        body += "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], " + b +
                ";\n";
        m.tx += bytes;
        break;
      case 1:
        body += "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], " + b +
                ";\n";
        m.tx -= bytes;
        m.settle();
        break;
      case 2:
        if (m.tx > 0) { // let the phase end now and then
          body += "mbarrier.complete_tx.shared.b64 [bar], " +
                  std::to_string(m.tx) + ";\n";
          m.tx = 0;
          m.settle();
        } else if (m.tx < 0) {
          body += "mbarrier.expect_tx.shared.b64 [bar], " +
                  std::to_string(-m.tx) + ";\n";
          m.tx = 0;
        }
        break;
      case 3:
        if (!m.pending)
          break;
        body += "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd1, "
                "[bar], " +
                b + ";\n";
        m.tx += bytes;
        --m.pending;
        m.settle();
        break;
      case 4: {
        if (!m.pending)
          break;
        int64_t c = 1 + int64_t(random() % uint64_t(m.pending));
        if (c < m.pending && random() % 2) {
          body += "mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], " +
                  std::to_string(c) + ";\n";
        } else {
          body += "mbarrier.arrive.shared.b64 _, [bar], " + std::to_string(c) +
                  ";\n";
        }
        m.pending -= c;
        m.settle();
        break;
      }
      case 5:
        if (!m.pending || m.expected < 2)
          break;
        body += "mbarrier.arrive_drop.shared.b64 %rd1, [bar];\n";
        --m.expected;
        --m.pending;
        m.settle();
        break;
      default:
        if (!m.pending || m.expected < 2)
          break;
        body += "mbarrier.arrive_drop.expect_tx.shared::cta.b64 %rd1, [bar], " +
                b + ";\n";
        m.tx += bytes;
        --m.expected;
        --m.pending;
        m.settle();
      }
      probe();
    }
    KernelRun r = runBody(body, kOneThread);
    ASSERT_TRUE(r.report.ok()) << r.message() << "\n" << body;
    for (size_t k = 0; k < want.size(); ++k)
      ASSERT_EQ(r.out[k], want[k]) << "probe " << k << "\n" << body;
  }
}

TEST(Mbarrier, warpsWaitForEachOther) {
  // 4 warps, 128 arrivals; phases 0 to 9. Each thread adds to a cell that its
  // neighbour wrote in the phase before.
  const std::string body = R"(
    setp.eq.u32 %p1, %tid, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 128;
    bar.sync 0;
    mov.u32 %r0, smem;
    shl.b32 %r1, %tid, 2;
    add.u32 %r1, %r0, %r1;
    add.u32 %r2, %tid, 37;
    rem.u32 %r2, %r2, 128;
    shl.b32 %r2, %r2, 2;
    add.u32 %r2, %r0, %r2;
    mov.u32 %r3, %tid;
    mov.u32 %r4, 0;
LOOP:
    st.shared.u32 [%r1], %r3;
    mbarrier.arrive.shared.b64 %rd1, [bar];
SPIN:
    mbarrier.try_wait.shared.b64 %p0, [bar], %rd1;
    @!%p0 bra SPIN;
    ld.shared.u32 %r5, [%r2];
    add.u32 %r3, %r5, 1;
    and.b32 %r6, %r4, 1;
    mbarrier.arrive.shared.b64 _, [bar];
)" + waitParity("bar", "1") +
                           R"(
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 10;
    @%p2 bra LOOP;
    mad.wide.u32 %rd2, %tid, 4, %out;
    st.global.u32 [%rd2], %r3;)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{1}, {128}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t t = 0; t < 128; ++t)
      ASSERT_EQ(r.out[t], (t + 370) % 128 + 10) << t;
  }
}

TEST(Mbarrier, arrivalsAtAnotherCta) {
  const std::string body = R"(
    setp.eq.u32 %p1, %tid, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 64;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r0, %rank, 1;
    mov.u32 %r1, bar;
    mapa.shared::cluster.u32 %r2, %r1, %r0;
    mov.u32 %r3, smem;
    mapa.shared::cluster.u32 %r4, %r3, %r0;
    mad.lo.u32 %r4, %tid, 4, %r4;
    mad.lo.u32 %r5, %rank, 100, %tid;
    st.shared::cluster.u32 [%r4], %r5;
    @%p1 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r2], 16;
    @%p1 mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%r2], 32;
    @!%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
    @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 48;
)" + waitParity("bar", "0") +
                           R"(
    mad.lo.u32 %r6, %tid, 4, %r3;
    ld.shared.u32 %r7, [%r6];
    mad.lo.u32 %r8, %cta, 64, %tid;
    mad.wide.u32 %rd2, %r8, 4, %out;
    st.global.u32 [%rd2], %r7;
    barrier.cluster.arrive; barrier.cluster.wait;)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{2}, {64}, {2}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t k = 0; k < 128; ++k)
      ASSERT_EQ(r.out[k], k < 64 ? 100 + k : k - 64);
  }
}

TEST(Mbarrier, copiesArriveWhenTheyAreDone) {
  // Without .noinc the count is made up for; with it the arrival is one of the
  // 32 that the barrier expects.
  for (bool isNoinc : {false, true}) {
    std::string body = R"(
    setp.eq.u32 %p1, %tid, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 32;
    bar.sync 0;
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 16, %r0;
    mad.wide.u32 %rd0, %tid, 16, %in;
    st.shared.u32 [%r1], 77;
    cp.async.ca.shared.global [%r1], [%rd0], 16;
)";
    body += isNoinc ? "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n"
                    : "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                      "ld.shared.u32 %r3, [%r1];\n"
                      "mbarrier.arrive.shared.b64 _, [bar];\n";
    body += waitParity("bar", "0") + R"(
    ld.shared.u32 %r2, [%r1];
    mad.wide.u32 %rd1, %tid, 8, %out;
    st.global.v2.u32 [%rd1], {%r2, %r3};)";
    for (const DeviceOptions &options : allOrders()) {
      KernelSetup setup{{{1}, {32}, {0, 0, 0}, 0}, options};
      KernelRun r = runBody(body, setup);
      ASSERT_TRUE(r.report.ok()) << r.message();
      bool isLate =
          options.lateCompletion && options.order.kind != OrderPolicy::Random;
      for (uint32_t t = 0; t < 32; ++t) {
        ASSERT_EQ(r.out[2 * t], t * 12 + 1);
        uint32_t early = r.out[2 * t + 1];
        // What was there before the copy.
        ASSERT_TRUE(!isLate || isNoinc || early == 77) << early;
      }
    }
  }
}

TEST(Mbarrier, aTestThatIsRepeatedIsServed) {
  KernelRun r = runBody(R"(
    mbarrier.init.shared.b64 [bar], 1;
    cp.async.ca.shared.global [smem], [%in], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
L:  mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;
    @!%p0 bra L;
    ld.shared.u32 %r2, [smem+4];
    st.global.u32 [%out], %r2;)",
                        kOneThread);
  EXPECT_OK(r);
  EXPECT_EQ(r.out[0], 4u);
}

TEST(Mbarrier, lanesOfAWarpWaitForDifferentObjects) {
  // Lane l < 8 waits for object l, which lane l + 8 completes.
  for (const DeviceOptions &options : allOrders(5)) {
    KernelRun r = runBody(R"(
    mov.u32 %r0, bar;
    and.b32 %r1, %lane, 7;
    mad.lo.u32 %r2, %r1, 8, %r0;
    setp.lt.u32 %p1, %lane, 8;
    setp.ge.u32 %p2, %lane, 16;
    @%p2 ret;
    @%p1 mbarrier.init.shared.b64 [%r2], 1;
    bar.warp.sync 0xffff;
    @%p1 bra WAITS;
    st.global.u32 [%out+64], 5;
    mbarrier.arrive.shared.b64 _, [%r2];
    ret;
WAITS:
)" + waitParity("%r2", "0") +
                              R"(
    mad.wide.u32 %rd1, %lane, 4, %out;
    st.global.u32 [%rd1], 1;)",
                          {{{1}, {32}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (int k = 0; k < 8; ++k)
      EXPECT_EQ(r.out[k], 1u);
  }
}

TEST(Mbarrier, whatIsUndefinedIsAFault) {
  const std::pair<const char *, const char *> kCases[] = {
      {"mbarrier.arrive.shared.b64 _, [bar];",
       "the mbarrier at byte 4096 does not exist: there was no mbarrier.init, "
       "or mbarrier.inval ended it"},
      {"mbarrier.init.shared.b64 [bar], 1; mbarrier.inval.shared.b64 [bar]; "
       "mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0;",
       "the mbarrier at byte 4096 does not exist: there was no mbarrier.init, "
       "or mbarrier.inval ended it"},
      {"mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [bar], 9; "
       "mbarrier.arrive.shared.b64 _, [bar];",
       "the mbarrier at byte 4096 was written over: it holds 0x9, not "
       "0x100001"},
      {"mbarrier.init.shared.b64 [bar], 0;",
       "mbarrier.init with count 0; 1 to 1048575 is allowed"},
      {"mov.u32 %r1, 0x100000; mbarrier.init.shared.b64 [bar], %r1;",
       "mbarrier.init with count 1048576; 1 to 1048575 is allowed"},
      {"mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 _, "
       "[bar], 3;",
       "3 arrivals at the mbarrier at byte 4096, whose phase waits for 2"},
      {"mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 _, "
       "[bar], 0;",
       "an arrive of 0"},
      {"mbarrier.init.shared.b64 [bar], 2; "
       "mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 2;",
       "a .noComplete arrive that completes the phase"},
      {"mbarrier.init.shared.b64 [bar], 2; mov.u32 %r1, 0xFFFFF; "
       "mbarrier.expect_tx.shared.b64 [bar], %r1; "
       "mbarrier.expect_tx.shared.b64 [bar], 1;",
       "the tx-count of the mbarrier at byte 4096 becomes 1048576; its range "
       "ends at 1048575"},
      {"mbarrier.init.shared.b64 [bar], 0xFFFFF; "
       "cp.async.mbarrier.arrive.shared.b64 [bar];",
       "more than 1048575 pending arrivals at the mbarrier at byte 4096"},
      {"mbarrier.init.shared.b64 [bar+4], 2;",
       "shared atomic access of 8 bytes at 0x1004 is not aligned to 8"},
      {"mov.u32 %r1, bar; mbarrier.init.shared.b64 [%r1+64], 2;",
       "shared atomic access of 8 bytes at 0x1040 is out of bounds: the CTA "
       "has 4160 bytes of shared memory"},
  };
  for (auto &[body, message] : kCases) {
    KernelRun r = runBody(body, kOneThread);
    EXPECT_EQ(r.report.status, Status::Fault) << body;
    EXPECT_EQ(r.message(), message);
    EXPECT_EQ(r.report.diagnostics.size(), 1u);
  }
  KernelRun r = runBody(R"(
    mov.u64 %rd1, bar;
    cvta.shared.u64 %rd1, %rd1;
    mbarrier.init.b64 [%rd1], 2;
    barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r0, %rank, 1;
    mapa.u64 %rd2, %rd1, %r0;
    setp.eq.u32 %p0, %rank, 0;
    @%p0 mbarrier.arrive.b64 %rd3, [%rd2];
    barrier.cluster.arrive; barrier.cluster.wait;)",
                        {{{2}, {1}, {2}, 0}});
  EXPECT_EQ(r.message(),
            "an arrive at another CTA's mbarrier returns no state");
}

TEST(Mbarrier, formsThatAreRefused) {
  const std::pair<const char *, const char *> kCases[] = {
      {"mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];",
       "'mbarrier.arrive.shared::cluster.b64' returns no state; write _"},
      {"mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar];",
       "'mbarrier.arrive.expect_tx.shared.b64' takes 3 operands, found 2"},
      {"mbarrier.test_wait.shared::cluster.b64 %p0, [bar], %rd1;",
       "unsupported instruction 'mbarrier.test_wait.shared::cluster.b64'"},
      {"mbarrier.test_wait.shared.b64 %p0, [bar], %r1;",
       "'%r1' has at most 32 bits; 'mbarrier.test_wait.shared.b64' needs 64"},
      {"mbarrier.arrive.noComplete.expect_tx.shared.b64 %rd1, [bar], 1;",
       "unsupported instruction "
       "'mbarrier.arrive.noComplete.expect_tx.shared.b64'"},
      {"mbarrier.init.shared.b32 [bar], 1;",
       "unsupported instruction 'mbarrier.init.shared.b32'"},
  };
  for (auto &[body, message] : kCases) {
    KernelRun r = runBody(body, kOneThread);
    EXPECT_EQ(r.report.status, Status::Invalid) << body;
    EXPECT_EQ(r.message(), message);
  }
}

TEST(Mbarrier, aDeadlockTellsTheState) {
  KernelRun r = runBody(R"(
    setp.eq.u32 %p1, %tid, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 3;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    @%p1 mbarrier.arrive.shared.b64 _, [bar];
)" + waitParity("bar", "0"),
                        {{{1}, {64}, {0, 0, 0}, 0}});
  EXPECT_EQ(r.report.status, Status::Deadlock);
  std::string end = " for the mbarrier at byte 4096 (phase 0, 1 of 3 arrivals "
                    "missing, 256 bytes still expected)";
  std::string w = " lanes 0xffffffff wait at line 27";
  EXPECT_EQ(r.message(), "deadlock: warp 0" + w + end + "; warp 1" + w + end);
  r = runBody("mbarrier.init.shared.b64 [bar], 1;\n"
              "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 48;\n" +
                  waitParity("bar", "0"),
              kOneThread);
  EXPECT_EQ(r.message(), "deadlock: warp 0 lanes 0x00000001 wait at line 23 "
                         "for the mbarrier at byte 4096 (phase 0, 1 of 1 "
                         "arrivals missing, 48 bytes too many)");
  // The other warp has ended what this one waits for.
  r = runBody("setp.eq.u32 %p1, %tid, 0; setp.eq.u32 %p2, %tid, 32;\n"
              "@%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
              "@!%p1 bra OTHER;\n" +
                  waitParity("bar", "0") +
                  "OTHER: mov.u32 %r3, 0;\n"
                  "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 9000;\n"
                  "@%p3 bra L; @%p2 mbarrier.inval.shared.b64 [bar];",
              {{{1}, {64}, {0, 0, 0}, 0}});
  EXPECT_EQ(r.report.status, Status::Deadlock);
  EXPECT_NE(r.message().find("for the mbarrier at byte 4096 (which was "
                             "invalidated)"),
            std::string::npos)
      << r.message();
}

TEST(Mbarrier, aTryWaitMayGiveUpInRandomOrdersOnly) {
  // One try each: where nothing is late the answer is always true.
  const std::string body = R"(
    setp.eq.u32 %p1, %tid, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 64;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %rd1, [bar];
    mbarrier.try_wait.shared.b64 %p0, [bar], %rd1;
    selp.u32 %r0, 1, 0, %p0;
    mad.wide.u32 %rd2, %tid, 4, %out;
    st.global.u32 [%rd2], %r0;)";
  bool gaveUp = false;
  for (const DeviceOptions &options : allOrders(40)) {
    KernelRun r = runBody(body, {{{1}, {64}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    bool isRandom = options.order.kind == OrderPolicy::Random;
    for (uint32_t t = 0; t < 64; ++t) {
      gaveUp |= !r.out[t];
      EXPECT_TRUE(isRandom || r.out[t]);
    }
  }
  EXPECT_TRUE(gaveUp);
}
} // namespace
