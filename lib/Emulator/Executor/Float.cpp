//===- Float.cpp - f32 and f64 arithmetic ---------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.3 to 9.7.5 for round to nearest; the other modes
// are in DirectedRounding.cpp. Compiled for each variant. A NaN result is the
// canonical one.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"
#include "SmallFloat.h"

#include <cmath>

#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

using namespace ptxvm;

namespace {
template <bool Ftz> [[gnu::always_inline]] inline float in(float x) {
  return Ftz ? flush(x) : x;
}

/// Runs `op` with flushing and saturation as the modifiers say.
template <typename Op>
[[gnu::always_inline]] inline Flow binaryF32(Warp &w, const Instruction &i,
                                             Op op) {
  if (i.mods & mod::sat_)
    return i.mods & mod::ftz_
               ? binary<float, float, float>(
                     w, i,
                     [&](float x, float y) {
                       return saturate(flush(op(flush(x), flush(y))));
                     })
               : binary<float, float, float>(w, i, [&](float x, float y) {
                   return saturate(op(x, y));
                 });
  if (i.mods & mod::ftz_)
    return binary<float, float, float>(w, i, [&](float x, float y) {
      return canonical(flush(op(flush(x), flush(y))));
    });
  return binary<float, float, float>(
      w, i, [&](float x, float y) { return canonical(op(x, y)); });
}

/// `factor` makes an f32 of what the first two registers hold.
template <typename Factor>
[[gnu::always_inline]] inline Flow fmaF32(Warp &w, const Instruction &i,
                                          Factor factor) {
  bool sat = i.mods & mod::sat_;
  if (i.mods & mod::ftz_)
    return ternary<float, float, float, float>(
        w, i, [=](float x, float y, float z) {
          float r =
              __builtin_fmaf(flush(factor(x)), flush(factor(y)), flush(z));
          r = flush(r);
          return sat ? saturate(r) : canonical(r);
        });
  return ternary<float, float, float, float>(
      w, i, [=](float x, float y, float z) {
        float r = __builtin_fmaf(factor(x), factor(y), z);
        return sat ? saturate(r) : canonical(r);
      });
}

/// Sections 9.7.3.1 to 6, the packed forms: two f32 in 64 bits, the lower one
/// the first.
template <bool Ftz, typename Op, typename... Pairs>
[[gnu::always_inline]] inline uint64_t onPairs(Op op, Pairs... pairs) {
  auto half = [&](unsigned shift) {
    float r = op(in<Ftz>(std::bit_cast<float>(uint32_t(pairs >> shift)))...);
    return uint64_t(bitsOf(canonical(in<Ftz>(r)))) << shift;
  };
  return half(0) | half(32);
}

template <typename Op>
[[gnu::always_inline]] inline Flow binaryF32x2(Warp &w, const Instruction &i,
                                               Op op) {
  using u64 = uint64_t;
  if (i.mods & mod::ftz_)
    return binary<u64, u64, u64>(
        w, i, [&](u64 x, u64 y) { return onPairs<true>(op, x, y); });
  return binary<u64, u64, u64>(
      w, i, [&](u64 x, u64 y) { return onPairs<false>(op, x, y); });
}

Flow fmaF32x2(Warp &w, const Instruction &i) {
  using u64 = uint64_t;
  auto op = [](float x, float y, float z) { return __builtin_fmaf(x, y, z); };
  if (i.mods & mod::ftz_)
    return ternary<u64, u64, u64, u64>(
        w, i, [&](u64 x, u64 y, u64 z) { return onPairs<true>(op, x, y, z); });
  return ternary<u64, u64, u64, u64>(
      w, i, [&](u64 x, u64 y, u64 z) { return onPairs<false>(op, x, y, z); });
}

/// Sections 9.7.3.11 and 12: a NaN operand loses unless .NaN; -0 < +0.
template <bool IsMax, typename T, typename Bits>
[[gnu::always_inline]] inline T extreme(T x, T y, bool propagate, Bits nan) {
  Bits bx = std::bit_cast<Bits>(x), by = std::bit_cast<Bits>(y);
  // Equal numbers differ at most in the sign of a zero.
  Bits r = (IsMax ? x > y : x < y) ? bx : by;
  r = x == y ? (IsMax ? bx & by : bx | by) : r;
  r = y != y ? (propagate ? nan : bx) : r;
  r = x != x ? (propagate || y != y ? nan : by) : r;
  return std::bit_cast<T>(r);
}

#ifdef __AVX512DQ__
/// False, with nothing done, when there is a NaN; the instruction that is used
/// puts -0 below +0, but tells signalling NaNs from quiet ones.
template <bool IsMax>
[[gnu::always_inline]] inline bool extremeOfNumbers(Warp &w,
                                                    const Instruction &i) {
  const uint32_t *a = w.regs + i.a, *b = w.regs + i.b;
  __m512 a0 = _mm512_load_ps(a), a1 = _mm512_load_ps(a + 16);
  __m512 b0 = _mm512_load_ps(b), b1 = _mm512_load_ps(b + 16);
  __mmask16 n0 = _mm512_cmp_ps_mask(a0, b0, _CMP_UNORD_Q);
  __mmask16 n1 = _mm512_cmp_ps_mask(a1, b1, _CMP_UNORD_Q);
  if (!_kortestz_mask16_u8(n0, n1)) [[unlikely]]
    return false;
  constexpr int kKind = IsMax ? 5 : 4; // with the sign of what is chosen
  auto *out = target<uint32_t>(w, i.dst);
  _mm512_store_ps(out, _mm512_range_ps(a0, b0, kKind));
  _mm512_store_ps(out + 16, _mm512_range_ps(a1, b1, kKind));
  settle(w, i.dst, out);
  return true;
}
#else
template <bool IsMax>
inline bool extremeOfNumbers(Warp &, const Instruction &) {
  return false;
}
#endif

template <bool IsMax> Flow extremeF32(Warp &w, const Instruction &i) {
  if (!(i.mods & mod::ftz_) && extremeOfNumbers<IsMax>(w, i)) [[likely]]
    return Flow::Next;
  bool propagate = i.mods & mod::NaN_;
  if (i.mods & mod::ftz_)
    return binary<float, float, float>(w, i, [=](float x, float y) {
      return extreme<IsMax>(flush(x), flush(y), propagate, kNaN32);
    });
  return binary<float, float, float>(w, i, [=](float x, float y) {
    return extreme<IsMax>(x, y, propagate, kNaN32);
  });
}

/// Of three; `kept` are their bits that count, without the sign for .abs.
template <bool IsMax, uint32_t kept = ~0u>
Flow extremeOf3F32(Warp &w, const Instruction &i) {
  bool propagate = i.mods & mod::NaN_, ftz = i.mods & mod::ftz_;
  return ternary<float, float, float, float>(
      w, i, [=](float x, float y, float z) {
        auto read = [=](float v) {
          return floatOf(bitsOf(ftz ? flush(v) : v) & kept);
        };
        float r = extreme<IsMax>(read(x), read(y), propagate, kNaN32);
        return extreme<IsMax>(r, read(z), propagate, kNaN32);
      });
}

/// .xorsign.abs: of the magnitudes, with the product's sign.
template <bool IsMax> Flow extremeXorF32(Warp &w, const Instruction &i) {
  bool propagate = i.mods & mod::NaN_, ftz = i.mods & mod::ftz_;
  return binary<uint32_t, float, float>(w, i, [=](float x, float y) {
    x = ftz ? flush(x) : x;
    y = ftz ? flush(y) : y;
    uint32_t sign = (bitsOf(x) ^ bitsOf(y)) & 0x80000000u;
    float r =
        extreme<IsMax>(floatOf(bitsOf(x) & 0x7FFFFFFF),
                       floatOf(bitsOf(y) & 0x7FFFFFFF), propagate, kNaN32);
    return r != r ? bitsOf(r) : bitsOf(r) | sign;
  });
}

template <bool IsMax> Flow extremeF64(Warp &w, const Instruction &i) {
  return binary<double, double, double>(w, i, [](double x, double y) {
    return extreme<IsMax>(x, y, false, uint64_t(0x7FFFFFFFFFFFFFFF));
  });
}

/// div.rn is IEEE; .full and .approx (section 9.7.3.8) are given the same
/// value, which is inside their bounds. div.approx of |y| > 2^126 gives 0.
Flow divF32(Warp &w, const Instruction &i) {
  bool approx = i.mods & mod::approx_;
  return binaryF32(w, i, [=](float x, float y) {
    float r = x / y;
    bool isHuge = (bitsOf(y) & 0x7FFFFFFF) > 0x7E800000 && y == y;
    float huge = x * (y > 0 ? 0.0f : -0.0f);
    return approx && isHuge ? huge : r;
  });
}

/// Two f16, subnormals made zeros.
inline uint32_t flushHalves(uint32_t x) {
  uint32_t low = x & 0x7C00 ? 0xFFFF : 0x8000;
  uint32_t high = x & 0x7C000000 ? 0xFFFF0000 : 0x80000000;
  return x & (low | high);
}

template <typename Op>
[[gnu::always_inline]] inline Flow signBit(Warp &w, const Instruction &i,
                                           Op op) {
  if (i.mods & mod::ftz_)
    return unary<uint32_t, float>(
        w, i, [&](float x) { return op(bitsOf(flush(x))); });
  return unary<uint32_t, uint32_t>(w, i, op);
}
} // namespace

#define F32(name, expr)                                                        \
  HANDLER(name,                                                                \
          { return binaryF32(w, i, [](float x, float y) { return expr; }); })
#define F32X2(name, expr)                                                      \
  HANDLER(name, {                                                              \
    return binaryF32x2(w, i, [](float x, float y) { return expr; });           \
  })
#define FMA(name, factor)                                                      \
  HANDLER(name, { return fmaF32(w, i, [](float x) { return factor; }); })
#define F64(name, expr)                                                        \
  HANDLER(name, {                                                              \
    return binary<double, double, double>(                                     \
        w, i, [](double x, double y) { return canonical(expr); });             \
  })

void ptxvm::FA_ISA::addFloat(HandlerList &list) {
  using u32 = uint32_t;
  using u64 = uint64_t;
  static const NamedHandler kTable[] = {
      F32("add_f32", x + y),
      F32("sub_f32", x - y),
      F32("mul_f32", x * y),
      // Mixed precision, section 9.7.5.
      F32("add_f32_f16", halfToFloat(bitsOf(x)) + y),
      F32("sub_f32_f16", halfToFloat(bitsOf(x)) - y),
      F32("add_f32_bf16", bfloatToFloat(bitsOf(x)) + y),
      F32("sub_f32_bf16", bfloatToFloat(bitsOf(x)) - y),
      FMA("fma_f32_f16", halfToFloat(bitsOf(x))),
      FMA("fma_f32_bf16", bfloatToFloat(bitsOf(x))),
      F32X2("add_f32x2", x + y),
      F32X2("sub_f32x2", x - y),
      F32X2("mul_f32x2", x * y),
      {"fma_f32x2", fmaF32x2},
      F64("add_f64", x + y),
      F64("sub_f64", x - y),
      F64("mul_f64", x * y),
      F64("div_f64", x / y),
      FMA("fma_f32", x),
      {"div_f32", divF32},
      HANDLER("fma_f64",
              {
                return ternary<double, double, double, double>(
                    w, i, [](double x, double y, double z) {
                      return canonical(__builtin_fma(x, y, z));
                    });
              }),
      {"min_f32", extremeF32<false>},
      {"max_f32", extremeF32<true>},
      {"min3_f32", extremeOf3F32<false>},
      {"max3_f32", extremeOf3F32<true>},
      {"min3_abs_f32", extremeOf3F32<false, 0x7FFFFFFF>},
      {"max3_abs_f32", extremeOf3F32<true, 0x7FFFFFFF>},
      {"min_xor_f32", extremeXorF32<false>},
      {"max_xor_f32", extremeXorF32<true>},
      {"min_f64", extremeF64<false>},
      {"max_f64", extremeF64<true>},
      HANDLER("neg_f32",
              { return signBit(w, i, [](u32 x) { return x ^ 0x80000000u; }); }),
      HANDLER("abs_f32",
              { return signBit(w, i, [](u32 x) { return x & 0x7FFFFFFFu; }); }),
      UN("neg_f64", u64, u64, x ^ (u64(1) << 63)),
      UN("abs_f64", u64, u64, x & ~(u64(1) << 63)),
      UN("neg_f16", u32, u32, (x ^ 0x8000u) & 0xFFFF),
      UN("abs_f16", u32, u32, x & 0x7FFFu),
      UN("neg_ftz_f16", u32, u32, (flushHalves(x) ^ 0x8000u) & 0xFFFF),
      UN("abs_ftz_f16", u32, u32, flushHalves(x) & 0x7FFFu),
      UN("neg_ftz_f16x2", u32, u32, flushHalves(x) ^ 0x80008000u),
      UN("abs_ftz_f16x2", u32, u32, flushHalves(x) & 0x7FFF7FFFu),
      UN("neg_f16x2", u32, u32, x ^ 0x80008000u),
      UN("abs_f16x2", u32, u32, x & 0x7FFF7FFFu),
      // copysign d, a, b: the sign of a, the magnitude of b.
      BIN("copysign_f32", u32, (x & 0x80000000u) | (y & 0x7FFFFFFFu)),
      BIN("copysign_f64", u64, (x & (u64(1) << 63)) | (y & ~(u64(1) << 63))),
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
