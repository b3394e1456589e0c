//===- ApproximateTest.cpp - results inside the ISA's bounds --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Approximate functions under --approx=exact and adversarial:SEED against the
// C library in f64 and the bounds of the PTX ISA 9.1, sections 9.7.3 and 4.
//
//===----------------------------------------------------------------------===//
#include "ConvertAll.h"

#include <functional>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
double ulp(double x) {
  return std::ldexp(1, std::max(std::ilogb(x), -126) - 23);
}

struct FunctionCase {
  const char *code;
  double (*value)(double);
  /// From x and the value: the allowed error.
  double (*bound)(double, double);
  double low, high; ///< of |x|, chosen by exponent
  bool isPositive;
};

const FunctionCase kFunctions[] = {
    {"ex2.approx.f32 %y, %x;", [](double x) { return std::exp2(x); },
     [](double, double r) { return 2 * ulp(r); }, 0x1p-20, 120, false},
    {"rcp.approx.f32 %y, %x;", [](double x) { return 1 / x; },
     [](double, double r) { return ulp(r); }, 0x1p-100, 0x1p100, false},
    {"sqrt.approx.f32 %y, %x;", [](double x) { return std::sqrt(x); },
     [](double, double r) { return std::ldexp(r, -23); }, 0x1p-100, 0x1p100,
     true},
    {"rsqrt.approx.f32 %y, %x;", [](double x) { return 1 / std::sqrt(x); },
     [](double, double r) { return r * std::exp2(-22.9); }, 0x1p-100, 0x1p100,
     true},
    {"lg2.approx.f32 %y, %x;", [](double x) { return std::log2(x); },
     [](double x, double r) {
       return std::ldexp(x > 0.5 && x < 2 ? 1 : std::fabs(r), -22);
     },
     0x1p-8, 0x1p8, true},
    {"sin.approx.f32 %y, %x;", [](double x) { return std::sin(x); },
     [](double, double) { return std::exp2(-20.5); }, 0x1p-4, 6.28, false},
    {"cos.approx.f32 %y, %x;", [](double x) { return std::cos(x); },
     [](double, double) { return std::exp2(-20.5); }, 0x1p-4, 6.28, false},
    {"tanh.approx.f32 %y, %x;", [](double x) { return std::tanh(x); },
     [](double, double r) { return std::ldexp(std::fabs(r), -11); }, 0x1p-10,
     20, false},
    {"mov.b32 %r0, 0f40490FDB; div.approx.f32 %y, %r0, %x;",
     [](double x) { return double(0x1.921fb6p1f) / x; },
     [](double, double r) { return 2 * ulp(r); }, 0x1p-90, 0x1p90, false},
    {"mov.b32 %r0, 0f40490FDB; div.full.f32 %y, %r0, %x;",
     [](double x) { return double(0x1.921fb6p1f) / x; },
     [](double, double r) { return 2 * ulp(r); }, 0x1p-90, 0x1p90, false},
};

std::vector<uint32_t> arguments(const FunctionCase &f) {
  Random random{11};
  std::vector<uint32_t> in;
  double l = std::log2(f.low), h = std::log2(f.high);
  for (unsigned i = 0; i < 2048; ++i) {
    double x = std::exp2(l + (h - l) * random.below(1 << 20) / (1 << 20));
    in.push_back(bits(float(f.isPositive || random.below(2) ? x : -x)));
  }
  return in;
}

DeviceOptions adversarial(uint64_t seed) {
  DeviceOptions options;
  options.approx = {true, seed};
  return options;
}

TEST(Approximate, exactIsTheNearest) {
  for (const FunctionCase &f : kFunctions) {
    auto in = arguments(f);
    auto got = convertAll(f.code, in);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(asFloat(got[i]), float(f.value(asFloat(in[i])))) << f.code;
  }
}

TEST(Approximate, adversarialStaysInsideTheBoundAndUsesIt) {
  for (const FunctionCase &f : kFunctions) {
    auto in = arguments(f);
    auto exact = convertAll(f.code, in);
    auto first = convertAll(f.code, in, adversarial(1));
    auto again = convertAll(f.code, in, adversarial(1));
    auto second = convertAll(f.code, in, adversarial(2));
    EXPECT_EQ(first, again) << f.code;
    EXPECT_NE(first, second) << f.code;
    unsigned moved = 0;
    double worst = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      double x = asFloat(in[i]), want = f.value(x);
      double error = std::fabs(asFloat(first[i]) - want);
      ASSERT_LE(error, f.bound(x, want)) << f.code << " " << x;
      worst = std::max(worst, error / f.bound(x, want));
      moved += first[i] != exact[i];
    }
    EXPECT_GT(moved, in.size() / 4) << f.code;
    EXPECT_GT(worst, 0.75) << f.code;
  }
}

TEST(Approximate, whatTheTablesFixStays) {
  const std::tuple<const char *, uint32_t, uint32_t> kFixed[] = {
      {"ex2.approx.f32 %y, %x;", 0, 0x3F800000},
      {"ex2.approx.f32 %y, %x;", 0xFF800000, 0},
      {"ex2.approx.f32 %y, %x;", 0x7F800000, 0x7F800000},
      {"rcp.approx.f32 %y, %x;", 0x80000000, 0xFF800000},
      {"rcp.approx.f32 %y, %x;", 0xFF800000, 0x80000000},
      {"rsqrt.approx.f32 %y, %x;", 0x80000000, 0xFF800000},
      {"rsqrt.approx.f32 %y, %x;", 0xBF800000, 0x7FFFFFFF},
      {"sqrt.approx.f32 %y, %x;", 0x80000000, 0x80000000},
      {"lg2.approx.f32 %y, %x;", 0, 0xFF800000},
      {"lg2.approx.f32 %y, %x;", 0xBF800000, 0x7FFFFFFF},
      {"sin.approx.f32 %y, %x;", 0x80000000, 0x80000000},
      {"cos.approx.f32 %y, %x;", 0, 0x3F800000},
      {"tanh.approx.f32 %y, %x;", 0xFF800000, 0xBF800000},
      {"tanh.approx.f32 %y, %x;", 0x80000007, 0x80000007},
      {"div.approx.f32 %y, %x, 0f7F000000;", 0x3F800000, 0},
      {"div.approx.f32 %y, %x, 0f7F000000;", 0x7F800000, 0x7FFFFFFF},
  };
  for (auto [code, x, want] : kFixed)
    for (bool isAdversarial : {false, true}) {
      auto got = convertAll(code, std::vector<uint32_t>(32, x),
                            isAdversarial ? adversarial(3) : DeviceOptions{});
      EXPECT_EQ(got[0], want) << code << " " << std::hex << x;
    }
}

TEST(Approximate, halvesStayInsideTheirBounds) {
  std::vector<uint32_t> all = every16Bits();
  struct {
    const char *code;
    const FloatFormat &format;
    double (*value)(double);
    double (*bound)(double);
  } kHalves[] = {{"ex2.approx.f16 %h, %h; cvt.u32.u16 %y, %h;", kF16,
                  [](double x) { return std::exp2(x); },
                  [](double r) { return r * std::exp2(-9.9); }},
                 {"ex2.approx.ftz.bf16 %h, %h; cvt.u32.u16 %y, %h;", kBF16,
                  [](double x) { return std::exp2(x); },
                  [](double r) { return r * std::exp2(-7.0); }},
                 {"tanh.approx.f16 %h, %h; cvt.u32.u16 %y, %h;", kF16,
                  [](double x) { return std::tanh(x); },
                  [](double) { return std::exp2(-10.987); }},
                 {"tanh.approx.bf16 %h, %h; cvt.u32.u16 %y, %h;", kBF16,
                  [](double x) { return std::tanh(x); },
                  [](double) { return std::exp2(-8.0); }}};
  for (auto &f : kHalves)
    for (const DeviceOptions &options : {DeviceOptions{}, adversarial(5)}) {
      auto got = convertAll(f.code, all, options);
      for (uint32_t x = 0; x < 65536; ++x) {
        double v = f.format.value(x), want = f.value(v);
        double r = f.format.value(got[x]);
        if (std::isnan(v)) {
          ASSERT_EQ(got[x], 0x7FFFu);
          continue;
        }
        // Below the normal numbers a step is larger than the relative bound.
        double step = std::ldexp(1, f.format.leastExponent() -
                                        int(f.format.fractionBits));
        double bound = std::max(f.bound(want), step);
        if (std::isfinite(r))
          ASSERT_LE(std::fabs(r - want), bound) << f.code << " " << v;
        else
          ASSERT_GE(want, f.format.value(f.format.largest())) << f.code;
      }
    }
}

TEST(Approximate, namesAreParsed) {
  EXPECT_FALSE(ApproxPolicy::parse("exact")->isAdversarial);
  EXPECT_EQ(ApproxPolicy::parse("adversarial:17")->seed, 17u);
  for (const char *text : {"adversarial", "adversarial:", "adversarial:-1",
                           "adversarial:1x", "fast"})
    EXPECT_FALSE(ApproxPolicy::parse(text)) << text;
}
} // namespace
