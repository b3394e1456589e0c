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

bool checkAligned(Warp &w) {
  if (w.mask == ~0u) [[likely]]
    return true;
  w.cta->fault(w, "warp-sync",
               w.cta->launch.kernel.info.instructions[w.pc].opcode +
                   " is .aligned but not all 32 lanes of the warp execute it");
  return false;
}

bool resolveRows(Warp &w, const Instruction &i, unsigned count, bool isStore,
                 Access &a) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  if (!checkAligned(w))
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

Flow load(Warp &w, const Instruction &i) {
  unsigned count = MemoryAux::unpack(i.aux).count;
  Access a;
  if (!resolveRows(w, i, count, false, a))
    return Flow::Stop;
  // The destination may be the address register: read all before writing.
  alignas(64) uint32_t out[4][32];
  for (unsigned q = 0; q < count; ++q) {
    for (unsigned r = 0; r < 8; ++r)
      std::memcpy(&out[q][4 * r], a.pointer[8 * q + r], 16);
    if (i.mods & mod::trans_)
      transpose(out[q]);
  }
  for (unsigned q = 0; q < count; ++q)
    commit(w, w.lists[i.list + q], out[q]);
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
  if (!checkAligned(w))
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
