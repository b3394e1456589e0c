//===- Integer.cpp - integer and logic instructions -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.1, 9.7.2 and 9.7.8. Compiled for each variant.
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

// Shift amounts at or above the width act as the width (section 9.7.8.8).
template <typename T> inline T shiftLeft(T x, u32 n) {
  constexpr u32 kBits = sizeof(T) * 8;
  using W = std::conditional_t<sizeof(T) == 8, u64, u32>;
  return n >= kBits ? T(0) : T(W(x) << (n & (sizeof(W) * 8 - 1)));
}
template <typename T> inline T shiftRight(T x, u32 n) {
  constexpr u32 kBits = sizeof(T) * 8;
  u32 m = n >= kBits ? kBits - 1 : n;
  T r = T(x >> m);
  return !std::is_signed_v<T> && n >= kBits ? T(0) : r;
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

/// Section 9.7.1.23: a mask of b bits from bit a on.
inline u32 bitMask(u32 a, u32 b, bool clamps) {
  u32 from = a & 31, width = b & 31, sum = from + width;
  u32 mask0 = clamps && a >= 32 ? 0 : ~0u << from;
  bool overflows = sum >= 32 || (clamps && (a >= 32 || b >= 32));
  u32 mask1 = overflows ? 0 : width == 0 ? ~0u : ~0u << sum;
  return mask0 & ~mask1;
}

/// Section 9.7.1.22: the low b bits, extended.
template <bool IsSigned> inline u32 extend(u32 a, u32 b, bool clamps) {
  u32 width = b & 31;
  bool isLarge = clamps && b >= 32;
  u32 mask = isLarge ? 0 : ~0u << width;
  bool sign = IsSigned && width && !isLarge && (a >> ((width - 1) & 31) & 1);
  return (a & ~mask) | (sign ? mask : 0);
}

/// Section 9.7.1.17: the offset-th set bit from bit `base` on, upward or
/// downward; ~0 when there is none.
inline u32 findNthSet(u32 mask, u32 base, s32 offset) {
  if (base > 31)
    return ~0u;
  if (offset == 0)
    return mask >> base & 1 ? base : ~0u;
  s64 left = offset < 0 ? -s64(offset) : s64(offset);
  int step = offset > 0 ? 1 : -1;
  for (int at = int(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && --left == 0)
      return u32(at);
  return ~0u;
}

inline u32 reverse32(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
  return __builtin_bswap32(x);
}
inline u64 reverse64(u64 x) {
  return u64(reverse32(u32(x))) << 32 | reverse32(u32(x >> 32));
}

/// Position of the most significant bit that differs from the sign; ~0 when
/// there is none. Section 9.7.1.19.
template <typename T> inline u32 findBit(T x, bool isShift) {
  constexpr u32 kBits = sizeof(T) * 8;
  u64 bits = std::is_signed_v<T> && x < 0 ? u64(std::make_unsigned_t<T>(~x))
                                          : u64(std::make_unsigned_t<T>(x));
  if (!bits)
    return ~0u;
  u32 at = 63 - u32(__builtin_clzll(bits));
  return isShift ? kBits - 1 - at : at;
}

/// Section 9.7.1.20: position and length are the low 8 bits; bits beyond the
/// top are copies of the sign for signed types.
template <typename T> inline T extract(T x, u32 pos, u32 len) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 kBits = sizeof(T) * 8;
  pos &= 255;
  len &= 255;
  if (len == 0)
    return 0;
  if (std::is_signed_v<T>) {
    u32 top = pos + len - 1 < kBits - 1 ? pos + len - 1 : kBits - 1;
    bool sign = U(x) >> top & 1;
    U field = pos < kBits ? U(U(x) >> pos) : 0;
    // Bits of the field that really exist.
    u32 have = pos < kBits ? (len < kBits - pos ? len : kBits - pos) : 0;
    U keep = have >= kBits ? U(~U(0)) : U((U(1) << have) - 1);
    return T((field & keep) | (sign ? U(~keep) : 0));
  }
  U field = pos < kBits ? U(U(x) >> pos) : 0;
  return T(len >= kBits ? field : U(field & ((U(1) << len) - 1)));
}

/// Section 9.7.1.21.
template <typename T> inline T insert(T from, T into, u32 pos, u32 len) {
  constexpr u32 kBits = sizeof(T) * 8;
  pos &= 255;
  len &= 255;
  if (pos >= kBits || len == 0)
    return into;
  T mask = len >= kBits ? T(~T(0)) : T((T(1) << len) - 1);
  mask = T(mask << pos);
  return T((into & ~mask) | (T(from << pos) & mask));
}

template <typename T> Flow insertHandler(Warp &w, const Instruction &i) {
  alignas(64) T out[32];
  const T *a = lanes<T>(w, i.a), *b = lanes<T>(w, i.b);
  const u32 *c = lanes<u32>(w, i.c), *d = lanes<u32>(w, i.d);
  for (unsigned l = 0; l < 32; ++l)
    out[l] = insert<T>(a[l], b[l], c[l], d[l]);
  return commit(w, i.dst, out);
}

/// The selectors of a mode of prmt other than the default, section 9.7.9.7.
inline u32 permuteSelector(int mode, u32 c) {
  u32 n = c & 3, s = 0;
  for (u32 k = 0; k < 4; ++k) {
    u32 byte = 0;
    switch (mode) {
    case 1:
      byte = n + k;
      break; // f4e
    case 2:
      byte = (n - k) & 7;
      break; // b4e
    case 3:
      byte = n;
      break; // rc8
    case 4:
      byte = k > n ? k : n;
      break; // ecl
    case 5:
      byte = k < n ? k : n;
      break; // ecr
    case 6:
      byte = (n & 1) * 2 + (k & 1);
      break; // rc16
    }
    s |= byte << 4 * k;
  }
  return s;
}
inline u32 permute(u32 x, u32 y, u32 selector) {
  u64 bytes = u64(y) << 32 | x;
  u32 r = 0;
  for (u32 k = 0; k < 4; ++k) {
    u32 s = selector >> 4 * k & 15;
    u32 byte = u32(bytes >> 8 * (s & 7)) & 255;
    byte = s & 8 ? (byte & 0x80 ? 255 : 0) : byte;
    r |= byte << 8 * k;
  }
  return r;
}

/// Bit k of the table is the result for a = k>>2, b = k>>1 & 1, c = k & 1:
/// table(a, b, c) with a = 0xF0, b = 0xCC, c = 0xAA. Section 9.7.8.6.
Flow logic3(Warp &w, const Instruction &i) {
  alignas(64) u32 out[32];
  const u32 *a = lanes<u32>(w, i.a), *b = lanes<u32>(w, i.b),
            *c = lanes<u32>(w, i.c);
  u32 t[8];
  for (unsigned k = 0; k < 8; ++k)
    t[k] = i.imm >> k & 1 ? ~0u : 0;
  for (unsigned l = 0; l < 32; ++l) {
    u32 x = a[l], y = b[l], z = c[l];
    u32 low =
        (~y & ((~z & t[0]) | (z & t[1]))) | (y & ((~z & t[2]) | (z & t[3])));
    u32 high =
        (~y & ((~z & t[4]) | (z & t[5]))) | (y & ((~z & t[6]) | (z & t[7])));
    out[l] = (~x & low) | (x & high);
  }
  return commit(w, i.dst, out);
}

/// Funnel shifts, section 9.7.8.7: c is taken modulo 32 (.wrap) or at most 32.
template <bool IsLeft> Flow funnel(Warp &w, const Instruction &i) {
  bool clamps = i.mods & mod::clamp_;
  return ternary<u32, u32, u32, u32>(w, i, [=](u32 a, u32 b, u32 c) -> u32 {
    u32 n = clamps ? (c > 32 ? 32 : c) : c & 31;
    u64 both = u64(b) << 32 | a;
    return IsLeft ? u32((both << n) >> 32) : u32(both >> n);
  });
}

/// lop3 with a predicate: p = (d != 0) BOOL q. aux: the slot of q << 2, whether
/// q is negated << 1, .or.
Flow logic3Predicate(Warp &w, const Instruction &i) {
  logic3(w, i);
  const u32 *d = w.regs + i.dst;
  u32 t = maskOf([&](unsigned l) { return d[l] != 0; });
  u32 q = w.preds[i.aux >> 2] ^ (i.aux & 2 ? ~0u : 0);
  setPredicate(w, i.d, i.aux & 1 ? t | q : t & q);
  return Flow::Next;
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

Flow pred2(Warp &w, const Instruction &i, uint32_t value) {
  setPredicate(w, i.dst, value);
  return Flow::Next;
}
} // namespace

#define FOR_UNSIGNED_WIDTHS(M) M(16) M(32) M(64)
#define FOR_TYPES(M) M(u16) M(s16) M(u32) M(s32) M(u64) M(s64)

void ptxvm::FA_ISA::addInteger(HandlerList &list) {
  static const NamedHandler kTable[] = {
#define M(b)                                                                   \
  BIN("add_b" #b, u##b, u##b(x + y)), BIN("sub_b" #b, u##b, u##b(x - y)),      \
      BIN("mul_lo_b" #b, u##b, u##b(u64(x) * y)),                              \
      TER("mad_lo_b" #b, u##b, u##b(u64(x) * y + z)),                          \
      UN("neg_s" #b, u##b, u##b, u##b(0 - x)),                                 \
      UN("abs_s" #b, u##b, u##b, u##b(s##b(x) < 0 ? 0 - x : x)),               \
      UN("not_b" #b, u##b, u##b, u##b(~x)), HANDLER("shl_b" #b, {              \
        return binary<u##b, u##b, u32>(                                        \
            w, i, [](u##b x, u32 y) { return shiftLeft<u##b>(x, y); });        \
      }),
      FOR_UNSIGNED_WIDTHS(M)
#undef M
#define M(t)                                                                   \
  {"div_" #t, division<t, false>}, {"rem_" #t, division<t, true>},             \
      BIN("min_" #t, t, x < y ? x : y), BIN("max_" #t, t, x > y ? x : y),      \
      HANDLER("shr_" #t, {                                                     \
        return binary<t, t, u32>(                                              \
            w, i, [](t x, u32 y) { return shiftRight<t>(x, y); });             \
      }),
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
          BIN("and_b32", u32, x & y),
      BIN("or_b32", u32, x | y),
      BIN("xor_b32", u32, x ^ y),
      BIN("and_b64", u64, x & y),
      BIN("or_b64", u64, x | y),
      BIN("xor_b64", u64, x ^ y),
      HANDLER("and_pred", { return pred2(w, i, w.preds[i.a] & w.preds[i.b]); }),
      HANDLER("or_pred", { return pred2(w, i, w.preds[i.a] | w.preds[i.b]); }),
      HANDLER("xor_pred", { return pred2(w, i, w.preds[i.a] ^ w.preds[i.b]); }),
      HANDLER("not_pred", { return pred2(w, i, ~w.preds[i.a]); }),
      UN("popc_b32", u32, u32, u32(__builtin_popcount(x))),
      UN("popc_b64", u32, u64, u32(__builtin_popcountll(x))),
      UN("clz_b32", u32, u32, x ? u32(__builtin_clz(x)) : 32u),
      UN("clz_b64", u32, u64, x ? u32(__builtin_clzll(x)) : 64u),
      UN("brev_b32", u32, u32, reverse32(x)),
      UN("brev_b64", u64, u64, reverse64(x)),
#define M(t)                                                                   \
  HANDLER("bfind_" #t,                                                         \
          {                                                                    \
            bool isShift = i.mods & mod::shiftamt_;                            \
            return unary<u32, t>(w, i,                                         \
                                 [=](t x) { return findBit<t>(x, isShift); }); \
          }),                                                                  \
      HANDLER("bfe_" #t, {                                                     \
        return ternary<t, t, u32, u32>(                                        \
            w, i, [](t x, u32 p, u32 n) { return extract<t>(x, p, n); });      \
      }),
      M(u32) M(s32) M(u64) M(s64)
#undef M
#define M(t, u) TER("sad_" #t, t, t(u(z) + u(difference<t>(x, y)))),
          M(u16, u16) M(s16, u16) M(u32, u32) M(s32, u32) M(u64, u64) M(s64,
                                                                        u64)
#undef M
#define M(t)                                                                   \
  BIN("mul24_lo_" #t, t, (multiply24<t, false>(x, y))),                        \
      BIN("mul24_hi_" #t, t, (multiply24<t, true>(x, y))),                     \
      TER("mad24_lo_" #t, t, t(u32(multiply24<t, false>(x, y)) + u32(z))),     \
      TER("mad24_hi_" #t, t, t(u32(multiply24<t, true>(x, y)) + u32(z))),
              M(u32) M(s32)
#undef M
#define M(b) UN("cnot_b" #b, u##b, u##b, u##b(x == 0)),
                  M(16) M(32) M(64)
#undef M
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
                          M(u32, u32, u64, 32) M(s32, u32, s64, 32)
                              M(u64, u64, u128, 64) M(s64, u64, s128, 64)
#undef M
                                  TER("mad24_hi_sat_s32", s32,
                                      addSaturated(
                                          (multiply24<s32, true>(x, y)), z)),
      HANDLER("add_16x2",
              {
                return pairs16<u16>(w, i,
                                    [](u16 x, u16 y) { return u16(x + y); });
              }),
      {"min_u16x2", extremes16<u16, false>},
      {"max_u16x2", extremes16<u16, true>},
      {"min_s16x2", extremes16<s16, false>},
      {"max_s16x2", extremes16<s16, true>},
      TER("fns", u32, findNthSet(x, y, s32(z))),
      HANDLER("bmsk",
              {
                bool clamps = i.mods & mod::clamp_;
                return binary<u32, u32, u32>(
                    w, i, [=](u32 x, u32 y) { return bitMask(x, y, clamps); });
              }),
      HANDLER("szext_u32",
              {
                bool clamps = i.mods & mod::clamp_;
                return binary<u32, u32, u32>(w, i, [=](u32 x, u32 y) {
                  return extend<false>(x, y, clamps);
                });
              }),
      HANDLER("szext_s32",
              {
                bool clamps = i.mods & mod::clamp_;
                return binary<u32, u32, u32>(w, i, [=](u32 x, u32 y) {
                  return extend<true>(x, y, clamps);
                });
              }),
      {"dp2a_u32_u32", dot2<u16, uint8_t>},
      {"dp2a_u32_s32", dot2<u16, int8_t>},
      {"dp2a_s32_u32", dot2<s16, uint8_t>},
      {"dp2a_s32_s32", dot2<s16, int8_t>},
      {"lop3_pred", logic3Predicate},
      {"bfi_b32", insertHandler<u32>},
      {"bfi_b64", insertHandler<u64>},
      {"dp4a_u32_u32", dot4<uint8_t, uint8_t>},
      {"dp4a_u32_s32", dot4<uint8_t, int8_t>},
      {"dp4a_s32_u32", dot4<int8_t, uint8_t>},
      {"dp4a_s32_s32", dot4<int8_t, int8_t>},
      {"lop3", logic3},
      {"shf_l", funnel<true>},
      {"shf_r", funnel<false>},
      HANDLER("prmt",
              {
                int mode = i.imm;
                return ternary<u32, u32, u32, u32>(
                    w, i, [=](u32 x, u32 y, u32 c) {
                      return permute(x, y, mode ? permuteSelector(mode, c) : c);
                    });
              }),
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
