//===- SmallFloat.h - f16, bf16, fp8 and NaNs -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions without branches, so that loops over them vectorise, and the
// canonical NaNs of PTX (ISA 9.1 section 5.2.3 and 9.7.3).
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_SMALLFLOAT_H
#define FA_LIB_EMULATOR_EXECUTOR_SMALLFLOAT_H

#include <bit>
#include <cstdint>

namespace ptxvm {
namespace {

inline constexpr uint32_t kNaN32 = 0x7FFFFFFF;
inline constexpr uint16_t kNaN16 = 0x7FFF;

[[maybe_unused]] inline uint32_t bitsOf(float x) {
  return std::bit_cast<uint32_t>(x);
}
[[maybe_unused]] inline float floatOf(uint32_t x) {
  return std::bit_cast<float>(x);
}

/// f16 to f32, exact. Multiplying by 2^112 re-biases the exponent and makes
/// subnormals right on the way.
[[maybe_unused]] inline float halfToFloat(uint32_t h) {
  float scaled = floatOf((h & 0x7FFF) << 13) * floatOf(0x77800000);
  uint32_t bits = bitsOf(scaled);
  bits |= (h & 0x7C00) == 0x7C00 ? 0x7F800000u : 0u;
  return floatOf(bits | (h & 0x8000) << 16);
}

/// f32 to f16, to nearest even; every NaN becomes 0x7FFF.
[[maybe_unused]] inline uint32_t floatToHalf(float f) {
  uint32_t x = bitsOf(f), sign = x >> 16 & 0x8000, a = x & 0x7FFFFFFF;
  uint32_t normal = ((a + 0xFFF + (a >> 13 & 1)) >> 13) - (112u << 10);
  // Adding 0.5 leaves the subnormal's ten bits, rounded, at the end.
  uint32_t small = bitsOf(floatOf(a) + 0.5f) - 0x3F000000;
  uint32_t r = a < 0x38800000 ? small : normal;
  r = a >= 0x477FF000 ? 0x7C00 : r;
  r |= sign;
  return a > 0x7F800000 ? kNaN16 : r;
}

[[maybe_unused]] inline float bfloatToFloat(uint32_t h) {
  return floatOf(h << 16);
}

/// f32 to bf16, to nearest even; every NaN becomes 0x7FFF.
[[maybe_unused]] inline uint32_t floatToBfloat(float f) {
  uint32_t x = bitsOf(f);
  uint32_t r = (x + 0x7FFF + (x >> 16 & 1)) >> 16;
  return (x & 0x7FFFFFFF) > 0x7F800000 ? kNaN16 : r;
}

/// e4m3 (bias 7, no infinity, S.1111.111 is NaN) to f32, exact.
[[maybe_unused]] inline float e4m3ToFloat(uint32_t x) {
  float scaled = floatOf((x & 0x7F) << 20) * floatOf(0x7B800000); // 2^120
  uint32_t bits = (x & 0x7F) == 0x7F ? kNaN32 : bitsOf(scaled);
  return floatOf(bits | (x & 0x80) << 24);
}
/// e5m2 (bias 15, as IEEE): the upper byte of an f16.
[[maybe_unused]] inline float e5m2ToFloat(uint32_t x) {
  return halfToFloat((x & 0xFF) << 8);
}

/// f32 to fp8 with saturation, which is the only conversion there is: to
/// nearest even, beyond the largest number (infinities too) that number, NaN
/// to 0x7F. Section 9.7.9.21.
[[maybe_unused]] inline uint32_t floatToE4m3(float f) {
  uint32_t x = bitsOf(f), sign = x >> 24 & 0x80, a = x & 0x7FFFFFFF;
  uint32_t normal = ((a + 0x7FFFF + (a >> 20 & 1)) >> 20) - (120u << 3);
  // Adding 2^14, whose last bit is worth 2^-9, rounds a subnormal.
  uint32_t small = bitsOf(floatOf(a) + 16384.0f) - bitsOf(16384.0f);
  uint32_t r = a < 0x3C800000 ? small : normal;
  r = a > 0x43E00000 ? 0x7E : r;
  return a > 0x7F800000 ? 0x7F : r | sign;
}
[[maybe_unused]] inline uint32_t floatToE5m2(float f) {
  uint32_t x = bitsOf(f), sign = x >> 24 & 0x80, a = x & 0x7FFFFFFF;
  uint32_t normal = ((a + 0xFFFFF + (a >> 21 & 1)) >> 21) - (112u << 2);
  // The last bit of 128 is worth 2^-16.
  uint32_t small = bitsOf(floatOf(a) + 128.0f) - bitsOf(128.0f);
  uint32_t r = a < 0x38800000 ? small : normal;
  r = a > 0x47600000 ? 0x7B : r;
  return a > 0x7F800000 ? 0x7F : r | sign;
}

/// Subnormals become zeros of the same sign.
[[maybe_unused]] inline float flush(float x) {
  uint32_t b = bitsOf(x);
  return floatOf(b & 0x7F800000 ? b : b & 0x80000000);
}

[[maybe_unused]] inline float canonical(float x) {
  return x != x ? floatOf(kNaN32) : x;
}
[[maybe_unused]] inline double canonical(double x) {
  return x != x ? std::bit_cast<double>(0x7FFFFFFFFFFFFFFFull) : x;
}

/// .sat: to [0, 1], NaN to +0.
[[maybe_unused]] inline float saturate(float x) {
  float r = x > 0.0f ? x : 0.0f;
  return r < 1.0f ? r : 1.0f;
}

} // namespace
} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_SMALLFLOAT_H
