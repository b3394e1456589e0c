//===- Atomic.cpp - atom and red ------------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.13.5 to 7. Each lane acts in turn, lowest first (the
// order is free in the ISA). Global words are reached by host atomics, because
// other CTAs run on other host threads.
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "MemoryAccess.h"
#include "SmallFloat.h"

#include <type_traits>

using namespace ptxvm;

namespace {
enum Op { Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas };

template <typename T> T combine(uint32_t op, T old, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Add:
    return T(U(old) + U(b));
  case Min:
    return old < b ? old : b;
  case Max:
    return old > b ? old : b;
  case Inc:
    return U(old) >= U(b) ? T(0) : T(U(old) + 1);
  case Dec:
    return U(old) == 0 || U(old) > U(b) ? b : T(U(old) - 1);
  case And:
    return T(old & b);
  case Or:
    return T(old | b);
  case Xor:
    return T(old ^ b);
  default:
    return b;
  }
}

struct F32 {
  static uint32_t add(uint32_t x, uint32_t y) {
    return bitsOf(canonical(floatOf(x) + floatOf(y)));
  }
};
struct F64 {
  static uint64_t add(uint64_t x, uint64_t y) {
    return std::bit_cast<uint64_t>(
        canonical(std::bit_cast<double>(x) + std::bit_cast<double>(y)));
  }
};
uint32_t addHalf(uint32_t x, uint32_t y) {
  return floatToHalf(halfToFloat(x & 0xFFFF) + halfToFloat(y & 0xFFFF));
}
uint32_t addBfloat(uint32_t x, uint32_t y) {
  return floatToBfloat(bfloatToFloat(x & 0xFFFF) + bfloatToFloat(y & 0xFFFF));
}
template <uint32_t (*One)(uint32_t, uint32_t)>
uint32_t addPair(uint32_t x, uint32_t y) {
  return One(x, y) | One(x >> 16, y >> 16) << 16;
}

/// Word is what is exchanged in memory; Slot the register lane.
template <typename Word, typename Slot, typename Combine>
Flow run(Warp &w, const Instruction &i, Combine combine) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  AccessRequest request{w.mask,
                        i.a,
                        bool(aux.flags & MemoryAux::kWideAddress),
                        i.imm,
                        aux.space,
                        aux.bytes,
                        AccessKind::Atomic,
                        true,
                        bool(aux.flags & MemoryAux::kCluster)};
  Access a;
  if (!resolveAccess(w, i, request, a))
    return Flow::Stop;
  const Slot *b = reinterpret_cast<const Slot *>(w.regs + i.b);
  const Slot *c = reinterpret_cast<const Slot *>(w.regs + i.c);
  Slot *d = reinterpret_cast<Slot *>(w.regs + i.dst);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    Word *p = reinterpret_cast<Word *>(a.pointer[l]);
    Word old = __atomic_load_n(p, __ATOMIC_SEQ_CST), next;
    do {
      if (i.d == Cas)
        next = old == Word(b[l]) ? Word(c[l]) : old;
      else
        next = combine(old, Word(b[l]));
    } while (!__atomic_compare_exchange_n(p, &old, next, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    d[l] = Slot(old);
  }
  return Flow::Next;
}

template <typename T> Flow integer(Warp &w, const Instruction &i) {
  using Word = std::make_unsigned_t<T>;
  using Slot = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  uint32_t op = i.d;
  return run<Word, Slot>(
      w, i, [=](Word x, Word y) { return Word(combine<T>(op, T(x), T(y))); });
}

/// min and max of floats are not here: they are refused below.
template <typename Word, typename Slot, auto AddFunction>
Flow floating(Warp &w, const Instruction &i) {
  uint32_t op = i.d;
  if (op != Add && op != Exch) {
    w.cta->fault(w, "executor",
                 "this atomic operation on floats is not "
                 "supported");
    return Flow::Stop;
  }
  return run<Word, Slot>(w, i, [=](Word x, Word y) {
    return op == Add ? Word(AddFunction(x, y)) : y;
  });
}
} // namespace

void ptxvm::addAtomic(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"atom_u32", integer<uint32_t>},
      {"atom_b32", integer<uint32_t>},
      {"atom_s32", integer<int32_t>},
      {"atom_u64", integer<uint64_t>},
      {"atom_b64", integer<uint64_t>},
      {"atom_s64", integer<int64_t>},
      {"atom_b16", integer<uint16_t>},
      {"atom_f32", floating<uint32_t, uint32_t, F32::add>},
      {"atom_f64", floating<uint64_t, uint64_t, F64::add>},
      {"atom_f16", floating<uint16_t, uint32_t, addHalf>},
      {"atom_bf16", floating<uint16_t, uint32_t, addBfloat>},
      {"atom_f16x2", floating<uint32_t, uint32_t, addPair<addHalf>>},
      {"atom_bf16x2", floating<uint32_t, uint32_t, addPair<addBfloat>>},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
