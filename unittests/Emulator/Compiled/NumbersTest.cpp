//===- NumbersTest.cpp - arithmetic by nvcc -------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/numbers.cu: integers bit for bit, functions of the maths
// library within their documented errors.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <bit>
#include <cfenv>
#include <cmath>

using namespace ptxvm::test;

static const std::vector<std::string> kAll = {"sm_80", "sm_90a"};
static const char *const kFile = "CUDA/Inputs/numbers";

static int64_t high(int64_t a, int64_t b) {
  return int64_t((__int128)a * b >> 64);
}

TEST(Numbers, integers) {
  std::mt19937_64 random(1);
  std::vector<int> a, b;
  std::vector<int64_t> c, d, want;
  for (int t = 0; t < 32; ++t) {
    int x = int(random()), y = int(random()) >> random() % 28;
    int64_t p = int64_t(random()), q = int64_t(random()) >> random() % 60;
    y = y ? y : 1;
    q = q ? q : 1;
    a.push_back(x);
    b.push_back(y);
    c.push_back(p);
    d.push_back(q);
    uint32_t ux = uint32_t(x), uy = uint32_t(y);
    uint64_t up = uint64_t(p), uq = uint64_t(q);
    int64_t unsignedHigh = int64_t((unsigned __int128)up * uq >> 64);
    int64_t parts[] = {x / y,
                       x % y,
                       ux / uy,
                       ux % uy,
                       p / q,
                       p % q,
                       int64_t(up / uq),
                       int64_t(up % uq),
                       high(p, q) ^ unsignedHigh ^ (int64_t(x) * y >> 32),
                       int64_t(uint32_t(x / 7) + ux / 10) + p / 1000000007 +
                           short(x) / 3 + int8_t(x) / 5,
                       int64_t((__int128)p * q >> 37),
                       int64_t(up * uq + uint64_t(int64_t(x) * y >> 3))};
    want.insert(want.end(), std::begin(parts), std::end(parts));
  }
  forAll(kFile, {"sm_80", "sm_89", "sm_90a"}, [&](Session &r) {
    uint64_t p = r.in(a), q = r.in(b), s = r.in(c), t = r.in(d),
             o = r.out<int64_t>(want.size());
    r.launch("integers", {1}, {32}, 0, p, q, s, t, o);
    EXPECT_EQ(r.read<int64_t>(o), want);
  });
}

static uint32_t reversed(uint32_t x) {
  uint32_t r = 0;
  for (int b = 0; b < 32; ++b)
    r |= (x >> b & 1) << (31 - b);
  return r;
}
static uint32_t bytePermute(uint32_t x, uint32_t y, uint32_t selector) {
  uint64_t all = uint64_t(y) << 32 | x;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; ++k)
    r |= uint32_t(all >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k;
  return r;
}
template <typename F> static uint32_t eachByte(uint32_t x, uint32_t y, F f) {
  uint32_t r = 0;
  for (unsigned k = 0; k < 32; k += 8)
    r |= (uint32_t(f(int(x >> k & 255), int(y >> k & 255))) & 255) << k;
  return r;
}

TEST(Numbers, bits) {
  std::mt19937 random(2);
  std::vector<uint32_t> a, b, want;
  for (int t = 0; t < 64; ++t) {
    uint32_t x = random() >> random() % 32, y = random() >> random() % 32;
    if (t == 7)
      x = 0;
    if (t == 9)
      x = y = 0;
    a.push_back(x);
    b.push_back(y);
    uint64_t w = uint64_t(x) << 32 | y;
    int sx = int(x), sy = int(y);
    uint32_t dot = uint32_t(-5), udot = 9, n = y & 31, c = y & 63;
    for (unsigned k = 0; k < 32; k += 8) {
      dot += uint32_t(int8_t(x >> k) * int8_t(y >> k));
      udot += (x >> k & 255) * (y >> k & 255);
    }
    auto ffs = [](uint64_t v) { return v ? std::countr_zero(v) + 1 : 0; };
    uint64_t w2 = uint64_t(y) << 32 | x;
    uint64_t reversedLong = uint64_t(reversed(y)) << 32 | reversed(x);
    int64_t half = (int64_t(sx) + sy + 1) >> 1;
    uint32_t low = uint32_t(int64_t(sx << 8 >> 8) * (sy << 8 >> 8)),
             ulow = (x & 0xFFFFFF) * (y & 0xFFFFFF);
    uint32_t parts[] = {
        uint32_t(std::popcount(x) + 100 * std::popcount(w)),
        uint32_t(std::countl_zero(x) + 100 * std::countl_zero(w)),
        uint32_t(ffs(x) + 100 * ffs(w)),
        reversed(x) ^ uint32_t(reversedLong >> 7),
        bytePermute(x, y, 0x5410 + (y & 0x2222)),
        uint32_t(w2 << n >> 32),
        c >= 32 ? y : uint32_t(w2 >> c),
        dot,
        udot,
        eachByte(x, y, [](int p, int q) { return p + q; }) ^
            eachByte(x, y, [](int p, int q) { return (p + q + 1) / 2; }),
        uint32_t(std::llabs(int64_t(sx) - sy)) + 3 +
            uint32_t(std::llabs(int64_t(x) - int64_t(y))) + 7,
        uint32_t((uint64_t(x) + y) >> 1) ^ uint32_t(half),
        (x & y) | ((~x & 0xF0F0F0F0) ^ y),
        x << n | y >> (x & 31),
        uint32_t(sx >> n),
        low + ulow};
    want.insert(want.end(), std::begin(parts), std::end(parts));
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(a), y = r.in(b), o = r.out<uint32_t>(want.size());
    r.launch("bits", {1}, {64}, 0, x, y, o);
    EXPECT_EQ(r.read<uint32_t>(o), want);
  });
}

TEST(Numbers, functions) {
  std::vector<float> in, want;
  for (int t = 0; t < 32; ++t) {
    float x = 0.03f + 0.31f * float(t);
    in.push_back(x);
    double v = x;
    double parts[] = {std::exp(v),
                      std::log(v),
                      std::sin(v),
                      std::cos(v),
                      std::pow(v, 1.7),
                      std::sqrt(v),
                      1 / std::sqrt(v),
                      1 / v,
                      3 / (v + 0.5),
                      std::tanh(v),
                      std::erf(v),
                      std::atan2(v, 2.0),
                      std::fmod(double(10 * x), 3.0),
                      std::floor(v) + std::ceil(v) + std::round(v) +
                          std::trunc(v) + std::rint(v),
                      std::hypot(v, 3.0),
                      std::cbrt(v),
                      std::log1p(v),
                      std::exp2(v),
                      std::lgamma(v + 1),
                      std::exp(v),
                      std::log(v),
                      std::sin(v),
                      v / 3,
                      v * 32 + std::fmax(v, 2) - std::fmin(v, 2) + v - v};
    want.insert(want.end(), std::begin(parts), std::end(parts));
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<float>(want.size());
    r.launch("functions", {1}, {32}, 0, x, y);
    std::vector<float> got = r.read<float>(y);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 4e-6f * std::max(1.0f, std::fabs(want[i])))
          << "result " << i % 24 << " of " << in[i / 24];
  });
}

TEST(Numbers, doubles) {
  std::vector<double> in, want;
  for (int t = 0; t < 32; ++t) {
    double x = 0.03 + 0.31 * t;
    in.push_back(x);
    double up = x * 1.1;
    double parts[] = {
        std::exp(x),
        std::log(x),
        std::sin(x),
        std::cos(x),
        std::pow(x, 1.7),
        std::sqrt(x),
        1 / std::sqrt(x),
        1 / x,
        3 / (x + 0.5),
        std::tanh(x),
        std::fma(x, x, -x),
        std::floor(x) + std::ceil(x) + std::round(x) + std::trunc(x) +
            std::rint(x),
        std::fmod(10 * x, 3.0),
        x * 1e200 * 1e-200 + double(float(x)),
        double(int64_t(x * 1e9) + int64_t(uint32_t(x * 7)) + int(-x)),
        x - up - x};
    want.insert(want.end(), std::begin(parts), std::end(parts));
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<double>(want.size());
    r.launch("doubles", {1}, {32}, 0, x, y);
    std::vector<double> got = r.read<double>(y);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 4e-15 * std::max(1.0, std::fabs(want[i])))
          << "result " << i % 16 << " of " << in[i / 16];
  });
}

static uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }

/// An operation under another rounding of the host.
template <typename F> [[gnu::noinline]] static uint32_t under(int mode, F f) {
  std::fesetround(mode);
  volatile float r = f();
  std::fesetround(FE_TONEAREST);
  return bitsOf(r);
}

TEST(Numbers, roundings) {
  std::mt19937 random(3);
  std::vector<float> in(64);
  for (float &x : in)
    x = std::bit_cast<float>(uint32_t(random() & 0x83FFFFFF) + 0x3E000000);
  std::vector<uint32_t> want;
  for (size_t t = 0; t < 32; ++t) {
    volatile float x = in[t], y = in[t + 32];
    auto half = [](float v) { return float((_Float16)v); };
    auto bfloat = [](float v) {
      uint32_t b = bitsOf(v);
      return std::bit_cast<float>((b + 0x7FFF + (b >> 16 & 1)) & 0xFFFF0000);
    };
    volatile uint32_t ybits = bitsOf(y);
    uint32_t parts[] = {
        under(FE_TOWARDZERO, [&] { return x + y; }),
        under(FE_UPWARD, [&] { return x + y; }),
        under(FE_DOWNWARD, [&] { return x * y; }),
        bitsOf(std::fma(float(x), float(y), 1.25f)),
        under(FE_TOWARDZERO,
              [&] { return std::fma(float(x), float(y), 1.25f); }),
        bitsOf(x / y),
        bitsOf(std::sqrt(std::fabs(float(x)))),
        bitsOf(1 / x),
        uint32_t(int(std::rint(x))) ^ uint32_t(int(y)) << 8,
        uint32_t(int(std::ceil(x))) ^ uint32_t(int(std::floor(y))) << 8,
        uint32_t(std::rint(std::fabs(float(x)))),
        bitsOf(float(int(bitsOf(x)))),
        under(FE_TOWARDZERO, [&] { return float(uint32_t(ybits)); }),
        bitsOf(half(x)),
        bitsOf(bfloat(x)),
        bitsOf(std::fmin(std::fmax(float(x), 0.0f), 1.0f))};
    want.insert(want.end(), std::begin(parts), std::end(parts));
  }
  forAll(kFile, kAll, [&](Session &r) {
    uint64_t x = r.in(in), y = r.out<uint32_t>(want.size());
    r.launch("roundings", {1}, {32}, 0, x, y);
    std::vector<uint32_t> got = r.read<uint32_t>(y);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(got[i], want[i]) << "result " << i % 16 << " of " << i / 16;
  });
}

/// Results of `float` arithmetic on the halves of a pair, rounded at the end.
template <typename Wide, typename Narrow>
static void packed(const std::string &kernel, unsigned each, Wide wide,
                   Narrow narrow, bool isHalf,
                   const std::vector<std::string> &arches) {
  std::vector<uint32_t> a, b, want;
  std::vector<int> numbers = integers(256, -40, 40);
  auto word = [&](size_t i) {
    return narrow(float(numbers[i]) / 8) | narrow(float(numbers[i + 1]) / 8)
                                               << 16;
  };
  for (size_t t = 0; t < 32; ++t) {
    uint32_t x = word(4 * t), y = word(4 * t + 2);
    a.push_back(x);
    b.push_back(y);
    uint32_t results[10] = {};
    for (unsigned shift : {0u, 16u}) {
      float p = wide(x >> shift & 0xFFFF), q = wide(y >> shift & 0xFFFF);
      float fused = std::fma(p, q, p);
      float values[10] = {
          p + q,           p * q,         fused, p - q, std::fmax(p, q),
          std::fmin(p, q), float(p == q), 0,     0,     0};
      if (isHalf) {
        values[5] = std::fmin(p, -q);
        values[6] = float(p > q);
        values[7] = std::fabs(p);
        values[8] = std::fmax(fused, 0.0f);
        values[9] = wide(x >> (16 - shift) & 0xFFFF);
      } else {
        values[7] = shift ? q : p / 3;
        if (shift)
          values[7] = wide(y >> 16);
      }
      for (unsigned k = 0; k < each; ++k)
        results[k] |= narrow(values[k]) << shift;
    }
    want.insert(want.end(), results, results + each);
  }
  forAll(kFile, arches, [&](Session &r) {
    uint64_t x = r.in(a), y = r.in(b), o = r.out<uint32_t>(want.size());
    r.launch(kernel, {1}, {32}, 0, x, y, o);
    std::vector<uint32_t> got = r.read<uint32_t>(o);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(got[i], want[i]) << "result " << i % each << " of " << i / each;
  });
}

TEST(Numbers, halves) {
  packed(
      "halves", 10,
      [](uint32_t h) { return float(std::bit_cast<_Float16>(uint16_t(h))); },
      [](float f) { return uint32_t(std::bit_cast<uint16_t>(_Float16(f))); },
      true, kAll);
}

TEST(Numbers, bfloats) {
  packed(
      "bfloats", 8, [](uint32_t h) { return std::bit_cast<float>(h << 16); },
      [](float f) {
        uint32_t b = bitsOf(f);
        return (b + 0x7FFF + (b >> 16 & 1)) >> 16;
      },
      false, kAll);
}

TEST(Numbers, smallFloats) {
  std::vector<float> in = {0,      1,      -1.5f,  0.3f,    448,     449, 1e9f,
                           -1e9f,  17,     0.002f, -0.001f, 3.14f,   100, 61440,
                           57344,  1e-6f,  2.75f,  -7.25f,  0.0625f, 240, -0.0f,
                           5.5f,   33,     1e-5f,  300,     19,      21,  23,
                           -19.5f, 0.017f, 0.9f,   12345};
  struct Format {
    int fraction, bias;
    float most;
  };
  // The nearest number of the format, ties to even, saturated.
  auto round = [](float x, Format f) {
    float m = std::fabs(x);
    if (m == 0)
      return x;
    int e = std::max(std::ilogb(m), 1 - f.bias);
    float unit = std::ldexp(1.0f, e - f.fraction);
    return std::copysign(std::min(std::rint(m / unit) * unit, f.most), x);
  };
  std::vector<float> want;
  for (float x : in) {
    want.push_back(round(x, {3, 7, 448}));
    want.push_back(round(x, {2, 15, 57344}));
  }
  forAll(kFile, {"sm_80", "sm_89", "sm_90a"}, [&](Session &r) {
    uint64_t x = r.in(in), bytes = r.out<uint8_t>(64), y = r.out<float>(64);
    r.launch("small_floats", {1}, {32}, 0, x, bytes, y);
    EXPECT_EQ(r.read<float>(y), want);
  });
}
