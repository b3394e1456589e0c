//===- BulkCopyTest.cpp - cp.async.bulk and its kin -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies without a tensor map, in every direction, with multicast and with
// reductions; bulk groups; st.async and red.async; when bytes move; faults.
//
//===----------------------------------------------------------------------===//
#include "KernelHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
const KernelSetup kOneThread{{{1}, {1}, {0, 0, 0}, 0}};

const char *const kInit = R"(
    setp.eq.u32 %p9, %tid, 0;
    @%p9 mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
)";

bool isLate(const DeviceOptions &o) {
  return o.lateCompletion && o.order.kind != OrderPolicy::Random;
}

TEST(BulkCopy, loadsTellTheMbarrier) {
  const std::string body = std::string(kInit) + R"(
    mov.u32 %r1, 5;
    st.shared.u32 [smem+64], %r1;
    @%p9 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
    @%p9 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%in+16], 128, [bar];
    @%p9 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [smem+128], [%in+512], 128, [bar], %rd30;
    ld.shared.u32 %r2, [smem+64];
)" + waitParity("bar", "0") +
                           R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r0, %tid, 4, %r0;
    ld.shared.u32 %r3, [%r0];
    ld.shared.u32 %r4, [%r0+128];
    mad.wide.u32 %rd0, %tid, 16, %out;
    st.global.v4.u32 [%rd0], {%r3, %r4, %r2, 0};)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{1}, {32}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t t = 0; t < 32; ++t) {
      ASSERT_EQ(r.out[4 * t], (t + 4) * 3 + 1);
      ASSERT_EQ(r.out[4 * t + 1], (t + 128) * 3 + 1);
      ASSERT_TRUE(!isLate(options) || r.out[4 * t + 2] == 5);
    }
  }
}

TEST(BulkCopy, multicastReachesTheMaskedCtas) {
  const std::string body = std::string(kInit) + R"(
    mov.u32 %r0, 0x3;
    setp.ne.u32 %p8, %rank, 2;
    @%p9 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
    setp.eq.u32 %p1, %rank, 3;
    and.pred %p1, %p1, %p9;
    .reg .b16 %mask;
    mov.b16 %mask, 11;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem+256], [%in], 256, [bar], %mask;
    @!%p8 bra SKIP;
)" + waitParity("bar", "0") +
                           R"(
SKIP:
    mov.u32 %r0, smem;
    mad.lo.u32 %r0, %tid, 4, %r0;
    ld.shared.u32 %r3, [%r0+256];
    mad.lo.u32 %r4, %cta, 64, %tid;
    mad.wide.u32 %rd0, %r4, 4, %out;
    st.global.u32 [%rd0], %r3;
    barrier.cluster.arrive; barrier.cluster.wait;)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{4}, {64}, {4}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t k = 0; k < 256; ++k)
      ASSERT_EQ(r.out[k], k / 64 == 2 ? ~0u : (k % 64) * 3 + 1);
  }
}

TEST(BulkCopy, storesBelongToBulkGroups) {
  // `.read` lets the source be written again, while the destination may still
  // be old.
  const std::string body = R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r0, %tid, 4, %r0;
    st.shared.u32 [%r0], %tid;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p1, %tid, 0;
    @%p1 bra OTHERS;
    cp.async.bulk.global.shared::cta.bulk_group [%more], [smem], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%more+128], [smem+128], 128, %rd30;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 1;
    st.shared.u32 [smem], 99;
    ld.global.u32 %r1, [%more+4];
    ld.global.u32 %r2, [%more+132];
    st.global.v2.u32 [%out], {%r1, %r2};
    cp.async.bulk.wait_group 1;
    ld.global.u32 %r1, [%more+4];
    ld.global.u32 %r2, [%more+132];
    st.global.v2.u32 [%out+8], {%r1, %r2};
    cp.async.bulk.wait_group 0;
    ld.global.u32 %r2, [%more+132];
    st.global.u32 [%out+16], %r2;
OTHERS:)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{1}, {64}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t k = 0; k < 64; ++k)
      ASSERT_EQ(r.more[k], k);
    EXPECT_EQ(r.out[2], 1u);
    EXPECT_EQ(r.out[4], 33u);
    if (isLate(options)) {
      EXPECT_EQ(r.out[0], 0u);
      EXPECT_EQ(r.out[1], 0u);
      EXPECT_EQ(r.out[3], 0u);
    }
  }
}

TEST(BulkCopy, whatIsLeftOpenEndsWithItsCta) {
  KernelRun r = runBody(R"(
    st.shared.u32 [smem], 7;
    cp.async.bulk.global.shared::cta.bulk_group [%more], [smem], 16;
    ret;)",
                        kOneThread);
  ASSERT_TRUE(r.report.ok()) << r.message();
  EXPECT_EQ(r.more[0], 7u);
}

TEST(BulkCopy, betweenCtasOfACluster) {
  const std::string body = std::string(kInit) + R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 4, %r0;
    mad.lo.u32 %r2, %rank, 1000, %tid;
    st.shared.u32 [%r1], %r2;
    st.shared.u32 [%r1+256], %tid;
    fence.proxy.async.shared::cta;
    barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r3, %rank, 1;
    mapa.shared::cluster.u32 %r4, %r0, %r3;
    mov.u32 %r5, bar;
    mapa.shared::cluster.u32 %r6, %r5, %r3;
    @%p9 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
    @%p9 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+512], [smem], 256, [%r6];
    @%p9 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r4+256], [smem], 256, [%r6];
)" + waitParity("bar", "0") +
                           R"(
    ld.shared.u32 %r7, [%r1+512];
    ld.shared.u32 %r8, [%r1+256];
    mad.lo.u32 %r9, %cta, 64, %tid;
    mad.wide.u32 %rd0, %r9, 8, %out;
    st.global.v2.u32 [%rd0], {%r7, %r8};
    barrier.cluster.arrive; barrier.cluster.wait;)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{2}, {64}, {2}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t k = 0; k < 128; ++k) {
      uint32_t t = k % 64, other = k < 64 ? 1000 : 0;
      ASSERT_EQ(r.out[2 * k], other + t);
      ASSERT_EQ(r.out[2 * k + 1], other + 2 * t);
    }
  }
}

struct ReduceCase {
  const char *word;
  uint32_t old, value, want;
};
TEST(BulkCopy, reductionsToGlobalMemory) {
  const ReduceCase kCases[] = {
      {"add.u32", 5, 7, 12},
      {"add.s32", 5, ~0u, 4},
      {"min.s32", 5, ~0u, ~0u},
      {"min.u32", 5, ~0u, 5},
      {"max.s32", 5, ~0u, 5},
      {"inc.u32", 5, 5, 0},
      {"inc.u32", 4, 5, 5},
      {"dec.u32", 0, 5, 5},
      {"dec.u32", 4, 5, 3},
      {"and.b32", 6, 3, 2},
      {"or.b32", 6, 3, 7},
      {"xor.b32", 6, 3, 5},
      {"add.f32", bits(1.5f), bits(2.0f), bits(3.5f)},
      {"add.noftz.f16", 0x3C003C00, 0x40003C00, 0x42004000},
      {"add.noftz.bf16", 0x3F803F80, 0x3F803F80, 0x40004000},
      {"min.f16", 0x3C003C00, 0x40003800, 0x3C003800},
      {"max.bf16", 0x3F80BF80, 0x3F003F80, 0x3F803F80},
      {"add.u64", ~0u, 1, 0},
      {"max.s64", 1, 2, 2},
      {"or.b64", 1, 2, 3},
  };
  for (const ReduceCase &c : kCases) {
    KernelRun r = runBody(
        "st.shared.v4.u32 [smem], {" + std::to_string(c.value) + ", 0, " +
            std::to_string(c.value) + ", 0}; st.global.v4.u32 [%more], {" +
            std::to_string(c.old) + ", 0, " + std::to_string(c.old) +
            ", 0}; cp.reduce.async.bulk.global.shared::cta.bulk_group." +
            c.word +
            " [%more], [smem], 16; cp.async.bulk.commit_group; "
            "cp.async.bulk.wait_group 0;",
        kOneThread);
    ASSERT_TRUE(r.report.ok()) << r.message();
    EXPECT_EQ(r.more[0], c.want) << c.word;
    EXPECT_EQ(r.more[2], c.want) << c.word;
  }
}

TEST(BulkCopy, manyCtasReduceIntoOneBuffer) {
  for (unsigned threads : {1u, 4u}) {
    DeviceOptions options;
    options.threads = threads;
    KernelRun r = runBody(R"(
    st.shared.v4.u32 [smem], {1, 2, 3, %cta};
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%more], [smem], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;)",
                          {{{100}, {1}, {0, 0, 0}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    EXPECT_EQ(r.more[0], 100u);
    EXPECT_EQ(r.more[2], 300u);
    EXPECT_EQ(r.more[3], 4950u);
  }
}

TEST(BulkCopy, storeAsyncAndRedAsync) {
  const std::string body = std::string(kInit) + R"(
    mov.u32 %r0, smem;
    mov.u32 %r5, bar;
    xor.b32 %r3, %rank, 1;
    mad.lo.u32 %r1, %tid, 16, %r0;
    mapa.shared::cluster.u32 %r4, %r1, %r3;
    mapa.shared::cluster.u32 %r6, %r5, %r3;
    mapa.shared::cluster.u32 %r7, %r0, %r3;
    st.shared.u32 [smem+2048], 0;
    barrier.cluster.arrive; barrier.cluster.wait;
    @%p9 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1056;
    mad.lo.u32 %r8, %rank, 1000, %tid;
    cvt.u64.u32 %rd1, %r8;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r4], {%r8, %rank}, [%r6];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r4+8], %rd1, [%r6];
    setp.lt.u32 %p2, %tid, 8;
    @%p2 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7+2048], %tid, [%r6];
)" + waitParity("bar", "0") +
                           R"(
    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r1];
    ld.shared.u32 %r14, [smem+2048];
    mad.lo.u32 %r9, %cta, 64, %tid;
    mad.wide.u32 %rd0, %r9, 16, %out;
    st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r14};
    barrier.cluster.arrive; barrier.cluster.wait;)";
  for (const DeviceOptions &options : allOrders()) {
    KernelRun r = runBody(body, {{{2}, {64}, {2}, 0}, options});
    ASSERT_TRUE(r.report.ok()) << r.message();
    for (uint32_t k = 0; k < 128; ++k) {
      uint32_t t = k % 64, other = k < 64;
      ASSERT_EQ(r.out[4 * k], other * 1000 + t);
      ASSERT_EQ(r.out[4 * k + 1], other);
      ASSERT_EQ(r.out[4 * k + 2], other * 1000 + t);
      ASSERT_EQ(r.out[4 * k + 3], 28u);
    }
  }
}

TEST(BulkCopy, faults) {
  const std::string init = "mbarrier.init.shared.b64 [bar], 1;";
  const std::string load =
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
  const std::string store = "cp.async.bulk.global.shared::cta.bulk_group ";
  const std::pair<std::string, const char *> kCases[] = {
      {init + load + "[smem], [%in], 24, [bar];",
       "a bulk copy of 24 bytes; a multiple of 16 is allowed"},
      {init + load + "[smem], [%in+8], 16, [bar];",
       "the address 0x7000000008 of a bulk copy is not aligned to 16"},
      {init + load + "[smem+8], [%in], 16, [bar];",
       "the destination of a bulk copy, 16 bytes of shared memory at 0x8, is "
       "not aligned to 16"},
      {init + load + "[smem+4096], [%in], 128, [bar];",
       "the destination of a bulk copy, 128 bytes of shared memory at 0x1000, "
       "is out of bounds: the CTA has 4160 bytes of shared memory"},
      {init + load + "[smem], [%in+4080], 32, [bar];",
       "a bulk copy reads 32 bytes at 0x7000000ff0, which is out of bounds: 0 "
       "bytes past the end of buffer 'in' (4096 bytes)"},
      {load + "[smem], [%in], 32, [bar];",
       "the mbarrier at byte 4096 does not exist: there was no mbarrier.init, "
       "or mbarrier.inval ended it"},
      {store + "[%in], [smem], 32;",
       "a bulk copy writes 32 bytes at 0x7000000000 of buffer 'in', which is "
       "read-only"},
      {init + "mov.u32 %r1, smem; mapa.shared::cluster.u32 %r2, %r1, 3;"
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
              "bytes [%r2], [%in], 32, [bar];",
       "the destination of a bulk copy, 32 bytes of shared memory at "
       "0x4000000, cannot be reached: it names a CTA that the cluster of 1 "
       "does not have"},
      {init + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
              "bytes.multicast::cluster [smem], [%in], 32, [bar], 2;",
       "the multicast mask 0x2 does not fit a cluster of 1 CTAs"},
  };
  for (auto &[body, message] : kCases) {
    KernelRun r = runBody(body, kOneThread);
    EXPECT_EQ(r.report.status, Status::Fault) << body;
    EXPECT_EQ(r.message(), message);
  }
}

// Rank 1 leaves at once; rank 0 takes its time.
TEST(BulkCopy, mayNotReachACtaThatHasExited) {
  const std::string later =
      "setp.eq.u32 %p0, %rank, 0; @!%p0 ret; mov.u32 %r3, 0;\n"
      "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9000; @%p1 bra L;\n"
      "mbarrier.init.shared.b64 [bar], 1; mov.u32 %r1, smem;"
      "mov.u32 %r2, bar; mapa.shared::cluster.u32 %r1, %r1, 1;"
      "mapa.shared::cluster.u32 %r2, %r2, 1;";
  const std::string leaving =
      "mbarrier.init.shared.b64 [bar], 1; barrier.cluster.arrive;"
      "barrier.cluster.wait; setp.eq.u32 %p0, %rank, 0; @!%p0 bra MEET;"
      "mov.u32 %r1, smem; mov.u32 %r2, bar;"
      "mapa.shared::cluster.u32 %r1, %r1, 1;"
      "mapa.shared::cluster.u32 %r2, %r2, 1;";
  const std::string meet =
      "MEET: barrier.cluster.arrive; barrier.cluster.wait; @!%p0 ret;"
      "mov.u32 %r3, 0;\n"
      "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9000; @%p1 bra L;";
  const std::string there = "it lies in the shared memory of CTA rank 1, which "
                            "has exited";
  const std::pair<std::string, std::string> kCases[] = {
      {later + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes.multicast::cluster [smem], [%in], 32, [bar], 3;",
       "a multicast copy reaches CTA rank 1, which has exited"},
      {later + "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 "
               "[%r1], %r3, [%r2];",
       "the destination of an asynchronous store cannot be reached: " + there},
      // What is under way when the other CTA leaves.
      {leaving +
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 "
           "[%r1], %r2, [%r2];\n" +
           meet,
       "an asynchronous store reaches CTA rank 1, which has exited"},
      {leaving +
           "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_"
           "tx::bytes [%r1], [smem], 32, [%r2];\n" +
           meet,
       "a bulk copy writes to the shared memory of CTA rank 1, which has "
       "exited"},
  };
  for (auto &[body, message] : kCases) {
    KernelRun r = runBody(body, {{{2}, {1}, {2}, 0}});
    EXPECT_EQ(r.report.status, Status::Fault) << body;
    EXPECT_EQ(r.message(), message);
  }
}

TEST(BulkCopy, theMbarrierIsInTheCtaOfTheDestination) {
  const std::string both =
      "mbarrier.init.shared.b64 [bar], 1; barrier.cluster.arrive;"
      "barrier.cluster.wait; setp.eq.u32 %p0, %rank, 0; @!%p0 bra MEET;"
      "mov.u32 %r1, smem; mapa.shared::cluster.u32 %r1, %r1, 1;";
  const std::string store =
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 ";
  const std::pair<std::string, std::string> kCases[] = {
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
       "[%r1], [%in], 32, [bar];",
       "the mbarrier of a bulk copy must be in the CTA of its destination, "
       "rank 1 [mbarrier;"},
      {store + "[%r1], %tid, [bar];",
       "the mbarrier of an asynchronous store cannot be reached: it must be "
       "in the CTA of the destination [bounds;"},
      {store + "[%r1+2], %tid, [bar];",
       "the destination of an asynchronous store cannot be reached: it is not "
       "aligned to 4 [alignment;"},
      {store + "[smem], %tid, [bar+4];",
       "the mbarrier of an asynchronous store cannot be reached: it is not "
       "aligned to 8 [alignment;"},
      {store + "[smem+8192], %tid, [bar];",
       "the destination of an asynchronous store cannot be reached: the CTA "
       "has 4160 bytes of shared memory [bounds;"},
  };
  for (auto &[copy, message] : kCases) {
    KernelRun r = runBody(both + copy +
                              "MEET: barrier.cluster.arrive; "
                              "barrier.cluster.wait;",
                          {{{2}, {1}, {2}, 0}});
    EXPECT_EQ(r.report.status, Status::Fault) << copy;
    ASSERT_FALSE(r.report.diagnostics.empty()) << copy;
    EXPECT_NE(r.report.diagnostics[0].str().find(message), std::string::npos)
        << r.report.diagnostics[0].str();
  }
}

TEST(BulkCopy, formsThatAreRefused) {
  const std::pair<const char *, const char *> kCases[] = {
      {"cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%in], "
       "[smem], 16, [bar];",
       "unsupported instruction "
       "'cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes'"},
      {"cp.async.bulk.shared::cta.global.bulk_group [smem], [%in], 16;",
       "unsupported instruction 'cp.async.bulk.shared::cta.global.bulk_group'"},
      {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], "
       "[%in], 16;",
       "'cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes' takes "
       "4 operands, found 3"},
      {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.multicast"
       "::cluster [smem], [%in], 16, [bar], 1;",
       "unsupported instruction "
       "'cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes."
       "multicast::cluster'"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%in], "
       "[smem], 16;",
       "unsupported instruction "
       "'cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16'"},
      {"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::"
       "complete_tx::bytes [smem], [%rd1, {%r1, %r2, %r3, %r4, %r5}], [bar];",
       "'cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::"
       "complete_tx::bytes' needs sm_100; this file is for sm_90a"},
      {"cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_"
       "tx::bytes [smem], [%rd1, {%r1, %r2, %r3}], [bar], {%r4};",
       "unsupported instruction "
       "'cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_"
       "tx::bytes'"},
      {"cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::"
       "bytes [smem], [%rd1, {%r1, %r2, %r3}], [bar];",
       "'cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::"
       "bytes' takes 2 coordinates, found 3"},
      {"cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::"
       "bytes [smem], [%rd1], [bar];",
       "expected [tensorMap, {coordinates}]"},
      {"ld.global.u32 %r1, [%in, {%r2}];", "this address takes no coordinates"},
  };
  for (auto &[body, message] : kCases) {
    KernelRun r = runBody(body, kOneThread);
    EXPECT_EQ(r.report.status, Status::Invalid) << body;
    EXPECT_EQ(r.message(), message);
  }
}

TEST(BulkCopy, prefetchesAndHintsAreAccepted) {
  KernelRun r = runBody(R"(
    cp.async.bulk.prefetch.L2.global [%in], 128;
    cp.async.bulk.prefetch.L2.global.L2::cache_hint [%in], 128, %rd30;
    prefetch.global.L2 [%in];
    prefetch.global.L2::evict_last [%in];
    prefetchu.L1 [%in];
    applypriority.global.L2::evict_normal [%in], 128;
    discard.global.L2 [%out], 128;
    prefetch.tensormap [%in];
    nanosleep.u32 20;
    griddepcontrol.launch_dependents;
    griddepcontrol.wait;
    mov.u64 %rd1, %globaltimer;
    st.global.u32 [%out], 1;)",
                        kOneThread);
  ASSERT_TRUE(r.report.ok()) << r.message();
  EXPECT_EQ(r.out[0], 1u);
}

/// The order that AsyncEvents.h promises.
struct OrderObserver : ExecutionObserver {
  struct Own : CTAObserver {
    std::string &seen;
    explicit Own(std::string &seen) : seen(seen) {}
    void bulkCopyIssued(const BulkCopyEvent &e) override {
      seen += "I";
      EXPECT_EQ(e.bytes, 128u);
      EXPECT_EQ(e.direction == BulkCopyEvent::GlobalToShared, e.hasMbarrier);
    }
    void bulkCopyRead(const BulkCopyEvent &) override { seen += "R"; }
    void bulkCopyCompleted(const BulkCopyEvent &) override { seen += "C"; }
    void bulkGroupCommitted(const BulkGroupEvent &) override { seen += "g"; }
    void bulkGroupWaited(const BulkGroupEvent &e) override {
      seen += e.isRead ? "r" : "w";
    }
    void memoryAccess(const AccessEvent &e) override {
      if (e.proxy == Proxy::Async) {
        EXPECT_EQ(e.bytes, 128u);
        seen += e.kind == AccessKind::AsyncRead ? "a" : "b";
      }
    }
    void mbarrier(const MbarrierEvent &e) override {
      static constexpr const char *kNames = "ivAdetTP";
      seen += kNames[e.kind];
    }
  };
  std::string_view name() const override { return "order"; }
  uint32_t interests() const override {
    return kMemory | kAsyncCopies | kBarriers;
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &) override {
    return std::make_unique<Own>(seen);
  }
  std::string seen;
};

TEST(BulkCopy, eventsComeInTheirOrder) {
  OrderObserver order;
  KernelSetup setup = kOneThread;
  setup.observers = {&order};
  KernelRun r = runBody(R"(
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [%in], 128, [bar];
)" + waitParity("bar", "0") +
                            R"(
    cp.async.bulk.global.shared::cta.bulk_group [%more], [smem], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    cp.async.bulk.wait_group 0;
    mbarrier.inval.shared.b64 [bar];)",
                        setup);
  ASSERT_TRUE(r.report.ok()) << r.message();
  EXPECT_EQ(order.seen, "ieAIaRbCtPTIgaRrbCwv");
}
} // namespace
