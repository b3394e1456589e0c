//===- WgmmaShare.cpp - the arithmetic of one warp's share ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.15.5. A and B are widened to floats, which hold every
// element exactly, and multiplied column by column:
//
//   left[k][16 rows]   right[n][K] or, N-major, right[n / 8][k][8]
//   tile[n][16 rows]
//
//   tile[n] += left[k] * right(k, n)     for k = 0, 1, ... K - 1
//
// a chain of f32 fused multiply-adds; the ISA leaves order and rounding open
// (*unverified* against hardware). Sums of 8-bit integers stay below 2^24 and
// are exact in f32. In registers, a row of A is two chunks of 16 bytes, as in
// shared memory: chunk c of row r is lanes 4 (r % 8) to 4 (r % 8) + 3 of
// register r / 8 + 2c. Accumulator register i of lane 4g + t is row
// g + 8 (i >> 1 & 1), column 8 (i >> 2) + 2t + (i & 1); f16 packs i and i + 1.
// Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "WgmmaShare.h"
#include "SmallFloat.h"
#include "WgmmaModel.h"

#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

using namespace ptxvm;
using Form = WgmmaForm;

namespace {
typedef float Quad __attribute__((vector_size(16)));
typedef float Row __attribute__((vector_size(32)));

constexpr unsigned kRows = 16, kMaxK = 32, kMaxN = 256;

struct alignas(64) Operands {
  float left[kMaxK][kRows];
  float right[kMaxN * kMaxK];
};

/// e4m3: shifting the seven bits below an f32's exponent field leaves a number
/// 2^120 too small, subnormals included.
inline float floatOfE4M3(uint32_t x) {
  float v = floatOf((x & 0x7F) << 20) * floatOf(0x7B800000);
  uint32_t bits = (x & 0x7F) == 0x7F ? kNaN32 : bitsOf(v);
  return floatOf(bits | (x & 0x80) << 24);
}

/// The elements of a chunk of 16 bytes.
template <Form::Element E>
[[gnu::always_inline]] inline void widen(const uint8_t *from, float *to) {
  if constexpr (E == Form::TF32) {
    uint32_t x[4];
    std::memcpy(x, from, 16);
    for (unsigned i = 0; i < 4; ++i)
      to[i] = floatOf(x[i] & 0xFFFFE000);
  } else if constexpr (E == Form::F16 || E == Form::BF16) {
#ifdef __F16C__
    if constexpr (E == Form::F16) {
      __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
      _mm256_storeu_ps(to, _mm256_cvtph_ps(h));
      return;
    }
#endif
    uint16_t x[8];
    std::memcpy(x, from, 16);
    for (unsigned i = 0; i < 8; ++i)
      to[i] = E == Form::F16 ? halfToFloat(x[i]) : bfloatToFloat(x[i]);
  } else {
    for (unsigned i = 0; i < 16; ++i)
      to[i] = E == Form::E4M3   ? floatOfE4M3(from[i])
              : E == Form::E5M2 ? halfToFloat(uint32_t(from[i]) << 8)
              : E == Form::S8   ? float(int8_t(from[i]))
                                : float(from[i]);
  }
}

[[gnu::always_inline]] inline void transpose(Row (&m)[8]) {
  Row s[8];
  auto round = [](const Row(&from)[8], Row(&to)[8]) {
    for (unsigned k = 0; k < 4; ++k) {
      to[2 * k] = __builtin_shufflevector(from[k], from[k + 4], 0, 8, 1, 9, 2,
                                          10, 3, 11);
      to[2 * k + 1] = __builtin_shufflevector(from[k], from[k + 4], 4, 12, 5,
                                              13, 6, 14, 7, 15);
    }
  };
  round(m, s);
  round(s, m);
  round(m, s);
  std::memcpy(m, s, sizeof(s));
}

inline const uint8_t *rowOfA(const WgmmaShare &s, unsigned r, unsigned c) {
  if (s.form.aInRegisters)
    return reinterpret_cast<const uint8_t *>(s.aRegisters[r / 8 + 2 * c] +
                                             4 * (r % 8));
  return s.shared + s.a.rowChunk(s.firstRow + r, c);
}

template <Form::Element E>
void widenLeft(const WgmmaShare &s, float (&left)[kMaxK][kRows]) {
  constexpr unsigned kChunk = E == Form::TF32 ? 4 : E <= Form::BF16 ? 8 : 16;
  if (s.form.transA) {
    for (unsigned q = 0; q < 2; ++q)
      for (unsigned k = 0; k < 16; ++k)
        widen<E>(s.shared + s.a.columnChunk(s.firstRow / 8 + q, k),
                 &left[k][8 * q]);
    return;
  }
  alignas(64) float rows[8][2 * kChunk];
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned r = 0; r < 8; ++r)
      for (unsigned c = 0; c < 2; ++c)
        widen<E>(rowOfA(s, 8 * half + r, c), &rows[r][kChunk * c]);
    for (unsigned k = 0; k < 2 * kChunk; k += 8) {
      Row block[8];
      for (unsigned r = 0; r < 8; ++r)
        std::memcpy(&block[r], &rows[r][k], sizeof(Row));
      transpose(block);
      for (unsigned i = 0; i < 8; ++i)
        std::memcpy(&left[k + i][8 * half], &block[i], sizeof(Row));
    }
  }
}

template <Form::Element E> void widenRight(const WgmmaShare &s, float *right) {
  constexpr unsigned kChunk = E == Form::TF32 ? 4 : E <= Form::BF16 ? 8 : 16;
  unsigned n = s.form.n;
  if (s.form.transB) {
    for (unsigned q = 0; q < n / 8; ++q)
      for (unsigned k = 0; k < 16; ++k)
        widen<E>(s.shared + s.b.columnChunk(q, k), right + 8 * (16 * q + k));
    return;
  }
  for (unsigned r = 0; r < n; ++r)
    for (unsigned c = 0; c < 2; ++c)
      widen<E>(s.shared + s.b.rowChunk(r, c), right + (2 * r + c) * kChunk);
}

#define FOR_EACH_ELEMENT(X) X(F16) X(BF16) X(TF32) X(E4M3) X(E5M2) X(S8) X(U8)

void widenBoth(const WgmmaShare &s, Operands &o) {
#define CASE(E)                                                                \
  case Form::E:                                                                \
    widenLeft<Form::E>(s, o.left);                                             \
    break;
  switch (s.form.a) {
    FOR_EACH_ELEMENT(CASE)
  case Form::B1:
    break;
  }
#undef CASE
#define CASE(E)                                                                \
  case Form::E:                                                                \
    widenRight<Form::E>(s, o.right);                                           \
    break;
  switch (s.hasSameB ? Form::B1 : s.form.b) {
    FOR_EACH_ELEMENT(CASE)
  case Form::B1:
    break;
  }
#undef CASE
  if (s.form.negateA != s.form.negateB)
    for (unsigned k = 0; k < s.form.k(); ++k)
      for (float &x : o.left[k])
        x = -x;
}

#if defined(__AVX512F__)
typedef __m512 Column;
inline Column load(const float *p) { return _mm512_load_ps(p); }
inline void store(float *p, Column v) { _mm512_store_ps(p, v); }
inline Column multiplyAdd(Column a, float b, Column c) {
  return _mm512_fmadd_ps(a, _mm512_set1_ps(b), c);
}
#elif defined(__AVX2__)
typedef __m256 Column;
inline Column load(const float *p) { return _mm256_load_ps(p); }
inline void store(float *p, Column v) { _mm256_store_ps(p, v); }
inline Column multiplyAdd(Column a, float b, Column c) {
  return _mm256_fmadd_ps(a, _mm256_set1_ps(b), c);
}
#else
typedef Quad Column;
inline Column load(const float *p) {
  return *reinterpret_cast<const Quad *>(p);
}
inline void store(float *p, Column v) { *reinterpret_cast<Quad *>(p) = v; }
inline Column multiplyAdd(Column a, float b, Column c) {
  for (unsigned i = 0; i < 4; ++i)
    c[i] = __builtin_fmaf(a[i], b, c[i]);
  return c;
}
#endif

/// Of each block of 8 columns, element (k, n) of `right` is at n * PerN + k *
/// PerK.
template <unsigned K, unsigned PerN, unsigned PerK>
[[gnu::always_inline]] inline void chain(const Operands &o, unsigned n,
                                         float (*tile)[kRows]) {
  constexpr unsigned kWide = sizeof(Column) / sizeof(float);
  for (unsigned n0 = 0; n0 < n; n0 += 8)
    for (unsigned m = 0; m < kRows; m += kWide) {
      Column sum[8];
      for (unsigned j = 0; j < 8; ++j)
        sum[j] = load(&tile[n0 + j][m]);
      const float *right = o.right + n0 * K;
      for (unsigned k = 0; k < K; ++k) {
        Column left = load(&o.left[k][m]);
        for (unsigned j = 0; j < 8; ++j)
          sum[j] = multiplyAdd(left, right[j * PerN + k * PerK], sum[j]);
      }
      for (unsigned j = 0; j < 8; ++j)
        store(&tile[n0 + j][m], sum[j]);
    }
}

void chainAll(const Form &f, const Operands &o, float (*tile)[kRows]) {
  if (f.transB)
    chain<16, 1, 8>(o, f.n, tile);
  else if (f.k() == 16)
    chain<16, 16, 1>(o, f.n, tile);
  else if (f.k() == 8)
    chain<8, 8, 1>(o, f.n, tile);
  else
    chain<32, 32, 1>(o, f.n, tile);
}

int32_t addInt(int32_t c, int32_t sum, bool saturates) {
  int64_t exact = int64_t(c) + sum;
  if (!saturates)
    return int32_t(uint32_t(exact));
  return int32_t(exact < INT32_MIN   ? INT32_MIN
                 : exact > INT32_MAX ? INT32_MAX
                                     : exact);
}

void addSums(const Form &f, const WgmmaTile &sums, WgmmaTile &tile) {
  for (unsigned n = 0; n < f.n; ++n)
    for (unsigned m = 0; m < kRows; ++m) {
      int32_t c = std::bit_cast<int32_t>(tile.columns[n][m]);
      c = addInt(c, int32_t(sums.columns[n][m]), f.satfinite);
      tile.columns[n][m] = std::bit_cast<float>(c);
    }
}

/// b1: the number of ones that a row of A and a row of B share.
void countOnes(const WgmmaShare &s, WgmmaTile &tile) {
  for (unsigned m = 0; m < kRows; ++m) {
    uint64_t a[4];
    for (unsigned c = 0; c < 2; ++c)
      std::memcpy(a + 2 * c, rowOfA(s, m, c), 16);
    for (unsigned n = 0; n < s.form.n; ++n) {
      int count = 0;
      for (unsigned c = 0; c < 2; ++c) {
        uint64_t b[2];
        std::memcpy(b, s.shared + s.b.rowChunk(n, c), 16);
        count += std::popcount(a[2 * c] & b[0]);
        count += std::popcount(a[2 * c + 1] & b[1]);
      }
      int32_t d = std::bit_cast<int32_t>(tile.columns[n][m]);
      tile.columns[n][m] = std::bit_cast<float>(addInt(d, count, false));
    }
  }
}

void multiply(const WgmmaShare &s, WgmmaTile &tile) {
  const Form &f = s.form;
  if (!s.accumulates)
    std::memset(tile.columns, 0, f.n * sizeof(tile.columns[0]));
  if (f.a == Form::B1)
    return countOnes(s, tile);
  static thread_local Operands o;
  widenBoth(s, o);
  if (f.accumulator == Form::Int) {
    WgmmaTile sums;
    std::memset(sums.columns, 0, f.n * sizeof(sums.columns[0]));
    chainAll(f, o, sums.columns);
    return addSums(f, sums, tile);
  }
  if (s.model != TensorModel::Fma)
    return multiplyAsModelled(f, s.model, o.left, o.right, f.transB ? 1 : f.k(),
                              f.transB ? 8 : 1, tile);
  chainAll(f, o, tile.columns);
  if (f.accumulator == Form::Half)
    for (unsigned n = 0; n < f.n; ++n)
      for (float &x : tile.columns[n])
        x = halfToFloat(floatToHalf(x));
}

[[gnu::always_inline]] inline void transpose(Quad (&q)[4]) {
  Quad a = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
  Quad b = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
  Quad c = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
  Quad d = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
  q[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  q[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  q[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  q[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

inline Quad canonicalQuad(Quad x) {
  typedef int32_t Bits __attribute__((vector_size(16)));
  Bits isNumber = x == x, nan = Bits{} + int32_t(kNaN32);
  return Quad((Bits(x) & isNumber) | (nan & ~isNumber));
}

/// The four columns of a register are every second one of its block of eight.
void loadWords(const uint32_t *from, float (*column)[kRows], unsigned row) {
  for (unsigned g = 0; g < 8; g += 4) {
    Quad q[4];
    std::memcpy(q, from + 4 * g, sizeof(q));
    transpose(q);
    for (unsigned t = 0; t < 4; ++t)
      std::memcpy(&column[2 * t][row + g], &q[t], sizeof(Quad));
  }
}

void storeWords(float (*column)[kRows], unsigned row, bool isFloat,
                uint32_t *to) {
  for (unsigned g = 0; g < 8; g += 4) {
    Quad q[4];
    for (unsigned t = 0; t < 4; ++t)
      std::memcpy(&q[t], &column[2 * t][row + g], sizeof(Quad));
    transpose(q);
    if (isFloat)
      for (Quad &row : q)
        row = canonicalQuad(row);
    std::memcpy(to + 4 * g, q, sizeof(q));
  }
}

void loadTile(const Form &f, const uint32_t *registers, const uint32_t *slots,
              WgmmaTile &tile) {
  bool isHalf = f.accumulator == Form::Half;
  for (unsigned j = 0; j < f.n / 8; ++j)
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned odd = 0; odd < 2; ++odd) {
        float(*column)[kRows] = &tile.columns[8 * j + odd];
        if (!isHalf) {
          loadWords(registers + slots[4 * j + 2 * half + odd], column,
                    8 * half);
          continue;
        }
        const uint32_t *from = registers + slots[2 * j + half];
        uint32_t words[32];
        for (unsigned l = 0; l < 32; ++l)
          words[l] = bitsOf(halfToFloat(from[l] >> 16 * odd & 0xFFFF));
        loadWords(words, column, 8 * half);
      }
}

void storeTile(const Form &f, const WgmmaTile &tile, uint32_t *registers,
               const uint32_t *slots) {
  auto *columns = const_cast<float(*)[kRows]>(tile.columns);
  bool isFloat = f.accumulator != Form::Int;
  for (unsigned j = 0; j < f.n / 8; ++j)
    for (unsigned half = 0; half < 2; ++half) {
      float(*even)[kRows] = &columns[8 * j], (*odd)[kRows] = even + 1;
      if (f.accumulator != Form::Half) {
        const uint32_t *to = slots + 4 * j + 2 * half;
        storeWords(even, 8 * half, isFloat, registers + to[0]);
        storeWords(odd, 8 * half, isFloat, registers + to[1]);
        continue;
      }
      uint32_t x[32], y[32], *to = registers + slots[2 * j + half];
      storeWords(even, 8 * half, true, x);
      storeWords(odd, 8 * half, true, y);
      for (unsigned l = 0; l < 32; ++l)
        to[l] = floatToHalf(floatOf(x[l])) | floatToHalf(floatOf(y[l])) << 16;
    }
}
} // namespace

const WgmmaFunctions ptxvm::FA_ISA::kWgmmaFunctions = {multiply, loadTile,
                                                       storeTile};
