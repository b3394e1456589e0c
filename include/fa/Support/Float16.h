//===- Float16.h - small floats to and from bits ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact conversions between f64 and the narrow element types, rounding once to
// nearest even. One routine serves every format: with the exponent clamped to
// the smallest normal one, a subnormal is an ordinary fixed-point number and a
// carry out of the mantissa lands in the exponent by itself.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_FLOAT16_H
#define FA_SUPPORT_FLOAT16_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace farun {

/// A binary format of 1 + ExponentBits + MantissaBits bits with the IEEE bias.
/// FiniteOnly (e4m3fn): no infinities, all ones is NaN, overflow gives NaN.
template <int ExponentBits, int MantissaBits, bool FiniteOnly = false>
struct SmallFloat {
  static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;
  static constexpr uint32_t kSign = 1u << (ExponentBits + MantissaBits);
  static constexpr uint32_t kExponentMask = ((1u << ExponentBits) - 1)
                                            << MantissaBits;
  static constexpr uint32_t kMantissaMask = (1u << MantissaBits) - 1;
  /// The first magnitude that is no finite number.
  static constexpr uint32_t kLimit =
      FiniteOnly ? (kExponentMask | kMantissaMask) : kExponentMask;
  static constexpr uint32_t kQuietNaN =
      FiniteOnly ? kLimit : kExponentMask | (1u << (MantissaBits - 1));

  static constexpr double pow2(int exponent) {
    return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
  }

  static constexpr uint32_t encode(double value) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    uint32_t sign = (bits >> 63) ? kSign : 0;
    uint64_t magnitudeBits = bits & ~(uint64_t(1) << 63);
    if (magnitudeBits > (uint64_t(0x7ff) << 52))
      return sign | kQuietNaN;
    double magnitude = std::bit_cast<double>(magnitudeBits);
    if (magnitude >= pow2(kBias + 2))
      return sign | kLimit;
    int exponent = int(magnitudeBits >> 52) - 1023;
    if (exponent < kMinExponent)
      exponent = kMinExponent;
    // In units of the last place; adding 2^52 rounds to an integer, ties to
    // even, under the default rounding mode.
    double units = magnitude * pow2(MantissaBits - exponent);
    double rounded = (units + 0x1p52) - 0x1p52;
    uint32_t result =
        (uint32_t(exponent - kMinExponent) << MantissaBits) + uint32_t(rounded);
    return sign | (result >= kLimit ? kLimit : result);
  }

  static constexpr double decode(uint32_t bits) {
    double sign = (bits & kSign) ? -1.0 : 1.0;
    uint32_t magnitude = bits & (kSign - 1);
    if (magnitude >= kLimit) {
      if (!FiniteOnly && magnitude == kLimit)
        return sign * std::numeric_limits<double>::infinity();
      return std::numeric_limits<double>::quiet_NaN();
    }
    int exponentField = int((magnitude & kExponentMask) >> MantissaBits);
    double mantissa = double(magnitude & kMantissaMask);
    if (exponentField == 0)
      return sign * mantissa * pow2(kMinExponent - MantissaBits);
    return sign * (mantissa + double(1u << MantissaBits)) *
           pow2(exponentField - kBias - MantissaBits);
  }
};

using Half = SmallFloat<5, 10>;
using BFloat = SmallFloat<8, 7>;
using Float8E4M3FN = SmallFloat<4, 3, true>;
using Float8E5M2 = SmallFloat<5, 2>;

inline uint16_t toF16Bits(double value) {
  return uint16_t(Half::encode(value));
}
inline double fromF16Bits(uint16_t bits) { return Half::decode(bits); }
inline uint16_t toBF16Bits(double value) {
  return uint16_t(BFloat::encode(value));
}
inline double fromBF16Bits(uint16_t bits) { return BFloat::decode(bits); }
inline uint32_t toF32Bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
inline float fromF32Bits(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint64_t toF64Bits(double value) {
  return std::bit_cast<uint64_t>(value);
}
inline double fromF64Bits(uint64_t bits) { return std::bit_cast<double>(bits); }

} // namespace farun

#endif // FA_SUPPORT_FLOAT16_H
