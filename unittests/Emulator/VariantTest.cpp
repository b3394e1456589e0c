//===- VariantTest.cpp - fast ways against plain ones ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions that have a way of their own in some vector variant, or for
// whole warps, compared bit by bit with one lane after the other in plain C++.
// ctest runs this file once for each variant, so that they equal each other.
// Numbers include zeros of both signs, subnormals, infinities and NaNs.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Device.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace ptxvm;
using Words = std::vector<uint32_t>;

namespace {
constexpr uint32_t kNaN = 0x7FFFFFFF;
/// A warp runs kRounds times over its own numbers.
constexpr uint32_t kRounds = 512;

float asFloat(uint32_t x) { return std::bit_cast<float>(x); }
uint32_t asBits(float x) { return x != x ? kNaN : std::bit_cast<uint32_t>(x); }

/// Floats of all kinds, as bits.
Words floats(uint32_t seed, size_t count, float largest = 0) {
  static constexpr uint32_t kSpecial[] = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF,
      0x00800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001,
      0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x477FEFFF,
      0x477FF000, 0x33000000, 0x33000001, 0x387FC000, 0x38800000};
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> ordinary(-largest, largest);
  Words result(count);
  for (uint32_t &x : result) {
    uint32_t kind = random() % 16;
    x = kind == 0   ? kSpecial[random() % std::size(kSpecial)]
        : largest   ? std::bit_cast<uint32_t>(ordinary(random))
        : kind < 12 ? (random() & 0x807FFFFF) | (0x70 + random() % 32) << 23
                    : random();
  }
  return result;
}

/// Runs `body` for each round: %x, %y, %z are a word of the inputs each, %d is
/// stored where the lane is one of `mask`.
Words run(const std::string &body, const Words &x, const Words &y,
          const Words &z, uint32_t mask) {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[8192];
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 mask)
{
  .reg .b32 %t, %n, %m, %bit, %x, %y, %z, %d, %e, %s, %r<16>;
  .reg .f32 %f<16>; .reg .b64 %in, %out, %rd<8>;
  .reg .pred %on, %more, %p<4>; .reg .b16 %h<4>;
  mov.u32 %t, %tid.x;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  ld.param.u32 %m, [mask];
  shr.u32 %bit, %m, %t;
  and.b32 %bit, %bit, 1;
  setp.ne.u32 %on, %bit, 0;
  mad.wide.u32 %in, %t, 4, %in;
  mad.wide.u32 %out, %t, 4, %out;
  mov.u32 %s, tile;
  mov.u32 %n, )" + std::to_string(kRounds) +
                     R"(;
LOOP:
  ld.global.b32 %x, [%in];
  ld.global.b32 %y, [%in + 65536];
  ld.global.b32 %z, [%in + 131072];
  mov.b32 %d, 0x12345678;
)" + body + R"(
  st.global.b32 [%out], %d;
  add.s64 %in, %in, 128;
  add.s64 %out, %out, 128;
  sub.u32 %n, %n, 1;
  setp.ne.u32 %more, %n, 0;
  @%more bra LOOP;
  ret;
}
)";
  auto module = Module::parse(text, "variant.ptx");
  EXPECT_TRUE(module) << (module ? "" : module.error().str());
  Words out(x.size());
  if (!module)
    return out;
  Device device;
  Words all = x;
  all.insert(all.end(), y.begin(), y.end());
  all.insert(all.end(), z.begin(), z.end());
  uint64_t in = device.alloc(all.size() * 4, "in", true);
  // Behind the results is room for what a body stores.
  uint64_t to = device.alloc(out.size() * 4 + 8192, "out");
  device.write(in, all.data(), all.size() * 4);
  Report report =
      device.launch(*module, "k", {{1}, {32}},
                    {Argument::of(in), Argument::of(to), Argument::of(mask)});
  EXPECT_TRUE(report.ok()) << (report.diagnostics.empty()
                                   ? ""
                                   : report.diagnostics[0].str());
  device.read(to, out.data(), out.size() * 4);
  return out;
}

constexpr size_t kCount = 32 * kRounds;
constexpr uint32_t kMasks[] = {~0u, 0x00010000, 0xF0F1A53C, 0x7FFFFFFF};

struct Lanewise {
  const char *name, *instruction;
  uint32_t (*expected)(uint32_t x, uint32_t y, uint32_t z);
  float largest = 0; ///< of the inputs; 0 = all floats
};

uint32_t extreme(uint32_t x, uint32_t y, bool isMax) {
  float a = asFloat(x), b = asFloat(y);
  if (a != a || b != b)
    return a != a ? asBits(b) : x;
  if (a == b)
    return isMax ? x & y : x | y;
  return (a < b) == isMax ? y : x;
}

uint32_t half(float x) {
  if (x != x)
    return 0x7FFF;
  double a = std::fabs(double(x));
  uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  if (a >= 65520)
    return sign | 0x7C00;
  int e = a == 0 ? -14 : std::max(-14, int(std::floor(std::log2(a))));
  double units = std::nearbyint(std::ldexp(a, 10 - e));
  return sign | uint32_t(units + std::ldexp(double(e + 14), 10));
}

uint32_t power(uint32_t x, uint32_t, uint32_t) {
  return asBits(float(std::exp2((long double)asFloat(x))));
}
uint32_t flushedPower(uint32_t x, uint32_t y, uint32_t z) {
  uint32_t r = power(x, y, z);
  return r & 0x7F800000 ? r : 0;
}

#define SETP(op, test)                                                         \
  {                                                                            \
    "setp_" #op, "setp." #op ".f32 %p0, %x, %y; selp.b32 %d, 1, 2, %p0;",      \
        [](uint32_t x, uint32_t y, uint32_t) -> uint32_t {                     \
          float a = asFloat(x), b = asFloat(y);                                \
          [[maybe_unused]] bool u = a != a || b != b;                          \
          return (test) ? 1 : 2;                                               \
        }                                                                      \
  }
#define SETI(op, type, T, test)                                                \
  {                                                                            \
    "setp_" #op "_" type,                                                      \
        "setp." #op "." type " %p0, %x, %y; selp.b32 %d, %x, %y, %p0;",        \
        [](uint32_t x, uint32_t y, uint32_t) -> uint32_t {                     \
          T a = T(x), b = T(y);                                                \
          return (test) ? x : y;                                               \
        }                                                                      \
  }

const Lanewise kLanewise[] = {
    {"fma", "fma.rn.f32 %d, %x, %y, %z;",
     [](uint32_t x, uint32_t y, uint32_t z) {
       return asBits(std::fma(asFloat(x), asFloat(y), asFloat(z)));
     }},
    {"fma_onto_itself", "mov.b32 %d, %x; fma.rn.f32 %d, %d, %d, %d;",
     [](uint32_t x, uint32_t, uint32_t) {
       return asBits(std::fma(asFloat(x), asFloat(x), asFloat(x)));
     }},
    {"add", "add.rn.f32 %d, %x, %y;",
     [](uint32_t x, uint32_t y, uint32_t) {
       return asBits(asFloat(x) + asFloat(y));
     }},
    {"max", "max.f32 %d, %x, %y;",
     [](uint32_t x, uint32_t y, uint32_t) { return extreme(x, y, true); }},
    {"min", "min.f32 %d, %x, %y;",
     [](uint32_t x, uint32_t y, uint32_t) { return extreme(x, y, false); }},
    {"ex2", "ex2.approx.f32 %d, %x;", power, 160},
    {"ex2_small", "ex2.approx.f32 %d, %x;", power, 1},
    {"ex2_any", "ex2.approx.f32 %d, %x;", power},
    {"ex2_ftz", "ex2.approx.ftz.f32 %d, %x;", flushedPower, 160},
    {"cvt_f16x2", "cvt.rn.f16x2.f32 %d, %x, %y;",
     [](uint32_t x, uint32_t y, uint32_t) {
       return half(asFloat(x)) << 16 | half(asFloat(y));
     }},
    SETP(eq, a == b),
    SETP(ne, !u && a != b),
    SETP(lt, a < b),
    SETP(le, a <= b),
    SETP(gt, a > b),
    SETP(ge, a >= b),
    SETP(equ, u || a == b),
    SETP(neu, u || a != b),
    SETP(ltu, u || a < b),
    SETP(leu, u || a <= b),
    SETP(gtu, u || a > b),
    SETP(geu, u || a >= b),
    SETP(num, !u),
    SETP(nan, u),
    SETI(eq, "b32", uint32_t, a == b),
    SETI(ne, "b32", uint32_t, a != b),
    SETI(lt, "s32", int32_t, a < b),
    SETI(le, "s32", int32_t, a <= b),
    SETI(gt, "s32", int32_t, a > b),
    SETI(ge, "s32", int32_t, a >= b),
    SETI(lt, "u32", uint32_t, a < b),
    SETI(ge, "u32", uint32_t, a >= b),
};

class LanewiseTest : public testing::TestWithParam<Lanewise> {};

TEST_P(LanewiseTest, EqualsOneLaneAfterTheOther) {
  const Lanewise &c = GetParam();
  Words x = floats(1, kCount, c.largest), y = floats(2, kCount, c.largest),
        z = floats(3, kCount, c.largest);
  for (uint32_t mask : kMasks) {
    Words out = run(
        "@%on bra ON; bra OFF; ON: " + std::string(c.instruction) + " OFF:", x,
        y, z, mask);
    unsigned wrong = 0;
    for (size_t k = 0; k < kCount && wrong < 5; ++k) {
      uint32_t expected =
          mask >> k % 32 & 1 ? c.expected(x[k], y[k], z[k]) : 0x12345678u;
      wrong += out[k] != expected;
      EXPECT_EQ(out[k], expected)
          << std::hex << x[k] << " " << y[k] << " " << z[k] << " mask " << mask;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Variant, LanewiseTest, testing::ValuesIn(kLanewise),
                         [](const auto &p) { return p.param.name; });

/// Elements of f16 or bf16: all bits but few large ones.
float element(uint32_t h, bool isBfloat) {
  if (isBfloat)
    return asFloat(h << 16);
  uint32_t e = h >> 10 & 31, m = h & 1023;
  float r = e == 31 ? (m ? asFloat(kNaN) : asFloat(0x7F800000))
            : e     ? std::ldexp(float(1024 + m), int(e) - 25)
                    : std::ldexp(float(m), -24);
  return h & 0x8000 ? -r : r;
}

void checkProducts(bool isBfloat, unsigned depth) {
  std::string type = isBfloat ? "bf16" : "f16";
  std::string a = depth == 16 ? "{%x, %r0, %r1, %r2}" : "{%x, %r0}";
  std::string b = depth == 16 ? "{%y, %r3}" : "{%y}";
  std::mt19937 random(7);
  Words x(kCount), y(kCount), z = floats(5, kCount, 100);
  for (Words *v : {&x, &y})
    for (uint32_t &e : *v) {
      uint32_t usual = isBfloat ? 0xBF7FBF7F : 0xBBFFBBFF;
      uint32_t large = random() % 4096 ? usual : ~0u;
      e = random() & large;
    }
  // The other registers are the first ones, moved along the lanes.
  std::string body;
  for (unsigned k = 0; k < 4; ++k)
    body += "shfl.sync.idx.b32 %r" + std::to_string(k) + ", " +
            (k < 3 ? "%x, %e" : "%y, %e") + ", 31, -1;\n";
  for (unsigned k = 0; k < 4; ++k)
    body += "mov.b32 %f" + std::to_string(k) + ", %z;\n";
  body = "add.u32 %e, %t, 5; and.b32 %e, %e, 31;\n" + body;
  body += "mma.sync.aligned.m16n8k" + std::to_string(depth) + ".row.col.f32." +
          type + "." + type + ".f32 {%f4, %f5, %f6, %f7}, " + a + ", " + b +
          ", {%f0, %f1, %f2, %f3};\n";
  for (unsigned result = 0; result < 4; ++result) {
    Words out = run(body + "mov.b32 %d, %f" + std::to_string(4 + result) + ";",
                    x, y, z, ~0u);
    unsigned wrong = 0;
    for (size_t round = 0; round < kRounds; ++round)
      for (unsigned l = 0; l < 32 && wrong < 5; ++l) {
        const uint32_t *rx = &x[32 * round], *ry = &y[32 * round];
        auto word = [](const uint32_t *r, unsigned lane, bool isMoved) {
          return r[isMoved ? (lane + 5) % 32 : lane];
        };
        unsigned row = l / 4 + 8 * (result >> 1),
                 col = 2 * (l % 4) + result % 2;
        float sum = asFloat(z[32 * round + l]);
        for (unsigned k = 0; k < depth; ++k) {
          unsigned shift = 16 * (k % 2), t = k % 8 / 2;
          bool isFirstA = row < 8 && k < 8, isFirstB = k < 8;
          uint32_t ea =
              word(rx, 4 * (row % 8) + t, !isFirstA) >> shift & 0xFFFF;
          uint32_t eb = word(ry, 4 * col + t, !isFirstB) >> shift & 0xFFFF;
          sum = std::fma(element(ea, isBfloat), element(eb, isBfloat), sum);
        }
        wrong += out[32 * round + l] != asBits(sum);
        EXPECT_EQ(out[32 * round + l], asBits(sum)) << "register " << result;
      }
  }
}

TEST(VariantTest, ProductsAreChainsOfFusedMultiplyAdds) {
  for (bool isBfloat : {false, true})
    for (unsigned depth : {8u, 16u})
      checkProducts(isBfloat, depth);
}

/// Every lane stores a vector and loads that of another lane, at a distance of
/// `stride` bytes; at 0 the lanes write to the same place.
void checkVectors(const std::string &space, const std::string &type,
                  unsigned bytes, unsigned count, unsigned stride) {
  std::string place = space == "shared" ? "%s" : "%rd3";
  std::string registers, others;
  std::string v = count == 1 ? "." : ".v" + std::to_string(count) + ".";
  bool isWide = bytes == 8;
  std::string body = "mul.lo.u32 %r9, %t, " + std::to_string(stride) +
                     "; add.u32 %s, %s, %r9; cvt.u64.u32 %rd4, %r9;\n"
                     "ld.param.u64 %rd3, [out]; add.s64 %rd3, %rd3, 65536; "
                     "add.s64 %rd3, %rd3, %rd4;\n";
  for (unsigned e = 0; e < count; ++e) {
    std::string n = std::to_string(e);
    body += isWide ? "mov.b64 %rd1" + n + ", {%x, %y};\n"
                   : "add.u32 %r" + n + ", %x, " + n + ";\n";
    registers += (e ? ", " : "") + std::string(isWide ? "%rd1" : "%r") + n;
    others += (e ? ", " : "") + std::string(isWide ? "%rd2" : "%r1") + n;
  }
  body = ".reg .b64 %rd<30>;\n" + body;
  body += "st." + space + v + type + " [" + place + "], {" + registers +
          "};\nmov.b32 %d, 0;\nld." + space + v + type + " {" + others +
          "}, [" + place + "];\n";
  for (unsigned e = 0; e < count; ++e) {
    std::string n = std::to_string(e);
    if (isWide)
      body += "mov.b64 {%r8, %r9}, %rd2" + n + "; xor.b32 %d, %d, %r8;";
    else
      body += "xor.b32 %d, %d, %r1" + n + ";";
  }
  body += " mov.u32 %s, tile;";
  // Declarations stand in a block of their own in each round.
  Words x = floats(11, kCount), y = floats(12, kCount);
  Words out = run("{ " + body + " }", x, y, y, ~0u);
  uint32_t low = bytes >= 4 ? ~0u : (1u << 8 * bytes) - 1;
  for (size_t k = 0; k < kCount; ++k) {
    uint32_t own = stride ? x[k] : x[k | 31], expected = 0;
    for (unsigned e = 0; e < count; ++e)
      expected ^= (isWide ? own : own + e) & low;
    ASSERT_EQ(out[k], expected) << space << v << type << " " << stride;
  }
}

TEST(VariantTest, VectorsReturnFromMemory) {
  static const struct {
    const char *type;
    unsigned bytes, count;
  } kForms[] = {{"u8", 1, 1},  {"u8", 1, 4},  {"u16", 2, 1},
                {"u16", 2, 2}, {"b32", 4, 1}, {"b32", 4, 2},
                {"b32", 4, 4}, {"b64", 8, 1}, {"b64", 8, 2}};
  for (const char *space : {"shared", "global"})
    for (auto &form : kForms) {
      unsigned whole = form.bytes * form.count;
      for (unsigned stride : {whole, 2 * whole, 3 * whole, 0u})
        checkVectors(space, form.type, form.bytes, form.count, stride);
    }
}
} // namespace
