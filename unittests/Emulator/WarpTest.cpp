//===- WarpTest.cpp - lanes together --------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divergence, shuffles, barriers, matrix fragments, cp.async and the ways in
// which a run stops.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <cmath>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
TEST(Divergence, lanesThatLeaveALoopWaitForTheOthers) {
  // Lane l counts to l; behind the loop all 32 lanes are together again.
  Snippet r = run(R"(
    mov.u32 %r0, 0;
  LOOP:
    setp.ge.u32 %p0, %r0, %tid;
    @%p0 bra DONE;
    add.u32 %r0, %r0, 1;
    bra LOOP;
  DONE:
    activemask.b32 %out1;
    mov.u32 %out0, %r0;)");
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(r.out[0][l], l);
    EXPECT_EQ(r.out[1][l], ~0u);
  }
}

TEST(Divergence, lanesMeetAgainWhereverATurnEnds) {
  // A lane in four takes a detour before an .aligned instruction; random
  // orders end turns anywhere.
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    DeviceOptions options;
    options.order = {OrderPolicy::Random, seed};
    Snippet r = run(R"(
  mov.u32 %r0, smem;
  mad.lo.u32 %r1, %tid, 16, %r0;
  st.shared.u32 [%r1], %tid;
  and.b32 %r2, %tid, 3;
  setp.ne.u32 %p0, %r2, 0;
  mov.u32 %r3, 0;
again:
  @%p0 bra meet;
  add.u32 %out1, %out1, 1;
  add.u32 %out1, %out1, 1;
  add.u32 %out1, %out1, 1;
meet:
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%out0}, [%r1];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 200;
  @%p1 bra again;
)",
                    {}, options);
    ASSERT_RUNS(r);
    EXPECT_EQ(r.out[1][4], 600u);
    EXPECT_EQ(r.out[1][5], 0u);
  }
}

TEST(Divergence, branchTable) {
  Snippet r = run(R"(
    and.b32 %r0, %tid, 3;
    brx.idx %r0, TABLE;
  TABLE: .branchtargets A, B, A, C;
  A: mov.u32 %out0, 10; bra.uni END;
  B: mov.u32 %out0, 11; bra.uni END;
  C: mov.u32 %out0, 12;
  END:)");
  ASSERT_RUNS(r);
  const uint32_t want[] = {10, 11, 10, 12};
  for (uint32_t l = 0; l < 32; ++l)
    EXPECT_EQ(r.out[0][l], want[l & 3]);
}

TEST(Barrier, aReductionKeepsTheResultOfItsOwnPhase) {
  // Warps 0 and 1 vote in the first phase, 1 and 2 in the second, which is over
  // before warp 0 gets its next turn.
  auto module = Module::parse(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %w, %t, %n, %m;
  .reg .b64 %a;
  .reg .pred %no, %yes, %skip, %only;
  mov.u32 %t, %tid.x;
  shr.u32 %w, %t, 5;
  setp.eq.u32 %yes, 0, 0;
  setp.ne.u32 %no, 0, 0;
  setp.gt.u32 %skip, %w, 1;
  setp.eq.u32 %only, %w, 0;
  mov.u32 %n, 99;
  mov.u32 %m, 99;
  @!%skip barrier.red.popc.u32 %n, 3, 64, %yes;
  @!%only barrier.red.popc.u32 %m, 3, 64, %no;
  ld.param.u64 %a, [out];
  mad.wide.u32 %a, %t, 8, %a;
  st.global.v2.u32 [%a], {%n, %m};
  ret;
})",
                              "test.ptx");
  ASSERT_TRUE(module) << module.error().str();
  Device device;
  uint32_t got[96][2];
  uint64_t out = device.alloc(sizeof(got), "out");
  Report r =
      device.launch(*module, "k", {{1}, {96}, {1}, 0}, {Argument::of(out)});
  ASSERT_TRUE(r.ok()) << r.diagnostics.at(0).str();
  device.read(out, got, sizeof(got));
  for (uint32_t t = 0; t < 96; ++t) {
    EXPECT_EQ(got[t][0], t < 64 ? 64u : 99u) << t;
    EXPECT_EQ(got[t][1], t < 32 ? 99u : 0u) << t;
  }
}

struct ShuffleCase {
  const char *mode;
  uint32_t b, c;
};
TEST(Shuffle, everyModeFollowsTheFormula) {
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (uint32_t c : {0u, 31u, 0x181Fu, 0x1C07u, 0x1800u})
      for (uint32_t b : {0u, 1u, 5u, 8u, 31u}) {
        Snippet r = run("shfl.sync." + std::string(mode) +
                        ".b32 %out0|%p0, %tid, " + std::to_string(b) + ", " +
                        std::to_string(c) + ", -1; selp.b32 %out1, 1, 0, %p0;");
        ASSERT_RUNS(r);
        for (int l = 0; l < 32; ++l) {
          int seg = int(c >> 8 & 31), cval = int(c & 31), j = 0;
          int most = (l & seg) | (cval & ~seg);
          bool p = false;
          switch (mode[0]) {
          case 'u':
            j = l - int(b);
            p = j >= most;
            break;
          case 'd':
            j = l + int(b);
            p = j <= most;
            break;
          case 'b':
            j = l ^ int(b);
            p = j <= most;
            break;
          default:
            j = (l & seg) | (int(b) & ~seg);
            p = j <= most;
          }
          ASSERT_EQ(r.out[0][l], uint32_t(p ? j : l)) << mode << b << " " << c;
          ASSERT_EQ(r.out[1][l], uint32_t(p));
        }
      }
}

TEST(Shuffle, voteMatchReduxBarWarp) {
  Snippet r = run(R"(
    setp.lt.u32 %p0, %tid, 5;
    vote.sync.ballot.b32 %out0, %p0, -1;
    redux.sync.add.s32 %out1, %tid, -1;
    and.b32 %r0, %tid, 1;
    match.any.sync.b32 %out2, %r0, -1;
    @%p0 bra A;
    bar.warp.sync -1;
    bra B;
  A: bar.warp.sync -1;
  B: mov.u32 %out3, 7;)");
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(r.out[0][l], 31u);
    EXPECT_EQ(r.out[1][l], 496u);
    EXPECT_EQ(r.out[2][l], l & 1 ? 0xAAAAAAAAu : 0x55555555u);
    EXPECT_EQ(r.out[3][l], 7u);
  }
}

TEST(Shuffle, lanesMeetByTheirMembermask) {
  // Four tiles of eight lanes in one instruction, and pairs whose halves come
  // by different ways.
  Snippet r = run(R"(
    and.b32 %r0, %tid, 24;
    shl.b32 %r1, 255, %r0;
    redux.sync.add.u32 %out0, %tid, %r1;
    shfl.sync.bfly.b32 %out1|%p0, %tid, 7, 31, %r1;
    setp.lt.u32 %p1, %tid, 20;
    @%p1 bra LOW;
    add.u32 %out3, %out3, 1;
  LOW:
    and.b32 %r2, %tid, 30;
    shl.b32 %r3, 3, %r2;
    @%p1 bra FIRST;
    vote.sync.ballot.b32 %out2, %p1, %r3;
    bra END;
  FIRST:
    vote.sync.ballot.b32 %out2, %p1, %r3;
  END:)");
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(r.out[0][l], 8 * (l & 24) + 28);
    EXPECT_EQ(r.out[1][l], l ^ 7);
    EXPECT_EQ(r.out[2][l], l < 20 ? 3u << (l & 30) : 0);
  }
}

TEST(Ldmatrix, plainAndTransposed) {
  // Row r of matrix 0 holds the numbers 8r .. 8r+7.
  Snippet r = run(R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 4, %r0;
    shl.b32 %r2, %tid, 1;
    add.u32 %r3, %r2, 1;
    shl.b32 %r3, %r3, 16;
    or.b32 %r2, %r2, %r3;
    st.shared.u32 [%r1], %r2;
    bar.sync 0;
    and.b32 %r4, %tid, 7;
    mad.lo.u32 %r4, %r4, 16, %r0;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%out0}, [%r4];
    ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%out1}, [%r4];
    movmatrix.sync.aligned.m8n8.trans.b16 %out2, %out1;)");
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    uint32_t g = l >> 2, t = l & 3;
    EXPECT_EQ(r.out[0][l], (8 * g + 2 * t) | (8 * g + 2 * t + 1) << 16);
    EXPECT_EQ(r.out[1][l], (8 * 2 * t + g) | (8 * (2 * t + 1) + g) << 16);
    EXPECT_EQ(r.out[2][l], r.out[0][l]);
  }
}

TEST(Stmatrix, isTheInverseOfLdmatrix) {
  // Registers go to rows in shared memory and come back by ordinary loads:
  // lane l reads words l, l + 32, ... of the rows laid end to end.
  for (bool isTransposed : {false, true})
    for (int count : {1, 2, 4}) {
      std::string x = ".x" + std::to_string(count),
                  t = isTransposed ? ".trans" : "",
                  regs = count == 4   ? "{%r0, %r1, %r2, %r3}"
                         : count == 2 ? "{%r0, %r1}"
                                      : "{%r0}",
                  body;
      for (int r = 0; r < count; ++r) // two halves, all different
        body += "mad.lo.u32 %r" + std::to_string(r) + ", %tid, 131074, " +
                std::to_string(64 * r + 65536 * (64 * r + 1)) + ";\n";
      body += "mov.u32 %r8, smem;\n mad.lo.u32 %r9, %tid, 16, %r8;\n"
              "stmatrix.sync.aligned.m8n8" +
              x + t + ".shared.b16 [%r9], " + regs +
              ";\nbar.warp.sync -1;\n mad.lo.u32 %r10, %tid, 4, %r8;\n";
      for (int r = 0; r < count; ++r)
        body += "ld.shared.b32 %out" + std::to_string(r) + ", [%r10+" +
                std::to_string(128 * r) + "];\n";
      Snippet s = run(body);
      ASSERT_RUNS(s);
      for (uint32_t q = 0; q < uint32_t(count); ++q)
        for (uint32_t l = 0; l < 32; ++l)
          for (uint32_t half = 0; half < 2; ++half) {
            // Element (row, column) as memory has it.
            uint32_t row = l / 4, column = 2 * (l % 4) + half;
            uint32_t g = isTransposed ? column : row,
                     c = isTransposed ? row : column;
            EXPECT_EQ(s.out[q][l] >> 16 * half & 0xFFFF,
                      64 * q + 2 * (4 * g + c / 2) + (c & 1));
          }
    }
}

TEST(Stmatrix, refusals) {
  const char *const cases[][2] = {
      {"stmatrix.sync.aligned.m8n8.shared.b16 [%r0], {%r1};",
       "needs .x1, .x2 or .x4"},
      {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r0], {%r1};",
       "moves 2 registers, found 1"},
      {"stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1};",
       "unsupported instruction"},
      {"mov.u32 %r0, 8; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], "
       "{%tid};",
       "matrix store of 16 bytes at 0x8 is not aligned to 16"},
      {"setp.lt.u32 %p0, %tid, 9; @%p0 movmatrix.sync.aligned.m8n8.trans.b16 "
       "%r0, %r0;",
       "is .aligned but not all 32 lanes of the warp execute it"}};
  for (const auto &c : cases) {
    Snippet s = run(c[0]);
    ASSERT_FALSE(s.report.ok()) << c[0];
    std::string said = s.report.diagnostics.at(0).str();
    EXPECT_NE(said.find(c[1]), said.npos) << said;
  }
}

TEST(MmaSync, oneHotMatricesFindEveryElement) {
  // A is 1 at (m, k) and B is 1 at (k, n): D must be 1 at (m, n) alone.
  for (uint32_t m : {0u, 3u, 8u, 15u})
    for (uint32_t k : {0u, 1u, 6u, 7u, 8u, 13u, 15u})
      for (uint32_t n : {0u, 5u, 7u}) {
        std::string body = R"(
    .reg .b32 %A<4>, %B<2>, %g, %t, %m, %k, %n;
    mov.u32 %m, )" + std::to_string(m) +
                           "; mov.u32 %k, " + std::to_string(k) +
                           "; mov.u32 %n, " + std::to_string(n) + R"(;
    shr.u32 %g, %tid, 2; and.b32 %t, %tid, 3;)";
        auto one = [&](const std::string &reg, int row, int column, bool isA) {
          std::string major = isA ? "%m" : "%n",
                      own = isA ? std::to_string(row) : "0";
          body += "add.u32 %r0, %g, " + own + "; setp.eq.u32 %p0, %r0, " +
                  major + "; shl.b32 %r1, %t, 1; add.u32 %r1, %r1, " +
                  std::to_string(column) +
                  "; setp.eq.and.u32 %p1, %r1, %k, %p0; add.u32 %r1, %r1, 1; "
                  "setp.eq.and.u32 %p2, %r1, %k, %p0; selp.b32 " +
                  reg + ", 0x3C00, 0, %p1; @%p2 mov.u32 " + reg +
                  ", 0x3C000000;\n";
        };
        for (int r = 0; r < 4; ++r)
          one("%A" + std::to_string(r), 8 * (r & 1), 8 * (r >> 1), true);
        for (int r = 0; r < 2; ++r)
          one("%B" + std::to_string(r), 0, 8 * r, false);
        body += "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%out0, "
                "%out1, %out2, %out3}, {%A0, %A1, %A2, %A3}, {%B0, %B1}, "
                "{%out0, %out1, %out2, %out3};";
        Snippet r = run("{" + body + "}");
        ASSERT_RUNS(r);
        for (uint32_t i = 0; i < 4; ++i)
          for (uint32_t l = 0; l < 32; ++l) {
            uint32_t row = (l >> 2) + 8 * (i >> 1);
            uint32_t column = 2 * (l & 3) + (i & 1);
            ASSERT_EQ(r.out[i][l], row == m && column == n ? bits(1.0f) : 0u)
                << m << " " << k << " " << n;
          }
      }
}

std::string copyKernel(bool waits) {
  return std::string(R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 4, %r0;
    st.shared.u32 [%r1], 77;
    cp.async.ca.shared.global [%r1], [%a2], 4;
    cp.async.commit_group;
    )") + (waits ? "cp.async.wait_group 0;" : "") +
         "ld.shared.u32 %out0, [%r1]; cp.async.wait_all;"
         "ld.shared.u32 %out1, [%r1];";
}

TEST(AsyncCopy, withoutTheWaitOldDataIsRead) {
  std::array<Words, 4> in{};
  in[0] = words([](uint32_t l) { return 100 + l; });
  Snippet late = run(copyKernel(false), in), waited = run(copyKernel(true), in);
  DeviceOptions early;
  early.lateCompletion = false;
  Snippet atOnce = run(copyKernel(false), in, early);
  ASSERT_RUNS(late);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(late.out[0][l], 77u);
    EXPECT_EQ(late.out[1][l], 100 + l);
    EXPECT_EQ(waited.out[0][l], 100 + l);
    EXPECT_EQ(atOnce.out[0][l], 100 + l);
  }
}

TEST(AsyncCopy, waitGroupLeavesTheYoungestAndSourceSizeFillsZeros) {
  std::array<Words, 4> in{};
  in[0] = words([](uint32_t l) { return 100 + l; });
  Snippet r = run(R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 4, %r0;
    st.shared.u32 [%r1], 1;
    st.shared.u32 [%r1+1024], 2;
    cp.async.ca.shared.global [%r1], [%a2], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r1+1024], [%a2], 4, 0;
    cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %out0, [%r1];
    ld.shared.u32 %out1, [%r1+1024];
    cp.async.wait_group 0;
    ld.shared.u32 %out2, [%r1+1024];)",
                  in);
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(r.out[0][l], 100 + l);
    EXPECT_EQ(r.out[1][l], 2u);
    EXPECT_EQ(r.out[2][l], 0u);
  }
}

TEST(Atomic, lanesActInTurn) {
  Snippet r = run(R"(
    mov.u32 %r0, smem;
    st.shared.u32 [%r0], 5;
    bar.sync 0;
    atom.shared.add.u32 %out0, [%r0], 2;
    bar.sync 0;
    ld.shared.u32 %out1, [%r0];
    mov.b32 %r2, 0f3F800000;
    st.shared.u32 [%r0+8], 0;
    bar.sync 0;
    red.shared.add.f32 [%r0+8], %r2;
    bar.sync 0;
    ld.shared.u32 %out2, [%r0+8];)");
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(r.out[0][l], 5 + 2 * l);
    EXPECT_EQ(r.out[1][l], 69u);
    EXPECT_EQ(asFloat(r.out[2][l]), 32.0f);
  }
}

TEST(Local, genericAddressesReachEveryWindow) {
  Snippet r = run(R"(
    .local .align 8 .b8 depot[16];
    mov.u64 %rd0, depot;
    cvta.local.u64 %rd1, %rd0;
    st.u32 [%rd1+4], %tid;
    ld.local.u32 %out0, [%rd0+4];
    mov.u64 %rd2, smem;
    cvta.shared.u64 %rd3, %rd2;
    mad.wide.u32 %rd3, %tid, 4, %rd3;
    st.u32 [%rd3], %tid;
    cvta.to.shared.u64 %rd4, %rd3;
    ld.shared.u32 %out1, [%rd4];)");
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(r.out[0][l], l);
    EXPECT_EQ(r.out[1][l], l);
  }
}

std::string firstMessage(const Snippet &r) {
  return r.report.diagnostics.empty() ? "" : r.report.diagnostics[0].str();
}
#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Stops, outOfBoundsNamesTheBufferAndTheDistance) {
  Snippet r = run("ld.global.u32 %out0, [%a2+512];");
  EXPECT_EQ(r.report.status, Status::Fault);
  EXPECT_HAS(firstMessage(r), "0 bytes past the end of buffer 'in' (512");
  EXPECT_HAS(firstMessage(r), "lane 0");
  EXPECT_HAS(firstMessage(r), "test.ptx:26:1: error");
}
TEST(Stops, misalignedAndReadOnly) {
  Snippet r = run("ld.global.u32 %out0, [%a2+2];");
  EXPECT_HAS(firstMessage(r), "is not aligned to 4");
  r = run("st.global.u32 [%a2], 0;");
  EXPECT_HAS(firstMessage(r), "which is read-only");
  r = run("mov.u32 %r0, 8192; ld.shared.u32 %out0, [%r0];");
  EXPECT_HAS(firstMessage(r), "8192 bytes of shared memory");
  r = run("mov.u64 %rd0, 4096; ld.param.u32 %out0, [%rd0];");
  EXPECT_HAS(firstMessage(r), "is out of bounds: the kernel has ");
  EXPECT_HAS(firstMessage(r), " bytes of parameters");
  r = run("cp.async.ca.shared.global [0], [%a2], 4, 5;");
  EXPECT_HAS(firstMessage(r), "cp.async with src-size 5 above its cp-size 4");
}
TEST(Stops, withoutABufferNoneIsNamed) {
  auto module = Module::parse(".version 8.0\n.target sm_80\n.address_size 64\n"
                              ".entry k() { .reg .b32 %r; ld.global.u32 %r, "
                              "[0x7000000000]; ret; }",
                              "test.ptx");
  ASSERT_TRUE(bool(module)) << module.error().str();
  Device device;
  Report r = device.launch(*module, "k", {{1}, {1}}, {});
  ASSERT_EQ(r.status, Status::Fault);
  EXPECT_HAS(r.diagnostics.at(0).str(), "is out of bounds: no buffer exists");
}
TEST(Stops, deadlockSaysWhoWaitsForWhat) {
  // Half of the lanes wait for the other half, which left.
  Snippet r = run("setp.lt.u32 %p0, %tid, 16; @%p0 bar.sync 1, 64;");
  EXPECT_EQ(r.report.status, Status::Deadlock);
  EXPECT_HAS(firstMessage(r), "warp 0 lanes 0x0000ffff wait at line 26 for "
                              "barrier 1");
  r = run("setp.lt.u32 %p0, %tid, 16; @%p0 bra LOW;\n"
          "bar.sync 1, 64;\nLOW: vote.sync.ballot.b32 %r0, %p0, -1;");
  EXPECT_EQ(r.report.status, Status::Deadlock);
  EXPECT_HAS(firstMessage(r), "warp 0 lanes 0x0000ffff wait at line 28 for "
                              "lanes 0xffff0000");
}
TEST(Stops, instructionLimit) {
  DeviceOptions options;
  options.maxInstructions = 1000;
  Snippet r = run("L: bra L;", {}, options);
  EXPECT_EQ(r.report.status, Status::InstructionLimit);
  EXPECT_HAS(firstMessage(r), "stopped after 1000 warp instructions");
  // The largest limit is a limit like any other, though limit + 1 is none.
  options.maxInstructions = UINT64_MAX;
  EXPECT_EQ(run("ret;", {}, options).report.status, Status::Ok);
}
TEST(Packed, f32x2) {
  // (in0, in1) and (in1, in0); each half on its own, the lower one first.
  const char *pack = "mov.b64 %rd0, {%in0, %in1}; mov.b64 %rd1, {%in1, %in0};";
  Words a = words([](uint32_t l) { return bits(float(l) + 0.5f); });
  Words b = words([](uint32_t) { return bits(-3.0f); });
  auto both = [&](const std::string &line) {
    return run(pack + line + "mov.b64 {%out0, %out1}, %rd2;", {a, b});
  };
  struct {
    const char *line;
    float low, high; // of lane 4: (4.5, -3) with (-3, 4.5)
  } cases[] = {{"add.rn.f32x2 %rd2, %rd0, %rd1;", 1.5f, 1.5f},
               {"sub.rn.f32x2 %rd2, %rd0, %rd1;", 7.5f, -7.5f},
               {"mul.rn.f32x2 %rd2, %rd0, %rd1;", -13.5f, -13.5f},
               {"fma.rn.f32x2 %rd2, %rd0, %rd1, %rd0;", -9.0f, -16.5f}};
  for (auto &c : cases) {
    Snippet r = both(c.line);
    ASSERT_EQ(r.report.status, Status::Ok) << c.line << firstMessage(r);
    EXPECT_EQ(asFloat(r.out[0][4]), c.low) << c.line;
    EXPECT_EQ(asFloat(r.out[1][4]), c.high) << c.line;
  }
  // .ftz flushes what goes in: the least subnormal counts as nothing.
  a[4] = 1;
  b[4] = bits(0x1p+100f);
  EXPECT_NE(both("mul.rn.f32x2 %rd2, %rd0, %rd1;").out[0][4], 0u);
  EXPECT_EQ(both("mul.rn.ftz.f32x2 %rd2, %rd0, %rd1;").out[0][4], 0u);
}
TEST(Stops, orderSeeds) {
  EXPECT_EQ(OrderPolicy::parse("random:0x10")->seed, 16u);
  EXPECT_FALSE(bool(OrderPolicy::parse("random:-1")));
  EXPECT_FALSE(bool(OrderPolicy::parse("random: 1")));
  EXPECT_FALSE(bool(OrderPolicy::parse("random:18446744073709551616")));
}
TEST(Stops, wrongPrograms) {
  EXPECT_HAS(firstMessage(run("frobnicate.u32 %out0, 1;")),
             "test.ptx:26:1: error: unsupported instruction 'frobnicate.u32'");
  EXPECT_HAS(firstMessage(run("add.u32 %out0, %in0, %nope;")),
             "test.ptx:26:22: error: unknown name '%nope'");
  EXPECT_HAS(firstMessage(run("add.u32 %out0, %in0;")), "takes 3 operands");
  EXPECT_HAS(firstMessage(run("add.u32 %out0, %in0, %rd1;")),
             "'%rd1' is a register of .b64; this operand is .u32");
  EXPECT_HAS(firstMessage(run("bra NOWHERE;")), "unknown label 'NOWHERE'");
  EXPECT_HAS(firstMessage(run("ld.shared.u32 %out0, [k_in];")),
             "is not in the space");
  EXPECT_HAS(firstMessage(run("trap;")), "executed trap");
}
TEST(Stops, truncatedFile) {
  std::string text = wrap("");
  auto m = Module::parse(text.substr(0, text.size() - 20), "cut.ptx");
  ASSERT_FALSE(m);
  EXPECT_HAS(m.error().str(), "cut.ptx:6:3: error: this '{' is not closed");
}
TEST(Stops, wrongArguments) {
  auto m = Module::parse(wrap(""), "t.ptx");
  ASSERT_TRUE(m);
  Device device;
  Report r = device.launch(*m, "k", {{1}, {32}, {1}, 0}, {Argument::of(1)});
  EXPECT_EQ(r.status, Status::Invalid);
  EXPECT_HAS(r.diagnostics[0].str(), "takes 2 arguments, found 1");
  r = device.launch(*m, "q", {{1}, {32}, {1}, 0}, {});
  EXPECT_HAS(r.diagnostics[0].str(), "no entry 'q'");
}

TEST(Calls, functionsAreExpandedInPlace) {
  std::string text = wrap(R"(
  {
    .param .b32 p0;
    .param .b32 ret0;
    st.param.b32 [p0], %tid;
    call.uni (ret0), twice, (p0);
    ld.param.b32 %out0, [ret0];
  })");
  text.insert(text.find(".visible"), R"(
.func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
}
)");
  auto m = Module::parse(text, "t.ptx");
  ASSERT_TRUE(m) << m.error().str();
  Device device;
  uint64_t a = device.alloc(512, "in"), b = device.alloc(512, "out");
  Report r = device.launch(*m, "k", {{1}, {32}, {1}, 0},
                           {Argument::of(a), Argument::of(b)});
  ASSERT_TRUE(r.ok()) << r.diagnostics[0].str();
  Words out;
  device.read(b, out.data(), 128);
  for (uint32_t l = 0; l < 32; ++l)
    EXPECT_EQ(out[l], 2 * l);
}
} // namespace
