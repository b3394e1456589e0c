//===- ResidencyTest.cpp - CTAs that wait for CTAs ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spinning on words that later CTAs write, with one and more host threads; what
// never ends is found; results do not depend on the threads.
//
//===----------------------------------------------------------------------===//
#include "KernelHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
std::vector<DeviceOptions> withThreads() {
  std::vector<DeviceOptions> all;
  for (DeviceOptions options : allOrders(3))
    for (unsigned threads : {1u, 3u}) {
      options.threads = threads;
      all.push_back(options);
    }
  return all;
}

TEST(Residency, aChainFromTheLastCtaToTheFirst) {
  // CTA c waits for c + 1, which comes later in the default order.
  const std::string body = R"(
    setp.eq.u32 %p0, %cta, 39;
    mad.wide.u32 %rd0, %cta, 4, %more;
    mov.u32 %r1, 0;
    @%p0 bra GO;
SPIN:
    ld.acquire.gpu.global.u32 %r1, [%rd0+4];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
GO:
    add.u32 %r1, %r1, 1;
    st.release.gpu.global.u32 [%rd0], %r1;)";
  for (const DeviceOptions &options : withThreads()) {
    KernelRun r = runBody(body, {{{40}, {1}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t c = 0; c < 40; ++c)
      ASSERT_EQ(r.more[c], 40 - c);
  }
}

TEST(Residency, aBarrierOfTheWholeGrid) {
  const std::string body = R"(
    setp.ne.u32 %p0, %tid, 0;
    bar.sync 0;
    @%p0 bra WAITED;
    atom.add.acq_rel.gpu.global.u32 %r1, [%more], 1;
SPIN:
    nanosleep.u32 100;
    atom.cas.relaxed.gpu.global.b32 %r1, [%more], 16, 16;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra SPIN;
    fence.acq_rel.gpu;
WAITED:
    bar.sync 0;
    mad.lo.u32 %r2, %cta, 64, %tid;
    mad.wide.u32 %rd0, %r2, 4, %out;
    ld.global.u32 %r3, [%more];
    st.global.u32 [%rd0], %r3;)";
  for (const DeviceOptions &options : withThreads()) {
    KernelRun r = runBody(body, {{{16}, {64}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t k = 0; k < 1024; ++k)
      ASSERT_EQ(r.out[k], 16u);
  }
}

TEST(Residency, aSpinLoopWithATimer) {
  // Registers change in each round, so it is never proved to be stuck.
  KernelRun r = runBody(R"(
    setp.ne.u32 %p0, %cta, 0;
    @%p0 bra SET;
    mov.u32 %r2, 0;
SPIN:
    add.u32 %r2, %r2, 1;
    mov.u64 %rd1, %globaltimer;
    ld.volatile.global.u32 %r1, [%more];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    st.global.u32 [%out], %r1;
    ret;
SET:
    st.volatile.global.u32 [%more], 8;)",
                        {{{2}, {1}, {0, 0, 0}, 0}});
  ASSERT_TRUE(r.report.ok()) << r.message();
  EXPECT_EQ(r.out[0], 8u);
}

TEST(Residency, whatNeverEndsIsFound) {
  struct Case {
    std::string body, message;
    LaunchShape shape;
  };
  const Case kCases[] = {
      {"SPIN: ld.volatile.global.u32 %r1, [%more]; setp.eq.u32 %p1, %r1, 0;\n"
       "@%p1 bra SPIN;",
       "deadlock: memory stays as it is: warp 0 lanes 0xffffffff spin at line ",
       {{1}, {32}, {0, 0, 0}, 0}},
      // A lock that is held, by 0, and that nobody gives back, by 5.
      {"setp.ne.u32 %p2, %cta, 0; @!%p2 ret;\n"
       "SPIN: atom.cas.global.b32 %r1, [%more], 5, 0; setp.ne.u32 %p1, %r1, "
       "5;\n@%p1 bra SPIN;",
       "deadlock: memory stays as it is: CTA (1,0,0) warp 0 lanes 0x00000001 "
       "spin at line ",
       {{3}, {1}, {0, 0, 0}, 0}},
      // One warp waits at a barrier for one that spins on shared memory.
      {"setp.eq.u32 %p0, %warp, 0; st.shared.u32 [smem], 0; bar.sync 1;\n@%p0 "
       "bar.sync 0; SPIN: ld.volatile.shared.u32 %r1, [smem]; setp.eq.u32 "
       "%p1, %r1, 0; @%p1 bra SPIN; bar.sync 0; st.shared.u32 [smem], 1;",
       "deadlock: memory stays as it is: warp 0 lanes 0xffffffff wait at line ",
       {{1}, {64}, {0, 0, 0}, 0}},
  };
  for (const Case &c : kCases) {
    DeviceOptions options;
    options.threads = 2;
    KernelRun r = runBody(c.body, {c.shape, options});
    EXPECT_EQ(r.report.status, Status::Deadlock) << c.body;
    EXPECT_EQ(r.message().substr(0, c.message.size()), c.message);
  }
}

TEST(Residency, whoEndsWhenItIsLookedAtIsDone) {
  // A cluster is looked at after 2^20 instructions; the last of these is the
  // one that ends it.
  constexpr uint64_t kLook = 1 << 20;
  bool ended = false;
  for (int padding = 0; padding < 3; ++padding)
    for (uint64_t rounds = kLook / 3 - 12; rounds <= kLook / 3; ++rounds) {
      std::string body = "mov.u32 %r1, " + std::to_string(rounds) + ";\n";
      for (int n = 0; n < padding; ++n)
        body += "mov.u32 %r2, 0;\n";
      body += "LOOP: add.u32 %r1, %r1, -1;\nsetp.ne.u32 %p0, %r1, 0;\n"
              "@%p0 bra LOOP;\n";
      KernelRun r = runBody(body, {{{1}, {1}, {0, 0, 0}, 0}});
      ASSERT_TRUE(r.report.ok()) << rounds << ": " << r.message();
      ended |= r.report.counters.warpInstructions == kLook;
    }
  EXPECT_TRUE(ended);
}

TEST(Residency, theWindowBoundsWhatIsResident) {
  DeviceOptions options;
  options.threads = 1;
  options.maxResidentCTAs = 4;
  const std::string body = R"(
    setp.eq.u32 %p0, %cta, 9;
    @%p0 bra SET;
SPIN:
    ld.volatile.global.u32 %r1, [%more];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    ret;
SET:
    st.volatile.global.u32 [%more], 8;)";
  KernelRun r = runBody(body, {{{10}, {1}, {0, 0, 0}, 0}, options});
  EXPECT_EQ(r.report.status, Status::Deadlock);
  std::string end = "; 6 CTAs have not started, since so many others are "
                    "resident";
  ASSERT_GT(r.message().size(), end.size());
  EXPECT_EQ(r.message().substr(r.message().size() - end.size()), end);
  options.maxResidentCTAs = 16;
  r = runBody(body, {{{10}, {1}, {0, 0, 0}, 0}, options});
  EXPECT_TRUE(r.report.ok()) << r.message();
}

TEST(Residency, observersSeeEveryCtaOnceAndInOrder) {
  struct Counter : ExecutionObserver {
    struct Own : CTAObserver {};
    std::string_view name() const override { return "count"; }
    uint32_t interests() const override { return kInstructions; }
    std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &) override {
      ++begun;
      return std::make_unique<Own>();
    }
    void ctaEnd(const CTAEvent &e, CTAObserver &, bool completed) override {
      EXPECT_EQ(e.linear, isReverse ? 19 - ended : ended);
      EXPECT_TRUE(completed);
      ++ended;
    }
    bool isReverse = false;
    uint64_t begun = 0, ended = 0;
  };
  for (auto order : {OrderPolicy::RoundRobin, OrderPolicy::Reverse}) {
    Counter counter;
    counter.isReverse = order == OrderPolicy::Reverse;
    DeviceOptions options;
    options.threads = 2;
    options.order = {order, 0};
    KernelSetup setup{{{20}, {1}, {0, 0, 0}, 0}, options};
    setup.observers = {&counter};
    // All wait for one in the middle.
    KernelRun r = runBody(R"(
    setp.eq.u32 %p0, %cta, 10;
    @%p0 st.volatile.global.u32 [%more], 8;
SPIN:
    ld.volatile.global.u32 %r1, [%more];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;)",
                          setup);
    ASSERT_TRUE(r.report.ok()) << r.message();
    EXPECT_EQ(counter.begun, 20u);
    EXPECT_EQ(counter.ended, 20u);
  }
}
} // namespace
