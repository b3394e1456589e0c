//===- FAAttentionCanonicalization.cpp - simpler attention ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of an operand becomes an attribute, and what nobody reads is
// not computed. The tile stage does this too, before it bufferizes.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fa;

/// scale(%c : f32) of a constant becomes scale(c).
static LogicalResult foldScale(AttentionOp op, PatternRewriter &rewriter) {
  Value operand = op.getScaleOperand();
  FloatAttr scale;
  if (!operand || !matchPattern(operand, m_Constant(&scale)) ||
      !scale.getValue().isFinite())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getScaleOperandMutable().clear();
    op.setScaleAttr(
        rewriter.getF64FloatAttr(scale.getValue().convertToFloat()));
  });
  return success();
}

/// A log-sum-exp without a use goes.
static LogicalResult dropUnusedLse(AttentionOp op, PatternRewriter &rewriter) {
  if (op.getNumResults() < 2 || !op.getResult(1).use_empty())
    return failure();
  OperationState state(op.getLoc(), op->getName(), op->getOperands(),
                       {op.getResult(0).getType()}, op->getAttrs());
  for (unsigned n = 0; n < op->getNumRegions(); ++n)
    state.addRegion()->takeBody(op->getRegion(n));
  Operation *without = rewriter.create(state);
  rewriter.replaceAllUsesWith(op.getResult(0), without->getResult(0));
  rewriter.eraseOp(op);
  return success();
}

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(foldScale).add(dropUnusedLse);
}
