//===- HopperPipelineTest.cpp - a warp-specialised pipeline ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shape of a Hopper kernel, by hand: a producer warp loads tiles of 16 rows
// by TMA into a ring of three stages, two consumer warps sum them, column by
// column, and a tensor store writes the sums. Full and empty mbarriers for each
// stage, a named barrier between the consumers. It must be right, and clean of
// every checker, in each order of the warps; and wrong when something is left
// out.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"
#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/TensorMap.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
constexpr uint32_t kTiles = 11, kRows = 16 * kTiles;

const char *const kPipeline = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry pipeline(.param .align 64 .b8 k_in[128],
                         .param .align 64 .b8 k_out[128], .param .u32 k_tiles)
{
  .reg .b32 %r<50>, %tid, %warp, %lane, %tiles, %k, %stage, %phase, %ring, %full, %empty, %sums;
  .reg .f32 %sum, %f<4>, %weight;
  .reg .b64 %rd<8>, %in, %out, %cta;
  .reg .pred %p<8>, %leader;
  .shared .align 1024 .b8 ring[6144];
  .shared .align 128 .b8 sums[256];
  .shared .align 8 .b64 full[3];
  .shared .align 8 .b64 empty[3];
  mov.b64 %rd0, k_in;
  cvta.param.u64 %in, %rd0;
  mov.b64 %rd0, k_out;
  cvta.param.u64 %out, %rd0;
  ld.param.u32 %tiles, [k_tiles];
  mov.u32 %tid, %tid.x;
  shr.u32 %warp, %tid, 5;
  and.b32 %lane, %tid, 31;
  mov.u32 %ring, ring;
  mov.u32 %full, full;
  mov.u32 %empty, empty;
  setp.ne.u32 %p0, %tid, 0;
  @%p0 bra READY;
  prefetch.tensormap [%in];
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  mbarrier.init.shared::cta.b64 [full+16], 1;
  mbarrier.init.shared::cta.b64 [empty], 2;
  mbarrier.init.shared::cta.b64 [empty+8], 2;
  mbarrier.init.shared::cta.b64 [empty+16], 2;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async.shared::cta;
READY:
  bar.sync 0;
  elect.sync %r0|%leader, -1;
  mov.u32 %k, 0;
  mov.u32 %stage, 0;
  mov.u32 %phase, 0;
  setp.ne.u32 %p1, %warp, 0;
  @%p1 bra CONSUMER;

  // The producer: one lane waits for an empty stage and loads a tile into it.
  @!%leader bra END;
PRODUCE:
  mad.lo.u32 %r1, %stage, 8, %empty;
  xor.b32 %r2, %phase, 1;
WAIT_EMPTY:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], %r2; // empty
  @!%p2 bra WAIT_EMPTY;
  mad.lo.u32 %r3, %stage, 8, %full;
  mad.lo.u32 %r4, %stage, 2048, %ring;
  mul.lo.u32 %r5, %k, 16;
  mov.u32 %r6, 0;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 2048;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r4], [%in, {%r6, %r5}], [%r3];
  add.u32 %k, %k, 1;
  add.u32 %stage, %stage, 1;
  setp.eq.u32 %p3, %stage, 3;
  @%p3 mov.u32 %stage, 0;
  @%p3 xor.b32 %phase, %phase, 1;
  setp.lt.u32 %p4, %k, %tiles;
  @%p4 bra PRODUCE;
  bra END;

CONSUMER:
  mov.f32 %sum, 0f00000000;
  sub.u32 %r10, %warp, 1;
  shl.b32 %r11, %lane, 2;
CONSUME:
  mad.lo.u32 %r3, %stage, 8, %full;
WAIT_FULL:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], %phase; // full
  @!%p2 bra WAIT_FULL;
  mad.lo.u32 %r4, %stage, 2048, %ring;
  mad.lo.u32 %r4, %r10, 1024, %r4;
  add.u32 %r20, %k, 1;
  cvt.rn.f32.u32 %weight, %r20;
  mov.u32 %r21, 0;
ROWS:
  // The swizzle of 128 bytes: cell ^ row, rows 8 w to 8 w + 7.
  shl.b32 %r22, %r21, 4;
  xor.b32 %r22, %r22, %r11;
  mad.lo.u32 %r23, %r21, 128, %r4;
  add.u32 %r23, %r23, %r22;
  ld.shared.f32 %f0, [%r23];
  fma.rn.f32 %sum, %f0, %weight, %sum;
  add.u32 %r21, %r21, 1;
  setp.lt.u32 %p5, %r21, 8;
  @%p5 bra ROWS;
  bar.warp.sync -1;
  mad.lo.u32 %r1, %stage, 8, %empty;
  @%leader mbarrier.arrive.shared::cta.b64 _, [%r1]; // release
  add.u32 %k, %k, 1;
  add.u32 %stage, %stage, 1;
  setp.eq.u32 %p3, %stage, 3;
  @%p3 mov.u32 %stage, 0;
  @%p3 xor.b32 %phase, %phase, 1;
  setp.lt.u32 %p4, %k, %tiles;
  @%p4 bra CONSUME;

  // The sums go out by a tensor store of the first consumer's leader.
  mov.u32 %sums, sums;
  mad.lo.u32 %r30, %r10, 128, %sums;
  add.u32 %r30, %r30, %r11;
  st.shared.f32 [%r30], %sum;
  fence.proxy.async.shared::cta; // proxy
  bar.sync 1, 64; // named
  setp.eq.and.u32 %p6, %r10, 0, %leader;
  @!%p6 bra END;
  mov.u32 %r31, 0;
  mov.u32 %r32, %ctaid.x;
  shl.b32 %r32, %r32, 1;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%out, {%r31, %r32}], [%sums];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
END:
  ret;
})";

/// Removes the line that ends with "// NAME", or puts `with` in its place.
std::string mutate(const std::string &name, const std::string &with = "") {
  std::string text = kPipeline;
  size_t at = text.find("// " + name);
  EXPECT_NE(at, std::string::npos) << name;
  size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
  return text.replace(begin, end - begin, with);
}

struct Outcome {
  Report report;
  bool isRight = true;
};

Outcome run(const std::string &text, DeviceOptions options,
            const std::string &checkers = "all") {
  Outcome result;
  auto module = Module::parse(text, "pipeline.ptx");
  EXPECT_TRUE(module) << module.error().str();
  auto set = CheckerSet::parse(checkers);
  EXPECT_TRUE(set);
  Device device(options);
  set->attach(device);
  std::vector<float> in(kRows * 32);
  for (size_t k = 0; k < in.size(); ++k)
    in[k] = float((k * 7919) % 1000) / 8;
  uint64_t a = device.alloc(in.size() * 4, "in", true);
  uint64_t b = device.alloc(2 * 2 * 128, "out");
  device.write(a, in.data(), in.size() * 4);
  TensorMapShape from;
  from.type = TensorType::F32;
  from.rank = 2;
  from.address = a;
  from.dims = {32, kRows};
  from.strides = {128};
  from.box = {32, 16};
  from.swizzle = TensorSwizzle::Bytes128;
  TensorMapShape to = from;
  to.address = b;
  to.dims = {32, 4};
  to.box = {32, 2};
  to.swizzle = TensorSwizzle::None;
  result.report =
      device.launch(*module, "pipeline", {{2}, {96}, {0, 0, 0}, 0},
                    {Argument::of(*encodeTiled(from)),
                     Argument::of(*encodeTiled(to)), Argument::of(kTiles)});
  float out[2][2][32];
  device.read(b, out, sizeof(out));
  for (auto &cta : out)
    for (uint32_t w = 0; w < 2; ++w)
      for (uint32_t c = 0; c < 32; ++c) {
        float want = 0;
        for (uint32_t k = 0; k < kTiles; ++k)
          for (uint32_t r = 0; r < 8; ++r)
            want += in[(k * 16 + w * 8 + r) * 32 + c] * float(k + 1);
        result.isRight &= cta[w][c] == want;
      }
  return result;
}

std::vector<DeviceOptions> orders(unsigned seeds) {
  std::vector<DeviceOptions> all(3);
  all[1].order = {OrderPolicy::Reverse, 0};
  all[2].lateCompletion = false;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    all.emplace_back();
    all.back().order = {OrderPolicy::Random, seed};
  }
  return all;
}

TEST(HopperPipeline, rightAndCleanInEveryOrder) {
  for (const DeviceOptions &options : orders(20)) {
    Outcome r = run(kPipeline, options);
    ASSERT_TRUE(r.report.ok()) << r.report.diagnostics.at(0).str();
    EXPECT_TRUE(r.report.diagnostics.empty());
    EXPECT_TRUE(r.isRight);
    EXPECT_EQ(r.report.counters.ctas, 2u);
  }
}

TEST(HopperPipeline, wrongWithoutTheWaitForTheTile) {
  // The consumers read what was there before; no checker is needed to see it.
  Outcome r = run(mutate("full", "setp.eq.u32 %p2, 0, 0;"), {}, "none");
  EXPECT_FALSE(r.report.ok() && r.isRight);
}

TEST(HopperPipeline, aMissingReleaseIsADeadlockThatSaysWho) {
  Outcome r = run(mutate("release"), {}, "none");
  EXPECT_EQ(r.report.status, Status::Deadlock);
  const std::string message = r.report.diagnostics.at(0).message;
  EXPECT_NE(message.find("warp 0 lanes 0x00000001 wait at line 52 for the "
                         "mbarrier at byte 6424 (phase 0, 2 of 2 arrivals "
                         "missing)"),
            std::string::npos)
      << message;
}

TEST(HopperPipeline, aWrongByteCountIsADeadlockThatSaysHowMany) {
  std::string text = kPipeline;
  size_t at = text.find("[%r3], 2048;");
  text.replace(at, 12, "[%r3], 2064;");
  Outcome r = run(text, {}, "none");
  EXPECT_EQ(r.report.status, Status::Deadlock);
  const std::string message = r.report.diagnostics.at(0).message;
  EXPECT_NE(message.find("16 bytes still expected"), std::string::npos)
      << message;
}

TEST(HopperPipeline, whatIsLeftOutIsReported) {
  // In one of the orders at least, by some checker or by the result.
  const std::pair<const char *, const char *> kMutations[] = {
      {"full", "setp.eq.u32 %p2, 0, 0;"},
      {"empty", "setp.eq.u32 %p2, 0, 0;"},
      {"proxy", ""},
      {"named", ""}};
  for (auto &[name, with] : kMutations) {
    bool isFound = false;
    for (const DeviceOptions &options : orders(3)) {
      Outcome r = run(mutate(name, with), options);
      isFound |= !r.report.ok();
    }
    EXPECT_TRUE(isFound) << name;
  }
}
} // namespace
