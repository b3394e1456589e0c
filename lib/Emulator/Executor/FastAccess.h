//===- FastAccess.h - accesses that nobody watches --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds and alignment of all lanes in a few vector operations, for accesses
// to the CTA's own shared memory or to one buffer, when no observer looks. What
// does not pass here goes through MemoryAccess.h, which also words the faults.
// Only for files compiled by variant.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_FASTACCESS_H
#define FA_LIB_EMULATOR_EXECUTOR_FASTACCESS_H

#include "Machine.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace ptxvm {
namespace {

/// Lanes whose offset is above `most` or not a multiple of low + 1.
[[gnu::always_inline]] inline uint32_t wrongLanes(const uint32_t (&at)[32],
                                                  uint32_t most, uint32_t low) {
#ifdef __AVX512F__
  __m512i a = _mm512_load_si512(at), b = _mm512_load_si512(at + 16);
  __m512i m = _mm512_set1_epi32(int(most)), n = _mm512_set1_epi32(int(low));
  __mmask16 x = _mm512_cmpgt_epu32_mask(a, m) | _mm512_test_epi32_mask(a, n);
  __mmask16 y = _mm512_cmpgt_epu32_mask(b, m) | _mm512_test_epi32_mask(b, n);
  return uint32_t(x) | uint32_t(y) << 16;
#else
  uint32_t wrong = 0;
  for (unsigned l = 0; l < 32; ++l)
    wrong |= (at[l] > most || (at[l] & low)) ? 1u << l : 0;
  return wrong;
#endif
}

/// Where the lanes of an access are, from `base`.
struct FastAccess {
  uint8_t *base = nullptr;
  Allocation *buffer = nullptr;
  alignas(64) uint32_t at[32]; ///< only of the lanes asked for

  /// The CTA's shared memory by 32-bit addresses.
  [[gnu::always_inline]] bool inShared(const Warp &w, uint32_t slot,
                                       int32_t offset, uint32_t bytes,
                                       uint32_t mask) {
    CTA &cta = *w.cta;
    size_t size = cta.shared.size();
    if (!cta.onMemory.empty() || size < bytes)
      return false;
    const uint32_t *address = w.regs + slot;
    for (unsigned l = 0; l < 32; ++l)
      at[l] = address[l] + uint32_t(offset);
    base = cta.shared.data();
    return !(wrongLanes(at, uint32_t(size) - bytes, bytes - 1) & mask);
  }

  /// The buffer that the warp used last, by 64-bit addresses; `bytes` of it
  /// are aligned as its start is.
  [[gnu::always_inline]] bool inGlobal(const Warp &w, uint32_t slot,
                                       int32_t offset, uint32_t bytes,
                                       uint32_t mask) {
    Allocation *b = w.lastBuffer;
    constexpr uint64_t kMost = 0x7FFFFFFF; // offsets of 32 bits
    if (!w.cta->onMemory.empty() || !b || b->bytes < bytes || b->bytes > kMost)
      return false;
    const auto *address = reinterpret_cast<const uint64_t *>(w.regs + slot);
    uint64_t start = b->address - uint64_t(int64_t(offset));
    for (unsigned l = 0; l < 32; ++l) {
      uint64_t distance = address[l] - start;
      at[l] = distance > kMost ? ~0u : uint32_t(distance);
    }
    base = b->data.data();
    buffer = b;
    return !(wrongLanes(at, uint32_t(b->bytes) - bytes, bytes - 1) & mask);
  }

  /// One range without gaps, in the order of the lanes.
  [[gnu::always_inline]] bool isContiguous(uint32_t bytes) const {
    uint32_t differs = 0;
    for (unsigned l = 0; l < 32; ++l)
      differs |= at[l] ^ (at[0] + l * bytes);
    return !differs;
  }
};

} // namespace
} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_FASTACCESS_H
