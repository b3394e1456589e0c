//===- Compare.cpp - setp, selp and tests ---------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.6. Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"
#include "SmallFloat.h"

using namespace ptxvm;

namespace {
/// Comparisons in the order of FamilyDecoders::setp.
template <typename T>
[[gnu::always_inline]] inline bool compare(int op, T x, T y) {
  bool unordered = x != x || y != y;
  switch (op) {
  case 0:
    return x == y;
  case 1:
    return x != y && !unordered;
  case 2:
    return x < y;
  case 3:
    return x <= y;
  case 4:
    return x > y;
  case 5:
    return x >= y;
  case 10:
    return x == y || unordered;
  case 11:
    return x != y || unordered;
  case 12:
    return x < y || unordered;
  case 13:
    return x <= y || unordered;
  case 14:
    return x > y || unordered;
  case 15:
    return x >= y || unordered;
  case 16:
    return !unordered;
  default:
    return unordered;
  }
}

template <typename T, int Op>
[[gnu::always_inline]] inline uint32_t compareAll(const T *x, const T *y) {
  alignas(64) uint8_t out[32];
  for (unsigned l = 0; l < 32; ++l)
    out[l] = compare(Op, x[l], y[l]) ? 0xFF : 0;
  return maskOf([&](unsigned l) { return out[l] & 1; });
}

template <typename T> uint32_t dispatch(int op, const T *x, const T *y) {
  switch (op) {
#define CASE(n)                                                                \
  case n:                                                                      \
    return compareAll<T, n>(x, y);
    CASE(0)
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(10) CASE(11) CASE(12) CASE(13)
        CASE(14) CASE(15) CASE(16)
#undef CASE
            default : return compareAll<T, 17>(x, y);
  }
}

/// p = (a CMP b) BOOL c; q = !(a CMP b) BOOL c.
Flow finish(Warp &w, const Instruction &i, uint32_t t) {
  uint32_t c = w.preds[i.c] ^ (i.aux & 1 ? ~0u : 0);
  auto combine = [&](uint32_t x) {
    switch (i.aux >> 8) {
    case 1:
      return x & c;
    case 2:
      return x | c;
    case 3:
      return x ^ c;
    default:
      return x;
    }
  };
  uint32_t p = combine(t), q = combine(~t);
  setPredicate(w, i.dst, p);
  if (i.d != 2)
    setPredicate(w, i.d, q);
  return Flow::Next;
}

template <typename T> Flow setp(Warp &w, const Instruction &i) {
  if constexpr (sizeof(T) == 2) {
    alignas(64) int32_t x[32], y[32];
    for (unsigned l = 0; l < 32; ++l) {
      x[l] = T(w.regs[i.a + l]);
      y[l] = T(w.regs[i.b + l]);
    }
    return finish(w, i, dispatch<int32_t>(i.imm, x, y));
  } else {
    return finish(w, i,
                  dispatch<T>(i.imm, reinterpret_cast<const T *>(w.regs + i.a),
                              reinterpret_cast<const T *>(w.regs + i.b)));
  }
}

template <typename Widen>
Flow setpFloat(Warp &w, const Instruction &i, Widen widen) {
  alignas(64) float x[32], y[32];
  for (unsigned l = 0; l < 32; ++l) {
    x[l] = widen(w.regs[i.a + l]);
    y[l] = widen(w.regs[i.b + l]);
  }
  return finish(w, i, dispatch<float>(i.imm, x, y));
}

Flow setpF32(Warp &w, const Instruction &i) {
  if (i.mods & mod::ftz_)
    return setpFloat(w, i, [](uint32_t x) { return flush(floatOf(x)); });
  return setp<float>(w, i);
}

template <typename T> Flow selp(Warp &w, const Instruction &i) {
  alignas(64) T out[32];
  const T *a = lanes<T>(w, i.a), *b = lanes<T>(w, i.b);
  uint32_t p = w.preds[i.c] ^ (i.aux & 1 ? ~0u : 0);
  for (unsigned l = 0; l < 32; ++l)
    out[l] = p >> l & 1 ? a[l] : b[l];
  return commit(w, i.dst, out);
}

/// Kinds in the order of FamilyDecoders::testp. Section 9.7.3.1.
template <typename T, typename Bits, Bits Infinity, Bits Least>
Flow testp(Warp &w, const Instruction &i) {
  const Bits *a = lanes<Bits>(w, i.a);
  uint32_t t = maskOf([&](unsigned l) {
    Bits m = a[l] & Bits(~(Bits(1) << (sizeof(Bits) * 8 - 1)));
    switch (i.imm) {
    case 0:
      return m < Infinity;
    case 1:
      return m == Infinity;
    case 2:
      return m <= Infinity;
    case 3:
      return m > Infinity;
    case 4:
      return m < Infinity && m >= Least;
    default:
      return m < Least && m != 0;
    }
  });
  setPredicate(w, i.dst, t);
  return Flow::Next;
}

Flow isSpace(Warp &w, const Instruction &i) {
  const uint64_t *a = lanes<uint64_t>(w, i.a);
  uint32_t t = maskOf([&](unsigned l) {
    uint64_t window = a[l] >> 32 << 32;
    switch (Space(i.imm)) {
    case Space::Shared:
      return window == kSharedWindow;
    case Space::Local:
      return window == kLocalWindow;
    case Space::Param:
      return window == kParamWindow;
    default:
      return window < kSharedWindow;
    }
  });
  setPredicate(w, i.dst, t);
  return Flow::Next;
}
} // namespace

void ptxvm::FA_ISA::addCompare(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"setp_u16", setp<uint16_t>},
      {"setp_s16", setp<int16_t>},
      {"setp_u32", setp<uint32_t>},
      {"setp_s32", setp<int32_t>},
      {"setp_u64", setp<uint64_t>},
      {"setp_s64", setp<int64_t>},
      {"setp_f32", setpF32},
      {"setp_f64", setp<double>},
      HANDLER("setp_f16", { return setpFloat(w, i, halfToFloat); }),
      HANDLER("setp_bf16", { return setpFloat(w, i, bfloatToFloat); }),
      {"selp_b32", selp<uint32_t>},
      {"selp_b64", selp<uint64_t>},
      HANDLER("slct_b32_s32",
              {
                return ternary<uint32_t, uint32_t, uint32_t, int32_t>(
                    w, i, [](uint32_t x, uint32_t y, int32_t z) {
                      return z >= 0 ? x : y;
                    });
              }),
      {"testp_f32", testp<float, uint32_t, 0x7F800000u, 0x00800000u>},
      {"testp_f64",
       testp<double, uint64_t, 0x7FF0000000000000ull, 0x0010000000000000ull>},
      {"isspacep", isSpace},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
