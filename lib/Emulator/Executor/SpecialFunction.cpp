//===- SpecialFunction.cpp - ex2, lg2, rcp and their kin ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.3. The hardware's tables are not documented; each
// function is given the correctly rounded value (through f64, so up to one case
// in 2^29 the neighbour), which lies inside the ISA's bound. Compiled for each
// variant.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"
#include "SmallFloat.h"

#include <cmath>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

using namespace ptxvm;

namespace {
// 2^x = 2^(n / 16) 2^f with |f| <= 1/32: a table of sixteen and the Taylor
// series of 2^f, whose error is below 2^-50. Every variant does the same
// operations in the same order.
constexpr unsigned kSteps = 16;
alignas(64) constexpr double kRoots[kSteps] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0,
    0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0,
    0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
    0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0,
    0x1.ea4afa2a490dap+0};
constexpr double kSeries[] = {1.0,
                              0.6931471805599453,
                              0.24022650695910072,
                              0.05550410866482158,
                              0.009618129107628477,
                              0.0013333558146428443,
                              0.0001540353039338161};
/// Adding it rounds to a multiple of 1 / kSteps, which stands in the low bits.
constexpr double kRounder = 6755399441055744.0 / kSteps; // 1.5 * 2^52 / 16
/// Beyond these the result is 0 or infinity.
constexpr float kLeastExponent = -170, kMostExponent = 130;

[[gnu::always_inline]] inline float exp2Lane(float x) {
  x = x < kLeastExponent ? kLeastExponent : x;
  x = x > kMostExponent ? kMostExponent : x;
  double d = x, shifted = d + kRounder;
  double f = d - (shifted - kRounder);
  double r = kSeries[6];
  for (int k = 5; k >= 0; --k)
    r = __builtin_fma(r, f, kSeries[k]);
  uint64_t n = std::bit_cast<uint64_t>(shifted);
  uint64_t root = std::bit_cast<uint64_t>(kRoots[n % kSteps]);
  double scale = std::bit_cast<double>(root + (n / kSteps << 52));
  return float(r * scale);
}

#ifdef __AVX512F__
[[gnu::always_inline]] inline __m256 exp2Eight(__m256 x) {
  __m512d d = _mm512_cvtps_pd(x), rounder = _mm512_set1_pd(kRounder);
  __m512d shifted = _mm512_add_pd(d, rounder);
  __m512d f = _mm512_sub_pd(d, _mm512_sub_pd(shifted, rounder));
  __m512d r = _mm512_set1_pd(kSeries[6]);
  for (int k = 5; k >= 0; --k)
    r = _mm512_fmadd_pd(r, f, _mm512_set1_pd(kSeries[k]));
  __m512i n = _mm512_castpd_si512(shifted);
  __m512d root = _mm512_permutex2var_pd(_mm512_load_pd(kRoots), n,
                                        _mm512_load_pd(kRoots + 8));
  __m512i exponent = _mm512_slli_epi64(_mm512_srli_epi64(n, 4), 52);
  __m512i scale = _mm512_add_epi64(_mm512_castpd_si512(root), exponent);
  return _mm512_cvtpd_ps(_mm512_mul_pd(r, _mm512_castsi512_pd(scale)));
}

[[gnu::always_inline]] inline __m512 exp2Sixteen(__m512 x, bool ftz) {
  __m512 c = _mm512_max_ps(x, _mm512_set1_ps(kLeastExponent));
  c = _mm512_min_ps(c, _mm512_set1_ps(kMostExponent));
  __m256 low = exp2Eight(_mm512_castps512_ps256(c));
  __m256 high = exp2Eight(_mm512_extractf32x8_ps(c, 1));
  __m512 r = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
  if (ftz) {
    // 2^x of a subnormal x is 1 either way.
    __m512 least = _mm512_castsi512_ps(_mm512_set1_epi32(0x00800000));
    __mmask16 normal = _mm512_cmp_ps_mask(r, least, _CMP_GE_OQ);
    r = _mm512_maskz_mov_ps(normal, r);
  }
  __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(int(kNaN32)));
  return _mm512_mask_mov_ps(r, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}

Flow ex2F32(Warp &w, const Instruction &i) {
  const uint32_t *a = w.regs + i.a;
  auto *out = target<uint32_t>(w, i.dst);
  bool ftz = i.mods & mod::ftz_;
  __m512 low = exp2Sixteen(_mm512_load_ps(a), ftz);
  __m512 high = exp2Sixteen(_mm512_load_ps(a + 16), ftz);
  _mm512_store_ps(out, low);
  _mm512_store_ps(out + 16, high);
  return settle(w, i.dst, out);
}
#else
Flow ex2F32(Warp &w, const Instruction &i) {
  if (i.mods & mod::ftz_)
    return unary<float, float>(w, i, [](float x) {
      float r = flush(exp2Lane(flush(x)));
      return x != x ? floatOf(kNaN32) : r;
    });
  return unary<float, float>(w, i, [](float x) {
    float r = exp2Lane(x);
    return x != x ? floatOf(kNaN32) : r;
  });
}
#endif

template <typename Op>
[[gnu::always_inline]] inline Flow scalar(Warp &w, const Instruction &i,
                                          Op op) {
  bool ftz = i.mods & mod::ftz_;
  return unary<float, float>(w, i, [=](float x) {
    float r = float(op(double(ftz ? flush(x) : x)));
    return canonical(ftz ? flush(r) : r);
  });
}

template <bool IsHalf, bool IsPair, typename Op>
Flow small(Warp &w, const Instruction &i, Op op) {
  bool ftz = i.mods & mod::ftz_;
  auto one = [=](uint32_t h) -> uint32_t {
    float x = IsHalf ? halfToFloat(h) : bfloatToFloat(h);
    float r = op(ftz ? flush(x) : x);
    return IsHalf ? floatToHalf(r) : floatToBfloat(r);
  };
  return unary<uint32_t, uint32_t>(w, i, [=](uint32_t x) -> uint32_t {
    uint32_t low = one(x & 0xFFFF);
    return IsPair ? low | one(x >> 16) << 16 : low;
  });
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64, sections 9.7.3.14 and 17: only
/// the upper words of operand and result take part (*unverified*: the last bits
/// of the upper word).
template <bool IsSquareRoot> Flow gross(Warp &w, const Instruction &i) {
  return unary<uint64_t, uint64_t>(w, i, [](uint64_t bits) {
    constexpr uint64_t kUpper = 0xFFFFFFFF00000000, kExponent = 0x7FF0ull << 48;
    auto flushed = [=](uint64_t b) {
      return b & kExponent ? b & kUpper : b & (1ull << 63);
    };
    double x = std::bit_cast<double>(bits);
    if (x == x)
      x = std::bit_cast<double>(flushed(bits));
    double r = 1.0 / (IsSquareRoot ? std::sqrt(x) : x);
    return r != r ? 0x7FFFFFFF00000000 : flushed(std::bit_cast<uint64_t>(r));
  });
}

inline float exp2Any(float x) { return x != x ? x : exp2Lane(x); }
inline float tanhAny(float x) { return float(std::tanh(double(x))); }
} // namespace

#define SCALAR(name, expr)                                                     \
  HANDLER(name,                                                                \
          { return scalar(w, i, [](double x) -> double { return expr; }); })
#define WIDE(name, expr)                                                       \
  HANDLER(name, {                                                              \
    return unary<double, double>(                                              \
        w, i, [](double x) { return canonical(double(expr)); });               \
  })
#define SMALL(op, f)                                                           \
  HANDLER(op "_f16", { return small<true, false>(w, i, f); }),                 \
      HANDLER(op "_f16x2", { return small<true, true>(w, i, f); }),            \
      HANDLER(op "_bf16", { return small<false, false>(w, i, f); }),           \
      HANDLER(op "_bf16x2", { return small<false, true>(w, i, f); })

void ptxvm::FA_ISA::addSpecialFunction(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"ex2_f32", ex2F32},
      SCALAR("rcp_f32", 1.0 / x),
      SCALAR("sqrt_f32", std::sqrt(x)),
      // rsqrt(-0) is -inf, as IEEE division gives.
      SCALAR("rsqrt_f32", 1.0 / std::sqrt(x)),
      SCALAR("lg2_f32", std::log2(x)),
      SCALAR("sin_f32", std::sin(x)),
      SCALAR("cos_f32", std::cos(x)),
      SCALAR("tanh_f32", std::tanh(x)),
      WIDE("rcp_f64", 1.0 / x),
      WIDE("sqrt_f64", std::sqrt(x)),
      WIDE("rsqrt_f64", 1.0 / std::sqrt(x)),
      {"rcp_gross_f64", gross<false>},
      {"rsqrt_gross_f64", gross<true>},
      SMALL("ex2", exp2Any),
      SMALL("tanh", tanhAny),
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
