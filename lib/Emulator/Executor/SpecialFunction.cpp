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

using namespace ptxvm;

namespace {
/// 2^x by the Taylor series of 2^f, |f| <= 1/2; its error is below 2^-42.
[[gnu::always_inline]] inline float exp2Lane(float x) {
  double d = x;
  d = d > 130.0 ? 130.0 : d;
  d = d < -170.0 ? -170.0 : d;
  constexpr double kMagic = 6755399441055744.0; // 1.5 * 2^52: rounds to integer
  double shifted = d + kMagic;
  double f = d - (shifted - kMagic);
  constexpr double kC[] = {1.0,
                           0.69314718055994530942,
                           0.24022650695910071233,
                           0.05550410866482157995,
                           0.009618129107628477162,
                           0.0013333558146428443423,
                           0.00015403530393381609954,
                           0.000015252733804059840280,
                           0.0000013215486790144309488,
                           0.00000010178086009239699727,
                           0.0000000070549116208011233299};
  double r = kC[10];
  for (int k = 9; k >= 0; --k)
    r = __builtin_fma(r, f, kC[k]);
  uint64_t n = std::bit_cast<uint64_t>(shifted);
  double scale = std::bit_cast<double>((n + 1023) << 52);
  return float(r * scale);
}

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
