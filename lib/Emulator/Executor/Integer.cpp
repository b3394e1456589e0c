//===- Integer.cpp - integer arithmetic -----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.1 and 9.7.2; what works on bits is in Bits.cpp.
// Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"

#include <limits>

using namespace ptxvm;

namespace {
using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/// Division by zero gives all ones, a remainder by zero the dividend. The ISA
/// leaves both open (*unverified* on hardware); the lowest number divided by -1
/// wraps.
template <typename T> T divide(T x, T y) {
  if (y == 0)
    return T(-1);
  if (std::is_signed_v<T> && y == T(-1))
    return T(0 - std::make_unsigned_t<T>(x));
  return T(x / y);
}
template <typename T> T remainder(T x, T y) {
  if (y == 0)
    return x;
  if (std::is_signed_v<T> && y == T(-1))
    return 0;
  return T(x % y);
}

inline s32 addSaturated(s32 x, s32 y) {
  s64 r = s64(x) + y;
  r = r > std::numeric_limits<s32>::max() ? std::numeric_limits<s32>::max() : r;
  r = r < std::numeric_limits<s32>::min() ? std::numeric_limits<s32>::min() : r;
  return s32(r);
}
inline s32 subSaturated(s32 x, s32 y) {
  s64 r = s64(x) - y;
  r = r > std::numeric_limits<s32>::max() ? std::numeric_limits<s32>::max() : r;
  r = r < std::numeric_limits<s32>::min() ? std::numeric_limits<s32>::min() : r;
  return s32(r);
}

/// Sections 9.7.1.8 and 9: the low 24 bits of each operand; .lo gives
/// bits 31..0 of the 48-bit product, .hi bits 47..16.
template <typename T, bool IsHigh> inline T multiply24(T x, T y) {
  s64 p = s64(T(u32(x) << 8) >> 8) * s64(T(u32(y) << 8) >> 8);
  return T(u32(p >> (IsHigh ? 16 : 0)));
}

template <typename T> inline T difference(T x, T y) {
  using U = std::make_unsigned_t<T>;
  return T(x > y ? U(U(x) - U(y)) : U(U(y) - U(x)));
}

// Section 9.7.2: the carry is the predicate in slot i.d; aux bit 0: it is read,
// bit 1: it is written.
template <typename T> struct CarryResult {
  T value;
  bool carry;
};
template <typename T> inline CarryResult<T> addCarry(T x, T y, bool carry) {
  T r = T(x + y + carry);
  return {r, carry ? r <= x : r < x};
}
template <typename T> inline CarryResult<T> subBorrow(T x, T y, bool borrow) {
  return {T(x - y - borrow), borrow ? x <= y : x < y};
}

template <typename T, typename Op>
Flow withCarry(Warp &w, const Instruction &i, Op op) {
  alignas(64) T out[32];
  const T *a = lanes<T>(w, i.a), *b = lanes<T>(w, i.b), *c = lanes<T>(w, i.c);
  u32 in = i.aux & 1 ? w.preds[i.d] : 0, carries = 0;
  for (unsigned l = 0; l < 32; ++l) {
    CarryResult<T> r = op(a[l], b[l], c[l], bool(in >> l & 1));
    out[l] = r.value;
    carries |= u32(r.carry) << l;
  }
  if (i.aux & 2)
    setPredicate(w, i.d, carries);
  return commit(w, i.dst, out);
}

/// Two 16-bit integers a register, the lower one first.
template <typename T, typename Op>
[[gnu::always_inline]] inline Flow pairs16(Warp &w, const Instruction &i,
                                           Op op) {
  return binary<u32, u32, u32>(w, i, [=](u32 x, u32 y) -> u32 {
    u32 low = u16(op(T(x), T(y))), high = u16(op(T(x >> 16), T(y >> 16)));
    return high << 16 | low;
  });
}
template <typename T, bool IsMax>
Flow extremes16(Warp &w, const Instruction &i) {
  bool relu = i.mods & mod::relu_;
  return pairs16<T>(w, i, [=](T x, T y) -> T {
    T r = IsMax ? (x > y ? x : y) : (x < y ? x : y);
    return relu && r < 0 ? T(0) : r;
  });
}

/// Division, and word of zero divisors to who asks for it.
template <typename T, bool IsRemainder>
Flow division(Warp &w, const Instruction &i) {
  const Slot<T> *b = lanes<T>(w, i.b);
  u32 zeros =
      maskOf([&](unsigned l) { return fromSlot<T>(b[l]) == T(0); }) & w.mask;
  if (zeros) [[unlikely]]
    reportUndefined(w, UndefinedEvent::DivisionByZero, zeros);
  return binary<T, T, T>(w, i, [](T x, T y) -> T {
    return IsRemainder ? remainder<T>(x, y) : divide<T>(x, y);
  });
}

/// Section 9.7.1.25: the 16-bit halves of a times two bytes of b.
template <typename A, typename B> Flow dot2(Warp &w, const Instruction &i) {
  u32 shift = i.imm ? 16 : 0;
  return ternary<u32, u32, u32, u32>(w, i, [=](u32 a, u32 b, u32 c) -> u32 {
    for (unsigned k = 0; k < 2; ++k)
      c += u32(s32(A(a >> 16 * k)) * s32(B(b >> (shift + 8 * k))));
    return c;
  });
}

template <typename A, typename B> Flow dot4(Warp &w, const Instruction &i) {
  return ternary<u32, u32, u32, u32>(w, i, [](u32 a, u32 b, u32 c) -> u32 {
    for (unsigned k = 0; k < 4; ++k)
      c += u32(s32(A(a >> 8 * k)) * s32(B(b >> 8 * k)));
    return c;
  });
}

/// vabsdiff2 and vabsdiff4, section 9.7.18: |a - b| of each half or byte, or
/// with .add the sum of them and c. aux: 1 a is signed, 2 b is, 4 d is, 8 .add,
/// 16 .sat.
template <unsigned Parts> Flow videoDifference(Warp &w, const Instruction &i) {
  constexpr u32 kBits = 32 / Parts;
  constexpr s32 kSign = s32(1) << (kBits - 1);
  u32 aux = i.aux;
  auto part = [](u32 x, unsigned k, bool isSigned) {
    s32 v = s32(x >> kBits * k & ((1u << kBits) - 1));
    return isSigned && (v & kSign) ? v - 2 * kSign : v;
  };
  s32 least = aux & 4 ? -kSign : 0;
  s32 most = aux & 4 ? kSign - 1 : 2 * kSign - 1;
  return ternary<u32, u32, u32, u32>(w, i, [=](u32 a, u32 b, u32 c) -> u32 {
    u32 packed = 0, sum = c;
    for (unsigned k = 0; k < Parts; ++k) {
      s32 v = difference<s32>(part(a, k, aux & 1), part(b, k, aux & 2));
      sum += u32(v);
      if (aux & 16)
        v = v > most ? most : v < least ? least : v;
      packed |= (u32(v) & ((1u << kBits) - 1)) << kBits * k;
    }
    return aux & 8 ? sum : packed;
  });
}
} // namespace

#define FOR_UNSIGNED_WIDTHS(M) M(16) M(32) M(64)
#define FOR_TYPES(M) M(u16) M(s16) M(u32) M(s32) M(u64) M(s64)

static void addPlain(HandlerList &list) {
  static const NamedHandler kTable[] = {
#define M(b)                                                                   \
  BIN("add_b" #b, u##b, u##b(x + y)), BIN("sub_b" #b, u##b, u##b(x - y)),      \
      BIN("mul_lo_b" #b, u##b, u##b(u64(x) * y)),                              \
      TER("mad_lo_b" #b, u##b, u##b(u64(x) * y + z)),                          \
      UN("neg_s" #b, u##b, u##b, u##b(0 - x)),                                 \
      UN("abs_s" #b, u##b, u##b, u##b(s##b(x) < 0 ? 0 - x : x)),
      FOR_UNSIGNED_WIDTHS(M)
#undef M
#define M(t)                                                                   \
  {"div_" #t, division<t, false>}, {"rem_" #t, division<t, true>},             \
      BIN("min_" #t, t, x < y ? x : y), BIN("max_" #t, t, x > y ? x : y),
          FOR_TYPES(M)
#undef M
              BIN("add_sat_s32", s32, addSaturated(x, y)),
      BIN("sub_sat_s32", s32, subSaturated(x, y)),
      BIN("min_relu_s32", s32, std::max(0, std::min(x, y))),
      BIN("max_relu_s32", s32, std::max(0, std::max(x, y))),
      BIN("mul_hi_u16", u16, u16((u32(x) * y) >> 16)),
      BIN("mul_hi_s16", s16, s16((s32(x) * y) >> 16)),
      BIN("mul_hi_u32", u32, u32((u64(x) * y) >> 32)),
      BIN("mul_hi_s32", s32, s32((s64(x) * y) >> 32)),
      BIN("mul_hi_u64", u64, u64((u128(x) * y) >> 64)),
      BIN("mul_hi_s64", s64, s64((s128(x) * y) >> 64)),
      TER("mad_hi_u16", u16, u16(((u32(x) * y) >> 16) + z)),
      TER("mad_hi_s16", u16, u16((u32(s32(s16(x)) * s16(y)) >> 16) + z)),
      TER("mad_hi_sat_s32", s32, addSaturated(s32((s64(x) * y) >> 32), z)),
      TER("mad_hi_u32", u32, u32((u64(x) * y) >> 32) + z),
      TER("mad_hi_s32", u32, u32((s64(s32(x)) * s32(y)) >> 32) + z),
      TER("mad_hi_u64", u64, u64((u128(x) * y) >> 64) + z),
      TER("mad_hi_s64", u64, u64((s128(s64(x)) * s64(y)) >> 64) + z),
#define M(from, to)                                                            \
  HANDLER("mul_wide_" #from,                                                   \
          {                                                                    \
            return binary<to, from, from>(                                     \
                w, i, [](from x, from y) { return to(to(x) * to(y)); });       \
          }),                                                                  \
      HANDLER("mad_wide_" #from, {                                             \
        return ternary<to, from, from, to>(w, i, [](from x, from y, to z) {    \
          using U = std::make_unsigned_t<to>;                                  \
          return to(U(to(x) * to(y)) + U(z));                                  \
        });                                                                    \
      }),
      M(u16, u32) M(s16, s32) M(u32, u64) M(s32, s64)
#undef M
#define M(t, u) TER("sad_" #t, t, t(u(z) + u(difference<t>(x, y)))),
          M(u16, u16) M(s16, u16) M(u32, u32) M(s32, u32) M(u64, u64)
              M(s64, u64)
#undef M
#define M(t)                                                                   \
  BIN("mul24_lo_" #t, t, (multiply24<t, false>(x, y))),                        \
      BIN("mul24_hi_" #t, t, (multiply24<t, true>(x, y))),                     \
      TER("mad24_lo_" #t, t, t(u32(multiply24<t, false>(x, y)) + u32(z))),     \
      TER("mad24_hi_" #t, t, t(u32(multiply24<t, true>(x, y)) + u32(z))),
                  M(u32) M(s32)
#undef M
                      TER("mad24_hi_sat_s32", s32,
                          addSaturated((multiply24<s32, true>(x, y)), z)),
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}

static void addCarries(HandlerList &list) {
  static const NamedHandler kTable[] = {
#define M(b)                                                                   \
  HANDLER("add_cc_b" #b,                                                       \
          {                                                                    \
            return withCarry<u##b>(w, i, [](u##b x, u##b y, u##b, bool c) {    \
              return addCarry<u##b>(x, y, c);                                  \
            });                                                                \
          }),                                                                  \
      HANDLER("sub_cc_b" #b,                                                   \
              {                                                                \
                return withCarry<u##b>(w, i,                                   \
                                       [](u##b x, u##b y, u##b, bool c) {      \
                                         return subBorrow<u##b>(x, y, c);      \
                                       });                                     \
              }),                                                              \
      HANDLER("mad_lo_cc_b" #b, {                                              \
        return withCarry<u##b>(w, i, [](u##b x, u##b y, u##b z, bool c) {      \
          return addCarry<u##b>(u##b(x * y), z, c);                            \
        });                                                                    \
      }),
      M(32) M(64)
#undef M
#define M(t, u, wide, bits)                                                    \
  HANDLER("mad_hi_cc_" #t, {                                                   \
    return withCarry<u>(w, i, [](u x, u y, u z, bool c) {                      \
      return addCarry<u>(u((wide(t(x)) * t(y)) >> bits), z, c);                \
    });                                                                        \
  }),
          M(u32, u32, u64, 32) M(s32, u32, s64, 32) M(u64, u64, u128, 64)
              M(s64, u64, s128, 64)
#undef M
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}

void ptxvm::FA_ISA::addInteger(HandlerList &list) {
  addPlain(list);
  addCarries(list);
  static const NamedHandler kTable[] = {
      HANDLER("add_16x2",
              {
                return pairs16<u16>(w, i,
                                    [](u16 x, u16 y) { return u16(x + y); });
              }),
      {"min_u16x2", extremes16<u16, false>},
      {"max_u16x2", extremes16<u16, true>},
      {"min_s16x2", extremes16<s16, false>},
      {"max_s16x2", extremes16<s16, true>},
      {"dp2a_u32_u32", dot2<u16, uint8_t>},
      {"dp2a_u32_s32", dot2<u16, int8_t>},
      {"dp2a_s32_u32", dot2<s16, uint8_t>},
      {"dp2a_s32_s32", dot2<s16, int8_t>},
      {"dp4a_u32_u32", dot4<uint8_t, uint8_t>},
      {"dp4a_u32_s32", dot4<uint8_t, int8_t>},
      {"dp4a_s32_u32", dot4<int8_t, uint8_t>},
      {"dp4a_s32_s32", dot4<int8_t, int8_t>},
      {"vabsdiff2", videoDifference<2>},
      {"vabsdiff4", videoDifference<4>},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
