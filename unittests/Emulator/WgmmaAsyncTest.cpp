//===- WgmmaAsyncTest.cpp - warpgroups meet and wait ----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Late completion of wgmma.mma_async, groups, what its four warps must agree
// on, and its events.
//
//===----------------------------------------------------------------------===//
#include "WgmmaHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// Runs a whole kernel text of `threads` threads with 32 KB of shared memory,
/// `in` and `out`; threads find the bytes 0 of shared memory at sm.
struct Outcome {
  Report report;
  std::vector<uint32_t> out;
};

Outcome launch(const std::string &body, unsigned threads = 128,
               const DeviceOptions &options = {},
               ExecutionObserver *observer = nullptr) {
  std::string text = R"(.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 sm[];
.visible .entry k(.param .u64 k_out)
{
  .reg .b32 %a<4>, %r<20>, %c<8>, %w, %t;
  .reg .b64 %rd<8>, %da, %db;
  .reg .pred %p<4>;
  ld.param.u64 %rd0, [k_out];
  mov.u32 %t, %tid.x;
  shr.u32 %w, %t, 5;
  mad.wide.u32 %rd0, %t, 32, %rd0;
  // All of A and B is 1.0: D is K = 16 in each place. None, K-major.
  mov.u32 %r0, sm;
  mad.lo.u32 %r0, %t, 64, %r0;
  mov.u32 %r1, 0x3C003C00;
  st.shared.v4.b32 [%r0], {%r1, %r1, %r1, %r1};
  st.shared.v4.b32 [%r0+16], {%r1, %r1, %r1, %r1};
  st.shared.v4.b32 [%r0+32], {%r1, %r1, %r1, %r1};
  st.shared.v4.b32 [%r0+48], {%r1, %r1, %r1, %r1};
  fence.proxy.async;
  bar.sync 0;
  // A at 0, B at 4096; leading 128, stride 256.
  mov.b64 %da, 0x0000001000080000;
  mov.b64 %db, 0x0000001000080100;
  mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0;
  mov.b32 %c4, 0; mov.b32 %c5, 0; mov.b32 %c6, 0; mov.b32 %c7, 0;
  mov.b32 %a0, %r1; mov.b32 %a1, %r1; mov.b32 %a2, %r1; mov.b32 %a3, %r1;
)" + body + R"(
  st.global.v4.b32 [%rd0], {%c0, %c1, %c2, %c3};
  st.global.v4.b32 [%rd0+16], {%c4, %c5, %c6, %c7};
  ret;
}
)";
  Outcome result;
  auto module = Module::parse(text, "test.ptx");
  if (!module) {
    result.report.status = Status::Invalid;
    result.report.diagnostics.push_back(module.error());
    return result;
  }
  Device device(options);
  if (observer)
    device.addObserver(*observer);
  uint64_t out = device.alloc(threads * 32, "out");
  result.report = device.launch(*module, "k", {{1}, {threads}, {1}, 32768},
                                {Argument::of(out)});
  result.out.resize(threads * 8);
  device.read(out, result.out.data(), threads * 32);
  return result;
}

const std::string kFence = "wgmma.fence.sync.aligned;\n",
                  kCommit = "wgmma.commit_group.sync.aligned;\n";
std::string mma(const std::string &d = "{%c0,%c1,%c2,%c3}") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + d +
         ", %da, %db, 1, 1, 1, 0, 0;\n";
}
std::string mmaRegisters(const std::string &d = "{%c0,%c1,%c2,%c3}") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + d +
         ", {%a0,%a1,%a2,%a3}, %db, 1, 1, 1, 0;\n";
}
std::string waitFor(int n) {
  return "wgmma.wait_group.sync.aligned " + std::to_string(n) + ";\n";
}
constexpr uint32_t kPoison = 0x7FED7FED;
uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }

#define ASSERT_OUTCOME(o)                                                      \
  ASSERT_TRUE((o).report.ok()) << (o).report.diagnostics.at(0).str()

TEST(WgmmaAsync, chainsOfProductsAddUp) {
  for (const char *order : {"round-robin", "reverse", "random:7"}) {
    DeviceOptions options;
    options.order = *OrderPolicy::parse(order);
    Outcome o =
        launch(kFence + mma() + mma() + mmaRegisters() + kCommit + waitFor(0),
               128, options);
    ASSERT_OUTCOME(o);
    for (unsigned t = 0; t < 128; ++t)
      for (unsigned i = 0; i < 4; ++i)
        ASSERT_EQ(o.out[8 * t + i], bitsOf(48.0f)) << t << order;
  }
}

TEST(WgmmaAsync, withoutAWaitTheAccumulatorIsANaN) {
  Outcome late = launch(kFence + mma() + kCommit);
  ASSERT_OUTCOME(late);
  // Products that no group holds are not waited for either.
  Outcome open = launch(kFence + mma() + waitFor(0));
  DeviceOptions options;
  options.lateCompletion = false;
  Outcome early = launch(kFence + mma() + kCommit, 128, options);
  ASSERT_OUTCOME(early);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < 4; ++i) {
      ASSERT_EQ(late.out[8 * t + i], kPoison);
      ASSERT_EQ(open.out[8 * t + i], kPoison);
      ASSERT_EQ(early.out[8 * t + i], bitsOf(16.0f));
    }
}

TEST(WgmmaAsync, waitGroupLeavesTheYoungest) {
  Outcome o = launch(kFence + mma() + kCommit + mma("{%c4,%c5,%c6,%c7}") +
                     kCommit + waitFor(1));
  ASSERT_OUTCOME(o);
  for (unsigned t = 0; t < 128; ++t) {
    ASSERT_EQ(o.out[8 * t], bitsOf(16.0f));
    ASSERT_EQ(o.out[8 * t + 4], kPoison);
  }
}

TEST(WgmmaAsync, oneAccumulatorInTwoGroupsComesBackWithTheLast) {
  Outcome first =
      launch(kFence + mma() + kCommit + mma() + kCommit + waitFor(1));
  Outcome both = launch(kFence + mma() + kCommit + mma() + kCommit +
                        waitFor(1) + waitFor(0));
  ASSERT_OUTCOME(both);
  EXPECT_EQ(first.out[0], kPoison);
  EXPECT_EQ(both.out[0], bitsOf(32.0f));
}

TEST(WgmmaAsync, sharedMemoryIsReadAtCompletion) {
  // Overwriting B before the wait changes the product; after it, it does not.
  std::string clear = "mov.u32 %r2, sm; mad.lo.u32 %r2, %t, 4, %r2;\n"
                      "st.shared.b32 [%r2+4096], 0; bar.sync 0;\n";
  Outcome before = launch(kFence + mma() + kCommit + clear + waitFor(0)),
          after = launch(kFence + mma() + kCommit + waitFor(0) + clear);
  ASSERT_OUTCOME(before);
  EXPECT_EQ(before.out[0], bitsOf(0.0f));
  EXPECT_EQ(after.out[0], bitsOf(16.0f));
}

TEST(WgmmaAsync, registersOfAAreReadAtCompletion) {
  std::string clear =
      "mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0;\n";
  Outcome before =
              launch(kFence + mmaRegisters() + kCommit + clear + waitFor(0)),
          after =
              launch(kFence + mmaRegisters() + kCommit + waitFor(0) + clear);
  // Warp 2 comes last and goes on first; its wait ends the operation for all,
  // before the others overwrite their registers.
  EXPECT_EQ(before.out[8 * 64], bitsOf(0.0f));
  EXPECT_EQ(after.out[0], bitsOf(16.0f));
}

TEST(WgmmaAsync, aWaitOfOneWarpLetsOperandsBeOverwritten) {
  // Warp 3 waits and overwrites B; the others have not waited yet. With a seed
  // its own share may have been over since long.
  for (int seed = 0; seed <= 20; ++seed) {
    DeviceOptions options;
    if (seed)
      options.order = {OrderPolicy::Random, uint64_t(seed)};
    Outcome o =
        launch(kFence + mma() + kCommit +
                   "setp.eq.u32 %p1, %w, 3; @!%p1 bra ON;\n" + waitFor(0) +
                   "mov.u32 %r2, sm; st.shared.b32 [%r2+4096], 0;\n"
                   "ON:\n" +
                   waitFor(0),
               128, options);
    ASSERT_OUTCOME(o);
    ASSERT_EQ(o.out[0], bitsOf(16.0f)) << seed;
    ASSERT_EQ(o.out[8 * 96], bitsOf(16.0f)) << seed;
  }
}

TEST(WgmmaAsync, anAccumulatorOnItsWayIsNoA) {
  // The second product takes what the first has not delivered.
  Outcome o = launch(
      kFence + mma("{%a0,%a1,%a2,%a3}") + kCommit +
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%c0,%c1,%c2,%c3}, "
      "{%a0,%a1,%a2,%a3}, %db, 1, 1, 1;\n" +
      kCommit + waitFor(0));
  ASSERT_OUTCOME(o);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(o.out[0])));
}

TEST(WgmmaAsync, otherRegistersDoNotTakeThePlaceOfThoseInUse) {
  // %a is dead behind the product and %c before the wait; what is computed
  // meanwhile must not land in their slots.
  std::string busy;
  for (int r = 2; r < 16; ++r)
    busy +=
        "add.u32 %r" + std::to_string(r) + ", %t, " + std::to_string(r) + ";\n";
  std::string use = "mov.u32 %c4, 0;\n";
  for (int r = 2; r < 16; ++r)
    use += "add.u32 %c4, %c4, %r" + std::to_string(r) + ";\n";
  Outcome o =
      launch(kFence + mmaRegisters() + kCommit + busy + waitFor(0) + use);
  ASSERT_OUTCOME(o);
  for (unsigned t = 0; t < 128; ++t) {
    ASSERT_EQ(o.out[8 * t], bitsOf(16.0f));
    ASSERT_EQ(o.out[8 * t + 4], 14 * t + 119);
  }
}

TEST(WgmmaAsync, theTensorModelTruncates) {
  // 1 + 3 * 2^-24: a multiply-add rounds up, the model cuts.
  std::string small = "and.b32 %r2, %t, 3;\nsetp.eq.u32 %p1, %r2, 0;\n"
                      "selp.b32 %a0, 0x00033C00, 0, %p1;\nmov.b32 %a1, %a0;\n"
                      "mov.b32 %a2, 0;\nmov.b32 %a3, 0;\n";
  std::string body = small + kFence + mmaRegisters() + kCommit + waitFor(0);
  DeviceOptions hopper;
  hopper.tensorModel = TensorModel::Hopper;
  Outcome chain = launch(body), model = launch(body, 128, hopper);
  ASSERT_OUTCOME(model);
  EXPECT_EQ(chain.out[0], 0x3F800002u);
  EXPECT_EQ(model.out[0], 0x3F800001u);
}

TEST(WgmmaAsync, twoWarpgroupsDoNotMeet) {
  // The second group does twice as many products.
  Outcome o =
      launch("setp.gt.u32 %p1, %w, 3;\n" + kFence + mma() + "@!%p1 bra ONE;\n" +
                 mma() + "ONE:\n" + kCommit + waitFor(0),
             256);
  ASSERT_OUTCOME(o);
  for (unsigned t = 0; t < 256; ++t)
    ASSERT_EQ(o.out[8 * t], bitsOf(t < 128 ? 16.0f : 32.0f));
}

std::string said(const Outcome &o) {
  return o.report.ok() ? "ok" : o.report.diagnostics.at(0).str();
}
void expectSays(const Outcome &o, const char *message) {
  EXPECT_NE(said(o).find(message), std::string::npos) << said(o);
}

TEST(WgmmaAgreement, whatTheFourWarpsMustShare) {
  std::string odd = "setp.eq.u32 %p1, %w, 2;\n";
  expectSays(launch(odd + "@%p1 add.u64 %db, %db, 1;\n" + mma()),
             "b-desc differs among the warps of warpgroup 0");
  expectSays(launch(odd + "@%p1 add.u64 %da, %da, 1;\n" + mma()),
             "a-desc differs among the warps of warpgroup 0");
  expectSays(
      launch("setp.eq.u32 %p1, %t, 5;\n@%p1 add.u64 %da, %da, 1;\n" + mma()),
      "a-desc differs among the lanes");
  std::string scaled = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                       "{%c0,%c1,%c2,%c3}, %da, %db, %p1, 1, 1, 0, 0;\n";
  expectSays(launch(odd + scaled),
             "scale-d differs among the warps of warpgroup 0");
  expectSays(launch("setp.eq.u32 %p1, %t, 5;\n" + scaled),
             "scale-d differs among the lanes");
  expectSays(launch("setp.eq.u32 %p1, %t, 5;\n@%p1 " + mma()),
             ".aligned but not all 32 lanes of the warp execute it");
  expectSays(launch(odd + "@%p1 bra OTHER;\n" + mma() + "bra END;\nOTHER:\n" +
                    mma() + "END:\n"),
             "the warps of warpgroup 0 stand at different instructions");
  expectSays(launch(mma(), 160),
             "warps 4 to 4 of the CTA are no whole warpgroup of four");
}

TEST(WgmmaAgreement, aWarpThatDoesNotComeIsADeadlock) {
  Outcome o =
      launch("setp.eq.u32 %p1, %w, 2;\n@%p1 bra END;\n" + mma() + "END:\n");
  EXPECT_EQ(o.report.status, Status::Deadlock);
  expectSays(o, "warp 0 lanes 0xffffffff wait at line ");
  expectSays(o, " for warps 2 of its warpgroup; warp 1 ");
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

struct Log : ExecutionObserver {
  struct CTA : CTAObserver {
    CTA(Log &log) : log(log) {}
    void add(const std::string &what) { log.lines.push_back(what); }
    static std::string ranges(std::span<const ByteRange> all) {
      std::string s;
      for (ByteRange r : all)
        s += " " + std::to_string(r.begin) + "-" + std::to_string(r.end);
      return s;
    }
    void wgmmaIssued(const WgmmaEvent &e) override {
      add("issued " + std::to_string(e.id) + " warp " +
          std::to_string(e.firstWarp) + " n" + std::to_string(e.n) + "k" +
          std::to_string(e.k) + " d" + std::to_string(e.accumulators.size()) +
          " a" + std::to_string(e.aRegisters.size()) + " A" +
          ranges(e.aShared) + " B" + ranges(e.bShared));
      for (uint32_t r : e.accumulators)
        EXPECT_EQ(log.names->at(r).substr(0, 2), "%c");
      for (uint32_t r : e.aRegisters)
        EXPECT_EQ(log.names->at(r).substr(0, 2), "%a");
    }
    void wgmmaCompleted(const WgmmaEvent &e) override {
      add("completed " + std::to_string(e.id));
    }
    void group(const char *what, const WgmmaGroupEvent &e) {
      if (e.firstWarp == 1)
        add(what + std::to_string(e.pending));
    }
    void wgmmaCommitted(const WgmmaGroupEvent &e) override {
      group("committed ", e);
    }
    void wgmmaWaited(const WgmmaGroupEvent &e) override { group("waited ", e); }
    void wgmmaFence(const WgmmaGroupEvent &e) override { group("fence ", e); }
    Log &log;
  };
  std::string_view name() const override { return "log"; }
  uint32_t interests() const override { return kWgmma; }
  void kernelBegin(const KernelEvent &e) override {
    names = &e.code.registerNames;
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &) override {
    return std::make_unique<CTA>(*this);
  }
  std::vector<std::string> lines;
  const std::vector<std::string> *names = nullptr;
};

TEST(WgmmaEvents, sayWhatHappensInOrder) {
  Log log; // of the groups, what warp 1 does, which waits first
  DeviceOptions options;
  Outcome o = launch(kFence + mma() + kCommit + mmaRegisters() + kCommit +
                         waitFor(1) + waitFor(0),
                     128, options, &log);
  ASSERT_OUTCOME(o);
  const std::vector<std::string> want = {
      "fence 0",     "issued 0 warp 0 n8k16 d4 a0 A 0-2048 B 4096-4352",
      "committed 0", "issued 1 warp 0 n8k16 d4 a4 A B 4096-4352",
      "committed 0", "completed 0",
      "waited 1",    "completed 1",
      "waited 0"};
  EXPECT_EQ(log.lines, want);
}
} // namespace
