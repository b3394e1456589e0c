//===- ScalarTest.cpp - one thread's instructions -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer, float, conversion and comparison instructions against values worked
// out from the PTX ISA by hand or by a second routine.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <cmath>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
struct Case {
  const char *code;
  uint32_t in0, in1, in2, want;
};

class ScalarTest : public ::testing::TestWithParam<Case> {};

TEST_P(ScalarTest, gives) {
  const Case &c = GetParam();
  std::array<Words, 4> in{};
  in[0].fill(c.in0);
  in[1].fill(c.in1);
  in[2].fill(c.in2);
  Snippet r = run(c.code, in);
  ASSERT_RUNS(r);
  for (uint32_t x : r.out[0])
    ASSERT_EQ(x, c.want) << c.code;
}

constexpr Case kInteger[] = {
    {"add.u32 %out0, %in0, %in1;", 0xFFFFFFFF, 2, 0, 1},
    {"sub.s32 %out0, %in0, -5;", 1, 0, 0, 6},
    {"add.sat.s32 %out0, %in0, %in1;", 0x7FFFFFFF, 1, 0, 0x7FFFFFFF},
    {"mul.lo.s32 %out0, %in0, %in1;", 7, 0xFFFFFFFE, 0, 0xFFFFFFF2},
    {"mul.hi.u32 %out0, %in0, %in1;", 0x80000000, 6, 0, 3},
    {"mul.hi.s32 %out0, %in0, %in1;", 0x80000000, 6, 0, 0xFFFFFFFD},
    {"mad.lo.u32 %out0, %in0, %in1, %in2;", 3, 4, 5, 17},
    {"mul.wide.s32 %rd0, %in0, %in1; mov.b64 {%r0, %out0}, %rd0;", 0xFFFFFFFF,
     2, 0, 0xFFFFFFFF},
    {"mul.wide.u32 %rd0, %in0, %in1; mov.b64 {%r0, %out0}, %rd0;", 0xFFFFFFFF,
     2, 0, 1},
    {"div.s32 %out0, %in0, %in1;", uint32_t(-7), 2, 0, uint32_t(-3)},
    {"rem.s32 %out0, %in0, %in1;", uint32_t(-7), 2, 0, uint32_t(-1)},
    {"rem.u32 %out0, %in0, %in1;", 17, 5, 0, 2},
    {"min.s32 %out0, %in0, %in1;", uint32_t(-7), 2, 0, uint32_t(-7)},
    {"min.relu.s32 %out0, %in0, %in1;", uint32_t(-7), 2, 0, 0},
    {"min.relu.s32 %out0, %in0, %in1;", 7, 2, 0, 2},
    {"max.relu.s32 %out0, %in0, %in1;", uint32_t(-7), uint32_t(-2), 0, 0},
    {"max.relu.s32 %out0, %in0, %in1;", uint32_t(-7), 2, 0, 2},
    {"max.u32 %out0, %in0, %in1;", uint32_t(-7), 2, 0, uint32_t(-7)},
    {"abs.s32 %out0, %in0;", uint32_t(-7), 0, 0, 7},
    {"neg.s32 %out0, %in0;", 7, 0, 0, uint32_t(-7)},
    {"popc.b32 %out0, %in0;", 0xF0F0, 0, 0, 8},
    {"clz.b32 %out0, %in0;", 0, 0, 0, 32},
    {"brev.b32 %out0, %in0;", 1, 0, 0, 0x80000000},
    {"bfind.u32 %out0, %in0;", 0x8000, 0, 0, 15},
    {"bfind.shiftamt.u32 %out0, %in0;", 0x8000, 0, 0, 16},
    {"shl.b32 %out0, %in0, %in1;", 1, 33, 0, 0},
    {"shr.s32 %out0, %in0, %in1;", 0x80000000, 40, 0, 0xFFFFFFFF},
    {"shr.u32 %out0, %in0, 31;", 0x80000000, 0, 0, 1},
    {"shf.l.wrap.b32 %out0, %in0, %in1, 8;", 0xAABBCCDD, 0x11223344, 0,
     0x223344AA},
    {"shf.r.clamp.b32 %out0, %in0, %in1, 40;", 0xAABBCCDD, 0x11223344, 0,
     0x11223344},
    {"prmt.b32 %out0, %in0, %in1, 0x5410;", 0x33221100, 0x77665544, 0,
     0x55441100},
    {"prmt.b32 %out0, %in0, %in1, 0x8888;", 0x80, 0, 0, 0xFFFFFFFF},
    {"bfe.u32 %out0, %in0, 4, 8;", 0xABCD, 0, 0, 0xBC},
    {"bfe.s32 %out0, %in0, 28, 8;", 0x90000000, 0, 0, 0xFFFFFFF9},
    {"bfi.b32 %out0, %in0, %in1, 8, 8;", 0xAB, 0x11111111, 0, 0x1111AB11},
    {"lop3.b32 %out0, %in0, %in1, %in2, 0xEA;", 0xF0, 0xCC, 0xAA,
     (0xF0 & 0xCC) | 0xAA},
    {"lop3.b32 %out0, %in0, %in1, %in2, 0x96;", 0xF0, 0xCC, 0xAA,
     0xF0 ^ 0xCC ^ 0xAA},
    {"dp4a.s32.s32 %out0, %in0, %in1, %in2;", 0xFF020304, 0x01010101, 5, 13},
    {"cvt.s32.s8 %out0, %in0;", 0x80, 0, 0, 0xFFFFFF80},
    {"cvt.u16.u32 %h0, %in0; cvt.u32.u16 %out0, %h0;", 0x12345, 0, 0, 0x2345},
    {"mov.b32 {%h0, %h1}, %in0; mov.b32 %out0, {%h1, %h0};", 0x12345678, 0, 0,
     0x56781234},
    {"add.s16 %h0, 32767, 1; cvt.s32.s16 %out0, %h0;", 0, 0, 0, 0xFFFF8000},
    {"setp.lt.s32 %p0|%p1, %in0, %in1; selp.b32 %out0, 5, 6, %p1;",
     uint32_t(-1), 1, 0, 6},
    {"setp.ne.s32 %p2, %in2, 0; setp.lt.and.u32 %p0, %in0, %in1, !%p2; "
     "selp.b32 %out0, 1, 2, %p0;",
     1, 2, 0, 1},
    {"setp.gt.u32 %p0, %in0, 1; @%p0 mov.u32 %out0, 3; @!%p0 mov.u32 %out0, 4;",
     1, 0, 0, 4},
};

// Bits of numbers used below: 0x3F800000 = 1, 0x7FC00000 a NaN.
constexpr Case kFloat[] = {
    {"add.f32 %out0, %in0, %in1;", 0x3F800000, 0x40000000, 0, 0x40400000},
    {"add.rn.ftz.f32 %out0, %in0, 0f00000000;", 0x00000001, 0, 0, 0},
    {"add.rn.f32 %out0, %in0, 0f00000000;", 0x00000001, 0, 0, 1},
    {"add.rz.f32 %out0, %in0, %in1;", 0x3F800000, 0x33FFFFFF, 0, 0x3F800000},
    {"add.rp.f32 %out0, %in0, %in1;", 0x3F800000, 0x00000001, 0, 0x3F800001},
    {"add.rm.f32 %out0, %in0, %in1;", 0xBF800000, 0x80000001, 0, 0xBF800001},
    {"mul.f32 %out0, %in0, %in1;", 0x7F800000, 0, 0, 0x7FFFFFFF},
    {"fma.rn.f32 %out0, %in0, %in0, %in1;", 0x3F800001, 0xBF800002, 0,
     0x28800000},
    {"min.f32 %out0, %in0, %in1;", 0x7FC00000, 0x3F800000, 0, 0x3F800000},
    {"min.NaN.f32 %out0, %in0, %in1;", 0x7FC00000, 0x3F800000, 0, 0x7FFFFFFF},
    {"max.f32 %out0, %in0, %in1;", 0x80000000, 0, 0, 0},
    {"min.f32 %out0, %in0, %in1;", 0x80000000, 0, 0, 0x80000000},
    {"neg.f32 %out0, %in0;", 0x3F800000, 0, 0, 0xBF800000},
    {"div.rn.f32 %out0, %in0, %in1;", 0x3F800000, 0x40400000, 0, 0x3EAAAAAB},
    {"rcp.approx.ftz.f32 %out0, %in0;", 0x80000000, 0, 0, 0xFF800000},
    {"ex2.approx.f32 %out0, %in0;", 0xFF800000, 0, 0, 0},
    {"ex2.approx.ftz.f32 %out0, %in0;", 0x40400000, 0, 0, 0x41000000},
    {"ex2.approx.f32 %out0, %in0;", 0xC3150000, 0, 0, 1},
    {"ex2.approx.f32 %out0, %in0;", 0x7F800000, 0, 0, 0x7F800000},
    {"lg2.approx.f32 %out0, %in0;", 0x41000000, 0, 0, 0x40400000},
    {"sqrt.rn.f32 %out0, %in0;", 0x41100000, 0, 0, 0x40400000},
    {"rsqrt.approx.f32 %out0, %in0;", 0x80000000, 0, 0, 0xFF800000},
    {"cvt.rni.s32.f32 %out0, %in0;", 0x40200000, 0, 0, 2},
    {"cvt.rzi.u32.f32 %out0, %in0;", 0xBF800000, 0, 0, 0},
    {"cvt.rzi.s32.f32 %out0, %in0;", 0x4F800000, 0, 0, 0x7FFFFFFF},
    {"cvt.rzi.s32.f32 %out0, %in0;", 0x7FC00000, 0, 0, 0},
    {"cvt.rmi.f32.f32 %out0, %in0;", 0xBFC00000, 0, 0, 0xC0000000},
    {"cvt.sat.f32.f32 %out0, %in0;", 0x7FC00000, 0, 0, 0},
    {"cvt.rn.f32.s32 %out0, %in0;", 0xFFFFFFFF, 0, 0, 0xBF800000},
    {"cvt.rn.f16x2.f32 %out0, %in0, %in1;", 0x3F800000, 0x40000000, 0,
     0x3C004000},
    {"cvt.rn.bf16x2.f32 %out0, %in0, %in1;", 0x3F800000, 0x7FC00001, 0,
     0x3F807FFF},
    {"cvt.rz.f16.f32 %h0, %in0; cvt.u32.u16 %out0, %h0;", 0x3F801FFF, 0, 0,
     0x3C00},
    {"add.rn.f16x2 %out0, %in0, %in1;", 0x3C004000, 0x3C003C00, 0, 0x40004200},
    {"fma.rn.bf16x2 %out0, %in0, %in1, %in2;", 0x40003F80, 0x40003F80,
     0x3F803F80, 0x40A04000},
    {"max.NaN.f16x2 %out0, %in0, %in1;", 0x7E003C00, 0x3C004000, 0, 0x7FFF4000},
    {"cvt.f64.f32 %fd0, %in0; add.rn.f64 %fd0, %fd0, 0d3FF0000000000000; "
     "cvt.rn.f32.f64 %out0, %fd0;",
     0x40000000, 0, 0, 0x40400000},
    {"setp.ltu.f32 %p0, %in0, %in1; selp.b32 %out0, 1, 0, %p0;", 0x7FC00000, 0,
     0, 1},
    {"setp.ne.f32 %p0, %in0, %in1; selp.b32 %out0, 1, 0, %p0;", 0x7FC00000, 0,
     0, 0},
    {"testp.subnormal.f32 %p0, %in0; selp.b32 %out0, 1, 0, %p0;", 1, 0, 0, 1},
};

INSTANTIATE_TEST_SUITE_P(Integer, ScalarTest, ::testing::ValuesIn(kInteger));
INSTANTIATE_TEST_SUITE_P(Float, ScalarTest, ::testing::ValuesIn(kFloat));

/// f16 to f64 by the definition of the format.
double halfValue(uint32_t h) {
  double sign = h & 0x8000 ? -1 : 1;
  int e = int(h >> 10 & 31), m = int(h & 1023);
  if (e == 31)
    return m ? NAN : sign * INFINITY;
  return sign * (e ? std::ldexp(1024 + m, e - 25) : std::ldexp(m, -24));
}

TEST(Convert, everyHalfWidensAndNarrowsExactly) {
  for (uint32_t base = 0; base < 65536; base += 64) {
    std::array<Words, 4> in{};
    for (uint32_t l = 0; l < 32; ++l)
      in[0][l] = (base + 2 * l) | (base + 2 * l + 1) << 16;
    Snippet r =
        run("mov.b32 {%h0, %h1}, %in0; cvt.f32.f16 %out0, %h0;"
            "cvt.f32.f16 %out1, %h1; cvt.rn.f16x2.f32 %out2, %out1, %out0;",
            in);
    ASSERT_RUNS(r);
    for (uint32_t l = 0; l < 32; ++l)
      for (uint32_t j = 0; j < 2; ++j) {
        uint32_t h = base + 2 * l + j;
        float got = asFloat(r.out[j][l]);
        uint32_t back = r.out[2][l] >> 16 * j & 0xFFFF;
        if (std::isnan(halfValue(h))) {
          ASSERT_EQ(r.out[j][l], 0x7FFFFFFFu);
          ASSERT_EQ(back, 0x7FFFu);
        } else {
          ASSERT_EQ(double(got), halfValue(h)) << h;
          ASSERT_EQ(back, h);
        }
      }
  }
}

TEST(Convert, halfwayCasesGoToEven) {
  // Between each two neighbours of f16: the middle, and a little to each side.
  for (uint32_t base = 0; base < 0x7BFF; base += 32 * 31) {
    std::array<Words, 4> in{};
    for (uint32_t l = 0; l < 32; ++l) {
      uint32_t h = std::min(base + 31 * l, 0x7BFEu);
      float middle = float((halfValue(h) + halfValue(h + 1)) / 2);
      in[0][l] = bits(middle);
      in[1][l] = bits(std::nextafterf(middle, 1e9f));
      in[2][l] = bits(std::nextafterf(middle, 0));
      in[3][l] = h;
    }
    Snippet r = run("cvt.rn.f16x2.f32 %out0, %in0, %in1;"
                    "cvt.rn.f16x2.f32 %out1, %in0, %in2;",
                    in);
    ASSERT_RUNS(r);
    for (uint32_t l = 0; l < 32; ++l) {
      uint32_t h = in[3][l], even = h & 1 ? h + 1 : h;
      ASSERT_EQ(r.out[0][l], even << 16 | (h + 1));
      ASSERT_EQ(r.out[1][l], even << 16 | h);
    }
  }
}

TEST(SpecialFunction, ex2IsRoundedCorrectly) {
  std::array<Words, 4> in{};
  for (uint32_t l = 0; l < 32; ++l)
    in[0][l] = bits(-20.37f + 1.2718f * float(l));
  Snippet r = run("ex2.approx.f32 %out0, %in0;", in);
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l)
    EXPECT_EQ(asFloat(r.out[0][l]),
              float(std::exp2(double(asFloat(in[0][l])))));
}
} // namespace
