//===- Ldmatrix.cpp - ldmatrix, stmatrix, movmatrix -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.14.5.15 to 17, m8n8.b16. Lane 8q + i names row i (16
// bytes) of matrix q. Register q of lane l = 4g + t holds
//
//   plain:   row g, columns 2t and 2t + 1
//   .trans:  [row 2t][col g] (low half) and [row 2t + 1][col g]
//
// so the 32 lanes of a plain register are the eight rows laid end to end, and
// .trans is that of the transposed matrix. Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "FastAccess.h"
#include "Lanes.h"
#include "MemoryAccess.h"

using namespace ptxvm;

namespace {
typedef uint16_t Row __attribute__((vector_size(16)));

/// Transposes an 8x8 matrix of 16-bit elements by three rounds of interleaving.
inline void transpose(uint32_t (&words)[32]) {
  Row r[8], s[8];
  std::memcpy(r, words, sizeof(r));
  auto round = [](const Row(&from)[8], Row(&to)[8]) {
    for (unsigned k = 0; k < 4; ++k) {
      to[2 * k] = __builtin_shufflevector(from[k], from[k + 4], 0, 8, 1, 9, 2,
                                          10, 3, 11);
      to[2 * k + 1] = __builtin_shufflevector(from[k], from[k + 4], 4, 12, 5,
                                              13, 6, 14, 7, 15);
    }
  };
  round(r, s);
  round(s, r);
  round(r, s);
  std::memcpy(words, s, sizeof(s));
}

bool resolveRows(Warp &w, const Instruction &i, unsigned count, bool isStore,
                 Access &a) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  if (!needsWholeWarp(w))
    return false;
  uint32_t mask = count == 4 ? ~0u : (1u << 8 * count) - 1;
  AccessRequest request{mask,
                        i.a,
                        bool(aux.flags & MemoryAux::kWideAddress),
                        i.imm,
                        aux.space,
                        16,
                        isStore ? AccessKind::MatrixStore
                                : AccessKind::MatrixLoad};
  return resolveAccess(w, i, request, a);
}

/// Matrix q into a register; `row` gives the address of each row.
template <typename Rows>
[[gnu::always_inline]] inline void loadMatrix(uint32_t *to, Rows row,
                                              bool isTransposed) {
#ifdef __AVX512BW__
  auto four = [&](unsigned first) {
    auto part = [&](unsigned r) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i *>(row(first + r)));
    };
    __m512i v = _mm512_castsi128_si512(part(0));
    v = _mm512_inserti32x4(v, part(1), 1);
    v = _mm512_inserti32x4(v, part(2), 2);
    return _mm512_inserti32x4(v, part(3), 3);
  };
  __m512i low = four(0), high = four(4);
  if (isTransposed) {
    // Element 8g + r of the result is element 8r + g.
    alignas(64) static constexpr uint16_t kFrom[64] = {
        0, 8,  16, 24, 32, 40, 48, 56, 1, 9,  17, 25, 33, 41, 49, 57,
        2, 10, 18, 26, 34, 42, 50, 58, 3, 11, 19, 27, 35, 43, 51, 59,
        4, 12, 20, 28, 36, 44, 52, 60, 5, 13, 21, 29, 37, 45, 53, 61,
        6, 14, 22, 30, 38, 46, 54, 62, 7, 15, 23, 31, 39, 47, 55, 63};
    __m512i first = _mm512_load_si512(kFrom);
    __m512i second = _mm512_load_si512(kFrom + 32);
    __m512i a = _mm512_permutex2var_epi16(low, first, high);
    high = _mm512_permutex2var_epi16(low, second, high);
    low = a;
  }
  _mm512_store_si512(to, low);
  _mm512_store_si512(to + 16, high);
#else
  alignas(64) uint32_t words[32];
  for (unsigned r = 0; r < 8; ++r)
    std::memcpy(&words[4 * r], row(r), 16);
  if (isTransposed)
    transpose(words);
  std::memcpy(to, words, sizeof(words));
#endif
}

Flow load(Warp &w, const Instruction &i) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  unsigned count = aux.count;
  bool isTransposed = i.mods & mod::trans_;
  uint32_t mask = count == 4 ? ~0u : (1u << 8 * count) - 1;
  FastAccess fast;
  if (w.mask == ~0u && Space(aux.space) == Space::Shared &&
      !(aux.flags & MemoryAux::kWideAddress) &&
      fast.inShared(w, i.a, i.imm, 16, mask)) [[likely]] {
    for (unsigned q = 0; q < count; ++q)
      loadMatrix(
          w.regs + w.lists[i.list + q],
          [&](unsigned r) { return fast.base + fast.at[8 * q + r]; },
          isTransposed);
    return Flow::Next;
  }
  Access a;
  if (!resolveRows(w, i, count, false, a))
    return Flow::Stop;
  for (unsigned q = 0; q < count; ++q)
    loadMatrix(
        w.regs + w.lists[i.list + q],
        [&](unsigned r) { return a.pointer[8 * q + r]; }, isTransposed);
  return Flow::Next;
}

Flow store(Warp &w, const Instruction &i) {
  unsigned count = MemoryAux::unpack(i.aux).count;
  Access a;
  if (!resolveRows(w, i, count, true, a))
    return Flow::Stop;
  for (unsigned q = 0; q < count; ++q) {
    alignas(64) uint32_t words[32];
    std::memcpy(words, w.regs + w.lists[i.list + q], sizeof(words));
    if (i.mods & mod::trans_)
      transpose(words);
    for (unsigned r = 0; r < 8; ++r)
      std::memcpy(a.pointer[8 * q + r], &words[4 * r], 16);
  }
  return Flow::Next;
}

Flow move(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  alignas(64) uint32_t words[32];
  std::memcpy(words, w.regs + i.a, sizeof(words));
  transpose(words);
  return commit(w, i.dst, words);
}
} // namespace

void ptxvm::FA_ISA::addLdmatrix(HandlerList &list) {
  list.push_back({"ldmatrix", load});
  list.push_back({"stmatrix", store});
  list.push_back({"movmatrix", move});
}
