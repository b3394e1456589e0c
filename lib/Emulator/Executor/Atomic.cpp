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
using enum AtomicOp;

template <typename T> T combine(AtomicOp op, T old, T b) {
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

/// Replaces what stands at p by a function of it; returns what stood there.
template <typename Word, typename Next> Word exchange(Word *p, Next next) {
  Word old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(p, &old, next(old), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
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
  bool hasWritten = false;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    Word *p = reinterpret_cast<Word *>(a.pointer[l]), next = 0;
    Word old = exchange<Word>(p, [&](Word old) {
      if (AtomicOp(i.d) == Cas)
        return next = old == Word(b[l]) ? Word(c[l]) : old;
      return next = combine(old, Word(b[l]));
    });
    hasWritten |= next != old;
    d[l] = Slot(old);
  }
  w.hasWritten &= hasWritten;
  return Flow::Next;
}

template <typename T> Flow integer(Warp &w, const Instruction &i) {
  using Word = std::make_unsigned_t<T>;
  using Slot = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  AtomicOp op = AtomicOp(i.d);
  return run<Word, Slot>(
      w, i, [=](Word x, Word y) { return Word(combine<T>(op, T(x), T(y))); });
}

/// Floats add; exch is an operation on bits, min and max are for vectors.
template <typename Word, typename Slot, auto AddFunction>
Flow floating(Warp &w, const Instruction &i) {
  return run<Word, Slot>(
      w, i, [](Word x, Word y) { return Word(AddFunction(x, y)); });
}

/// Section 9.7.3.11: a NaN operand loses, -0 < +0; two NaNs give the canonical
/// one (*unverified* for atomics).
template <bool IsBfloat, bool IsMax>
uint32_t extremeHalf(uint32_t x, uint32_t y) {
  x &= 0xFFFF;
  y &= 0xFFFF;
  float fx = IsBfloat ? bfloatToFloat(x) : halfToFloat(x);
  float fy = IsBfloat ? bfloatToFloat(y) : halfToFloat(y);
  if (fx != fx)
    return fy != fy ? uint32_t(kNaN16) : y;
  if (fy != fy)
    return x;
  if (fx == fy)
    return IsMax ? x & y : x | y;
  return (IsMax ? fx > fy : fx < fy) ? x : y;
}

/// Vector forms, section 9.7.13.6: each element is an atomic operation by
/// itself. The operations in the order add, min, max.
template <typename Word, auto... Operations>
Flow vectors(Warp &w, const Instruction &i) {
  static constexpr uint32_t (*kOperations[])(uint32_t,
                                             uint32_t) = {Operations...};
  MemoryAux aux = MemoryAux::unpack(i.aux);
  AccessRequest request{w.mask,
                        i.a,
                        bool(aux.flags & MemoryAux::kWideAddress),
                        i.imm,
                        aux.space,
                        uint32_t(aux.bytes) * aux.count,
                        AccessKind::Atomic};
  Access a;
  if (!resolveAccess(w, i, request, a))
    return Flow::Stop;
  const uint32_t *to = w.lists + i.list, *from = to + aux.count;
  bool isRed = aux.flags & MemoryAux::kRed;
  auto combine = kOperations[i.d];
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    Word *p = reinterpret_cast<Word *>(a.pointer[l]);
    uint32_t old[8];
    for (unsigned k = 0; k < aux.count; ++k) {
      uint32_t operand = w.regs[from[k] + l];
      old[k] = exchange<Word>(
          p + k, [&](Word x) { return Word(combine(x, operand)); });
    }
    for (unsigned k = 0; k < aux.count && !isRed; ++k)
      w.regs[to[k] + l] = old[k];
  }
  return Flow::Next;
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
      {"atom_vector_f32", vectors<uint32_t, F32::add>},
#define M(name, half, b)                                                       \
  {"atom_vector_" name,                                                        \
   vectors<uint16_t, half, extremeHalf<b, false>, extremeHalf<b, true>>},      \
      {"atom_vector_" name "x2",                                               \
       vectors<uint32_t, addPair<half>, addPair<extremeHalf<b, false>>,        \
               addPair<extremeHalf<b, true>>>},
      M("f16", addHalf, false) M("bf16", addBfloat, true)
#undef M
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
