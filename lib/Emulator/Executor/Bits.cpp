//===- Bits.cpp - logic, shifts, bit fields, permutes ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.8, and what 9.7.1 and 9.7.9 have that works on bits.
// Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"

using namespace ptxvm;

namespace {
using u16 = uint16_t;
using s16 = int16_t;
using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;

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

Flow pred2(Warp &w, const Instruction &i, uint32_t value) {
  setPredicate(w, i.dst, value);
  return Flow::Next;
}
} // namespace

#define FOR_UNSIGNED_WIDTHS(M) M(16) M(32) M(64)
#define FOR_TYPES(M) M(u16) M(s16) M(u32) M(s32) M(u64) M(s64)

static void addLogic(HandlerList &list) {
  static const NamedHandler kTable[] = {
#define M(b)                                                                   \
  UN("not_b" #b, u##b, u##b, u##b(~x)),                                        \
      UN("cnot_b" #b, u##b, u##b, u##b(x == 0)), HANDLER("shl_b" #b, {         \
        return binary<u##b, u##b, u32>(                                        \
            w, i, [](u##b x, u32 y) { return shiftLeft<u##b>(x, y); });        \
      }),
      FOR_UNSIGNED_WIDTHS(M)
#undef M
#define M(t)                                                                   \
  HANDLER("shr_" #t, {                                                         \
    return binary<t, t, u32>(w, i,                                             \
                             [](t x, u32 y) { return shiftRight<t>(x, y); });  \
  }),
          FOR_TYPES(M)
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
      {"lop3", logic3},
      {"lop3_pred", logic3Predicate},
      {"shf_l", funnel<true>},
      {"shf_r", funnel<false>},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}

void ptxvm::FA_ISA::addBits(HandlerList &list) {
  addLogic(list);
  static const NamedHandler kTable[] = {
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
          {"bfi_b32", insertHandler<u32>},
      {"bfi_b64", insertHandler<u64>},
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
