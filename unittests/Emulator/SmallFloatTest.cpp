//===- SmallFloatTest.cpp - all values of the small formats ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every bit pattern of f16, bf16, e4m3 and e5m2 in and out of the machine, and
// tf32 on sampled f32, against the formats' definitions (SmallFloats.h).
// CudaConvertTest.cpp asks the toolkit's headers the same.
//
//===----------------------------------------------------------------------===//
#include "ConvertAll.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
/// The value as f32 bits; NaNs are the canonical one.
uint32_t widened(const FloatFormat &f, uint32_t x) {
  return f.isNaN(x) ? 0x7FFFFFFF : bits(float(f.value(x)));
}

TEST(SmallFloat, every16BitPatternWidens) {
  std::vector<uint32_t> all = every16Bits();
  auto half = convertAll("cvt.f32.f16 %y, %h;", all);
  auto bfloat = convertAll("cvt.f32.bf16 %y, %h;", all);
  for (uint32_t x = 0; x < 65536; ++x) {
    ASSERT_EQ(half[x], widened(kF16, x)) << x;
    ASSERT_EQ(bfloat[x], widened(kBF16, x)) << x;
  }
}

TEST(SmallFloat, everyFp8Widens) {
  std::vector<uint32_t> all = every16Bits();
  for (const FloatFormat *f : {&kE4M3, &kE5M2}) {
    auto got =
        convertAll("cvt.rn.f16x2." + std::string(f->name) + "x2 %y, %h;", all);
    for (uint32_t x = 0; x < 65536; ++x)
      for (uint32_t j : {0u, 8u}) {
        uint32_t byte = x >> j & 255, half = got[x] >> 2 * j & 0xFFFF;
        uint32_t want =
            f->isNaN(byte) ? 0x7FFF : kF16.nearest(f->value(byte), false);
        ASSERT_EQ(half, want) << f->name << " " << byte;
      }
  }
}

/// f32 around every value of a format: itself, the middle to its neighbour, and
/// next to both; then special values.
std::vector<uint32_t> neighbourhood(const FloatFormat &f) {
  std::vector<uint32_t> result = {0x7F800000, 0xFF800000, 0x7FC00000,
                                  0xFFFFFFFF, 0x7F7FFFFF, 0xFF7FFFFF,
                                  0x00000001, 0x80000001, 0x7F800001};
  for (uint32_t x = 0; x <= f.largest(); ++x)
    for (double sign : {1.0, -1.0}) {
      double next =
          x < f.largest() ? f.value(x + 1) : 2 * f.value(x) - f.value(x - 1);
      for (double v : {f.value(x), (f.value(x) + next) / 2}) {
        float exact = float(sign * v);
        for (float y : {exact, std::nextafterf(exact, INFINITY),
                        std::nextafterf(exact, -INFINITY)})
          result.push_back(bits(y));
      }
    }
  while (result.size() % 32)
    result.push_back(0);
  return result;
}

/// The format's number for an f32, as the conversion instructions give it.
uint32_t narrowed(const FloatFormat &f, uint32_t x, bool saturates) {
  float v = asFloat(x);
  if (std::isnan(v))
    return f.bits() == 8 ? 0x7F : 0x7FFF;
  if (std::isinf(v) && !saturates)
    return f.nearest(std::copysign(1e300, v), false);
  return f.nearest(v, saturates);
}

TEST(SmallFloat, narrowingGoesToTheNearest) {
  for (const FloatFormat *f : {&kF16, &kBF16}) {
    auto in = neighbourhood(*f);
    auto got =
        convertAll("cvt.rn." + std::string(f->name) + "x2.f32 %y, %x, %x;", in);
    auto saturated = convertAll(
        "cvt.rn.satfinite." + std::string(f->name) + "x2.f32 %y, %x, %x;", in);
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(got[i], narrowed(*f, in[i], false) * 0x10001)
          << f->name << " " << std::hex << in[i];
      ASSERT_EQ(saturated[i], narrowed(*f, in[i], true) * 0x10001)
          << f->name << " " << std::hex << in[i];
    }
  }
  for (const FloatFormat *f : {&kE4M3, &kE5M2}) {
    auto in = neighbourhood(*f);
    auto got = convertAll("cvt.rn.satfinite." + std::string(f->name) +
                              "x2.f32 %h, %x, %x; cvt.u32.u16 %y, %h;",
                          in);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(got[i], narrowed(*f, in[i], true) * 0x101)
          << f->name << " " << std::hex << in[i];
  }
}

TEST(SmallFloat, everyHalfNarrowsToFp8) {
  std::vector<uint32_t> all = every16Bits();
  for (const FloatFormat *f : {&kE4M3, &kE5M2}) {
    auto got = convertAll("mov.b32 %x, {%h, %h}; cvt.rn.satfinite." +
                              std::string(f->name) +
                              "x2.f16x2 %h, %x; cvt.u32.u16 %y, %h;",
                          all);
    for (uint32_t x = 0; x < 65536; ++x)
      ASSERT_EQ(got[x], narrowed(*f, widened(kF16, x), true) * 0x101)
          << f->name << " " << x;
  }
}

TEST(SmallFloat, tf32RoundsAwayAtTies) {
  Random random{7};
  std::vector<uint32_t> in;
  for (unsigned i = 0; i < 65536; ++i) {
    uint32_t x = uint32_t(random.next());
    in.push_back(random.below(4) ? x : (x & 0xFFFFE000) | 0x1000);
  }
  auto away = convertAll("cvt.rna.tf32.f32 %y, %x;", in);
  auto even = convertAll("cvt.rn.tf32.f32 %y, %x;", in);
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::isnan(asFloat(in[i]))) {
      ASSERT_EQ(away[i], 0x7FFFFFFFu);
      continue;
    }
    // Adding half a unit to the magnitude's pattern carries as it should.
    ASSERT_EQ(away[i], std::isinf(asFloat(in[i]))
                           ? in[i]
                           : (in[i] + 0x1000) & 0xFFFFE000)
        << std::hex << in[i];
    uint32_t nearest = kTF32.nearest(asFloat(in[i]), false);
    ASSERT_EQ(even[i] >> 13, nearest) << std::hex << in[i];
  }
}
} // namespace
