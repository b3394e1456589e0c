//===- ScalarFormsTest.cpp - the rarer scalar instructions ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carry chains, bit fields, pairs, set and slct, conversions, atomics and their
// refusals, against values worked out by hand from the PTX ISA or by a second
// routine here.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"
#include "SmallFloats.h"

#include <cfenv>
#include <cmath>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
struct Case {
  const char *code;
  uint32_t in0, in1, in2, want;
};

class ScalarFormsTest : public ::testing::TestWithParam<Case> {};

TEST_P(ScalarFormsTest, gives) {
  const Case &c = GetParam();
  std::array<Words, 4> in{};
  in[0].fill(c.in0);
  in[1].fill(c.in1);
  in[2].fill(c.in2);
  Snippet r = run(c.code, in, {}, {}, "sm_90");
  ASSERT_RUNS(r);
  for (uint32_t x : r.out[0])
    ASSERT_EQ(x, c.want) << c.code;
}

constexpr uint32_t kOnes = ~0u;

constexpr Case kIntegers[] = {
    // 64-bit sums from 32-bit halves: the carry is what arrives above.
    {"add.cc.u32 %r0, %in0, %in1; addc.u32 %out0, %in2, 0;", kOnes, 1, 5, 6},
    {"add.cc.u32 %r0, %in0, %in1; addc.u32 %out0, %in2, 0;", kOnes, 0, 5, 5},
    {"add.cc.u32 %r0, %in0, 1; addc.cc.u32 %r1, %in1, 0;"
     "addc.u32 %out0, %in2, 0;",
     kOnes, kOnes, 7, 8},
    {"sub.cc.u32 %r0, %in0, %in1; subc.u32 %out0, %in2, 0;", 0, 1, 5, 4},
    {"sub.cc.u32 %r0, %in0, %in1; subc.cc.u32 %r1, 0, 0;"
     "subc.s32 %out0, %in2, 0;",
     3, 4, 5, 4},
    {"mad.lo.cc.u32 %r0, %in0, %in0, %in1; madc.hi.u32 %out0, %in0, %in0, 0;",
     0x10001, 0xFFFE0000, 0, 2},
    {"mad.hi.cc.s32 %r0, %in0, 2, %in1; addc.u32 %out0, %in2, 0;", 0x80000000,
     1, 9, 10},
    {"mad.lo.cc.u32 %r0, %in0, %in1, %in2; madc.lo.cc.u32 %out0, 2, 3, 0;",
     kOnes, 1, 1, 7},
    {"mov.b64 %rd0, {%in0, %in0}; add.cc.u64 %rd1, %rd0, 1;"
     "addc.u32 %out0, %in2, 0;",
     kOnes, 0, 5, 6},
    {"mov.b64 %rd0, {%in0, %in1}; sub.cc.u64 %rd1, 0, %rd0;"
     "subc.cc.u64 %rd1, 0, 0; mov.b64 {%out0, %r1}, %rd1;",
     1, 0, 0, kOnes},
    // A carry survives what lies between.
    {"add.cc.u32 %r0, %in0, 1; mul.lo.u32 %r1, %in2, 3; addc.u32 %out0, 0, 0;",
     kOnes, 0, 5, 1},
    {"mad.hi.u16 %h0, 0x8000, 4, 5; cvt.u32.u16 %out0, %h0;", 0, 0, 0, 7},
    {"mad.hi.s16 %h0, 0x8000, 4, 5; cvt.u32.u16 %out0, %h0;", 0, 0, 0, 3},
    {"mad.hi.sat.s32 %out0, %in0, %in0, %in1;", 0x7FFFFFFF, 0x7FFFFFFF, 0,
     0x7FFFFFFF},
    {"mul24.lo.u32 %out0, %in0, %in1;", 0xAB000003, 0xCD000005, 0, 15},
    {"mul24.hi.u32 %out0, %in0, %in1;", 0x00FFFFFF, 0x00FFFFFF, 0, 0xFFFFFE00},
    {"mul24.lo.s32 %out0, %in0, %in1;", 0x00FFFFFF, 5, 0, 0xFFFFFFFB},
    {"mul24.hi.s32 %out0, %in0, %in1;", 0x00FFFFFF, 5, 0, kOnes},
    {"mad24.lo.u32 %out0, %in0, %in1, %in2;", 3, 4, 5, 17},
    {"mad24.hi.sat.s32 %out0, %in0, %in1, %in2;", 0x7FFFFF, 0x7FFFFF,
     0x7FFFFFFF, 0x7FFFFFFF},
    {"sad.s32 %out0, %in0, %in1, %in2;", 0x80000000, 0x7FFFFFFF, 1, 0},
    {"mov.b32 {%h0, %h1}, %in0; sad.u16 %h2, %h0, %h1, 7;"
     "cvt.u32.u16 %out0, %h2;",
     0x00030001, 0, 0, 9},
    {"mov.b64 %rd0, {%in0, %in1}; sad.u64 %rd1, %rd0, 1, 2;"
     "mov.b64 {%out0, %r0}, %rd1;",
     5, 0, 0, 6},
    {"cnot.b32 %out0, %in0;", 0, 0, 0, 1},
    {"cnot.b32 %out0, %in0;", 9, 0, 0, 0},
    {"fns.b32 %out0, %in0, %in1, 1;", 0xF0, 5, 0, 5},
    {"fns.b32 %out0, %in0, %in1, 3;", 0xF0, 5, 0, 7},
    {"fns.b32 %out0, %in0, %in1, 4;", 0xF0, 5, 0, kOnes},
    {"fns.b32 %out0, %in0, %in1, -2;", 0xF0, 5, 0, 4},
    {"fns.b32 %out0, %in0, %in1, 0;", 0xF0, 5, 0, 5},
    {"fns.b32 %out0, %in0, %in1, 0;", 0xF0, 3, 0, kOnes},
    {"bmsk.clamp.b32 %out0, %in0, %in1;", 4, 8, 0, 0xFF0},
    {"bmsk.clamp.b32 %out0, %in0, %in1;", 4, 40, 0, 0xFFFFFFF0},
    {"bmsk.clamp.b32 %out0, %in0, %in1;", 40, 3, 0, 0},
    {"bmsk.wrap.b32 %out0, %in0, %in1;", 36, 8, 0, 0xFF0},
    {"bmsk.wrap.b32 %out0, %in0, %in1;", 4, 32, 0, 0},
    {"szext.clamp.s32 %out0, %in0, %in1;", 0x8F, 8, 0, 0xFFFFFF8F},
    {"szext.clamp.u32 %out0, %in0, %in1;", 0x1FF, 8, 0, 0xFF},
    {"szext.clamp.s32 %out0, %in0, %in1;", 0x12345678, 33, 0, 0x12345678},
    {"szext.wrap.s32 %out0, %in0, %in1;", 0x3, 33, 0, kOnes},
    {"szext.wrap.u32 %out0, %in0, %in1;", 0x3, 0, 0, 0},
    {"dp2a.lo.s32.s32 %out0, %in0, %in1, %in2;", 0xFFFE0003, 0x0000FF02, 10,
     18},
    {"dp2a.hi.u32.u32 %out0, %in0, %in1, %in2;", 0xFFFE0003, 0xFF02AAAA, 10,
     10 + 3 * 2 + 0xFFFE * 0xFF},
    {"lop3.or.b32 %out1|%p0, %in0, %in1, %in2, 0x80, %p1;"
     "selp.b32 %out0, 1, 0, %p0;",
     0xF, 0x3, 0x2, 1},
    {"setp.eq.u32 %p1, 0, 0; lop3.and.b32 _|%p0, %in0, %in1, %in2, 0x80, !%p1;"
     "selp.b32 %out0, 1, 0, %p0;",
     0xF, 0x3, 0x2, 0},
    {"add.u16x2 %out0, %in0, %in1;", 0xFFFF0001, 0x00020003, 0, 0x00010004},
    {"min.s16x2 %out0, %in0, %in1;", 0xFFFF0001, 0x00020003, 0, 0xFFFF0001},
    {"max.u16x2 %out0, %in0, %in1;", 0xFFFF0001, 0x00020003, 0, 0xFFFF0003},
    {"min.relu.s16x2 %out0, %in0, %in1;", 0xFFFF0001, 0x00020003, 0, 1},
    {"prmt.b32.f4e %out0, %in0, %in1, 1;", 0x33221100, 0x77665544, 0,
     0x44332211},
    {"prmt.b32.b4e %out0, %in0, %in1, 1;", 0x33221100, 0x77665544, 0,
     0x66770011},
    {"prmt.b32.rc8 %out0, %in0, %in1, 2;", 0x33221100, 0, 0, 0x22222222},
    {"prmt.b32.ecl %out0, %in0, %in1, 2;", 0x33221100, 0, 0, 0x33222222},
    {"prmt.b32.ecr %out0, %in0, %in1, 2;", 0x33221100, 0, 0, 0x22221100},
    {"prmt.b32.rc16 %out0, %in0, %in1, 1;", 0x33221100, 0, 0, 0x33223322},
};

constexpr Case kComparisons[] = {
    {"set.lt.u32.s32 %out0, %in0, %in1;", kOnes, 1, 0, kOnes},
    {"set.lt.u32.u32 %out0, %in0, %in1;", kOnes, 1, 0, 0},
    {"set.le.f32.f32 %out0, %in0, %in1;", 0x3F800000, 0x3F800000, 0,
     0x3F800000},
    {"set.ltu.s32.f32 %out0, %in0, %in1;", 0x7FC00000, 0, 0, kOnes},
    {"setp.eq.u32 %p0, 0, 1; set.lt.and.u32.s32 %out0, %in0, %in1, !%p0;",
     kOnes, 1, 0, kOnes},
    {"set.le.u32.f16x2 %out0, %in0, %in1;", 0x3C004000, 0x3C003C00, 0,
     0xFFFF0000},
    {"set.gt.f16x2.f16x2 %out0, %in0, %in1;", 0x3C004000, 0x3C003C00, 0,
     0x00003C00},
    {"set.gt.bf16x2.bf16x2 %out0, %in0, %in1;", 0x3F804000, 0x3F003F80, 0,
     0x3F803F80},
    {"setp.lt.f16x2 %p0|%p1, %in0, %in1; selp.b32 %out0, 1, 0, %p0;"
     "selp.b32 %r0, 2, 0, %p1; or.b32 %out0, %out0, %r0;",
     0x3C004000, 0x40003C00, 0, 2},
    {"slct.u32.s32 %out0, %in0, %in1, %in2;", 7, 9, kOnes, 9},
    {"slct.f32.f32 %out0, %in0, %in1, %in2;", 7, 9, 0x80000000, 7},
    {"slct.u32.f32 %out0, %in0, %in1, %in2;", 7, 9, 0x7FC00000, 9},
    {"slct.ftz.u32.f32 %out0, %in0, %in1, %in2;", 7, 9, 0x80000001, 7},
    {"slct.u32.f32 %out0, %in0, %in1, %in2;", 7, 9, 0x80000001, 9},
    {"mov.b64 %rd0, {%in0, %in0}; slct.b64.s32 %rd1, %rd0, 0, %in2;"
     "mov.b64 {%r0, %out0}, %rd1;",
     7, 9, 0, 7},
};

constexpr Case kFloats[] = {
    {"min.xorsign.abs.f32 %out0, %in0, %in1;", 0xBF800000, 0x40000000, 0,
     0xBF800000},
    {"max.xorsign.abs.f32 %out0, %in0, %in1;", 0xBF800000, 0xC0000000, 0,
     0x40000000},
    {"max.NaN.xorsign.abs.f32 %out0, %in0, %in1;", 0xFFC00000, 0xC0000000, 0,
     0x7FFFFFFF},
    {"max.xorsign.abs.f16x2 %out0, %in0, %in1;", 0xBC003C00, 0x40004000, 0,
     0xC0004000},
    {"neg.ftz.f16x2 %out0, %in0;", 0x00013C00, 0, 0, 0x8000BC00},
    {"abs.ftz.f16x2 %out0, %in0;", 0x8001BC00, 0, 0, 0x00003C00},
    {"rcp.rz.f32 %out0, %in0;", 0x40400000, 0, 0, 0x3EAAAAAA},
    {"rcp.rp.f32 %out0, %in0;", 0x40400000, 0, 0, 0x3EAAAAAB},
    {"mov.b64 %fd0, {%in0, %in1}; rcp.rm.f64 %fd1, %fd0;"
     "mov.b64 {%out0, %r0}, %fd1;",
     0, 0x40080000, 0, 0x55555555},
    {"mov.b64 %fd0, {%in0, %in1}; sqrt.rp.f64 %fd1, %fd0;"
     "mov.b64 {%out0, %r0}, %fd1;",
     0, 0x40000000, 0, 0x667F3BCD},
    {"mov.b64 %fd0, {%in0, %in1}; sqrt.rz.f64 %fd1, %fd0;"
     "mov.b64 {%out0, %r0}, %fd1;",
     0, 0x40000000, 0, 0x667F3BCC},
    {"mov.b64 %fd0, {%in0, %in1}; rcp.approx.ftz.f64 %fd1, %fd0;"
     "mov.b64 {%out0, %r0}, %fd1;",
     0, 0x40080000, 0, 0},
    {"fma.rz.bf16x2 %out0, %in0, %in1, %in2;", 0x3F813F81, 0x3F813F81, 0,
     0x3F823F82},
    {"fma.rp.bf16x2 %out0, %in0, %in1, %in2;", 0x3F813F81, 0x3F813F81, 0,
     0x3F833F83},
    {"fma.rz.bf16x2 %out0, %in0, %in0, %in1;", 0x7F7F7F7F, 0, 0, 0x7F7F7F7F},
    {"cvt.rna.tf32.f32 %out0, %in0;", 0x3F801000, 0, 0, 0x3F802000},
    {"cvt.rn.tf32.f32 %out0, %in0;", 0x3F801000, 0, 0, 0x3F800000},
    {"cvt.rna.satfinite.tf32.f32 %out0, %in0;", 0x7F800000, 0, 0, 0x7F7FE000},
    {"cvt.rz.relu.tf32.f32 %out0, %in0;", 0xBF801000, 0, 0, 0},
    {"cvt.rn.satfinite.f16x2.f32 %out0, %in0, %in1;", 0x7F800000, 0xFF7FFFFF, 0,
     0x7BFFFBFF},
    {"cvt.rn.satfinite.bf16.f32 %h0, %in0; cvt.u32.u16 %out0, %h0;", 0x7F800000,
     0, 0, 0x7F7F},
    {"cvt.rz.bf16x2.f32 %out0, %in0, %in1;", 0x3F80FFFF, 0xBF80FFFF, 0,
     0x3F80BF80},
    {"cvt.rn.satfinite.e4m3x2.f32 %h0, %in0, %in1; cvt.u32.u16 %out0, %h0;",
     0x43E80000, 0x3F800000, 0, 0x7E38},
    {"cvt.rn.satfinite.relu.e5m2x2.f32 %h0, %in0, %in1;"
     "cvt.u32.u16 %out0, %h0;",
     0xBF800000, 0x7F800000, 0, 0x007B},
    {"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %in0; cvt.u32.u16 %out0, %h0;",
     0x3C00FC00, 0, 0, 0x38FE},
    {"cvt.u16.u32 %h0, %in0; cvt.rn.f16x2.e4m3x2 %out0, %h0;", 0x38C0, 0, 0,
     0x3C00C000},
    {"cvt.u16.u32 %h0, %in0; cvt.rn.relu.f16x2.e5m2x2 %out0, %h0;", 0x3CC0, 0,
     0, 0x3C000000},
    {"cvt.pack.sat.u16.s32 %out0, %in0, %in1;", 0x12345, kOnes, 0, 0xFFFF0000},
    {"cvt.pack.sat.s8.s32.b32 %out0, %in0, %in1, %in2;", 300, 0xFFFFFF00,
     0xABCD1234, 0x12347F80},
    {"cvt.pack.sat.u4.s32.b32 %out0, %in0, %in1, %in2;", 20, 3, 0x00ABCDEF,
     0xABCDEFF3},
    {"cvt.rn.bf16.u32 %h0, %in0; cvt.u32.u16 %out0, %h0;", 257, 0, 0, 0x4380},
    {"cvt.rp.bf16.u32 %h0, %in0; cvt.u32.u16 %out0, %h0;", 257, 0, 0, 0x4381},
    {"cvt.u16.u32 %h0, %in0; cvt.rzi.s32.bf16 %out0, %h0;", 0xC0A0, 0, 0,
     uint32_t(-5)},
};

INSTANTIATE_TEST_SUITE_P(Integers, ScalarFormsTest,
                         ::testing::ValuesIn(kIntegers));
INSTANTIATE_TEST_SUITE_P(Comparisons, ScalarFormsTest,
                         ::testing::ValuesIn(kComparisons));
INSTANTIATE_TEST_SUITE_P(Floats, ScalarFormsTest, ::testing::ValuesIn(kFloats));

TEST(Convert, integersBeyond53BitsRoundAsTheyAreTold) {
  const uint64_t kValues[] = {0x20000000000001,   0x7FFFFFFFFFFFFFFF,
                              0xFFFFFFFFFFFFFBFF, 0x8000000000000401,
                              0x20000000000002,   0xFFDFFFFFFFFFFFFF};
  const std::pair<const char *, int> kModes[] = {{"rz", FE_TOWARDZERO},
                                                 {"rm", FE_DOWNWARD},
                                                 {"rp", FE_UPWARD},
                                                 {"rn", FE_TONEAREST}};
  for (auto [mode, host] : kModes)
    for (uint64_t value : kValues) {
      std::array<Words, 4> in{};
      in[0].fill(uint32_t(value));
      in[1].fill(uint32_t(value >> 32));
      std::string word = mode;
      Snippet r = run("mov.b64 %rd0, {%in0, %in1}; cvt." + word +
                          ".f64.u64 %fd0, %rd0; cvt." + word +
                          ".f64.s64 %fd1, %rd0; mov.b64 {%out0, %out1}, %fd0;"
                          "mov.b64 {%out2, %out3}, %fd1;",
                      in);
      ASSERT_RUNS(r);
      // long double holds all 64 bits; the store rounds.
      std::fesetround(host);
      volatile long double u = value, s = int64_t(value);
      volatile double wantU = double(u), wantS = double(s);
      std::fesetround(FE_TONEAREST);
      auto got = [&](int at) {
        return std::bit_cast<double>(uint64_t(r.out[at + 1][0]) << 32 |
                                     r.out[at][0]);
      };
      EXPECT_EQ(got(0), double(wantU)) << mode << " " << std::hex << value;
      EXPECT_EQ(got(2), double(wantS)) << mode << " " << std::hex << value;
    }
}

/// The narrow patterns and the f32 of mixed precision: zeros, subnormals, ties,
/// the largest, infinities and NaNs, of both signs.
constexpr uint32_t kNarrow[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x03FF,
                                0x0400, 0x8080, 0x3C00, 0xBC01, 0x3F80, 0xBF81,
                                0x7BFF, 0xFF7F, 0x7C00, 0xFC00, 0x7F80, 0xFF80,
                                0x7E00, 0xFFC1, 0x7C01};
constexpr uint32_t kWide[] = {0x00000000, 0x80000000, 0x00000001, 0x807FFFFF,
                              0x33000000, 0xB3000001, 0x3F800000, 0xBF800001,
                              0x4B000001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
                              0xFF800000, 0x7FC00000, 0x7F800001};

/// `op` of mixed precision by the host, after the format's own definition.
uint32_t mixed(char op, int rounding, bool saturates, const FloatFormat &format,
               uint32_t a, uint32_t b, uint32_t c) {
  volatile float x = float(format.value(a)), y = float(format.value(b)),
                 z = asFloat(c), r;
  std::fesetround(rounding);
  r = op == 'a' ? x + z : op == 's' ? x - z : std::fma(x, y, z);
  std::fesetround(FE_TONEAREST);
  float result = r;
  if (saturates)
    result = result > 0 ? std::fmin(result, 1.0f) : 0.0f;
  return std::isnan(result) ? 0x7FFFFFFF : bits(result);
}

/// The opcodes of one operation, one a rounding, and what each lane gives.
void checkMixed(const std::string &name, bool saturates,
                const FloatFormat &format, const std::array<Words, 4> &in) {
  const std::pair<std::string, int> kModes[] = {{".rn", FE_TONEAREST},
                                                {".rz", FE_TOWARDZERO},
                                                {".rm", FE_DOWNWARD},
                                                {".rp", FE_UPWARD}};
  std::string ending =
      (saturates ? ".sat.f32." : ".f32.") + std::string(format.name);
  // The upper halves are none of theirs.
  std::string body = "mov.b32 {%h0, %h1}, %in0;";
  for (int n = 0; n < 4; ++n)
    body += name + kModes[n].first + ending + " %out" + std::to_string(n) +
            (name == "fma" ? ", %h0, %h1, %in1;" : ", %h0, %in1;");
  Snippet r = run(body, in);
  ASSERT_RUNS(r);
  for (int n = 0; n < 4; ++n)
    for (uint32_t l = 0; l < 32; ++l)
      EXPECT_EQ(r.out[n][l], mixed(name[0], kModes[n].second, saturates, format,
                                   in[0][l] & 0xFFFF, in[0][l] >> 16, in[1][l]))
          << std::hex << name << kModes[n].first << ending << " " << in[0][l]
          << " " << in[1][l];
}

TEST(MixedPrecision, widensAndRoundsOnce) {
  std::array<Words, 4> in{};
  uint32_t count = 0;
  auto flush = [&] {
    for (const char *name : {"add", "sub", "fma"})
      for (bool saturates : {false, true}) {
        checkMixed(name, saturates, kF16, in);
        checkMixed(name, saturates, kBF16, in);
      }
  };
  for (size_t a = 0; a < std::size(kNarrow); ++a)
    for (uint32_t c : kWide) {
      uint32_t b = kNarrow[(a * 5 + count) % std::size(kNarrow)];
      in[0][count % 32] = kNarrow[a] | b << 16;
      in[1][count % 32] = c;
      if (++count % 32 == 0)
        flush();
    }
  flush();
}

TEST(MixedPrecision, roundsToNearestWithoutAWord) {
  std::array<Words, 4> in{};
  in[0].fill(0x42003C01); // 3, and one unit above 1
  in[1].fill(0x3F800000);
  Snippet r = run("mov.b32 {%h0, %h1}, %in0; sub.f32.f16 %out0, %h1, %in1;"
                  "add.sat.f32.f16 %out1, %h1, %in1; mov.b32 %f0, 0f33800000;"
                  "add.f32.f16 %out2, %h0, %f0; add.f32.bf16 %out3, %h1, %in1;",
                  in);
  ASSERT_RUNS(r);
  EXPECT_EQ(asFloat(r.out[0][7]), 2.0f);
  EXPECT_EQ(asFloat(r.out[1][7]), 1.0f);
  EXPECT_EQ(r.out[2][7], 0x3F802000u); // a tie goes to the even one
  EXPECT_EQ(asFloat(r.out[3][7]), 33.0f);
}

TEST(MixedPrecision, hasNoOtherForms) {
  for (const char *code :
       {"add.ftz.f32.bf16 %f0, %h0, %f1;", "fma.f32.f16 %f0, %h0, %h1, %f1;",
        "mul.rn.f32.f16 %f0, %h0, %f1;", "add.rn.rz.f32.f16 %f0, %h0, %f1;",
        "fma.rn.relu.f32.bf16 %f0, %h0, %h1, %f1;",
        "add.rn.f64.f32 %fd0, %f0, %fd1;"}) {
    Snippet r = run(code);
    ASSERT_EQ(r.report.status, Status::Invalid) << code;
    std::string opcode = code;
    opcode.resize(opcode.find(' '));
    EXPECT_NE(r.report.diagnostics.at(0).str().find(
                  "unsupported instruction '" + opcode + "'"),
              std::string::npos)
        << r.report.diagnostics.at(0).str();
  }
}

TEST(Extreme, ofThreeNumbers) {
  const Case kCases[] = {
      {"max.f32 %out0, %in0, %in1, %in2;", bits(1), bits(-2), bits(3), bits(3)},
      {"max.f32 %out0, %in0, %in1, %in2;", bits(1), bits(5), bits(3), bits(5)},
      {"min.f32 %out0, %in0, %in1, %in2;", bits(1), bits(-2), bits(3),
       bits(-2)},
      {"min.f32 %out0, %in0, %in1, 0fC0A00000;", bits(1), bits(-2), 0,
       bits(-5)},
      {"max.f32 %out0, %in0, %in1, %in2;", 0x80000000, 0x80000000, 0, 0},
      {"min.f32 %out0, %in0, %in1, %in2;", 0, 0x80000000, 0, 0x80000000},
      // A NaN loses against a number, wherever it is.
      {"max.f32 %out0, %in0, %in1, %in2;", 0x7FC00000, bits(-2), 0x7FC00000,
       bits(-2)},
      {"min.f32 %out0, %in0, %in1, %in2;", 0x7FC00000, 0xFFC00000, bits(4),
       bits(4)},
      {"min.f32 %out0, %in0, %in1, %in2;", 0x7FC00000, 0xFFC00000, 0x7F800001,
       0x7FFFFFFF},
      {"max.NaN.f32 %out0, %in0, %in1, %in2;", 0xFFC00000, bits(-2), bits(1),
       0x7FFFFFFF},
      {"min.NaN.f32 %out0, %in0, %in1, %in2;", bits(-2), bits(1), 0x7FC00000,
       0x7FFFFFFF},
      {"max.abs.f32 %out0, %in0, %in1, %in2;", bits(1), bits(-4), bits(3),
       bits(4)},
      {"min.abs.f32 %out0, %in0, %in1, %in2;", bits(-1), bits(-4), bits(3),
       bits(1)},
      {"max.NaN.abs.f32 %out0, %in0, %in1, %in2;", bits(1), 0xFFC00000,
       bits(-3), 0x7FFFFFFF},
      {"min.f32 %out0, %in0, %in1, %in2;", 0x00000001, bits(2), bits(3),
       0x00000001},
      {"min.ftz.f32 %out0, %in0, %in1, %in2;", bits(2), bits(3), 0x80000001,
       0x80000000},
      {"max.ftz.abs.f32 %out0, %in0, %in1, %in2;", 0x80000001, 0x00000002,
       0x807FFFFF, 0},
  };
  for (const Case &c : kCases) {
    std::array<Words, 4> in{};
    in[0].fill(c.in0);
    in[1].fill(c.in1);
    in[2].fill(c.in2);
    Snippet r = run(c.code, in);
    ASSERT_RUNS(r);
    for (uint32_t x : r.out[0])
      EXPECT_EQ(x, c.want) << c.code;
  }
}

TEST(Carry, isOfEachLaneAndUnderAGuard) {
  std::array<Words, 4> in{};
  for (uint32_t l = 0; l < 32; ++l)
    in[0][l] = l % 2 ? ~0u : 5;
  Snippet r = run("add.cc.u32 %r0, %in0, 1; setp.lt.u32 %p0, %tid, 16;"
                  "@%p0 add.cc.u32 %r0, 0, 0; addc.u32 %out0, 0, 0;",
                  in);
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l)
    EXPECT_EQ(r.out[0][l], l < 16 ? 0u : l % 2) << l;
}

TEST(Atomic, vectorsActOnEachElement) {
  Snippet r = run(R"(
    mov.f32 %f0, 0f3F800000;
    mov.f32 %f1, 0f40000000;
    st.global.v4.b32 [%a1], {%f0, %f0, %f0, %f0};
    bar.warp.sync -1;
    atom.global.v4.f32.add {%f2, %f3, %f4, %f5}, [%a1], {%f0, %f1, %f0, %f1};
    bar.warp.sync -1;
    ld.global.b32 %out0, [%a1];
    ld.global.b32 %out1, [%a1+4];
    mov.b32 %out2, %f2;
    bar.warp.sync -1;
  )",
                  {}, {}, {}, "sm_90");
  ASSERT_RUNS(r);
  for (uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(asFloat(r.out[0][l]), 33.0f);
    EXPECT_EQ(asFloat(r.out[1][l]), 65.0f);
    EXPECT_EQ(asFloat(r.out[2][l]), 1.0f + float(l));
  }
}

TEST(Atomic, halvesHaveMinAndMaxInVectors) {
  Snippet r = run(R"(
    mov.u32 %r0, 0x3C004000;
    mov.u32 %r1, 0x7E00C000;
    st.global.v2.b32 [%a1], {%r0, %r0};
    bar.warp.sync -1;
    setp.eq.u32 %p0, %tid, 0;
    @%p0 red.global.v2.f16x2.max.noftz [%a1], {%r1, %r1};
    bar.warp.sync -1;
    ld.global.b32 %out0, [%a1+4];
    bar.warp.sync -1;
  )",
                  {}, {}, {}, "sm_90");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0][0], 0x3C004000u);
}

TEST(Atomic, casOf16Bits) {
  Snippet r = run(R"(
    mov.u32 %r0, smem;
    st.shared.u32 [smem], 0x12345678;
    bar.warp.sync -1;
    cvt.u16.u32 %h0, %tid;
    setp.eq.u32 %p0, %tid, 3;
    mov.u16 %h1, 0x5678;
    @%p0 atom.shared.cas.b16 %h2, [%r0], %h1, %h0;
    bar.warp.sync -1;
    ld.shared.u32 %out0, [smem];
  )");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0][5], 0x12340003u);
}

/// Sees whether an atomic's bytes are initialised when its event comes.
class AtomicSpy : public ExecutionObserver {
public:
  std::string_view name() const override { return "spy"; }
  uint32_t interests() const override { return kMemory; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &) override {
    struct Watch : CTAObserver {
      AtomicSpy &spy;
      Watch(AtomicSpy &spy) : spy(spy) {}
      void memoryAccess(const AccessEvent &e) override {
        if (e.kind == AccessKind::Atomic)
          spy.seen.push_back(e.allocation->isInitialised(e.addresses[0], 4));
      }
    };
    return std::make_unique<Watch>(*this);
  }
  std::vector<bool> seen;
};

TEST(Atomic, observersSeeWhatItReadsBeforeItWrites) {
  AtomicSpy spy;
  Snippet r = run("red.global.add.u32 [%a1], 1; red.global.add.u32 [%a1], 1;",
                  {}, {}, {&spy});
  ASSERT_RUNS(r);
  EXPECT_EQ(spy.seen, (std::vector<bool>{false, true}));
}

/// Counts what the ISA leaves undefined.
class UndefinedSpy : public ExecutionObserver {
public:
  std::string_view name() const override { return "spy"; }
  uint32_t interests() const override { return kUndefined; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &) override {
    struct Watch : CTAObserver {
      UndefinedSpy &spy;
      Watch(UndefinedSpy &spy) : spy(spy) {}
      void undefined(const UndefinedEvent &e) override {
        spy.seen.push_back({e.kind, e.mask});
      }
    };
    return std::make_unique<Watch>(*this);
  }
  std::vector<std::pair<UndefinedEvent::Kind, uint32_t>> seen;
};

TEST(Undefined, isReportedWithItsLanes) {
  using Kind = UndefinedEvent::Kind;
  const std::tuple<const char *, Kind, uint32_t> kCases[] = {
      {"div.u32 %r0, 5, %tid;", Kind::DivisionByZero, 1},
      {"setp.gt.u32 %p0, %tid, 3; @!%p0 rem.s32 %r0, 5, 0;",
       Kind::DivisionByZero, 15},
      {"cvt.u64.u32 %rd0, %tid; div.s64 %rd1, %rd0, 0;", Kind::DivisionByZero,
       ~0u},
      {"setp.lt.u32 %p0, %tid, 16;"
       "@%p0 shfl.sync.idx.b32 %r0, %tid, 20, 31, 0xFFFF;",
       Kind::InactiveSource, 0xFFFF},
      {"setp.lt.u32 %p0, %tid, 16;"
       "@%p0 shfl.sync.bfly.b32 %r0, %tid, 1, 31, 0xFFFE;",
       Kind::NotInOwnMask, 1},
      {"vote.sync.ballot.b32 %r0, %p0, 0;", Kind::EmptyMask, ~0u}};
  for (auto [code, kind, mask] : kCases) {
    UndefinedSpy spy;
    Snippet r = run(code, {}, {}, {&spy});
    ASSERT_RUNS(r);
    ASSERT_FALSE(spy.seen.empty()) << code;
    EXPECT_EQ(spy.seen[0], std::pair(kind, mask)) << code;
  }
  UndefinedSpy spy;
  Snippet r = run("setp.ne.u32 %p0, %tid, 0; @%p0 div.u32 %r0, 5, %tid;"
                  "shfl.sync.down.b32 %r1, %tid, 4, 31, -1;",
                  {}, {}, {&spy});
  ASSERT_RUNS(r);
  EXPECT_TRUE(spy.seen.empty());
}

TEST(Refusal, formsThatTheIsaHasNot) {
  for (const char *code :
       {"atom.global.min.f32 %f0, [%a1], %f1;",
        "red.global.max.f64 [%a1], %fd0;",
        "atom.global.add.b32 %r0, [%a1], 1;",
        "red.global.exch.b32 [%a1], 1;",
        "atom.global.inc.s32 %r0, [%a1], 1;",
        "atom.shared.v2.f32.add {%f0, %f1}, [%a1], {%f0, %f1};",
        "cvt.f16.f32 %h0, %f0;",
        "cvt.rn.s32.f32 %r0, %f0;",
        "cvt.rzi.f16.f32 %h0, %f0;",
        "cvt.sat.u32.u16 %r0, %h0;",
        "cvt.rn.e4m3x2.f32 %h0, %f0, %f1;",
        "cvt.rn.satfinite.e2m1x2.f32 %h0, %f0, %f1;",
        "cvt.rn.ftz.f64.s32 %fd0, %r0;",
        "cvt.pack.sat.u8.s32 %r0, %r1, %r2;",
        "setp.lt.b32 %p0, %r0, %r1;",
        "setp.lo.s32 %p0, %r0, %r1;",
        "setp.ltu.u32 %p0, %r0, %r1;",
        "bmsk.b32 %r0, %r1, %r2;",
        "shf.l.b32 %r0, %r1, %r2, 3;",
        "shfl.sync.b32 %r0, %r1, 0, 31, -1;",
        "vote.sync.ballot.pred %p0, %p1, -1;",
        "testp.f32 %p0, %f0;",
        "fma.f32 %f0, %f1, %f2, %f3;",
        "red.acquire.global.add.u32 [%a1], 1;",
        "match.any.sync.b32 %r0|%p0, %r1, -1;",
        "redux.sync.add.b32 %r0, %r1, -1;",
        "redux.sync.and.u32 %r0, %r1, -1;"}) {
    Snippet r = run(code, {}, {}, {}, "sm_90");
    EXPECT_EQ(r.report.status, Status::Invalid) << code;
  }
}
} // namespace
