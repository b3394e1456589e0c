//===- Move.cpp - mov and its vector forms --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.9.4. Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "Lanes.h"

using namespace ptxvm;

namespace {
using u32 = uint32_t;
using u64 = uint64_t;

Flow pack2x32(Warp &w, const Instruction &i) {
  alignas(64) u64 out[32];
  const u32 *x = w.regs + w.lists[i.list], *y = w.regs + w.lists[i.list + 1];
  for (unsigned l = 0; l < 32; ++l)
    out[l] = u64(y[l]) << 32 | x[l];
  return commit(w, i.dst, out);
}
Flow unpack2x32(Warp &w, const Instruction &i) {
  alignas(64) u32 x[32], y[32];
  const u64 *a = lanes<u64>(w, i.a);
  for (unsigned l = 0; l < 32; ++l) {
    x[l] = u32(a[l]);
    y[l] = u32(a[l] >> 32);
  }
  commit(w, w.lists[i.list], x);
  return commit(w, w.lists[i.list + 1], y);
}
Flow pack2x16(Warp &w, const Instruction &i) {
  alignas(64) u32 out[32];
  const u32 *x = w.regs + w.lists[i.list], *y = w.regs + w.lists[i.list + 1];
  for (unsigned l = 0; l < 32; ++l)
    out[l] = y[l] << 16 | (x[l] & 0xFFFF);
  return commit(w, i.dst, out);
}
Flow unpack2x16(Warp &w, const Instruction &i) {
  alignas(64) u32 x[32], y[32];
  const u32 *a = lanes<u32>(w, i.a);
  for (unsigned l = 0; l < 32; ++l) {
    x[l] = a[l] & 0xFFFF;
    y[l] = a[l] >> 16;
  }
  commit(w, w.lists[i.list], x);
  return commit(w, w.lists[i.list + 1], y);
}
Flow pack4x16(Warp &w, const Instruction &i) {
  alignas(64) u64 out[32] = {};
  for (unsigned k = 0; k < 4; ++k)
    for (unsigned l = 0; l < 32; ++l)
      out[l] |= u64(w.regs[w.lists[i.list + k] + l] & 0xFFFF) << 16 * k;
  return commit(w, i.dst, out);
}
Flow unpack4x16(Warp &w, const Instruction &i) {
  alignas(64) u64 a[32];
  std::memcpy(a, lanes<u64>(w, i.a), sizeof(a));
  for (unsigned k = 0; k < 4; ++k) {
    alignas(64) u32 x[32];
    for (unsigned l = 0; l < 32; ++l)
      x[l] = u32(a[l] >> 16 * k) & 0xFFFF;
    commit(w, w.lists[i.list + k], x);
  }
  return Flow::Next;
}
/// %clock and its kin count the warp's instructions: they grow, and a run is
/// repeatable.
Flow readClock(Warp &w, const Instruction &i) {
  u64 now = w.issued;
  if (i.aux)
    return unary<u64, u64>(w, i, [=](u64) { return now; });
  u32 half = u32(i.imm ? now >> 32 : now);
  return unary<u32, u32>(w, i, [=](u32) { return half; });
}
} // namespace

void ptxvm::FA_ISA::addMove(HandlerList &list) {
  static const NamedHandler kTable[] = {
      UN("mov_b32", u32, u32, x),
      UN("mov_b64", u64, u64, x),
      HANDLER("mov_pred",
              {
                setPredicate(w, i.dst, w.preds[i.a] ^ (i.aux & 1 ? ~0u : 0));
                return Flow::Next;
              }),
      {"pack_2x32", pack2x32},
      {"unpack_2x32", unpack2x32},
      {"pack_2x16", pack2x16},
      {"unpack_2x16", unpack2x16},
      {"pack_4x16", pack4x16},
      {"unpack_4x16", unpack4x16},
      {"mov_clock", readClock},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
