//===- Convert.cpp - cvt --------------------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.9.21. The pairs that kernels are full of have
// handlers of their own; the rest goes lane by lane through the widest type.
// Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/TypeCode.h"
#include "Lanes.h"
#include "SmallFloat.h"

#include <cmath>
#include <limits>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

using namespace ptxvm;

namespace {
using enum TypeCode;

bool isFloat(TypeCode t) { return t >= F16; }
bool isSigned(TypeCode t) {
  return t == S8 || t == S16 || t == S32 || t == S64;
}
unsigned bitsOfType(TypeCode t) {
  static constexpr unsigned kBits[] = {8,  8,  16, 16, 32, 32, 64,
                                       64, 16, 16, 32, 64, 32};
  return kBits[unsigned(t)];
}

/// Sign- or zero-extends the low bits of a register.
int64_t integerFrom(TypeCode t, uint64_t raw) {
  switch (t) {
  case U8:
    return uint8_t(raw);
  case S8:
    return int8_t(raw);
  case U16:
    return uint16_t(raw);
  case S16:
    return int16_t(raw);
  case U32:
    return uint32_t(raw);
  case S32:
    return int32_t(raw);
  default:
    return int64_t(raw);
  }
}

double floatFrom(TypeCode t, uint64_t raw) {
  switch (t) {
  case F16:
    return halfToFloat(uint32_t(raw) & 0xFFFF);
  case BF16:
    return bfloatToFloat(uint32_t(raw) & 0xFFFF);
  case F64:
    return std::bit_cast<double>(raw);
  default:
    return floatOf(uint32_t(raw));
  }
}

/// To a float type with `mantissa` explicit bits, the least exponent `least`
/// of a normal number and the largest `most`, in a directed mode. The result
/// is exact in f64, so it is found by scaling to integers.
double roundTo(double x, int mantissa, int least, int most, uint64_t mods) {
  double limit = std::ldexp(2.0 - std::ldexp(1.0, -mantissa), most);
  if (std::isinf(x) && (mods & mod::satfinite_))
    return std::copysign(limit, x);
  if (!std::isfinite(x) || x == 0)
    return x;
  int e = std::ilogb(x);
  int unit = std::max(e, least) - mantissa;
  double scaled = std::ldexp(x, -unit), r;
  if (mods & mod::rz_)
    r = std::trunc(scaled);
  else if (mods & mod::rm_)
    r = std::floor(scaled);
  else if (mods & mod::rp_)
    r = std::ceil(scaled);
  else if (mods & mod::rna_)
    r = std::round(scaled);
  else
    r = std::nearbyint(scaled);
  r = std::copysign(std::ldexp(r, unit), x);
  if (std::fabs(r) > limit) {
    bool stays = (mods & mod::rz_) || (mods & mod::satfinite_) ||
                 ((mods & mod::rm_) && x > 0) || ((mods & mod::rp_) && x < 0);
    r = std::copysign(stays ? limit : INFINITY, x);
  }
  return r;
}

uint64_t floatTo(TypeCode t, double x, uint64_t mods) {
  if (mods & mod::sat_)
    x = !(x > 0) ? 0.0 : x < 1 ? x : 1.0;
  if (mods & mod::relu_)
    x = x != x ? x : x > 0 ? x : 0.0;
  switch (t) {
  case F16:
    return floatToHalf(float(roundTo(x, 10, -14, 15, mods)));
  case BF16:
    return floatToBfloat(float(roundTo(x, 7, -126, 127, mods)));
  case TF32:
    return bitsOf(canonical(float(roundTo(x, 10, -126, 127, mods))));
  case F64:
    return std::bit_cast<uint64_t>(canonical(x));
  default: {
    float f = canonical(float(roundTo(x, 23, -126, 127, mods)));
    return bitsOf(mods & mod::ftz_ ? flush(f) : f);
  }
  }
}

double roundToInteger(double x, uint64_t mods) {
  if (mods & mod::rni_)
    return std::nearbyint(x);
  if (mods & mod::rmi_)
    return std::floor(x);
  if (mods & mod::rpi_)
    return std::ceil(x);
  return std::trunc(x);
}

/// Saturates; NaN gives 0, except that with an f64 source or a 64-bit result
/// it gives the bit pattern 1 << (bits - 1). Section 9.7.9.21, "NaN".
uint64_t floatToInteger(TypeCode to, TypeCode from, double x, uint64_t mods) {
  unsigned bits = bitsOfType(to);
  if (x != x)
    return from == F64 || bits == 64 ? 1ull << (bits - 1) : 0;
  x = roundToInteger(x, mods);
  if (isSigned(to)) {
    double top = std::ldexp(1.0, int(bits) - 1);
    int64_t least = bits == 64 ? std::numeric_limits<int64_t>::min()
                               : -(int64_t(1) << (bits - 1));
    return uint64_t(x < -top ? least : x >= top ? ~least : int64_t(x));
  }
  double top = std::ldexp(1.0, int(bits));
  uint64_t most = bits == 64 ? ~0ull : (1ull << bits) - 1;
  return x <= 0 ? 0 : x >= top ? most : uint64_t(x);
}

/// cvt.sat between integer types clamps to the destination's range.
uint64_t integerToInteger(TypeCode to, TypeCode from, int64_t x,
                          uint64_t mods) {
  if (!(mods & mod::sat_))
    return uint64_t(x);
  unsigned bits = bitsOfType(to);
  bool isBig = from == U64 && x < 0;
  if (isSigned(to)) {
    int64_t most = bits == 64 ? std::numeric_limits<int64_t>::max()
                              : (int64_t(1) << (bits - 1)) - 1;
    return uint64_t(isBig || x > most ? most : x < ~most ? ~most : x);
  }
  uint64_t most = bits == 64 ? ~0ull : (1ull << bits) - 1;
  return isBig ? most : x < 0 ? 0 : uint64_t(x) > most ? most : uint64_t(x);
}

/// m * 2^0 as an f64 in a directed mode.
double directed(uint64_t m, bool negative, uint64_t mods) {
  int drop = m >> 53 ? 11 - __builtin_clzll(m) : 0;
  bool isInexact = m & ((1ull << drop) - 1);
  bool isAway = mods & mod::rm_ ? negative : (mods & mod::rp_) && !negative;
  double r = std::ldexp(double((m >> drop) + (isInexact && isAway)), drop);
  return negative ? -r : r;
}

/// Integers to floats: 64-bit ones do not fit an f64, so f32 and f64 convert
/// directly; 16-bit floats go through an f64 that is exact or rounded to odd.
uint64_t integerToFloat(TypeCode to, TypeCode from, int64_t x, uint64_t mods) {
  bool isUnsigned = from == U64;
  bool isNearest =
      !(mods & (mod::rz_ | mod::rm_ | mod::rp_ | mod::sat_ | mod::relu_));
  if (isNearest && to == F32)
    return bitsOf(isUnsigned ? float(uint64_t(x)) : float(x));
  if (isNearest && to == F64)
    return std::bit_cast<uint64_t>(isUnsigned ? double(uint64_t(x))
                                              : double(x));
  bool isNegative = !isUnsigned && x < 0;
  uint64_t m = isNegative ? 0 - uint64_t(x) : uint64_t(x);
  if (to == F64)
    return std::bit_cast<uint64_t>(directed(m, isNegative, mods));
  double d = isUnsigned ? double(uint64_t(x)) : double(x);
  bool isBig =
      isUnsigned ? uint64_t(x) >> 53 : x > (1ll << 53) || x < -(1ll << 53);
  if (isBig) {
    // Keep the top 53 bits and a sticky one: enough for every mode.
    uint64_t sticky = (m & 0x7FF) != 0;
    d = double((m >> 11) | sticky) * 2048.0;
    d = isNegative ? -d : d;
  }
  return floatTo(to, d, mods);
}

uint64_t convertLane(const ConvertAux &t, uint64_t raw, uint64_t mods) {
  if (!isFloat(t.from)) {
    int64_t x = integerFrom(t.from, raw);
    return isFloat(t.to) ? integerToFloat(t.to, t.from, x, mods)
                         : integerToInteger(t.to, t.from, x, mods);
  }
  double x = floatFrom(t.from, raw);
  if ((mods & mod::ftz_) && (t.from == F32 || t.from == TF32))
    x = flush(float(x));
  if (!isFloat(t.to))
    return floatToInteger(t.to, t.from, x, mods);
  if (mods & (mod::rni_ | mod::rzi_ | mod::rmi_ | mod::rpi_))
    x = std::copysign(roundToInteger(x, mods), x);
  return floatTo(t.to, x, mods);
}

/// Narrow results are sign- or zero-extended to the register.
uint64_t extend(TypeCode t, uint64_t x) {
  return isFloat(t) ? x : uint64_t(integerFrom(t, x));
}

Flow convert(Warp &w, const Instruction &i) {
  ConvertAux t = ConvertAux::unpack(i.aux);
  uint32_t regBits = bitsOfType(t.to);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t raw =
        t.wideFrom ? lanes<uint64_t>(w, i.a)[l] : lanes<uint32_t>(w, i.a)[l];
    uint64_t r = extend(t.to, convertLane(t, raw, i.mods));
    if (t.wideTo)
      reinterpret_cast<uint64_t *>(w.regs + i.dst)[l] = r;
    else
      w.regs[i.dst + l] =
          regBits <= 16 && i.c == 0 ? uint32_t(r) & 0xFFFF : uint32_t(r);
  }
  return Flow::Next;
}

/// Section 9.7.9.22: a and b, saturated, above the bits of c that are left.
/// imm: bits of a field << 1, signed.
Flow convertPack(Warp &w, const Instruction &i) {
  int bits = i.imm >> 1;
  bool isSigned = i.imm & 1;
  int64_t most = (int64_t(1) << (bits - isSigned)) - 1;
  int64_t least = isSigned ? -most - 1 : 0;
  uint32_t field = uint32_t((uint64_t(1) << bits) - 1);
  auto saturated = [=](int32_t x) {
    return uint32_t(x < least ? least : x > most ? most : x) & field;
  };
  bool hasThird = i.aux;
  return ternary<uint32_t, int32_t, int32_t, uint32_t>(
      w, i, [=](int32_t x, int32_t y, uint32_t z) -> uint32_t {
        uint32_t low = saturated(x) << bits | saturated(y);
        return hasThird ? z << 2 * bits | low : low;
      });
}

template <bool IsE5m2> uint32_t toSmall(float x, bool relu) {
  x = relu && x <= 0 ? 0.0f : x;
  return IsE5m2 ? floatToE5m2(x) : floatToE4m3(x);
}
/// To e4m3x2 or e5m2x2: a goes to the upper byte.
template <bool IsE5m2> Flow smallFromFloats(Warp &w, const Instruction &i) {
  bool relu = i.mods & mod::relu_;
  return binary<uint32_t, float, float>(
      w, i, [=](float x, float y) -> uint32_t {
        return toSmall<IsE5m2>(x, relu) << 8 | toSmall<IsE5m2>(y, relu);
      });
}
template <bool IsE5m2> Flow smallFromHalves(Warp &w, const Instruction &i) {
  bool relu = i.mods & mod::relu_;
  return unary<uint32_t, uint32_t>(w, i, [=](uint32_t x) -> uint32_t {
    return toSmall<IsE5m2>(halfToFloat(x >> 16), relu) << 8 |
           toSmall<IsE5m2>(halfToFloat(x & 0xFFFF), relu);
  });
}
template <bool IsE5m2> Flow halvesFromSmall(Warp &w, const Instruction &i) {
  bool relu = i.mods & mod::relu_;
  auto one = [=](uint32_t x) {
    float f = IsE5m2 ? e5m2ToFloat(x & 0xFF) : e4m3ToFloat(x & 0xFF);
    return floatToHalf(relu && f <= 0 ? 0.0f : f);
  };
  return unary<uint32_t, uint32_t>(
      w, i, [=](uint32_t x) -> uint32_t { return one(x >> 8) << 16 | one(x); });
}

#ifdef __AVX512F__
/// f32 to f16 in the low bits of each lane; NaNs are 0x7FFF.
[[gnu::always_inline]] inline __m512i sixteenHalves(const uint32_t *from) {
  __m512 x = _mm512_load_ps(from);
  __m512i r = _mm512_cvtepu16_epi32(
      _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return _mm512_mask_mov_epi32(r, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q),
                               _mm512_set1_epi32(kNaN16));
}
#endif

/// d, a, b: a goes to the upper half.
Flow halvesFromFloats(Warp &w, const Instruction &i) {
#ifdef __AVX512F__
  auto *out = target<uint32_t>(w, i.dst);
  for (unsigned l = 0; l < 32; l += 16) {
    __m512i upper = sixteenHalves(w.regs + i.a + l);
    __m512i lower = sixteenHalves(w.regs + i.b + l);
    _mm512_store_si512(out + l,
                       _mm512_or_si512(_mm512_slli_epi32(upper, 16), lower));
  }
  return settle(w, i.dst, out);
#else
  return binary<uint32_t, float, float>(w, i, [](float x, float y) {
    return floatToHalf(x) << 16 | floatToHalf(y);
  });
#endif
}

Flow convertPairSlow(Warp &w, const Instruction &i) {
  TypeCode to = i.aux ? BF16 : F16;
  uint64_t mods = i.mods;
  return binary<uint32_t, float, float>(
      w, i, [=](float x, float y) -> uint32_t {
        return uint32_t(floatTo(to, x, mods) << 16 | floatTo(to, y, mods));
      });
}
} // namespace

void ptxvm::FA_ISA::addConvert(HandlerList &list) {
  using u32 = uint32_t;
  using u64 = uint64_t;
  using s32 = int32_t;
  using s64 = int64_t;
  static const NamedHandler kTable[] = {
      {"cvt", convert},
      UN("cvt_f32_f16", float, u32, canonical(halfToFloat(x & 0xFFFF))),
      UN("cvt_f32_bf16", float, u32, canonical(bfloatToFloat(x & 0xFFFF))),
      UN("cvt_f16_f32", u32, float, floatToHalf(x)),
      UN("cvt_bf16_f32", u32, float, floatToBfloat(x)),
      // d, a, b: a goes to the upper half.
      {"cvt_f16x2_f32", halvesFromFloats},
      HANDLER("cvt_bf16x2_f32",
              {
                return binary<u32, float, float>(w, i, [](float x, float y) {
                  return floatToBfloat(x) << 16 | floatToBfloat(y);
                });
              }),
      {"cvt_x2_slow", convertPairSlow},
      {"cvt_pack", convertPack},
      {"cvt_e4m3x2_f32", smallFromFloats<false>},
      {"cvt_e5m2x2_f32", smallFromFloats<true>},
      {"cvt_e4m3x2_f16x2", smallFromHalves<false>},
      {"cvt_e5m2x2_f16x2", smallFromHalves<true>},
      {"cvt_f16x2_e4m3x2", halvesFromSmall<false>},
      {"cvt_f16x2_e5m2x2", halvesFromSmall<true>},
      UN("cvt_zext64", u64, u32, x),
      UN("cvt_sext64", s64, s32, x),
      UN("cvt_trunc64", u32, u64, u32(x)),
      UN("cvt_zext16", u32, u32, x & 0xFFFF),
      UN("cvt_f32_s32", float, s32, float(x)),
      UN("cvt_f32_u32", float, u32, float(x)),
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
