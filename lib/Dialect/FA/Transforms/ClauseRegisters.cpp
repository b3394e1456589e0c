//===- ClauseRegisters.cpp - what clauses take of a lane ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are measured: tiles that leave room for them are the largest that
// ptxas did not spill in, at head dims 64 and 128, and 192 and 256 for products
// that are wide. benchmarks/clauses.py asks again.
//===----------------------------------------------------------------------===//

#include "ClauseRegisters.h"

using namespace mlir;
using namespace mlir::fa;

static bool hasMasks(AttentionOp op) { return !op.getMaskAttrs().empty(); }

namespace {
/// What an op uses at once, and what that takes: for itself, and for each row
/// that the lane has a part of; beside a wide product `wide` is all.
struct ClauseUse {
  bool (*isUsed)(AttentionOp op);
  int64_t fixed, perRow, wide;
};
} // namespace

static const ClauseUse kUses[] = {
    {[](AttentionOp op) { return bool(op.getBias()); }, 36, 14, 36},
    {[](AttentionOp op) { return bool(op.getMask()); }, 84, 8, 68},
    {[](AttentionOp op) { return bool(op.getQSegments()); }, 68, 0, 24},
    {[](AttentionOp op) { return bool(op.getDropoutAttr()); }, 112, 0, 60},
    {[](AttentionOp op) { return op.hasScore(); }, 0, 15, 30},
    {[](AttentionOp op) { return op.hasVisible(); }, 8, 0, 8},
    // Beside the bounds of a row's keys clauses take more than by themselves.
    // Without these rows ptxas spills 128 bytes of a bias and 100 of ALiBi
    // beside a causal mask at head dim 128 (sm_90a).
    {[](AttentionOp op) { return op.getBias() && hasMasks(op); }, 38, 14, 36},
    {[](AttentionOp op) { return op.getQSegments() && hasMasks(op); }, 68, 0,
     36},
    {[](AttentionOp op) {
       int64_t columns = op.getDims().Dv;
       return op.getAlibi() && hasMasks(op) && columns > 96 && columns <= 128;
     },
     44, 0, 0},
};

int64_t mlir::fa::getClauseRegisters(AttentionOp op, ProductKind kind,
                                     int64_t rows) {
  int64_t most = 0;
  for (const ClauseUse &use : kUses)
    if (use.isUsed(op))
      most = std::max(most, kind == ProductKind::WideWarpgroup
                                ? use.wide
                                : use.fixed + use.perRow * rows);
  return most;
}
