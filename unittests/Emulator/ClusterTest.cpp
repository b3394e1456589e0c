//===- ClusterTest.cpp - CTAs that run together ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distributed shared memory, addresses of CTAs, barrier.cluster, the registers
// that speak of clusters, and what a launch with a cluster must be.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// A kernel with one output buffer, whose address is %out.
std::string kernel(const std::string &body, const std::string &limits = "") {
  return R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_out) )" +
         limits + R"(
{
  .reg .b32 %r<40>, %tid, %rank, %cta;
  .reg .b64 %rd<20>, %out;
  .reg .pred %p<8>;
  .shared .align 128 .b8 smem[1024];
  ld.param.u64 %out, [k_out];
  mov.u32 %tid, %tid.x;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %rank, %cluster_ctarank;
)" + body +
         "\n  ret;\n}\n";
}

struct Result {
  Report report;
  std::vector<uint32_t> words;
  std::string message() const {
    return report.diagnostics.empty() ? "" : report.diagnostics[0].message;
  }
};

Result launch(const std::string &text, LaunchShape shape,
              DeviceOptions options = {},
              const std::vector<ExecutionObserver *> &observers = {}) {
  Result result;
  auto module = Module::parse(text, "test.ptx");
  if (!module) {
    result.report.status = Status::Invalid;
    result.report.diagnostics.push_back(module.error());
    return result;
  }
  Device device(options);
  for (ExecutionObserver *o : observers)
    device.addObserver(*o);
  uint64_t out = device.alloc(4096, "out");
  result.report = device.launch(*module, "k", shape, {Argument::of(out)});
  result.words.resize(1024);
  device.read(out, result.words.data(), 4096);
  return result;
}

std::vector<DeviceOptions> orders() {
  std::vector<DeviceOptions> all(2);
  all[1].order = {OrderPolicy::Reverse, 0};
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    all.emplace_back();
    all.back().order = {OrderPolicy::Random, seed};
  }
  return all;
}

TEST(Cluster, registersOfEveryCta) {
  Result r = launch(kernel(R"(
    mov.u32 %r0, %ctaid.y;
    mad.lo.u32 %r1, %r0, 4, %cta;
    mad.wide.u32 %rd0, %r1, 32, %out;
    mov.u32 %r2, %cluster_ctaid.x;
    mov.u32 %r3, %cluster_ctaid.y;
    mov.u32 %r4, %clusterid.x;
    mov.u32 %r5, %clusterid.y;
    mov.u32 %r6, %nclusterid.x;
    mov.u32 %r7, %cluster_nctarank;
    mov.pred %p3, %is_explicit_cluster;
    selp.u32 %r8, 1, 0, %p3;
    st.global.v4.u32 [%rd0], {%rank, %r2, %r3, %r4};
    st.global.v4.u32 [%rd0+16], {%r5, %r6, %r7, %r8};)"),
                    {{4, 2}, {1}, {2, 2}, 0});
  ASSERT_RUNS(r);
  for (uint32_t y = 0; y < 2; ++y)
    for (uint32_t x = 0; x < 4; ++x) {
      const uint32_t want[8] = {x % 2 + 2 * y, x % 2, y, x / 2, 0, 2, 4, 1};
      for (uint32_t k = 0; k < 8; ++k)
        EXPECT_EQ(r.words[(y * 4 + x) * 8 + k], want[k]) << x << y << k;
    }
}

/// Every CTA writes its rank into the next one's memory and reads its own.
const char *const kRing = R"(
    add.u32 %r0, %rank, 1;
    mov.u32 %r1, %cluster_nctarank;
    rem.u32 %r0, %r0, %r1;
    mov.u32 %r2, smem;
    mapa.shared::cluster.u32 %r3, %r2, %r0;
    getctarank.shared::cluster.u32 %r4, %r3;
    shl.b32 %r5, %tid, 2;
    add.u32 %r6, %r3, %r5;
    add.u32 %r7, %rank, 100;
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    st.shared::cluster.u32 [%r6], %r7;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    add.u32 %r6, %r2, %r5;
    ld.shared::cta.u32 %r8, [%r6];
    mad.lo.u32 %r9, %cta, 64, %tid;
    mad.wide.u32 %rd0, %r9, 8, %out;
    st.global.v2.u32 [%rd0], {%r8, %r4};)";

TEST(Cluster, aRingThroughDistributedSharedMemory) {
  for (const DeviceOptions &options : orders()) {
    Result r = launch(kernel(kRing), {{8}, {64}, {4}, 0}, options);
    ASSERT_RUNS(r);
    for (uint32_t c = 0; c < 8; ++c)
      for (uint32_t t = 0; t < 64; ++t) {
        ASSERT_EQ(r.words[(c * 64 + t) * 2], 100 + (c + 3) % 4);
        ASSERT_EQ(r.words[(c * 64 + t) * 2 + 1], (c + 1) % 4);
      }
  }
}

TEST(Cluster, genericAddressesOfOtherCtas) {
  // mapa.u64 on a generic address, cvta of a mapped one, isspacep of both.
  Result r = launch(kernel(R"(
    xor.b32 %r0, %rank, 1;
    mov.u64 %rd1, smem;
    cvta.shared.u64 %rd2, %rd1;
    mapa.u64 %rd3, %rd2, %r0;
    mov.u32 %r1, smem;
    mapa.shared::cluster.u32 %r2, %r1, %r0;
    cvt.u64.u32 %rd4, %r2;
    cvta.shared::cluster.u64 %rd5, %rd4;
    sub.s64 %rd6, %rd5, %rd3;
    cvt.u32.u64 %r3, %rd6;
    getctarank.u64 %r4, %rd3;
    isspacep.shared::cluster %p0, %rd3;
    isspacep.shared::cta %p1, %rd3;
    isspacep.shared %p2, %rd2;
    isspacep.global %p3, %rd3;
    selp.u32 %r5, 1, 0, %p0;
    @%p1 or.b32 %r5, %r5, 2;
    @%p2 or.b32 %r5, %r5, 4;
    @%p3 or.b32 %r5, %r5, 8;
    atom.add.u32 %r6, [%rd3], 0;
    barrier.cluster.arrive; barrier.cluster.wait;
    st.u32 [%rd3], 0;
    barrier.cluster.arrive; barrier.cluster.wait;
    add.u32 %r7, %rank, 5;
    atom.add.u32 %r6, [%rd3], %r7;
    red.shared::cluster.add.u32 [%r2], 1;
    barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared.u32 %r8, [smem];
    mad.wide.u32 %rd0, %cta, 16, %out;
    st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r8};)"),
                    {{2}, {1}, {2}, 0});
  ASSERT_RUNS(r);
  for (uint32_t c = 0; c < 2; ++c) {
    EXPECT_EQ(r.words[c * 4], 0u);
    EXPECT_EQ(r.words[c * 4 + 1], 1 - c);
    EXPECT_EQ(r.words[c * 4 + 2], 5u);
    EXPECT_EQ(r.words[c * 4 + 3], 5 + (1 - c) + 1);
  }
}

TEST(Cluster, anOwnMappedAddressIsTheOwnMemory) {
  Result r = launch(kernel(R"(
    mov.u32 %r1, smem;
    mapa.shared::cluster.u32 %r2, %r1, %rank;
    st.shared.u32 [%r2+8], 7;
    ld.shared.u32 %r3, [%r1+8];
    mad.wide.u32 %rd0, %cta, 4, %out;
    st.global.u32 [%rd0], %r3;)"),
                    {{2}, {1}, {2}, 0});
  ASSERT_RUNS(r);
  EXPECT_EQ(r.words[0], 7u);
  EXPECT_EQ(r.words[1], 7u);
}

TEST(Cluster, faultsOfAddresses) {
  struct Case {
    const char *body, *message;
  };
  const Case kCases[] = {
      {"mov.u32 %r1, smem; mapa.shared::cluster.u32 %r2, %r1, 5;"
       "st.shared::cluster.u32 [%r2], 1;",
       "shared store of 4 bytes at 0x6000000 is out of bounds: it names a CTA "
       "that the cluster of 2 does not have"},
      {"mov.u32 %r1, smem; xor.b32 %r0, %rank, 1;"
       "mapa.shared::cluster.u32 %r2, %r1, %r0; setp.eq.u32 %p0, %rank, 0;"
       "@%p0 st.shared.u32 [%r2], 1; barrier.cluster.arrive; "
       "barrier.cluster.wait;",
       "shared store of 4 bytes at 0x2000000 is out of bounds: it lies in the "
       "shared memory of CTA rank 1; this instruction reaches only the "
       "executing CTA's, rank 0"},
      {"mov.u32 %r1, smem; setp.eq.u32 %p0, %rank, 0; @!%p0 ret;"
       "mapa.shared::cluster.u32 %r2, %r1, 1; mov.u32 %r3, 0;"
       "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9000; @%p1 bra L;"
       "ld.shared::cluster.u32 %r4, [%r2];",
       "shared load of 4 bytes at 0x2000000 is out of bounds: it lies in the "
       "shared memory of CTA rank 1, which has exited"},
      {"mov.u32 %r1, smem; xor.b32 %r0, %rank, 1;"
       "mapa.shared::cluster.u32 %r2, %r1, %r0;"
       "ld.shared::cluster.u32 %r4, [%r2+1024];",
       "shared load of 4 bytes at 0x400 is out of bounds: the CTA has 1024 "
       "bytes of shared memory"},
      {"barrier.cluster.wait;", "barrier.cluster.wait without an arrival "
                                "before"},
      {"barrier.cluster.arrive; barrier.cluster.arrive;",
       "barrier.cluster.arrive without a wait for the arrival before"},
  };
  for (const Case &c : kCases) {
    Result r = launch(kernel(c.body), {{2}, {1}, {2}, 0});
    EXPECT_EQ(r.report.status, Status::Fault) << c.body;
    EXPECT_EQ(r.message(), c.message);
  }
}

TEST(Cluster, lanesThatExitAreNotWaitedFor) {
  for (const DeviceOptions &options : orders()) {
    Result r = launch(kernel(R"(
    setp.eq.u32 %p0, %rank, 1;
    @%p0 ret;
    setp.gt.u32 %p1, %tid, 40;
    @%p1 ret;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mad.wide.u32 %rd0, %tid, 4, %out;
    st.global.u32 [%rd0], 1;)"),
                      {{2}, {64}, {2}, 0}, options);
    ASSERT_RUNS(r);
    EXPECT_EQ(r.words[40], 1u);
    EXPECT_EQ(r.words[41], ~0u);
  }
}

TEST(Cluster, aDeadlockNamesTheThreadsOfEveryCta) {
  Result r = launch(kernel(R"(
    setp.eq.u32 %p0, %rank, 0;
    @!%p0 bra OTHER;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
OTHER:
    barrier.sync 3, 64;)"),
                    {{2}, {32}, {2}, 0});
  EXPECT_EQ(r.report.status, Status::Deadlock);
  EXPECT_EQ(r.message(),
            "deadlock: CTA rank 0 warp 0 lanes 0xffffffff wait at line 18 for "
            "the cluster's barrier (32 of 64 threads have arrived); CTA rank 1 "
            "warp 0 lanes 0xffffffff wait at line 21 for barrier 3 (32 of 64 "
            "threads have arrived)");
}

TEST(Cluster, whatALaunchRefuses) {
  struct Case {
    LaunchShape shape;
    const char *limits, *message;
    uint32_t most = 8;
  };
  const Case kCases[] = {
      {{{16}, {1}, {16}, 0},
       "",
       "cluster 16x1x1 has more than 8 CTAs; --max-cluster=16 allows more, "
       "which not every chip has"},
      {{{32}, {1}, {32}, 0}, "", "cluster 32x1x1 has more than 16 CTAs", 16},
      {{{3}, {1}, {2}, 0}, "", "grid 3x1x1 is not a multiple of cluster 2x1x1"},
      {{{4}, {1}, {4}, 0},
       ".reqnctapercluster 2",
       "cluster 4x1x1 does not fit .reqnctapercluster 2x1x1"},
      {{{4}, {1}, {0, 0, 0}, 0},
       ".explicitcluster",
       "kernel 'k' is .explicitcluster: the launch must give a cluster"},
  };
  for (const Case &c : kCases) {
    DeviceOptions options;
    options.maxClusterSize = c.most;
    Result r = launch(kernel("", c.limits), c.shape, options);
    EXPECT_EQ(r.report.status, Status::Invalid);
    EXPECT_EQ(r.message(), c.message);
  }
  std::string old = kernel("");
  old.replace(old.find("sm_90a"), 6, "sm_80");
  old.replace(old.find("%cluster_ctarank"), 16, "%ctaid.x");
  Result r = launch(old, {{2}, {1}, {2}, 0});
  EXPECT_EQ(r.message(),
            "clusters need sm_90 or newer; this file is for sm_80");
}

TEST(Cluster, sizesUpToSixteenAndThoseOfTheKernel) {
  const char *body = R"(
    mov.u32 %r1, %cluster_nctarank;
    mov.pred %p3, %is_explicit_cluster;
    selp.u32 %r2, 1, 0, %p3;
    mad.wide.u32 %rd0, %cta, 8, %out;
    st.global.v2.u32 [%rd0], {%r1, %r2};)";
  DeviceOptions options;
  options.maxClusterSize = 16;
  Result r = launch(kernel(body), {{16}, {1}, {16}, 0}, options);
  ASSERT_RUNS(r);
  EXPECT_EQ(r.words[30], 16u);
  r = launch(kernel(body, ".reqnctapercluster 4, 1, 1"),
             {{8}, {1}, {0, 0, 0}, 0});
  ASSERT_RUNS(r);
  EXPECT_EQ(r.words[0], 4u);
  EXPECT_EQ(r.words[1], 1u);
  r = launch(kernel(body), {{8}, {1}, {0, 0, 0}, 0});
  ASSERT_RUNS(r);
  EXPECT_EQ(r.words[0], 1u);
  EXPECT_EQ(r.words[1], 0u);
}

TEST(Cluster, formsThatAreRefused) {
  const std::pair<const char *, const char *> kCases[] = {
      {"mapa.u32 %r1, %r2, %r3;",
       "'mapa.u32' needs .u64: generic addresses have 64 bits"},
      {"getctarank.u32 %r1, %r2;",
       "'getctarank.u32' needs .u64: generic addresses have 64 bits"},
      {"barrier.cluster.arrive.acquire;",
       "unsupported instruction 'barrier.cluster.arrive.acquire'"},
      {"barrier.cluster.wait.relaxed;",
       "unsupported instruction 'barrier.cluster.wait.relaxed'"},
  };
  for (auto &[body, message] : kCases) {
    Result r = launch(kernel(body), {{1}, {1}, {}, 0});
    EXPECT_EQ(r.report.status, Status::Invalid);
    EXPECT_EQ(r.message(), message);
  }
}

/// Counts the events of one run.
struct EventCounter : ExecutionObserver {
  struct Own : CTAObserver {
    EventCounter &all;
    uint32_t rank;
    Own(EventCounter &all, uint32_t rank) : all(all), rank(rank) {}
    void memoryAccess(const AccessEvent &e) override {
      if (e.space == Space::Shared)
        ++(e.ownerRank == rank ? all.own : all.remote);
    }
    void clusterBarrier(const ClusterBarrierEvent &e) override {
      ++all.barriers[e.kind];
      all.phases = std::max(all.phases, e.phase);
    }
  };
  std::string_view name() const override { return "count"; }
  uint32_t interests() const override { return kMemory | kBarriers; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &e) override {
    EXPECT_EQ(e.clusterSize, 4u);
    EXPECT_EQ(e.cluster, e.linear / 4);
    EXPECT_EQ(e.clusterRank, e.linear % 4);
    return std::make_unique<Own>(*this, e.clusterRank);
  }
  void ctaEnd(const CTAEvent &e, CTAObserver &, bool completed) override {
    EXPECT_TRUE(completed);
    EXPECT_EQ(e.linear, ended++);
  }
  int own = 0, remote = 0, barriers[3] = {};
  uint64_t phases = 0, ended = 0;
};

TEST(Cluster, eventsNameTheOwner) {
  EventCounter counter;
  DeviceOptions options;
  options.threads = 1;
  Result r = launch(kernel(kRing), {{8}, {64}, {4}, 0}, options, {&counter});
  ASSERT_RUNS(r);
  EXPECT_EQ(counter.own, 16); // a load by each warp
  EXPECT_EQ(counter.remote, 16);
  EXPECT_EQ(counter.barriers[ClusterBarrierEvent::Arrive], 32);
  EXPECT_EQ(counter.barriers[ClusterBarrierEvent::Wait], 32);
  EXPECT_EQ(counter.barriers[ClusterBarrierEvent::Complete], 4);
  EXPECT_EQ(counter.phases, 2u);
}

TEST(Cluster, fencesOfProxiesAreTold) {
  struct Fences : ExecutionObserver {
    struct Own : CTAObserver {
      Fences &all;
      explicit Own(Fences &all) : all(all) {}
      void fence(const FenceEvent &e) override {
        all.seen.push_back({e.proxy, e.semantics, e.scope});
      }
    };
    struct Seen {
      FenceEvent::Kind kind;
      FenceEvent::Semantics semantics;
      Scope scope;
      bool operator==(const Seen &) const = default;
    };
    std::string_view name() const override { return "fences"; }
    uint32_t interests() const override { return kBarriers; }
    std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &) override {
      return std::make_unique<Own>(*this);
    }
    std::vector<Seen> seen;
  };
  Fences fences;
  Result r = launch(kernel(R"(
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    fence.proxy.async.global;
    fence.proxy.async.shared::cta;
    fence.proxy.async.shared::cluster;
    fence.proxy.alias;
    fence.proxy.tensormap::generic.release.gpu;
    fence.proxy.tensormap::generic.acquire.sys [%out], 128;
    fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
    fence.release.sync_restrict::shared::cta.cluster;
    fence.acq_rel.cluster;
    membar.cta;)"),
                    {{1}, {1}, {0, 0, 0}, 0}, {}, {&fences});
  ASSERT_RUNS(r);
  using E = FenceEvent;
  const std::vector<Fences::Seen> want = {
      {E::MbarrierInit, E::Release, Scope::Cluster},
      {E::Async, E::AcquireRelease, Scope::GPU},
      {E::AsyncGlobal, E::AcquireRelease, Scope::GPU},
      {E::AsyncShared, E::AcquireRelease, Scope::GPU},
      {E::AsyncShared, E::AcquireRelease, Scope::GPU},
      {E::Alias, E::AcquireRelease, Scope::GPU},
      {E::Tensormap, E::Release, Scope::GPU},
      {E::Tensormap, E::Acquire, Scope::System},
      {E::Async, E::Acquire, Scope::Cluster},
      {E::Memory, E::Release, Scope::Cluster},
      {E::Memory, E::AcquireRelease, Scope::Cluster},
      {E::Memory, E::Sequential, Scope::CTA}};
  EXPECT_EQ(fences.seen.size(), want.size());
  EXPECT_TRUE(fences.seen == want);
  r = launch(kernel("fence.proxy.tensormap::generic.acquire.gpu [%out], 64;"),
             {{1}, {1}, {0, 0, 0}, 0});
  EXPECT_EQ(r.message(), "the size of a tensor map is 128");
}
} // namespace
