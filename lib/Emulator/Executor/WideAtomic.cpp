//===- WideAtomic.cpp - atom, ld and st of 128 bits -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.13.5: atom.exch.b128, atom.cas.b128, and the loads
// and stores with an order, whose 16 bytes are seen together. Weak ones move
// two words (LoadStore.cpp). A register of 128 bits is two of 64 bits in the
// list of the instruction, the lower half first. Compiled with -mcx16.
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "MemoryAccess.h"

using namespace ptxvm;

namespace {
__extension__ typedef unsigned __int128 u128;

u128 get(const Warp &w, const uint32_t *pair, unsigned l) {
  auto half = [&](unsigned k) {
    return reinterpret_cast<const uint64_t *>(w.regs + pair[k])[l];
  };
  return u128(half(1)) << 64 | half(0);
}
void set(Warp &w, const uint32_t *pair, unsigned l, u128 value) {
  for (unsigned k = 0; k < 2; ++k)
    reinterpret_cast<uint64_t *>(w.regs + pair[k])[l] =
        uint64_t(value >> 64 * k);
}

/// Replaces `old` where it stands; returns what stood there.
u128 compareExchange(u128 *p, u128 old, u128 next) {
  return __sync_val_compare_and_swap(p, old, next);
}
u128 exchange(u128 *p, u128 next) {
  u128 old = 0;
  for (u128 seen; (seen = compareExchange(p, old, next)) != old;)
    old = seen;
  return old;
}

bool resolve(Warp &w, const Instruction &i, AccessKind kind, Access &a) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  AccessRequest request{
      w.mask, i.a,       bool(aux.flags & MemoryAux::kWideAddress),
      i.imm,  aux.space, 16,
      kind,   true,      bool(aux.flags & MemoryAux::kCluster)};
  return resolveAccess(w, i, request, a);
}

/// Buffers lie at multiples of 256 bytes of the device, and of 16 of the host.
u128 *pointer(const Access &a, unsigned l) {
  return reinterpret_cast<u128 *>(a.pointer[l]);
}

template <typename Body>
Flow eachLane(Warp &w, const Instruction &i, AccessKind kind, Body body) {
  Access a;
  if (!resolve(w, i, kind, a))
    return Flow::Stop;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    body(pointer(a, l), l);
  }
  return Flow::Next;
}

Flow atomic(Warp &w, const Instruction &i) {
  const uint32_t *d = w.lists + i.list, *b = d + 2, *c = d + 4;
  bool isCas = AtomicOp(i.d) == AtomicOp::Cas;
  bool hasWritten = false;
  Flow flow = eachLane(w, i, AccessKind::Atomic, [&](u128 *p, unsigned l) {
    u128 value = get(w, b, l);
    u128 old =
        isCas ? compareExchange(p, value, get(w, c, l)) : exchange(p, value);
    hasWritten |= isCas ? old == value && value != get(w, c, l) : old != value;
    set(w, d, l, old);
  });
  w.hasWritten &= hasWritten;
  return flow;
}

Flow load(Warp &w, const Instruction &i) {
  const uint32_t *d = w.lists + i.list;
  return eachLane(w, i, AccessKind::Load, [&](u128 *p, unsigned l) {
    set(w, d, l, compareExchange(p, 0, 0));
  });
}

Flow store(Warp &w, const Instruction &i) {
  const uint32_t *b = w.lists + i.list;
  return eachLane(w, i, AccessKind::Store,
                  [&](u128 *p, unsigned l) { exchange(p, get(w, b, l)); });
}
} // namespace

void ptxvm::addWideAtomic(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"atom_b128", atomic}, {"ld_b128", load}, {"st_b128", store}};
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
