//===- Half.cpp - f16 and bf16 arithmetic ---------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.5. Sums and products of two 16-bit floats are
// computed in f32 and rounded once more, which is exact rounding since f32 has
// more than twice the bits; fma goes through an f64 rounded to odd. Compiled
// for each variant.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"
#include "SmallFloat.h"

#include <cmath>

using namespace ptxvm;

namespace {
struct F16 {
  static float widen(uint32_t x) { return halfToFloat(x); }
  static uint32_t narrow(float x) { return floatToHalf(x); }
  static constexpr uint32_t kExponent = 0x7C00;
};
struct BF16 {
  static float widen(uint32_t x) { return bfloatToFloat(x); }
  static uint32_t narrow(float x) { return floatToBfloat(x); }
  static constexpr uint32_t kExponent = 0x7F80;
};

template <typename T> uint32_t flushHalf(uint32_t x) {
  return x & T::kExponent ? x : x & 0x8000;
}

/// x * y + z to f32 rounded to odd: a later rounding to fewer than 23 bits is
/// then the right one (Boldo and Melquiond, 2008).
inline float fmaToOdd(float x, float y, float z) {
  double p = double(x) * y; // exact: at most 22 bits
  double s = p + z;
  double t = s - p;
  double error = (p - (s - t)) + (z - t);
  uint64_t bits = std::bit_cast<uint64_t>(s);
  bool finite = std::isfinite(s);
  if (finite && error != 0 && !(bits & 1)) {
    bool away = (error > 0) == (s > 0);
    bits = away ? bits + 1 : bits - 1;
    s = std::bit_cast<double>(bits);
  }
  // To f32, again to odd: beyond the largest number that is the largest, whose
  // last bit is one.
  float f = float(s);
  if (finite && std::isinf(f))
    return std::copysign(floatOf(0x7F7FFFFF), f);
  if (finite && std::isfinite(f) && double(f) != s && !(bitsOf(f) & 1)) {
    bool up = (double(f) < s) == (f >= 0 && s > 0);
    if (f == 0)
      return s > 0 ? floatOf(1) : floatOf(0x80000001);
    return floatOf(up ? bitsOf(f) + 1 : bitsOf(f) - 1);
  }
  return f;
}

struct Add {
  static float at(float x, float y) { return x + y; }
};
struct Sub {
  static float at(float x, float y) { return x - y; }
};
struct Mul {
  static float at(float x, float y) { return x * y; }
};

/// To bf16 in a directed mode; what was rounded to odd is still on its side.
uint32_t narrowDirected(float r, uint64_t mods) {
  uint32_t x = bitsOf(r);
  if (r != r)
    return kNaN16;
  if (std::isinf(r) || !(x & 0xFFFF))
    return x >> 16;
  bool up = mods & mod::rm_ ? x >> 31 : mods & mod::rp_ ? !(x >> 31) : false;
  return (x >> 16) + up;
}

template <typename T> uint32_t finish(float r, uint64_t mods) {
  if (mods & mod::sat_)
    r = saturate(r);
  if (mods & mod::relu_)
    r = r != r ? r : (r > 0 ? r : 0.0f);
  bool isDirected = mods & (mod::rz_ | mod::rm_ | mod::rp_);
  uint32_t h = isDirected ? narrowDirected(r, mods) : T::narrow(r);
  return mods & mod::ftz_ ? flushHalf<T>(h) : h;
}

template <typename T, typename Op>
uint32_t apply(uint32_t x, uint32_t y, uint64_t mods) {
  if (mods & mod::ftz_) {
    x = flushHalf<T>(x);
    y = flushHalf<T>(y);
  }
  return finish<T>(Op::at(T::widen(x), T::widen(y)), mods);
}
template <typename T>
uint32_t applyFma(uint32_t x, uint32_t y, uint32_t z, uint64_t mods) {
  if (mods & mod::ftz_) {
    x = flushHalf<T>(x);
    y = flushHalf<T>(y);
    z = flushHalf<T>(z);
  }
  return finish<T>(fmaToOdd(T::widen(x), T::widen(y), T::widen(z)), mods);
}

template <typename T, bool IsMax>
uint32_t extreme(uint32_t x, uint32_t y, uint64_t mods) {
  if (mods & mod::ftz_) {
    x = flushHalf<T>(x);
    y = flushHalf<T>(y);
  }
  uint32_t sign = mods & mod::xorsign_ ? (x ^ y) & 0x8000 : 0;
  if (mods & mod::xorsign_) {
    x &= 0x7FFF;
    y &= 0x7FFF;
  }
  float fx = T::widen(x), fy = T::widen(y);
  bool nx = fx != fx, ny = fy != fy;
  if (nx || ny)
    return (nx && ny) || (mods & mod::NaN_) ? kNaN16 : (nx ? y : x) | sign;
  if (fx == fy)
    return (IsMax ? x & y : x | y) | sign;
  return ((IsMax ? fx > fy : fx < fy) ? x : y) | sign;
}

/// One or two 16-bit values a register.
template <bool IsPair, typename Op>
Flow each(Warp &w, const Instruction &i, Op op) {
  return binary<uint32_t, uint32_t, uint32_t>(
      w, i, [=](uint32_t x, uint32_t y) -> uint32_t {
        uint32_t low = op(x & 0xFFFF, y & 0xFFFF);
        return IsPair ? low | op(x >> 16, y >> 16) << 16 : low;
      });
}
template <typename T, bool IsPair, typename Op>
Flow arithmetic(Warp &w, const Instruction &i) {
  uint64_t mods = i.mods;
  return each<IsPair>(
      w, i, [=](uint32_t x, uint32_t y) { return apply<T, Op>(x, y, mods); });
}
template <typename T, bool IsPair, bool IsMax>
Flow extremes(Warp &w, const Instruction &i) {
  uint64_t mods = i.mods;
  return each<IsPair>(w, i, [=](uint32_t x, uint32_t y) {
    return extreme<T, IsMax>(x, y, mods);
  });
}
template <typename T, bool IsPair> Flow fma(Warp &w, const Instruction &i) {
  uint64_t mods = i.mods;
  return ternary<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, i, [=](uint32_t x, uint32_t y, uint32_t z) -> uint32_t {
        uint32_t low = applyFma<T>(x & 0xFFFF, y & 0xFFFF, z & 0xFFFF, mods);
        return IsPair ? low | applyFma<T>(x >> 16, y >> 16, z >> 16, mods) << 16
                      : low;
      });
}
} // namespace

void ptxvm::FA_ISA::addHalf(HandlerList &list) {
  static const NamedHandler kTable[] = {
#define M(name, T, isPair)                                                     \
  {"add_" name, arithmetic<T, isPair, Add>},                                   \
      {"sub_" name, arithmetic<T, isPair, Sub>},                               \
      {"mul_" name, arithmetic<T, isPair, Mul>},                               \
      {"min_" name, extremes<T, isPair, false>},                               \
      {"max_" name, extremes<T, isPair, true>}, {"fma_" name, fma<T, isPair>},
      M("f16", F16, false) M("f16x2", F16, true) M("bf16", BF16, false)
          M("bf16x2", BF16, true)
#undef M
      // The directed modes of bf16 (the decoder adds the ending).
      {"fma_bf16_slow", fma<BF16, false>},
      {"fma_bf16x2_slow", fma<BF16, true>},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
