//===- TensorModel.h - how tensor cores add ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The truncating model of --tensor-model=ampere|hopper, for mma.sync and
// wgmma. The ISA (9.7.14.5.14) leaves order and rounding open; measurements
// (arXiv 2511.10909, 2512.07004) agree on one fused step over a block of
// products and the accumulator:
//
//   each factor    s * 2^e, |s| in [1, 2); subnormals |s| < 1, e the least
//   each product   (sa * sb) * 2^(ea + eb), exact, not normalised
//   E              the largest exponent among the terms that are not zero
//   each term      aligned to E and cut to F bits behind the point, toward 0
//   the sum        exact; to f32 toward zero, or to f16 to nearest even
//
//       E  . F bits
//     1 0 . 1 1 0 1 0 ... 1 | cut off       a product of [1, 4)
//         . 0 0 0 1 0 ... 0 | 1 1 0 1       a smaller one, shifted
//
// All of this is *unverified* on the machine that a run pretends to be. Zero
// results are +0 and overflow is infinity (both *unverified*).
//
// Usage: decompose A and B once with tensorFactor, then call addProducts for
// each row; it does eight columns at once. Everything has internal linkage, so
// that files compiled by variant may include it.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_TENSORMODEL_H
#define FA_LIB_EMULATOR_EXECUTOR_TENSORMODEL_H

#include "SmallFloat.h"
#include "fa/Emulator/Numerics.h"

#include <cmath>
#include <limits>

namespace ptxvm {
namespace {

/// Element types of A and B.
enum class TensorElement : uint8_t { F16, BF16, TF32, E4M3, E5M2 };

/// The fused step of one instruction.
struct TensorStep {
  unsigned block;    ///< products that one step adds; K is cut into such blocks
  unsigned fraction; ///< F
  enum Result : uint8_t { F32, F16, E8M13 } result;
};

/// `isWgmma`: Hopper's warpgroup products of fp8 add with fewer bits than its
/// mma.sync. Not for TensorModel::Fma.
[[maybe_unused]] inline TensorStep tensorStep(TensorModel model,
                                              TensorElement element,
                                              bool isHalfResult, bool isWgmma) {
  bool isHopper = model == TensorModel::Hopper;
  bool isSmall =
      element == TensorElement::E4M3 || element == TensorElement::E5M2;
  unsigned bytes = isSmall ? 1 : element == TensorElement::TF32 ? 4 : 2;
  // Bytes of K in a step: 16 on Ampere and Ada, 32 on Hopper.
  TensorStep step{(isHopper ? 32 : 16) / bytes, isHopper ? 25u : 24u,
                  TensorStep::F32};
  if (isSmall && (!isHopper || isWgmma)) {
    step.fraction = 13;
    step.result = TensorStep::E8M13;
  }
  if (isHalfResult)
    step.result = TensorStep::F16;
  return step;
}

/// The exponent of the smallest normal number.
[[maybe_unused]] inline int leastExponent(TensorElement element) {
  switch (element) {
  case TensorElement::F16:
  case TensorElement::E5M2:
    return -14;
  case TensorElement::E4M3:
    return -6;
  default:
    return -126;
  }
}

/// significand * 2^(exponent - 10): every element type has at most ten bits
/// behind the point. Zeros have an exponent below all others. Infinities have
/// kNotFinite with significand 1 or -1, NaNs with 0.
struct TensorFactor {
  int32_t significand, exponent;
};
inline constexpr int32_t kZeroExponent = -100000, kNotFinite = 1000000;

/// Takes the value of an element apart; for tf32 the low 13 bits are ignored.
[[maybe_unused, gnu::always_inline]] inline TensorFactor
tensorFactor(float x, int least) {
  uint32_t b = bitsOf(x), magnitude = b & 0x7FFFFFFF;
  int32_t sign = b >> 31 ? -1 : 1;
  int32_t e = int32_t(magnitude >> 23) - 127;
  int32_t s = int32_t((magnitude & 0x7FE000) | 0x800000) >> 13;
  if (e == 128)
    return {magnitude > 0x7F800000 ? 0 : sign, kNotFinite};
  if (e == -127) {
    // A subnormal f32: bf16 and tf32 have those.
    s &= 0x3FF;
    e = -126;
  }
  if (e < least) {
    s = least - e > 11 ? 0 : s >> (least - e);
    e = least;
  }
  return s ? TensorFactor{s * sign, e} : TensorFactor{0, kZeroExponent};
}

/// Eight columns of a row of B.
struct TensorRow {
  alignas(32) int32_t significand[8];
  alignas(32) int32_t exponent[8];

  void set(unsigned column, TensorFactor f) {
    significand[column] = f.significand;
    exponent[column] = f.exponent;
  }
};

/// x with `bits` bits behind the leading one, where the least exponent is
/// `least`; toward zero or to nearest even.
inline double roundTensor(double x, int bits, int least, bool isNearest) {
  if (x == 0)
    return 0;
  int e = int(std::bit_cast<uint64_t>(x) >> 52 & 0x7FF) - 1023;
  int unit = (e > least ? e : least) - bits;
  double scale = std::bit_cast<double>(uint64_t(1023 - unit) << 52);
  double back = std::bit_cast<double>(uint64_t(1023 + unit) << 52);
  double scaled = x * scale;
  return (isNearest ? std::nearbyint(scaled) : std::trunc(scaled)) * back;
}

/// The sum, in units of 2^(top - F), as the result type holds it.
inline float finishTensor(const TensorStep &step, int64_t sum, int32_t top) {
  double x = std::ldexp(double(sum), top - int(step.fraction));
  if (step.result == TensorStep::F16) {
    float r = float(roundTensor(x, 10, -14, true));
    return std::fabs(r) > 65504.0f
               ? std::copysign(std::numeric_limits<float>::infinity(), r)
               : r;
  }
  int bits = step.result == TensorStep::E8M13 ? 13 : 23;
  return float(roundTensor(x, bits, -126, false));
}

/// What a column with infinities or NaNs gives.
[[maybe_unused]] inline float notFiniteTensor(const TensorFactor *a,
                                              const TensorRow *b,
                                              unsigned count, unsigned column,
                                              float c) {
  double sum = std::isfinite(c) ? 0 : c;
  for (unsigned k = 0; k < count; ++k) {
    if (a[k].exponent + b[k].exponent[column] < kNotFinite / 2)
      continue;
    int64_t s = int64_t(a[k].significand) * b[k].significand[column];
    sum += s == 0  ? std::numeric_limits<double>::quiet_NaN()
           : s > 0 ? std::numeric_limits<double>::infinity()
                   : -std::numeric_limits<double>::infinity();
  }
  return canonical(float(sum));
}

/// The accumulators taken apart, with 23 bits behind the point.
[[gnu::always_inline]] inline void tensorAccumulators(const float (&acc)[8],
                                                      int32_t least,
                                                      int32_t (&significand)[8],
                                                      int32_t (&exponent)[8]) {
  for (unsigned n = 0; n < 8; ++n) {
    uint32_t bits = bitsOf(acc[n]), magnitude = bits & 0x7FFFFFFF;
    int32_t e = int32_t(magnitude >> 23) - 127;
    int32_t s = int32_t((magnitude & 0x7FFFFF) | (e == -127 ? 0 : 0x800000));
    e = e == -127 ? -126 : e;
    int32_t down = e < least ? least - e : 0;
    s = down > 23 ? 0 : s >> down;
    e = e == 128 ? kNotFinite : e + down;
    exponent[n] = s ? e : kZeroExponent;
    significand[n] = bits >> 31 ? -s : s;
  }
}

/// Shifting magnitudes cuts toward zero.
[[gnu::always_inline]] inline int32_t alignTensor(int32_t s, int32_t left,
                                                  int32_t right) {
  right = right > 31 ? 31 : right;
  uint32_t m = uint32_t(s < 0 ? -s : s) << left >> right;
  return s < 0 ? -int32_t(m) : int32_t(m);
}

/// One fused step for eight columns: acc += a[0..count) * b[0..count).
[[maybe_unused, gnu::always_inline]] inline void
tensorBlock(const TensorStep &step, const TensorFactor *a, const TensorRow *b,
            unsigned count, float (&acc)[8]) {
  alignas(64) int32_t top[8], cs[8], ce[8];
  alignas(64) int64_t sum[8];
  tensorAccumulators(acc, step.result == TensorStep::F16 ? -14 : -126, cs, ce);
  for (unsigned n = 0; n < 8; ++n)
    top[n] = ce[n];
  for (unsigned k = 0; k < count; ++k)
    for (unsigned n = 0; n < 8; ++n) {
      int32_t e = a[k].exponent + b[k].exponent[n];
      top[n] = e > top[n] ? e : top[n];
    }
  // Products have 20 bits behind the point, accumulators 23.
  int32_t fraction = int32_t(step.fraction);
  int32_t leftC = fraction > 23 ? fraction - 23 : 0;
  int32_t leftP = fraction > 20 ? fraction - 20 : 0;
  int32_t rightC = 23 + leftC - fraction, rightP = 20 + leftP - fraction;
  for (unsigned n = 0; n < 8; ++n)
    sum[n] = alignTensor(cs[n], leftC, rightC + top[n] - ce[n]);
  for (unsigned k = 0; k < count; ++k)
    for (unsigned n = 0; n < 8; ++n) {
      int32_t e = a[k].exponent + b[k].exponent[n];
      sum[n] += alignTensor(a[k].significand * b[k].significand[n], leftP,
                            rightP + top[n] - e);
    }
  for (unsigned n = 0; n < 8; ++n)
    acc[n] = top[n] < kNotFinite / 2 ? finishTensor(step, sum[n], top[n])
                                     : notFiniteTensor(a, b, count, n, acc[n]);
}

/// acc[n] += sum over k < count of a[k] * b[k][n], in blocks as the step says.
/// With a Result of F16 the accumulators are values of f16.
[[maybe_unused]] inline void addProducts(const TensorStep &step,
                                         const TensorFactor *a,
                                         const TensorRow *b, unsigned count,
                                         float (&acc)[8]) {
  for (unsigned k = 0; k < count; k += step.block) {
    unsigned n = count - k < step.block ? count - k : step.block;
    tensorBlock(step, a + k, b + k, n, acc);
  }
}

} // namespace
} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_TENSORMODEL_H
