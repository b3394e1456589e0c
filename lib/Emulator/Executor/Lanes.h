//===- Lanes.h - one operation over 32 lanes --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop that every lane-parallel handler is made of: read 32 lanes, compute
// into a local array, write the lanes of the mask. The local array keeps source
// and destination from aliasing, so the compiler vectorises the loop.
// Only for files compiled by variant (see Handlers.h): everything has internal
// linkage.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_LANES_H
#define FA_LIB_EMULATOR_EXECUTOR_LANES_H

#include "../Decoder/Modifiers.h"
#include "Handlers.h"
#include "Machine.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ptxvm {
namespace {

/// The register lane that holds a T: 64 bits for 64-bit types, else 32.
template <typename T>
using Slot = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T> [[gnu::always_inline]] inline T fromSlot(Slot<T> v) {
  if constexpr (sizeof(T) == sizeof(Slot<T>))
    return std::bit_cast<T>(v);
  else
    return T(v);
}
/// Small results are stored zero-extended.
template <typename T> [[gnu::always_inline]] inline Slot<T> toSlot(T v) {
  if constexpr (sizeof(T) == sizeof(Slot<T>))
    return std::bit_cast<Slot<T>>(v);
  else
    return Slot<T>(std::make_unsigned_t<T>(v));
}

template <typename T>
[[gnu::always_inline]] inline const Slot<T> *lanes(const Warp &w, uint32_t at) {
  return reinterpret_cast<const Slot<T> *>(w.regs + at);
}

template <typename S>
[[gnu::always_inline]] inline Flow commit(Warp &w, uint32_t at,
                                          const S (&out)[32]) {
  S *d = reinterpret_cast<S *>(w.regs + at);
  if (w.mask == ~0u) [[likely]] {
    std::memcpy(d, out, sizeof(out));
    return Flow::Next;
  }
  uint32_t mask = w.mask;
  for (unsigned l = 0; l < 32; ++l)
    d[l] = mask >> l & 1 ? out[l] : d[l];
  return Flow::Next;
}

template <typename D, typename A, typename Op>
[[gnu::always_inline]] inline Flow unary(Warp &w, const Instruction &i, Op op) {
  alignas(64) Slot<D> out[32];
  const Slot<A> *a = lanes<A>(w, i.a);
  for (unsigned l = 0; l < 32; ++l)
    out[l] = toSlot<D>(op(fromSlot<A>(a[l])));
  return commit(w, i.dst, out);
}

template <typename D, typename A, typename B, typename Op>
[[gnu::always_inline]] inline Flow binary(Warp &w, const Instruction &i,
                                          Op op) {
  alignas(64) Slot<D> out[32];
  const Slot<A> *a = lanes<A>(w, i.a);
  const Slot<B> *b = lanes<B>(w, i.b);
  for (unsigned l = 0; l < 32; ++l)
    out[l] = toSlot<D>(op(fromSlot<A>(a[l]), fromSlot<B>(b[l])));
  return commit(w, i.dst, out);
}

template <typename D, typename A, typename B, typename C, typename Op>
[[gnu::always_inline]] inline Flow ternary(Warp &w, const Instruction &i,
                                           Op op) {
  alignas(64) Slot<D> out[32];
  const Slot<A> *a = lanes<A>(w, i.a);
  const Slot<B> *b = lanes<B>(w, i.b);
  const Slot<C> *c = lanes<C>(w, i.c);
  for (unsigned l = 0; l < 32; ++l)
    out[l] =
        toSlot<D>(op(fromSlot<A>(a[l]), fromSlot<B>(b[l]), fromSlot<C>(c[l])));
  return commit(w, i.dst, out);
}

/// A mask from 32 truth values.
template <typename Test>
[[gnu::always_inline]] inline uint32_t maskOf(Test test) {
  uint32_t result = 0;
  for (unsigned l = 0; l < 32; ++l)
    result |= uint32_t(test(l)) << l;
  return result;
}

[[gnu::always_inline]] inline void setPredicate(Warp &w, uint32_t slot,
                                                uint32_t value) {
  w.preds[slot] = (w.preds[slot] & ~w.mask) | (value & w.mask);
}

} // namespace
} // namespace ptxvm

// Table entries: HANDLER(name, body) with w and i; UN, BIN, TER give the lane
// expression of x, y, z.
#define HANDLER(name, ...)                                                     \
  { name, [](Warp & w, const Instruction &i) -> Flow __VA_ARGS__ }
#define UN(name, D, A, expr)                                                   \
  HANDLER(name, { return unary<D, A>(w, i, [](A x) -> D { return expr; }); })
#define BIN(name, T, expr)                                                     \
  HANDLER(name, {                                                              \
    return binary<T, T, T>(w, i, [](T x, T y) -> T { return expr; });          \
  })
#define TER(name, T, expr)                                                     \
  HANDLER(name, {                                                              \
    return ternary<T, T, T, T>(w, i, [](T x, T y, T z) -> T { return expr; }); \
  })

#endif // FA_LIB_EMULATOR_EXECUTOR_LANES_H
