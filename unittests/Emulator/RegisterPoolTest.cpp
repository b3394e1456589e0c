//===- RegisterPoolTest.cpp - setmaxnreg and named barriers ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pool of registers of a CTA: who waits, who is served, who starves; named
// barriers with counts; elect.
//
//===----------------------------------------------------------------------===//
#include "KernelHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// Three warpgroups: the first gives registers away, the others take them.
std::string threeGroups(const std::string &dec, const std::string &inc) {
  return R"(
    shr.u32 %r0, %warp, 2;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra PRODUCER;
    setmaxnreg.inc.sync.aligned.u32 )" +
         inc + R"(;
    bra DONE;
PRODUCER:
    setmaxnreg.dec.sync.aligned.u32 )" +
         dec + R"(;
DONE:
    mad.wide.u32 %rd0, %tid, 4, %out;
    st.global.u32 [%rd0], 1;)";
}

struct PoolObserver : ExecutionObserver {
  struct Own : CTAObserver {
    PoolObserver &all;
    explicit Own(PoolObserver &all) : all(all) {}
    void registerPool(const RegisterPoolEvent &e) override {
      all.events.push_back(e);
    }
  };
  std::string_view name() const override { return "pool"; }
  uint32_t interests() const override { return kBarriers; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &) override {
    return std::make_unique<Own>(*this);
  }
  std::vector<RegisterPoolEvent> events;
};

TEST(RegisterPool, consumersTakeWhatTheProducerGives) {
  // 384 threads start with 168 registers each.
  for (const DeviceOptions &options : allOrders()) {
    PoolObserver pool;
    KernelSetup setup{{{1}, {384}, {0, 0, 0}, 0}, options};
    setup.observers = {&pool};
    KernelRun r =
        runText(hopperKernel(threeGroups("24", "240"), ".maxntid 384"), setup);
    ASSERT_TRUE(r.report.ok()) << r.message();
    int granted = 0, released = 0;
    for (const RegisterPoolEvent &e : pool.events) {
      granted += e.kind == RegisterPoolEvent::Granted;
      released += e.kind == RegisterPoolEvent::Released;
      EXPECT_TRUE(e.kind == RegisterPoolEvent::Requested || e.wanted == 24 ||
                  e.wanted == 240);
      EXPECT_EQ(e.previous, 168u);
    }
    EXPECT_EQ(granted, 8);
    EXPECT_EQ(released, 4);
    // 65536 - 128 * (24 + 240 + 240)
    EXPECT_EQ(pool.events.back().available, 1024u);
  }
}

TEST(RegisterPool, starvationIsADeadlock) {
  KernelSetup setup{{{1}, {384}, {0, 0, 0}, 0}};
  KernelRun r =
      runText(hopperKernel(threeGroups("40", "248"), ".maxntid 384"), setup);
  EXPECT_EQ(r.report.status, Status::Deadlock);
  EXPECT_NE(r.message().find("deadlock: warp 8 lanes 0xffffffff wait at line "),
            std::string::npos)
      << r.message();
  EXPECT_NE(r.message().find(" for 248 registers a thread (it has 168, and the "
                             "pool 7168 for all of its warpgroup); warp 9"),
            std::string::npos)
      << r.message();
}

TEST(RegisterPool, theLaunchValueComesFromTheDirectives) {
  // With .maxnreg 64 there is room for an increase without any decrease.
  KernelSetup setup{{{1}, {128}, {0, 0, 0}, 0}};
  PoolObserver pool;
  setup.observers = {&pool};
  KernelRun r = runText(
      hopperKernel("setmaxnreg.inc.sync.aligned.u32 104;", ".maxnreg 64"),
      setup);
  ASSERT_TRUE(r.report.ok()) << r.message();
  EXPECT_EQ(pool.events[0].previous, 64u);
  EXPECT_EQ(pool.events.back().available, 65536u - 128 * 104);
}

TEST(RegisterPool, warpgroupsTakeWhatTheyWantOneAfterTheOther) {
  // One instruction for the warps of each warpgroup, again only when all have
  // come, and not for others; a warp may exit when it has executed its own.
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runText(hopperKernel(R"(
    setp.lt.u32 %p0, %warp, 4;
    @%p0 bra FIRST;
    setmaxnreg.dec.sync.aligned.u32 40;
    exit;
FIRST:
    setmaxnreg.dec.sync.aligned.u32 56;
    bar.sync 1, 128;
    setmaxnreg.dec.sync.aligned.u32 40;)",
                                       ".maxnreg 64"),
                          {{{1}, {256}, {0, 0, 0}, 0}, options});
    EXPECT_TRUE(r.report.ok()) << r.message();
  }
}

TEST(RegisterPool, wrongUses) {
  struct Case {
    std::string body, message;
    Status status = Status::Fault;
  };
  const Case kCases[] = {
      {"setmaxnreg.inc.sync.aligned.u32 40;",
       "setmaxnreg.inc.sync.aligned.u32 to 40 does not raise the 64 registers "
       "that a thread has"},
      {"setmaxnreg.dec.sync.aligned.u32 80;",
       "setmaxnreg.dec.sync.aligned.u32 to 80 does not lower the 64 registers "
       "that a thread has"},
      {"setp.lt.u32 %p0, %lane, 9; @%p0 setmaxnreg.dec.sync.aligned.u32 40;",
       "setmaxnreg.dec.sync.aligned.u32 is .aligned but not all 32 lanes of "
       "the warp execute it"},
      {"setp.eq.u32 %p0, %warp, 0; @%p0 setmaxnreg.inc.sync.aligned.u32 72; "
       "@!%p0 setmaxnreg.inc.sync.aligned.u32 80;",
       "setmaxnreg.inc.sync.aligned.u32 is not the one of line 21 that "
       "another "
       "warp of warpgroup 0 executed"},
      // The same number does not make them one.
      {"setp.eq.u32 %p0, %warp, 3; @%p0 setmaxnreg.dec.sync.aligned.u32 40; "
       "@!%p0 setmaxnreg.dec.sync.aligned.u32 40;",
       "setmaxnreg.dec.sync.aligned.u32 is not the one of line 21 that "
       "another "
       "warp of warpgroup 0 executed"},
      {"setmaxnreg.dec.sync.aligned.u32 56; setmaxnreg.dec.sync.aligned.u32 "
       "40;",
       "setmaxnreg.dec.sync.aligned.u32 comes before all warps of warpgroup 0 "
       "have executed the one at line 21"},
      {"setp.eq.u32 %p0, %warp, 3; @!%p0 setmaxnreg.dec.sync.aligned.u32 40;",
       "exits without the setmaxnreg of line 21 that another warp of "
       "warpgroup 0 executed"},
      {"setp.eq.u32 %p0, %warp, 0; @%p0 exit; bar.sync 1, 96; "
       "setmaxnreg.dec.sync.aligned.u32 40;",
       "setmaxnreg.dec.sync.aligned.u32 is not executed by warp 0 of warpgroup "
       "0, which has exited"},
      {"setmaxnreg.inc.sync.aligned.u32 20;",
       "'setmaxnreg.inc.sync.aligned.u32' of 20; a multiple of 8 from 24 to "
       "256 is allowed",
       Status::Invalid},
      {"setmaxnreg.dec.sync.aligned.u32 44;",
       "'setmaxnreg.dec.sync.aligned.u32' of 44; a multiple of 8 from 24 to "
       "256 is allowed",
       Status::Invalid},
  };
  for (const Case &c : kCases) {
    KernelRun r = runText(hopperKernel(c.body, ".maxnreg 64"),
                          {{{1}, {128}, {0, 0, 0}, 0}});
    EXPECT_EQ(r.report.status, c.status) << c.body;
    EXPECT_EQ(r.message(), c.message);
  }
}

TEST(NamedBarrier, producersArriveAndConsumersSync) {
  // Warps 0 and 1 produce, 2 and 3 consume: full is barrier 1, empty barrier 2.
  const std::string body = R"(
    mov.u32 %r0, smem;
    and.b32 %r1, %tid, 63;
    mad.lo.u32 %r2, %r1, 4, %r0;
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
    setp.lt.u32 %p0, %warp, 2;
LOOP:
    @!%p0 bra CONSUME;
    mad.lo.u32 %r5, %r3, 7, %r1;
    st.shared.u32 [%r2], %r5;
    barrier.cta.arrive 1, 128;
    bar.sync 2, 128;
    bra NEXT;
CONSUME:
    barrier.sync.aligned 1, 128;
    ld.shared.u32 %r5, [%r2];
    add.u32 %r4, %r4, %r5;
    bar.cta.arrive 2, 128;
NEXT:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 10;
    @%p1 bra LOOP;
    mad.wide.u32 %rd0, %tid, 4, %out;
    st.global.u32 [%rd0], %r4;)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{1}, {128}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t t = 64; t < 128; ++t)
      ASSERT_EQ(r.out[t], 7 * 45 + 10 * (t - 64));
  }
}

TEST(NamedBarrier, countsThatAreRefused) {
  const std::pair<const char *, const char *> kCases[] = {
      {"bar.sync 1, 48;", "a barrier's thread count must be a positive "
                          "multiple of 32, found 48"},
      {"mov.u32 %r1, 16; bar.sync %r1;",
       "barrier number 16 is not among the 16 of a CTA"},
  };
  for (auto &[body, message] : kCases) {
    KernelRun r = runBody(body, {{{1}, {64}, {0, 0, 0}, 0}});
    EXPECT_EQ(r.message(), message);
  }
}
} // namespace
