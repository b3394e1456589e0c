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

#ifdef __AVX512F__
#include <immintrin.h>
#endif

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

#ifdef __AVX512F__
/// The number of the processor's float comparison.
constexpr int predicateOf(int op) {
  switch (op) {
  case 0:
    return _CMP_EQ_OQ;
  case 1:
    return _CMP_NEQ_OQ;
  case 2:
    return _CMP_LT_OQ;
  case 3:
    return _CMP_LE_OQ;
  case 4:
    return _CMP_GT_OQ;
  case 5:
    return _CMP_GE_OQ;
  case 10:
    return _CMP_EQ_UQ;
  case 11:
    return _CMP_NEQ_UQ;
  case 12:
    return _CMP_NGE_UQ;
  case 13:
    return _CMP_NGT_UQ;
  case 14:
    return _CMP_NLE_UQ;
  case 15:
    return _CMP_NLT_UQ;
  case 16:
    return _CMP_ORD_Q;
  default:
    return _CMP_UNORD_Q;
  }
}
/// The same for integers, which are never unordered.
constexpr int integerPredicateOf(int op) {
  constexpr int kOps[] = {_MM_CMPINT_EQ, _MM_CMPINT_NE,  _MM_CMPINT_LT,
                          _MM_CMPINT_LE, _MM_CMPINT_NLE, _MM_CMPINT_NLT};
  return kOps[op % 6];
}

/// One vector: 16 lanes of 32 bits or 8 of 64.
template <typename T, int Op>
[[gnu::always_inline]] inline uint32_t compareVector(const T *x, const T *y) {
  constexpr int kFloat = predicateOf(Op);
  constexpr auto kInteger = integerPredicateOf(Op);
  if constexpr (std::is_same_v<T, float>) {
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(x), _mm512_loadu_ps(y), kFloat);
  } else if constexpr (std::is_same_v<T, double>) {
    return _mm512_cmp_pd_mask(_mm512_loadu_pd(x), _mm512_loadu_pd(y), kFloat);
  } else {
    __m512i a = _mm512_loadu_si512(x), b = _mm512_loadu_si512(y);
    if constexpr (sizeof(T) == 8)
      return std::is_signed_v<T> ? _mm512_cmp_epi64_mask(a, b, kInteger)
                                 : _mm512_cmp_epu64_mask(a, b, kInteger);
    else
      return std::is_signed_v<T> ? _mm512_cmp_epi32_mask(a, b, kInteger)
                                 : _mm512_cmp_epu32_mask(a, b, kInteger);
  }
}
#endif

template <typename T, int Op>
[[gnu::always_inline]] inline uint32_t compareAll(const T *x, const T *y) {
#ifdef __AVX512F__
  // Integers have the first six only.
  if constexpr (std::is_floating_point_v<T> || Op < 6) {
    constexpr unsigned kLanes = 64 / sizeof(T);
    uint32_t result = 0;
    for (unsigned l = 0; l < 32; l += kLanes)
      result |= compareVector<T, Op>(x + l, y + l) << l;
    return result;
  }
#endif
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
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(10)
    CASE(11)
    CASE(12)
    CASE(13)
    CASE(14)
    CASE(15)
    CASE(16)
#undef CASE
  default:
    return compareAll<T, 17>(x, y);
  }
}

/// t BOOL c, with c negated when aux says so.
uint32_t withThird(const Warp &w, const Instruction &i, uint32_t t) {
  uint32_t c = w.preds[i.c] ^ (i.aux & 1 ? ~0u : 0);
  switch (i.aux >> 8) {
  case 1:
    return t & c;
  case 2:
    return t | c;
  case 3:
    return t ^ c;
  default:
    return t;
  }
}

/// p = (a CMP b) BOOL c; q = !(a CMP b) BOOL c.
Flow finish(Warp &w, const Instruction &i, uint32_t t) {
  uint32_t p = withThird(w, i, t), q = withThird(w, i, ~t);
  setPredicate(w, i.dst, p);
  if (i.d != 2)
    setPredicate(w, i.d, q);
  return Flow::Next;
}

// A Test compares the sources of an instruction: a bit a lane.
template <typename T> uint32_t testOf(const Warp &w, const Instruction &i) {
  if constexpr (sizeof(T) == 2) {
    alignas(64) int32_t x[32], y[32];
    for (unsigned l = 0; l < 32; ++l) {
      x[l] = T(w.regs[i.a + l]);
      y[l] = T(w.regs[i.b + l]);
    }
    return dispatch<int32_t>(i.imm, x, y);
  } else {
    return dispatch<T>(i.imm, reinterpret_cast<const T *>(w.regs + i.a),
                       reinterpret_cast<const T *>(w.regs + i.b));
  }
}

template <typename Widen>
uint32_t testFloat(const Warp &w, const Instruction &i, Widen widen) {
  alignas(64) float x[32], y[32];
  for (unsigned l = 0; l < 32; ++l) {
    x[l] = widen(w.regs[i.a + l]);
    y[l] = widen(w.regs[i.b + l]);
  }
  return dispatch<float>(i.imm, x, y);
}

uint32_t testF32(const Warp &w, const Instruction &i) {
  if (i.mods & mod::ftz_)
    return testFloat(w, i, [](uint32_t x) { return flush(floatOf(x)); });
  return testOf<float>(w, i);
}

/// One half of a register: bits 15..0 or 31..16.
template <bool IsBfloat, unsigned Shift>
uint32_t testHalf(const Warp &w, const Instruction &i) {
  bool ftz = i.mods & mod::ftz_;
  return testFloat(w, i, [=](uint32_t x) {
    uint32_t h = x >> Shift & 0xFFFF;
    if constexpr (IsBfloat)
      return bfloatToFloat(h);
    else
      return halfToFloat(ftz && !(h & 0x7C00) ? h & 0x8000 : h);
  });
}

using Test = uint32_t (*)(const Warp &, const Instruction &);

template <Test T> Flow setp(Warp &w, const Instruction &i) {
  return finish(w, i, T(w, i));
}

/// Two halves a register: p is the lower one's, q the upper one's.
template <Test Low, Test High> Flow setpPair(Warp &w, const Instruction &i) {
  uint32_t p = withThird(w, i, Low(w, i)), q = withThird(w, i, High(w, i));
  setPredicate(w, i.dst, p);
  if (i.d != 2)
    setPredicate(w, i.d, q);
  return Flow::Next;
}

/// set, section 9.7.6.1: i.d is what a true lane gets.
template <Test T> Flow set(Warp &w, const Instruction &i) {
  alignas(64) uint32_t out[32];
  uint32_t t = withThird(w, i, T(w, i)), value = i.d;
  for (unsigned l = 0; l < 32; ++l)
    out[l] = t >> l & 1 ? value : 0;
  return commit(w, i.dst, out);
}
template <Test Low, Test High> Flow setPair(Warp &w, const Instruction &i) {
  alignas(64) uint32_t out[32];
  uint32_t low = withThird(w, i, Low(w, i)), high = withThird(w, i, High(w, i));
  uint32_t value = i.d & 0xFFFF;
  for (unsigned l = 0; l < 32; ++l)
    out[l] = (low >> l & 1 ? value : 0) | (high >> l & 1 ? value << 16 : 0);
  return commit(w, i.dst, out);
}

/// slct, section 9.7.6.4: a where c >= 0, else b (also when c is NaN).
template <typename T> Flow slctF32(Warp &w, const Instruction &i) {
  bool ftz = i.mods & mod::ftz_;
  return ternary<T, T, T, float>(w, i, [=](T x, T y, float z) {
    return (ftz ? flush(z) : z) >= 0 ? x : y;
  });
}

template <typename T> Flow selp(Warp &w, const Instruction &i) {
  T *out = target<T>(w, i.dst);
  const T *a = lanes<T>(w, i.a), *b = lanes<T>(w, i.b);
  uint32_t p = w.preds[i.c] ^ (i.aux & 1 ? ~0u : 0);
  FA_FOR_LANES(l)
  out[l] = p >> l & 1 ? a[l] : b[l];
  return settle(w, i.dst, out);
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
#define M(name, test) {"setp_" name, setp<test>}, {"set_" name, set<test>},
      M("u16", testOf<uint16_t>) M("s16", testOf<int16_t>) M(
          "u32", testOf<uint32_t>) M("s32", testOf<int32_t>)
          M("u64", testOf<uint64_t>) M("s64", testOf<int64_t>) M("f32", testF32)
              M("f64", testOf<double>) M("f16", (testHalf<false, 0>))
                  M("bf16", (testHalf<true, 0>))
#undef M
                      {"setp_f16x2",
                       setpPair<testHalf<false, 0>, testHalf<false, 16>>},
      {"setp_bf16x2", setpPair<testHalf<true, 0>, testHalf<true, 16>>},
      {"set_f16x2", setPair<testHalf<false, 0>, testHalf<false, 16>>},
      {"set_bf16x2", setPair<testHalf<true, 0>, testHalf<true, 16>>},
      {"selp_b32", selp<uint32_t>},
      {"selp_b64", selp<uint64_t>},
      HANDLER("slct_b32_s32",
              {
                return ternary<uint32_t, uint32_t, uint32_t, int32_t>(
                    w, i, [](uint32_t x, uint32_t y, int32_t z) {
                      return z >= 0 ? x : y;
                    });
              }),
      HANDLER("slct_b64_s32",
              {
                return ternary<uint64_t, uint64_t, uint64_t, int32_t>(
                    w, i, [](uint64_t x, uint64_t y, int32_t z) {
                      return z >= 0 ? x : y;
                    });
              }),
      {"slct_b32_f32", slctF32<uint32_t>},
      {"slct_b64_f32", slctF32<uint64_t>},
      {"testp_f32", testp<float, uint32_t, 0x7F800000u, 0x00800000u>},
      {"testp_f64",
       testp<double, uint64_t, 0x7FF0000000000000ull, 0x0010000000000000ull>},
      {"isspacep", isSpace},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
