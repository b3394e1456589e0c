//===- DirectedRounding.cpp - arithmetic in the other rounding modes ------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// .rz, .rm and .rp of f32 (with mixed precision) and f64: the host's rounding
// mode is set around the operation. This file is compiled with -frounding-math
// and not vectorised.
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "HostRounding.h"
#include "Machine.h"
#include "SmallFloat.h"

#include <cmath>

using namespace ptxvm;

namespace {
template <typename T> T input(T x, uint64_t mods) {
  if constexpr (sizeof(T) == 4)
    return mods & mod::ftz_ ? flush(x) : x;
  return x;
}
template <typename T> T output(T x, uint64_t mods) {
  if constexpr (sizeof(T) == 4) {
    x = mods & mod::ftz_ ? flush(x) : x;
    if (mods & mod::sat_)
      return saturate(x);
  }
  return canonical(x);
}

template <typename T, typename Op>
Flow each(Warp &w, const Instruction &i, Op op) {
  const T *a = reinterpret_cast<const T *>(w.regs + i.a);
  const T *b = reinterpret_cast<const T *>(w.regs + i.b);
  const T *c = reinterpret_cast<const T *>(w.regs + i.c);
  T *d = reinterpret_cast<T *>(w.regs + i.dst);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    volatile T x = input(a[l], i.mods), y = input(b[l], i.mods),
               z = input(c[l], i.mods);
    volatile T r;
    {
      HostRounding scope(i.mods);
      r = op(x, y, z);
    }
    d[l] = output(T(r), i.mods);
  }
  return Flow::Next;
}
} // namespace

#define SLOW(name, T, expr)                                                    \
  {                                                                            \
    name, [](Warp &w, const Instruction &i) -> Flow {                          \
      return each<T>(w, i, [](T x, T y, T z) -> T {                            \
        (void)y, (void)z;                                                      \
        return expr;                                                           \
      });                                                                      \
    }                                                                          \
  }

void ptxvm::addDirectedRounding(HandlerList &list) {
  static const NamedHandler kTable[] = {
      SLOW("add_f32_slow", float, x + y),
      SLOW("sub_f32_slow", float, x - y),
      SLOW("mul_f32_slow", float, x *y),
      SLOW("div_f32_slow", float, x / y),
      SLOW("sqrt_f32_slow", float, std::sqrt(x)),
      SLOW("rcp_f32_slow", float, 1 / x),
      SLOW("rcp_f64_slow", double, 1 / x),
      SLOW("sqrt_f64_slow", double, std::sqrt(x)),
      SLOW("fma_f32_slow", float, std::fma(x, y, z)),
      SLOW("add_f32_f16_slow", float, halfToFloat(bitsOf(x)) + y),
      SLOW("sub_f32_f16_slow", float, halfToFloat(bitsOf(x)) - y),
      SLOW("fma_f32_f16_slow", float,
           std::fma(halfToFloat(bitsOf(x)), halfToFloat(bitsOf(y)), z)),
      SLOW("add_f32_bf16_slow", float, bfloatToFloat(bitsOf(x)) + y),
      SLOW("sub_f32_bf16_slow", float, bfloatToFloat(bitsOf(x)) - y),
      SLOW("fma_f32_bf16_slow", float,
           std::fma(bfloatToFloat(bitsOf(x)), bfloatToFloat(bitsOf(y)), z)),
      SLOW("add_f64_slow", double, x + y),
      SLOW("sub_f64_slow", double, x - y),
      SLOW("mul_f64_slow", double, x *y),
      SLOW("div_f64_slow", double, x / y),
      SLOW("fma_f64_slow", double, std::fma(x, y, z)),
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
