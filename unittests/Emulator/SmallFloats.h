//===- SmallFloats.h - formats by their definition --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of f16, bf16, tf32, e4m3 and e5m2 from sign, exponent and fraction,
// and rounding by looking for the nearest value: slow, and written without the
// machine's own conversions.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_SMALLFLOATS_H
#define FA_UNITTESTS_EMULATOR_SMALLFLOATS_H

#include <cmath>
#include <cstdint>
#include <vector>

namespace ptxvm::test {

struct FloatFormat {
  const char *name;
  unsigned exponentBits, fractionBits;
  bool hasInfinity; ///< false: the top exponent holds numbers, all ones is NaN

  unsigned bits() const { return 1 + exponentBits + fractionBits; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int leastExponent() const { return 1 - bias(); }

  double value(uint32_t x) const {
    double sign = x >> (bits() - 1) & 1 ? -1 : 1;
    uint32_t top = (1u << exponentBits) - 1;
    uint32_t e = x >> fractionBits & top;
    uint32_t f = x & ((1u << fractionBits) - 1);
    if (e == top && hasInfinity)
      return f ? NAN : sign * INFINITY;
    if (e == top && f == (1u << fractionBits) - 1)
      return NAN;
    if (e == 0)
      return sign * std::ldexp(f, leastExponent() - int(fractionBits));
    return sign * std::ldexp((1u << fractionBits) + f,
                             int(e) - bias() - int(fractionBits));
  }
  bool isNaN(uint32_t x) const { return std::isnan(value(x)); }

  /// Bits of the largest number.
  uint32_t largest() const {
    uint32_t top = (1u << (exponentBits + fractionBits)) - 1;
    return hasInfinity ? top - (1u << fractionBits) : top - 1;
  }

  /// To nearest, ties to even; beyond the largest number infinity or, without
  /// one or with `saturates`, the largest.
  uint32_t nearest(double x, bool saturates) const {
    uint32_t sign = std::signbit(x) ? 1u << (bits() - 1) : 0;
    double a = std::fabs(x);
    uint32_t low = 0, high = largest();
    if (a >= value(high)) {
      // Half a unit beyond the largest number rounds up.
      double unit = value(high) - value(high - 1);
      bool isBeyond = a >= value(high) + unit / 2;
      bool staysFinite = saturates || !hasInfinity;
      return sign | (isBeyond && !staysFinite ? high + 1 : high);
    }
    while (high - low > 1) {
      uint32_t middle = (low + high) / 2;
      (value(middle) <= a ? low : high) = middle;
    }
    double down = a - value(low), up = value(high) - a;
    return sign | (down < up || (down == up && !(low & 1)) ? low : high);
  }
};

inline constexpr FloatFormat kF16 = {"f16", 5, 10, true};
inline constexpr FloatFormat kBF16 = {"bf16", 8, 7, true};
inline constexpr FloatFormat kE4M3 = {"e4m3", 4, 3, false};
inline constexpr FloatFormat kE5M2 = {"e5m2", 5, 2, true};
/// The upper 19 bits of an f32.
inline constexpr FloatFormat kTF32 = {"tf32", 8, 10, true};

/// A small repeatable generator.
struct Random {
  uint64_t state;
  uint64_t next() {
    state += 0x9E3779B97F4A7C15ull;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t n) { return uint32_t(next() % n); }
};

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_SMALLFLOATS_H
