//===- MmaF64.cpp - mma.sync of f64 ---------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.14.5: m8n8k4 and m16n8k4, k8 and k16 of f64, a chain
// of fused multiply-adds in the order of k, in the rounding mode that the
// instruction names. Compiled with -frounding-math.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/MmaOperands.h"
#include "Handlers.h"
#include "HostRounding.h"
#include "Machine.h"
#include "SmallFloat.h"

#include <cmath>

using namespace ptxvm;

namespace {
double *lanesOf(Warp &w, uint32_t at) {
  return reinterpret_cast<double *>(w.regs + at);
}

Flow mmaF64(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  MmaOperands o = MmaOperands::unpack(i.aux);
  const uint32_t *d = w.lists + i.list, *a = d + o.registersOfC(),
                 *b = a + o.registersOfA(), *c = b + o.registersOfB();
  unsigned tall = o.rows > 8;
  double result[4][32];
  {
    HostRounding scope(i.mods);
    for (unsigned r = 0; r < o.registersOfC(); ++r)
      for (unsigned l = 0; l < 32; ++l) {
        unsigned row = (l >> 2), half = r >> 1, column = 2 * (l & 3) + (r & 1);
        volatile double sum = lanesOf(w, c[r])[l];
        for (unsigned k = 0; k < o.depth; ++k) {
          unsigned ra = tall ? 2 * (k >> 2) + half : k >> 2;
          double x = lanesOf(w, a[ra])[4 * row + (k & 3)];
          double y = lanesOf(w, b[k >> 2])[4 * column + (k & 3)];
          sum = std::fma(x, y, double(sum));
        }
        result[r][l] = sum;
      }
  }
  for (unsigned r = 0; r < o.registersOfC(); ++r)
    for (unsigned l = 0; l < 32; ++l)
      lanesOf(w, d[r])[l] = canonical(result[r][l]);
  return Flow::Next;
}
} // namespace

void ptxvm::addMmaF64(HandlerList &list) {
  list.push_back({"mma_f64", mmaF64});
}
