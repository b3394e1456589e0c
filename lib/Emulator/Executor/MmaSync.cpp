//===- MmaSync.cpp - mma.sync ---------------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.14.5: m16n8k8 and m16n8k16 of f16 and bf16. With lane
// l = 4g + t and element j of a register:
//
//   A  register r:  row g + 8 (r & 1),  k = 8 (r >> 1) + 2t + j
//   B  register r:  k = 8r + 2t + j,    column g
//   C, D f32 register i: row g + 8 (i >> 1), column 2t + (i & 1)
//   C, D f16 register r: row g + 8r,         column 2t + j
//
// So the 32 lanes of one A register are an 8x8 block row by row, those of a B
// register an 8x8 block of the transposed B, and the lanes of f32 registers 2i
// and 2i+1 interleaved are the 8x8 half i of C. The product is a chain of f32
// fused multiply-adds in the order of k; the ISA leaves order and rounding open
// (*unverified* against hardware, which truncates). Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"
#include "SmallFloat.h"

using namespace ptxvm;

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace {
typedef float Row __attribute__((vector_size(32)));

/// 64 16-bit floats, as 32 lanes of a register, to an 8x8 block.
template <bool IsBfloat>
[[gnu::always_inline]] inline void widen(const uint32_t *from, Row (&to)[8]) {
#ifdef __F16C__
  if constexpr (!IsBfloat) {
    for (unsigned r = 0; r < 8; ++r) {
      __m128i h =
          _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + 4 * r));
      to[r] = Row(_mm256_cvtph_ps(h));
    }
    return;
  }
#endif
  float *out = reinterpret_cast<float *>(to);
  for (unsigned l = 0; l < 32; ++l) {
    uint32_t x = from[l];
    out[2 * l] = IsBfloat ? floatOf(x << 16) : halfToFloat(x & 0xFFFF);
    out[2 * l + 1] = IsBfloat ? floatOf(x & 0xFFFF0000) : halfToFloat(x >> 16);
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
  for (unsigned k = 0; k < 8; ++k)
    m[k] = s[k];
}

/// acc[m] += A[m][k] * B[k] for one half (8 rows) of the tile.
[[gnu::always_inline]] inline void multiply(const Row (&a)[8],
                                            const Row (&b)[8], Row (&acc)[8]) {
  for (unsigned k = 0; k < 8; ++k)
    for (unsigned m = 0; m < 8; ++m) {
#ifdef __FMA__
      acc[m] = Row(_mm256_fmadd_ps(_mm256_set1_ps(a[m][k]), __m256(b[k]),
                                   __m256(acc[m])));
#else
      for (unsigned n = 0; n < 8; ++n)
        acc[m][n] = __builtin_fmaf(a[m][k], b[k][n], acc[m][n]);
#endif
    }
}

void gather(const Warp &w, uint32_t first, uint32_t second, Row (&acc)[8]) {
  const float *x = reinterpret_cast<const float *>(w.regs + first);
  const float *y = reinterpret_cast<const float *>(w.regs + second);
  float *out = reinterpret_cast<float *>(acc);
  for (unsigned l = 0; l < 32; ++l) {
    out[2 * l] = x[l];
    out[2 * l + 1] = y[l];
  }
}
void scatter(Warp &w, uint32_t first, uint32_t second, const Row (&acc)[8]) {
  float *x = reinterpret_cast<float *>(w.regs + first);
  float *y = reinterpret_cast<float *>(w.regs + second);
  const float *in = reinterpret_cast<const float *>(acc);
  for (unsigned l = 0; l < 32; ++l) {
    x[l] = canonical(in[2 * l]);
    y[l] = canonical(in[2 * l + 1]);
  }
}

#ifdef __AVX512BW__
/// 32 halves as floats, in their order.
template <bool IsBfloat>
[[gnu::always_inline]] inline void widen(__m512i from, __m512 &low,
                                         __m512 &high) {
  __m256i first = _mm512_castsi512_si256(from);
  __m256i second = _mm512_extracti64x4_epi64(from, 1);
  if constexpr (IsBfloat) {
    auto one = [](__m256i x) {
      return _mm512_castsi512_ps(
          _mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
    };
    low = one(first);
    high = one(second);
  } else {
    low = _mm512_cvtph_ps(first);
    high = _mm512_cvtph_ps(second);
  }
}

/// f32 accumulators as they stand in the registers: lane 4g + t of a half
/// register is row g, column 2t or 2t + 1. For each k
///
///   left   [A(g, k) four times] for each of four rows g
///   even   [B(k, 0) B(k, 2) B(k, 4) B(k, 6)] four times
///   odd    [B(k, 1) B(k, 3) B(k, 5) B(k, 7)] four times
///
/// The products are added in the order of k, as in the plain way.
template <unsigned K, bool IsBfloat>
void multiplyWide(Warp &w, const uint32_t *d, const uint32_t *a,
                  const uint32_t *b, const uint32_t *c) {
  // Row k of B: its even columns, then its odd ones. Element 8n + k of a
  // register is row k, column n.
  alignas(64) float right[K][8];
  alignas(64) static constexpr uint16_t kFrom[64] = {
      0, 16, 32, 48, 8,  24, 40, 56, 1, 17, 33, 49, 9,  25, 41, 57,
      2, 18, 34, 50, 10, 26, 42, 58, 3, 19, 35, 51, 11, 27, 43, 59,
      4, 20, 36, 52, 12, 28, 44, 60, 5, 21, 37, 53, 13, 29, 45, 61,
      6, 22, 38, 54, 14, 30, 46, 62, 7, 23, 39, 55, 15, 31, 47, 63};
  for (unsigned block = 0; block < K / 8; ++block) {
    __m512i x = _mm512_load_si512(w.regs + b[block]);
    __m512i y = _mm512_load_si512(w.regs + b[block] + 16);
    for (unsigned half = 0; half < 2; ++half) {
      __m512i from = _mm512_load_si512(kFrom + 32 * half);
      __m512 low, high;
      widen<IsBfloat>(_mm512_permutex2var_epi16(x, from, y), low, high);
      _mm512_store_ps(right[8 * block + 4 * half], low);
      _mm512_store_ps(right[8 * block + 4 * half + 2], high);
    }
  }
  // acc[v]: four rows, 4 (v >> 1) on; even or odd columns.
  __m512 acc[8];
  for (unsigned v = 0; v < 8; ++v) {
    unsigned half = v >> 2, part = v >> 1 & 1;
    acc[v] = _mm512_load_ps(w.regs + c[2 * half + (v & 1)] + 16 * part);
  }
  const __m512i quads =
      _mm512_set_epi32(24, 24, 24, 24, 16, 16, 16, 16, 8, 8, 8, 8, 0, 0, 0, 0);
  for (unsigned block = 0; block < K / 8; ++block) {
    __m512 low[4], high[4]; // two rows each
    for (unsigned v = 0; v < 4; ++v) {
      const uint32_t *from = w.regs + a[2 * block + (v >> 1)] + 16 * (v & 1);
      widen<IsBfloat>(_mm512_load_si512(from), low[v], high[v]);
    }
#pragma GCC unroll 8
    for (unsigned k = 0; k < 8; ++k) {
      __m512i index = _mm512_add_epi32(quads, _mm512_set1_epi32(int(k)));
      const float *row = right[8 * block + k];
      __m512 even = _mm512_broadcast_f32x4(_mm_load_ps(row));
      __m512 odd = _mm512_broadcast_f32x4(_mm_load_ps(row + 4));
#pragma GCC unroll 4
      for (unsigned v = 0; v < 4; ++v) {
        __m512 left = _mm512_permutex2var_ps(low[v], index, high[v]);
        acc[2 * v] = _mm512_fmadd_ps(left, even, acc[2 * v]);
        acc[2 * v + 1] = _mm512_fmadd_ps(left, odd, acc[2 * v + 1]);
      }
    }
  }
  const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(int(kNaN32)));
  for (unsigned v = 0; v < 8; ++v) {
    unsigned half = v >> 2, part = v >> 1 & 1;
    __mmask16 isNaN = _mm512_cmp_ps_mask(acc[v], acc[v], _CMP_UNORD_Q);
    _mm512_store_ps(w.regs + d[2 * half + (v & 1)] + 16 * part,
                    _mm512_mask_mov_ps(acc[v], isNaN, nan));
  }
}
#endif

template <unsigned K, bool IsBfloat, bool IsHalfAccumulator>
Flow mma(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  constexpr unsigned kAcc = IsHalfAccumulator ? 2 : 4, kBlocks = K / 8;
  const uint32_t *d = w.lists + i.list, *a = d + kAcc, *b = a + 2 * kBlocks,
                 *c = b + kBlocks;
#ifdef __AVX512BW__
  if constexpr (!IsHalfAccumulator) {
    multiplyWide<K, IsBfloat>(w, d, a, b, c);
    return Flow::Next;
  }
#endif
  alignas(64) Row acc[2][8];
  for (unsigned half = 0; half < 2; ++half) {
    if constexpr (IsHalfAccumulator)
      widen<false>(w.regs + c[half], acc[half]);
    else
      gather(w, c[2 * half], c[2 * half + 1], acc[half]);
  }
  for (unsigned block = 0; block < kBlocks; ++block) {
    alignas(64) Row right[8];
    widen<IsBfloat>(w.regs + b[block], right);
    transpose(right);
    for (unsigned half = 0; half < 2; ++half) {
      alignas(64) Row left[8];
      widen<IsBfloat>(w.regs + a[2 * block + half], left);
      multiply(left, right, acc[half]);
    }
  }
  for (unsigned half = 0; half < 2; ++half) {
    if constexpr (IsHalfAccumulator) {
      const float *in = reinterpret_cast<const float *>(acc[half]);
      uint32_t *out = w.regs + d[half];
      for (unsigned l = 0; l < 32; ++l)
        out[l] = floatToHalf(in[2 * l]) | floatToHalf(in[2 * l + 1]) << 16;
    } else {
      scatter(w, d[2 * half], d[2 * half + 1], acc[half]);
    }
  }
  return Flow::Next;
}
} // namespace

void ptxvm::FA_ISA::addMmaSync(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"mma_m16n8k8_f16_f32", mma<8, false, false>},
      {"mma_m16n8k16_f16_f32", mma<16, false, false>},
      {"mma_m16n8k8_bf16_f32", mma<8, true, false>},
      {"mma_m16n8k16_bf16_f32", mma<16, true, false>},
      {"mma_m16n8k8_f16_f16", mma<8, false, true>},
      {"mma_m16n8k16_f16_f16", mma<16, false, true>},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
