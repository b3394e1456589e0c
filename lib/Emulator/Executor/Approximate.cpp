//===- Approximate.cpp - any result inside the ISA's bound ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --approx=adversarial:SEED. Chips differ in the last bits of approximate
// functions; a program must be right for every value inside the bound that the
// ISA states (9.1, sections 9.7.3 and 9.7.4). The value that a lane gets is a
// function of the seed, the operation and its operands, so that a run repeats;
// every second one lies at an end of the bound. What the ISA's tables fix (the
// values at zeros, infinities and NaNs) stays.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/Modifiers.h"
#include "Handlers.h"
#include "Machine.h"
#include "SmallFloat.h"

#include <cmath>

using namespace ptxvm;

namespace {
enum class Function : uint8_t {
  Rcp,
  Sqrt,
  Rsqrt,
  Lg2,
  Sin,
  Cos,
  Tanh,
  Ex2,
  Divide
};
enum class Format : uint8_t { F32, F16, BF16 };

double valueOf(Function f, double x, double y) {
  switch (f) {
  case Function::Rcp:
    return 1 / x;
  case Function::Sqrt:
    return std::sqrt(x);
  case Function::Rsqrt:
    return 1 / std::sqrt(x);
  case Function::Lg2:
    return std::log2(x);
  case Function::Sin:
    return std::sin(x);
  case Function::Cos:
    return std::cos(x);
  case Function::Tanh:
    return std::tanh(x);
  case Function::Ex2:
    return std::exp2(x);
  case Function::Divide:
    return x / y;
  }
  return 0;
}

/// One unit in the last place of an f32 of that size.
double unitOf(double exact) {
  int e = std::ilogb(exact);
  return std::ldexp(1, (e < -126 ? -126 : e) - 23);
}

/// The largest error that the ISA allows, absolute.
double boundOf(Function f, Format format, double x, double exact) {
  double size = std::fabs(exact);
  switch (f) {
  case Function::Rcp:
    return unitOf(exact);
  case Function::Sqrt:
    return std::ldexp(size, -23);
  case Function::Rsqrt:
    return size * std::exp2(-22.9);
  case Function::Lg2:
    return std::ldexp(x > 0.5 && x < 2 ? 1 : size, -22);
  case Function::Sin:
  case Function::Cos:
    // Beyond 100 pi the ISA states no bound; the last one is kept.
    return std::exp2(std::fabs(x) <= 2 * M_PI ? -20.5 : -14.7);
  case Function::Tanh:
    return format == Format::F32   ? std::ldexp(size, -11)
           : format == Format::F16 ? std::exp2(-10.987)
                                   : std::exp2(-8.0);
  case Function::Ex2:
    return format == Format::F32   ? 2 * unitOf(exact)
           : format == Format::F16 ? size * std::exp2(-9.9)
                                   : std::ldexp(size, -7);
  case Function::Divide:
    return 2 * unitOf(exact);
  }
  return 0;
}

/// The value is fixed by a table of the ISA, or by the function's form.
bool isFixed(Function f, double x, double exact) {
  if (!std::isfinite(exact) || exact == 0 || !std::isfinite(x) || x == 0)
    return true;
  // Subnormal operands of tanh pass through.
  return f == Function::Tanh && std::fabs(x) < std::ldexp(1, -126);
}

uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

double toFormat(Format format, double x) {
  switch (format) {
  case Format::F16:
    return halfToFloat(floatToHalf(float(x)));
  case Format::BF16:
    return bfloatToFloat(floatToBfloat(float(x)));
  default:
    return float(x);
  }
}

/// A number of the format inside the bound, or the nearest one.
double choose(Function f, Format format, double x, double y, uint64_t seed) {
  double exact = valueOf(f, x, y);
  if (isFixed(f, x, exact))
    return exact;
  double bound = boundOf(f, format, x, exact);
  uint64_t r = mix(seed ^ mix(std::bit_cast<uint64_t>(x) ^
                              mix(std::bit_cast<uint64_t>(y) + uint64_t(f))));
  double at = r & 1 ? (r & 2 ? 1.0 : -1.0)
                    : std::ldexp(double(r >> 11), -52) - 1; // [-1, 1)
  // Rounding may leave the bound by half a unit: come nearer until it does not.
  for (int i = 0; i < 40; ++i, at *= 0.75) {
    double candidate = toFormat(format, exact + at * bound);
    if (std::fabs(candidate - exact) <= bound)
      return candidate;
  }
  return toFormat(format, exact);
}

float laneF32(Function f, float x, float y, const Instruction &i,
              uint64_t seed) {
  bool ftz = i.mods & mod::ftz_;
  x = ftz ? flush(x) : x;
  y = ftz ? flush(y) : y;
  // Sections 9.7.3.8: beyond 2^126 div.approx gives 0, or NaN of an infinity.
  bool isHuge = std::fabs(y) > std::ldexp(1.0f, 126) && y == y;
  float r = f == Function::Divide && (i.mods & mod::approx_) && isHuge
                ? x * std::copysign(0.0f, y)
                : float(choose(f, Format::F32, x, y, seed));
  return canonical(ftz ? flush(r) : r);
}

template <Function F> Flow onFloats(Warp &w, const Instruction &i) {
  uint64_t seed = w.cta->launch.options.approx.seed;
  const float *a = reinterpret_cast<const float *>(w.regs + i.a);
  const float *b = reinterpret_cast<const float *>(w.regs + i.b);
  float *d = reinterpret_cast<float *>(w.regs + i.dst);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    d[l] = laneF32(F, a[l], F == Function::Divide ? b[l] : 0, i, seed);
  }
  return Flow::Next;
}

template <Function F, Format Type, bool IsPair>
Flow onHalves(Warp &w, const Instruction &i) {
  uint64_t seed = w.cta->launch.options.approx.seed;
  bool ftz = i.mods & mod::ftz_;
  auto one = [&](uint32_t h) -> uint32_t {
    float x = Type == Format::F16 ? halfToFloat(h) : bfloatToFloat(h);
    float r = float(choose(F, Type, ftz ? flush(x) : x, 0, seed));
    return Type == Format::F16 ? floatToHalf(r) : floatToBfloat(r);
  };
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t x = w.regs[i.a + l], low = one(x & 0xFFFF);
    w.regs[i.dst + l] = IsPair ? low | one(x >> 16) << 16 : low;
  }
  return Flow::Next;
}
} // namespace

void ptxvm::addApproximate(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"rcp_f32_adversarial", onFloats<Function::Rcp>},
      {"sqrt_f32_adversarial", onFloats<Function::Sqrt>},
      {"rsqrt_f32_adversarial", onFloats<Function::Rsqrt>},
      {"lg2_f32_adversarial", onFloats<Function::Lg2>},
      {"sin_f32_adversarial", onFloats<Function::Sin>},
      {"cos_f32_adversarial", onFloats<Function::Cos>},
      {"tanh_f32_adversarial", onFloats<Function::Tanh>},
      {"ex2_f32_adversarial", onFloats<Function::Ex2>},
      {"div_f32_adversarial", onFloats<Function::Divide>},
#define M(name, f)                                                             \
  {name "_f16_adversarial", onHalves<f, Format::F16, false>},                  \
      {name "_f16x2_adversarial", onHalves<f, Format::F16, true>},             \
      {name "_bf16_adversarial", onHalves<f, Format::BF16, false>},            \
      {name "_bf16x2_adversarial", onHalves<f, Format::BF16, true>},
      M("ex2", Function::Ex2) M("tanh", Function::Tanh)
#undef M
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
