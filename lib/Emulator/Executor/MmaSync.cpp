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

template <unsigned K, bool IsBfloat, bool IsHalfAccumulator>
Flow mma(Warp &w, const Instruction &i) {
  if (w.mask != ~0u) {
    w.cta->fault(w, "warp-sync",
                 "mma.sync is .aligned but not all 32 lanes of the warp "
                 "execute it");
    return Flow::Stop;
  }
  constexpr unsigned kAcc = IsHalfAccumulator ? 2 : 4, kBlocks = K / 8;
  const uint32_t *d = w.lists + i.list, *a = d + kAcc, *b = a + 2 * kBlocks,
                 *c = b + kBlocks;
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
