//===- Lanes.h - one operation over 32 lanes --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loop that every lane-parallel handler is made of: read 32 lanes, compute,
// write the lanes of the mask. With all lanes the loop writes the register
// itself, so that nothing but the operation is left of it once vectorised.
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

/// Takes the lanes of the mask from `out`.
template <typename S>
[[gnu::always_inline]] inline void blend(Warp &w, uint32_t at, const S *out) {
  S *d = reinterpret_cast<S *>(w.regs + at);
  uint32_t mask = w.mask;
  for (unsigned l = 0; l < 32; ++l)
    d[l] = mask >> l & 1 ? out[l] : d[l];
}

template <typename S>
[[gnu::always_inline]] inline Flow commit(Warp &w, uint32_t at,
                                          const S (&out)[32]) {
  if (w.mask == ~0u) [[likely]]
    std::memcpy(w.regs + at, out, sizeof(out));
  else
    blend(w, at, out);
  return Flow::Next;
}

/// Where a handler writes its lanes: the register itself when all of them
/// execute, else the scratch, from which settle() takes those that do.
template <typename S>
[[gnu::always_inline]] inline S *target(Warp &w, uint32_t at) {
  return reinterpret_cast<S *>(w.mask == ~0u ? w.regs + at : w.scratch);
}
template <typename S>
[[gnu::always_inline]] inline Flow settle(Warp &w, uint32_t at, const S *out) {
  if (w.mask != ~0u) [[unlikely]]
    blend(w, at, out);
  return Flow::Next;
}

// Source and destination may be one register, but a lane reads only its own
// before it writes: no iteration depends on another.
#define FA_FOR_LANES(l) _Pragma("GCC ivdep") for (unsigned l = 0; l < 32; ++l)

template <typename D, typename A, typename Op>
[[gnu::always_inline]] inline Flow unary(Warp &w, const Instruction &i, Op op) {
  auto *out = target<Slot<D>>(w, i.dst);
  const Slot<A> *a = lanes<A>(w, i.a);
  FA_FOR_LANES(l)
  out[l] = toSlot<D>(op(fromSlot<A>(a[l])));
  return settle(w, i.dst, out);
}

template <typename D, typename A, typename B, typename Op>
[[gnu::always_inline]] inline Flow binary(Warp &w, const Instruction &i,
                                          Op op) {
  auto *out = target<Slot<D>>(w, i.dst);
  const Slot<A> *a = lanes<A>(w, i.a);
  const Slot<B> *b = lanes<B>(w, i.b);
  FA_FOR_LANES(l)
  out[l] = toSlot<D>(op(fromSlot<A>(a[l]), fromSlot<B>(b[l])));
  return settle(w, i.dst, out);
}

template <typename D, typename A, typename B, typename C, typename Op>
[[gnu::always_inline]] inline Flow ternary(Warp &w, const Instruction &i,
                                           Op op) {
  auto *out = target<Slot<D>>(w, i.dst);
  const Slot<A> *a = lanes<A>(w, i.a);
  const Slot<B> *b = lanes<B>(w, i.b);
  const Slot<C> *c = lanes<C>(w, i.c);
  FA_FOR_LANES(l)
  out[l] =
      toSlot<D>(op(fromSlot<A>(a[l]), fromSlot<B>(b[l]), fromSlot<C>(c[l])));
  return settle(w, i.dst, out);
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
