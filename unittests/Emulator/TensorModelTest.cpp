//===- TensorModelTest.cpp - the truncating tensor cores ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --tensor-model=ampere|hopper against the description of the model, written
// twice more: on the fields of the formats with 128-bit integers, and on exact
// rational numbers that know nothing of formats but where they round. All three
// agree bit for bit, also on exponents far apart, subnormals, cancellation,
// infinities and NaNs.
//
//===----------------------------------------------------------------------===//
#include "MmaHarness.h"
#include "SmallFloats.h"

#include <algorithm>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
__extension__ typedef __int128 Wide;

constexpr uint32_t kInfinity32 = 0x7F800000, kNaN32 = 0x7FFFFFFF;

/// What a chip does for a type: products a step, bits behind the point, and
/// the fraction bits of its f32 results.
struct Chip {
  unsigned block, fraction, resultBits;
};
Chip chipOf(TensorModel model, const FloatFormat &f, unsigned bits) {
  bool isHopper = model == TensorModel::Hopper;
  unsigned bytesOfStep = isHopper ? 32 : 16;
  Chip chip{bytesOfStep * 8 / bits, isHopper ? 25u : 24u, 23};
  if (f.bits() == 8 && !isHopper)
    chip = {16, 13, 13};
  return chip;
}

bool isBelow(double x, double y) { return std::fabs(x) < std::fabs(y); }

//===-- first: integers on the fields ------------------------------------===//

struct Field {
  bool isNaN = false, isInfinite = false, isNegative = false;
  int64_t significand = 0; ///< value = significand * 2^(exponent - fraction)
  int exponent = 0;
};
Field fieldOf(const FloatFormat &f, uint32_t x) {
  Field r;
  uint32_t top = (1u << f.exponentBits) - 1;
  uint32_t e = x >> f.fractionBits & top;
  uint32_t m = x & ((1u << f.fractionBits) - 1);
  r.isNegative = x >> (f.bits() - 1) & 1;
  r.isNaN = f.isNaN(x);
  r.isInfinite = f.hasInfinity && e == top && m == 0;
  r.significand = e ? m | 1u << f.fractionBits : m;
  r.exponent = e ? int(e) - f.bias() : f.leastExponent();
  return r;
}

/// Magnitude 2^unit * m to `bits` fraction bits; the f32 pattern.
uint32_t packToward0(Wide m, int unit, unsigned bits) {
  if (m == 0)
    return 0;
  int length = 0;
  while (m >> length)
    ++length;
  int exponent = std::max(unit + length - 1, -126);
  int drop = exponent - int(bits) - unit;
  if (drop > 0)
    m = drop > 100 ? 0 : m >> drop << drop;
  if (exponent > 127)
    return kInfinity32;
  // In units of 2^(exponent - 23).
  int shift = exponent - 23 - unit;
  Wide s = shift >= 0 ? (shift > 100 ? 0 : m >> shift) : m << -shift;
  bool isNormal = s >> 23 & 1;
  return uint32_t(s & 0x7FFFFF) |
         (isNormal ? uint32_t(exponent + 127) << 23 : 0);
}
uint32_t packNearestHalf(Wide m, int unit) {
  if (m == 0)
    return 0;
  int length = 0;
  while (m >> length)
    ++length;
  int exponent = std::max(unit + length - 1, -14), drop = exponent - 10 - unit;
  if (drop > 0) {
    if (drop > 100)
      return 0;
    Wide low = m & ((Wide(1) << drop) - 1), half = Wide(1) << (drop - 1);
    m >>= drop;
    m += low > half || (low == half && (m & 1));
  } else {
    m <<= -drop;
  }
  // Adding carries into the exponent.
  int64_t bits = int64_t(m) + (int64_t(exponent + 14) << 10);
  return uint32_t(std::min<int64_t>(bits, 0x7C00));
}

uint32_t integerModel(const Chip &chip, const FloatFormat &fa,
                      const FloatFormat &fb, const FloatFormat &fc,
                      const std::vector<uint32_t> &a,
                      const std::vector<uint32_t> &b, uint32_t c) {
  bool isHalf = fc.bits() == 16;
  for (size_t k = 0; k < a.size(); k += chip.block) {
    struct Term {
      bool isNegative;
      int64_t significand;
      int exponent, fraction;
    };
    std::vector<Term> terms;
    bool isNaN = false, plus = false, minus = false;
    size_t end = std::min<size_t>(a.size(), k + chip.block);
    for (size_t j = k; j < end; ++j) {
      Field x = fieldOf(fa, a[j]), y = fieldOf(fb, b[j]);
      bool sign = x.isNegative != y.isNegative;
      isNaN |= x.isNaN || y.isNaN ||
               (x.isInfinite && !y.significand && !y.isInfinite) ||
               (y.isInfinite && !x.significand && !x.isInfinite);
      if (x.isInfinite || y.isInfinite)
        (sign ? minus : plus) = true;
      else
        terms.push_back({sign, x.significand * y.significand,
                         x.exponent + y.exponent,
                         int(fa.fractionBits + fb.fractionBits)});
    }
    Field z = fieldOf(fc, c);
    isNaN |= z.isNaN;
    if (z.isInfinite)
      (z.isNegative ? minus : plus) = true;
    else
      terms.push_back(
          {z.isNegative, z.significand, z.exponent, int(fc.fractionBits)});
    if (isNaN || (plus && minus))
      return isHalf ? 0x7FFF : kNaN32;
    if (plus || minus) {
      c = isHalf ? (minus ? 0xFC00 : 0x7C00)
                 : kInfinity32 | uint32_t(minus) << 31;
      continue;
    }
    int top = -1000;
    for (const Term &t : terms)
      if (t.significand)
        top = std::max(top, t.exponent);
    Wide sum = 0;
    for (const Term &t : terms) {
      // In units of 2^(top - F).
      int shift = t.exponent - t.fraction - (top - int(chip.fraction));
      Wide m = shift >= 0 ? Wide(t.significand) << (t.significand ? shift : 0)
                          : (shift < -100 ? 0 : Wide(t.significand) >> -shift);
      sum += t.isNegative ? -m : m;
    }
    bool isNegative = sum < 0;
    Wide m = isNegative ? -sum : sum;
    int unit = top - int(chip.fraction);
    c = isHalf ? packNearestHalf(m, unit) | uint32_t(isNegative) << 15
               : packToward0(m, unit, chip.resultBits) | uint32_t(isNegative)
                                                             << 31;
    if (m == 0)
      c = 0;
    else if (!(c & (isHalf ? 0x7FFF : 0x7FFFFFFF)))
      c = isNegative ? (isHalf ? 0x8000 : 0x80000000u) : 0;
  }
  return c;
}

//===-- second: exact rationals ------------------------------------------===//

/// sign * limbs * 2^-600: room for every product and sum here.
class Exact {
public:
  static constexpr int kScale = 600, kLimbs = 40;

  Exact() = default;
  explicit Exact(double x) {
    int e;
    double m = std::frexp(std::fabs(x), &e);
    negative = x < 0;
    addShifted(uint64_t(std::ldexp(m, 53)), e - 53 + kScale);
  }
  bool isZero() const {
    return std::all_of(limb, limb + kLimbs, [](uint32_t x) { return x == 0; });
  }
  /// floor(log2 |x|).
  int log2() const {
    for (int i = kLimbs * 32; i-- > 0;)
      if (bit(i))
        return i - kScale;
    return -kScale;
  }
  /// The nearest multiple of 2^q toward zero.
  Exact truncated(int q) const {
    Exact r = *this;
    for (int i = 0; i < std::min(q + kScale, kLimbs * 32); ++i)
      r.limb[i / 32] &= ~(1u << i % 32);
    return r;
  }
  /// The nearest multiple of 2^q, ties to the even one.
  Exact rounded(int q) const {
    Exact low = truncated(q), rest = *this - low, half(std::ldexp(1, q - 1));
    rest.negative = false;
    int order = compareMagnitude(rest, half);
    bool isOdd = q + kScale < kLimbs * 32 && bit(q + kScale);
    if (order < 0 || (order == 0 && !isOdd))
      return low;
    Exact step(std::ldexp(1, q));
    step.negative = negative;
    return low + step;
  }
  friend Exact operator+(const Exact &x, const Exact &y) {
    if (x.negative == y.negative)
      return addMagnitudes(x, y, x.negative);
    return compareMagnitude(x, y) >= 0 ? subtract(x, y, x.negative)
                                       : subtract(y, x, y.negative);
  }
  friend Exact operator-(const Exact &x, Exact y) {
    y.negative = !y.negative;
    return x + y;
  }
  double toDouble() const {
    double r = 0;
    for (int i = 0; i < kLimbs; ++i)
      r += std::ldexp(double(limb[i]), 32 * i - kScale);
    return negative ? -r : r;
  }
  bool negative = false;

private:
  bool bit(int i) const { return limb[i / 32] >> i % 32 & 1; }
  void addShifted(uint64_t m, int shift) {
    for (int i = 0; i < 64; ++i)
      if (m >> i & 1)
        limb[(i + shift) / 32] |= 1u << (i + shift) % 32;
  }
  static int compareMagnitude(const Exact &x, const Exact &y) {
    for (int i = kLimbs; i-- > 0;)
      if (x.limb[i] != y.limb[i])
        return x.limb[i] < y.limb[i] ? -1 : 1;
    return 0;
  }
  static Exact addMagnitudes(const Exact &x, const Exact &y, bool negative) {
    Exact r;
    uint64_t carry = 0;
    for (int i = 0; i < kLimbs; ++i, carry >>= 32)
      r.limb[i] = uint32_t(carry += uint64_t(x.limb[i]) + y.limb[i]);
    r.negative = negative;
    return r;
  }
  static Exact subtract(const Exact &x, const Exact &y, bool negative) {
    Exact r;
    int64_t borrow = 0;
    for (int i = 0; i < kLimbs; ++i, borrow >>= 32)
      r.limb[i] = uint32_t(borrow += int64_t(x.limb[i]) - y.limb[i]);
    r.negative = negative;
    return r;
  }
  uint32_t limb[kLimbs] = {};
};

/// The exponent that a number of a format has: never below the least one.
int exponentIn(const FloatFormat &f, double x) {
  return std::max(std::ilogb(x), f.leastExponent());
}

constexpr FloatFormat kF32 = {"f32", 8, 23, true};

double rationalStep(const Chip &chip, const FloatFormat &fa,
                    const FloatFormat &fb, const FloatFormat &fc,
                    const double *x, const double *y, size_t count, double z) {
  int top = -1000;
  double special = std::isfinite(z) ? 0 : z;
  for (size_t j = 0; j < count; ++j) {
    if (!std::isfinite(x[j]) || !std::isfinite(y[j]))
      special += x[j] * y[j];
    else if (x[j] != 0 && y[j] != 0)
      top = std::max(top, exponentIn(fa, x[j]) + exponentIn(fb, y[j]));
  }
  if (special != 0)
    return special;
  if (z != 0)
    top = std::max(top, exponentIn(fc, z));
  int q = top - int(chip.fraction);
  Exact sum = z != 0 ? Exact(z).truncated(q) : Exact();
  for (size_t j = 0; j < count; ++j)
    if (x[j] != 0 && y[j] != 0)
      sum = sum + Exact(x[j] * y[j]).truncated(q); // a product fits a double
  if (sum.isZero())
    return 0;
  bool isHalf = fc.bits() == 16;
  int exponent = std::max(sum.log2(), isHalf ? -14 : -126);
  int fraction = isHalf ? 10 : int(chip.resultBits);
  Exact r = isHalf ? sum.rounded(exponent - fraction)
                   : sum.truncated(exponent - fraction);
  double d = r.toDouble(), largest = isHalf ? 65504.0 : 0x1.fffffep127;
  if (isBelow(largest, d))
    return std::copysign(INFINITY, d);
  return d == 0 && sum.negative ? -0.0 : d;
}

uint32_t rationalModel(const Chip &chip, const FloatFormat &fa,
                       const FloatFormat &fb, const FloatFormat &fc,
                       const std::vector<uint32_t> &a,
                       const std::vector<uint32_t> &b, uint32_t c) {
  std::vector<double> x, y;
  for (size_t k = 0; k < a.size(); ++k) {
    x.push_back(fa.value(a[k]));
    y.push_back(fb.value(b[k]));
  }
  double z = fc.value(c);
  for (size_t k = 0; k < a.size(); k += chip.block)
    z = rationalStep(chip, fa, fb, fc, &x[k], &y[k],
                     std::min<size_t>(chip.block, a.size() - k), z);
  bool isHalf = fc.bits() == 16;
  if (std::isnan(z))
    return isHalf ? 0x7FFF : kNaN32;
  if (!isHalf)
    return bits(float(z));
  if (std::isinf(z))
    return z < 0 ? 0xFC00 : 0x7C00;
  return kF16.nearest(z, false);
}

//===-- operands that hurt -----------------------------------------------===//

enum class Spread { Near, Wide, Edges, Cancel, Special };

uint32_t draw(Random &random, const FloatFormat &f, Spread spread) {
  uint32_t sign = random.below(2) << (f.bits() - 1);
  uint32_t fraction = random.below(1u << f.fractionBits);
  uint32_t top = (1u << f.exponentBits) - 1, middle = uint32_t(f.bias());
  uint32_t e;
  switch (spread) {
  case Spread::Near:
    e = middle - 2 + random.below(4);
    break;
  case Spread::Wide:
    e = random.below(top);
    break;
  case Spread::Edges:
    // Zeros, subnormals, the smallest and the largest.
    e = random.below(3) ? random.below(2) : top - 1;
    fraction = random.below(2) ? fraction : 0;
    break;
  case Spread::Cancel:
    e = middle + random.below(2) * 5;
    fraction &= 3;
    break;
  default:
    e = random.below(8) ? middle : top;
    fraction = random.below(2) ? fraction : 0;
  }
  return sign | e << f.fractionBits | fraction;
}

struct ModelCase {
  const char *shape;
  unsigned depth;
  const FloatFormat *a, *b;
  bool isHalfResult;
};

class TensorModelTest : public ::testing::TestWithParam<ModelCase> {};

void compare(const ModelCase &t, TensorModel model, Spread spread,
             Random &random) {
  const FloatFormat &fc = t.isHalfResult ? kF16 : kF32;
  bool isTF32 = t.a == &kTF32;
  unsigned bitsOfElement = isTF32 ? 32 : t.a->bits();
  MmaForm f{t.shape,
            "",
            t.isHalfResult ? "f16" : "f32",
            t.a->name,
            t.b->name,
            "",
            16,
            t.depth,
            bitsOfElement,
            t.isHalfResult ? 16u : 32u};
  std::vector<std::vector<uint32_t>> a(16), b(8);
  Matrix ma(16, std::vector<uint64_t>(t.depth)),
      mb(t.depth, std::vector<uint64_t>(8)), mc(16, std::vector<uint64_t>(8));
  unsigned shift = isTF32 ? 13 : 0;
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned k = 0; k < t.depth; ++k) {
      a[m].push_back(draw(random, *t.a, spread));
      ma[m][k] = uint64_t(a[m][k]) << shift;
    }
  for (unsigned n = 0; n < 8; ++n)
    for (unsigned k = 0; k < t.depth; ++k) {
      b[n].push_back(draw(random, *t.b, spread));
      mb[k][n] = uint64_t(b[n][k]) << shift;
    }
  for (auto &row : mc)
    for (uint64_t &x : row)
      x = random.below(4) ? draw(random, fc, spread) : 0;
  DeviceOptions options;
  options.tensorModel = model;
  MmaResult r = runMma(f, ma, mb, mc, options);
  ASSERT_TRUE(r.report.ok()) << r.report.diagnostics.at(0).str();
  Chip chip = chipOf(model, *t.a, bitsOfElement);
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned n = 0; n < 8; ++n) {
      uint32_t c = uint32_t(mc[m][n]);
      uint32_t first = integerModel(chip, *t.a, *t.b, fc, a[m], b[n], c);
      uint32_t second = rationalModel(chip, *t.a, *t.b, fc, a[m], b[n], c);
      ASSERT_EQ(first, second) << f.opcode() << " spread " << int(spread);
      ASSERT_EQ(r.d[m][n], first)
          << f.opcode() << " spread " << int(spread) << " model " << int(model)
          << " " << m << " " << n;
    }
}

TEST_P(TensorModelTest, isWhatTwoOtherProgramsSay) {
  Random random{GetParam().depth};
  for (TensorModel model : {TensorModel::Ampere, TensorModel::Hopper})
    for (Spread spread : {Spread::Near, Spread::Wide, Spread::Edges,
                          Spread::Cancel, Spread::Special})
      for (int round = 0; round < 5; ++round)
        ASSERT_NO_FATAL_FAILURE(compare(GetParam(), model, spread, random));
}

constexpr ModelCase kCases[] = {
    {"m16n8k8", 8, &kF16, &kF16, false},
    {"m16n8k16", 16, &kF16, &kF16, false},
    {"m16n8k16", 16, &kF16, &kF16, true},
    {"m16n8k8", 8, &kBF16, &kBF16, false},
    {"m16n8k16", 16, &kBF16, &kBF16, false},
    {"m16n8k4", 4, &kTF32, &kTF32, false},
    {"m16n8k8", 8, &kTF32, &kTF32, false},
    {"m16n8k32", 32, &kE4M3, &kE4M3, false},
    {"m16n8k32", 32, &kE4M3, &kE5M2, true},
    {"m16n8k16", 16, &kE5M2, &kE4M3, false},
    {"m16n8k32", 32, &kE5M2, &kE5M2, false},
};
INSTANTIATE_TEST_SUITE_P(Types, TensorModelTest, ::testing::ValuesIn(kCases));

TEST(TensorModel, cutsTowardZeroWhereAChainWouldRound) {
  // 1 + 2^-24 + 2^-24 + ...: a chain of multiply-adds loses each to rounding
  // (ties to even), Ampere's 24 bits keep 2^-24 and Hopper's too; 2^-25 only
  // Hopper's.
  for (auto [model, exponent, want] :
       {std::tuple(TensorModel::Fma, -24, 1.0f),
        std::tuple(TensorModel::Ampere, -24, 1.0f + 0x1p-22f),
        std::tuple(TensorModel::Ampere, -25, 1.0f),
        std::tuple(TensorModel::Hopper, -25, 1.0f + 0x1p-23f)}) {
    MmaForm f{"m16n8k8", "", "f32", "bf16", "bf16", "", 16, 8, 16, 32};
    Matrix a(16, std::vector<uint64_t>(8)), b(8, std::vector<uint64_t>(8)),
        c(16, std::vector<uint64_t>(8));
    for (unsigned k = 0; k < 4; ++k) {
      a[0][k] = kBF16.nearest(std::ldexp(1.0, exponent), false);
      b[k][0] = kBF16.nearest(1.0, false);
    }
    c[0][0] = bits(1.0f);
    DeviceOptions options;
    options.tensorModel = model;
    MmaResult r = runMma(f, a, b, c, options);
    ASSERT_TRUE(r.report.ok());
    EXPECT_EQ(asFloat(uint32_t(r.d[0][0])), want) << int(model);
  }
}

TEST(TensorModel, namesAreParsed) {
  EXPECT_EQ(*parseTensorModel("ampere"), TensorModel::Ampere);
  EXPECT_EQ(*parseTensorModel("hopper"), TensorModel::Hopper);
  EXPECT_EQ(*parseTensorModel("fma"), TensorModel::Fma);
  EXPECT_EQ(parseTensorModel("volta").error().message,
            "is unknown; accepted is fma (f32 chains), ampere or hopper");
}
} // namespace
