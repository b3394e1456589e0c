//===- PipelineTest.cpp - a right kernel, and what one line less does -----===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product over six tiles, double-buffered with cp.async, read with ldmatrix
// and computed with mma: the shape of an attention loop. It is clean in any
// order of warps; each of its safeguards, taken away, is missed by name.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Counters.h"

#include <array>
#include <gtest/gtest.h>

using namespace ptxvm;

namespace {
// A tile is A, 16x16 by rows, then B, 8x16 by columns, all f16: rows of 32
// bytes. Both warps compute the same D and store it to their own places.
const char *const kKernel = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out)
{
  .reg .b32 %r<8>, %a<4>, %b<2>, %base, %to, %rowA, %rowB, %tid, %l, %i, %stage;
  .reg .b64 %in, %out;
  .reg .f32 %c<4>;
  .reg .pred %copies, %more;
  .shared .align 128 .b8 smem[2048];
  ld.param.u64 %in, [k_in];
  ld.param.u64 %out, [k_out];
  mov.u32 %tid, %tid.x;
  mov.u32 %base, smem;
  and.b32 %l, %tid, 31;
  setp.lt.u32 %copies, %tid, 48;
  mad.wide.u32 %in, %tid, 16, %in;
  mad.lo.u32 %to, %tid, 16, %base;
  and.b32 %r0, %l, 15;
  shr.u32 %r1, %l, 4;
  shl.b32 %r1, %r1, 4;
  mad.lo.u32 %rowA, %r0, 32, %r1;
  add.u32 %rowA, %rowA, %base;
  and.b32 %r0, %l, 7;
  and.b32 %r1, %l, 8;
  shl.b32 %r1, %r1, 1;
  mad.lo.u32 %rowB, %r0, 32, %r1;
  add.u32 %rowB, %rowB, %base;
  mov.f32 %c0, 0f00000000;
  mov.f32 %c1, 0f00000000;
  mov.f32 %c2, 0f00000000;
  mov.f32 %c3, 0f00000000;
  @%copies cp.async.cg.shared.global [%to], [%in], 16;
  cp.async.commit_group;
  mov.u32 %i, 0;
LOOP:
  add.u32 %i, %i, 1;
  and.b32 %r2, %i, 1;
  shl.b32 %r2, %r2, 10;
  add.u32 %r2, %r2, %to;
  setp.lt.u32 %more, %i, 6;
  add.s64 %in, %in, 768;
  @!%more bra NOTHING;
  @%copies cp.async.cg.shared.global [%r2], [%in], 16;
NOTHING:
  cp.async.commit_group;
  cp.async.wait_group 1; // the wait
  bar.sync 0; // tile is there
  sub.u32 %stage, %i, 1;
  and.b32 %stage, %stage, 1;
  shl.b32 %stage, %stage, 10;
  add.u32 %r3, %rowA, %stage;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%r3];
  add.u32 %r3, %rowB, %stage;
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%b0, %b1}, [%r3+512];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3},
    {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
  bar.sync 0; // tile is used
  @%more bra LOOP;
  mad.wide.u32 %out, %tid, 16, %out;
  st.global.v4.f32 [%out], {%c0, %c1, %c2, %c3};
  ret;
}
)";
constexpr unsigned kTiles = 6;

/// Small whole numbers, exact in every type on the way.
unsigned element(unsigned tile, unsigned row, unsigned column) {
  return (tile * 7 + row * 5 + column * 3 + row * column) % 4;
}
uint16_t half(unsigned value) {
  constexpr uint16_t kBits[] = {0, 0x3C00, 0x4000, 0x4200};
  return kBits[value];
}

struct Outcome {
  Report report;
  std::array<float, 256> out{};
};

Outcome runPipeline(const std::string &text, const std::string &order,
                    Counters *counters = nullptr) {
  Outcome result;
  auto module = Module::parse(text, "pipeline.ptx");
  auto set = CheckerSet::parse("all");
  if (!module) {
    result.report = {Status::Invalid, {module.error()}, {}};
    return result;
  }
  DeviceOptions options;
  options.order = *OrderPolicy::parse(order);
  Device device(options);
  set->attach(device);
  if (counters)
    device.addObserver(*counters);
  std::vector<uint16_t> tiles;
  for (unsigned t = 0; t < kTiles; ++t)
    for (unsigned row = 0; row < 24; ++row)
      for (unsigned column = 0; column < 16; ++column)
        tiles.push_back(half(element(t, row, column)));
  uint64_t in = device.alloc(tiles.size() * 2, "in", true),
           out = device.alloc(sizeof(result.out), "out");
  device.write(in, tiles.data(), tiles.size() * 2);
  result.report = device.launch(*module, "k", {{1}, {64}, {1}, 0},
                                {Argument::of(in), Argument::of(out)});
  device.read(out, result.out.data(), sizeof(result.out));
  return result;
}

std::string text(const Report &report) {
  std::string all = statusName(report.status);
  for (const Diagnostic &d : report.diagnostics)
    all += "\n" + d.str();
  return all;
}

TEST(Pipeline, isRightAndCleanInEveryOrder) {
  for (int seed = -2; seed < 20; ++seed) {
    std::string order = seed == -2   ? "round-robin"
                        : seed == -1 ? "reverse"
                                     : "random:" + std::to_string(seed);
    Outcome r = runPipeline(kKernel, order);
    ASSERT_TRUE(r.report.ok()) << order << ": " << text(r.report);
    for (unsigned thread = 0; thread < 64; ++thread)
      for (unsigned k = 0; k < 4; ++k) {
        unsigned row = thread % 32 / 4 + 8 * (k / 2);
        unsigned column = 2 * (thread % 4) + k % 2, want = 0;
        for (unsigned t = 0; t < kTiles; ++t)
          for (unsigned i = 0; i < 16; ++i)
            want += element(t, row, i) * element(t, 16 + column, i);
        ASSERT_EQ(r.out[thread * 4 + k], float(want)) << thread << " " << k;
      }
  }
}

TEST(Pipeline, counts) {
  Counters c;
  ASSERT_TRUE(runPipeline(kKernel, "round-robin", &c).report.ok());
  EXPECT_EQ(c.loaded().bytes, 768u * kTiles);
  EXPECT_EQ(c.stored().bytes, 1024u);
  EXPECT_EQ(c.shared(SharedKind::AsyncWrite).conflicts(), 0u);
  // Rows of 32 bytes: eight of them cover the banks twice.
  EXPECT_EQ(c.shared(SharedKind::MatrixLoad).conflicts(), 2u * kTiles * 6);
  EXPECT_EQ(c.flops("f16"), 2u * kTiles * 2 * 16 * 8 * 16);
}

struct Mutation {
  const char *what, *line, *replacement, *checker;
};
TEST(Pipeline, everySafeguardIsMissedByName) {
  const Mutation kMutations[] = {
      {"no wait", "cp.async.wait_group 1; // the wait", "", "async-wait"},
      {"a group too many", "cp.async.wait_group 1; // the wait",
       "cp.async.wait_group 2;", "async-wait"},
      {"no barrier after the wait", "bar.sync 0; // tile is there", "", "race"},
      {"no barrier before the copy", "bar.sync 0; // tile is used", "", "race"},
      {"a warp alone", "bar.sync 0; // tile is there", "bar.warp.sync -1;",
       "race"},
      {"copies that miss a row", "%copies, %tid, 48", "%copies, %tid, 47",
       "initialisation"},
      {"the wrong stage", "shl.b32 %stage, %stage, 10",
       "shl.b32 %stage, %stage, 9", "initialisation"},
      {"sums that nothing began", "mov.f32 %c2, 0f00000000;", "", "registers"},
      {"part of a warp", "bar.sync 0; // tile is used",
       "setp.ne.u32 %copies, %l, 3; @%copies bar.sync 0; "
       "setp.lt.u32 %copies, %tid, 48;",
       "barriers"},
  };
  for (const Mutation &m : kMutations)
    for (const char *order : {"round-robin", "reverse", "random:5"}) {
      std::string mutant = kKernel;
      size_t at = mutant.find(m.line);
      ASSERT_NE(at, std::string::npos) << m.what;
      mutant.replace(at, std::string(m.line).size(), m.replacement);
      Outcome r = runPipeline(mutant, order);
      EXPECT_NE(text(r.report).find(std::string("[") + m.checker),
                std::string::npos)
          << m.what << ", " << order << ": " << text(r.report);
    }
}
} // namespace
