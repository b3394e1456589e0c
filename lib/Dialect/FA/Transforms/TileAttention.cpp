//===- TileAttention.cpp - attention becomes a loop over blocks -*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last pass of the tile stage. An fa.attention on memrefs with a complete
// schedule becomes a tile program:
//
//   views      every operand as [B, H, S, D], whatever its layout;
//   scf.forall one iteration for each (b, h, block of query rows), by one
//              number where some should come first  (TileOrder.h); with
//              `cluster` for as many blocks of rows in a row. In it:
//     (a) lengths and visibility of these rows              (Visibility.h)
//     (b) the planes of this head; the tile of Q
//     (c) m, l, u in workgroup memory
//     (d) for each stretch of visible blocks a loop over K/V: scores, mask in
//         partial blocks, softmax step, P.V                 (OnlineSoftmax.h)
//     (e) rows of u that are NaN or infinite again, key by key
//     (f) O = u / l and LSE, once
//
// Vectors are those of the whole block of threads. Head dimensions are padded
// to the depth of a tensor-core product; loads give zeros there and stores drop
// it. Everything but the tiles is 64-bit or i32 index arithmetic on positions.
//
//===----------------------------------------------------------------------===//

#include "AttentionTiler.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Dialect/FA/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FATILEATTENTION
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

FailureOr<scf::ForallOp> mlir::fa::tileAttention(RewriterBase &rewriter,
                                                 AttentionOp op,
                                                 TraceArguments trace) {
  if (failed(checkTileable(op)))
    return failure();
  const TargetInfo *target = lookupModuleTarget(op);
  if (!target)
    return failure();
  // What was not checked is not compiled.
  op->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *inner) {
    if (inner != op && isOpTriviallyDead(inner))
      rewriter.eraseOp(inner);
  });
  FailureOr<scf::ForallOp> forall = AttentionTiler(op, *target, trace).run();
  if (failed(forall))
    return failure();
  rewriter.eraseOp(op);
  // Folding leaves constants behind that nobody uses, and a score region may
  // use no product.
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, *forall);
  (*forall)->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *inner) {
    if (isOpTriviallyDead(inner))
      rewriter.eraseOp(inner);
  });
  for (Operation *previous = (*forall)->getPrevNode();
       previous && isOpTriviallyDead(previous);
       previous = (*forall)->getPrevNode())
    rewriter.eraseOp(previous);
  return forall;
}

namespace {
struct TileAttentionPass
    : public fa::impl::FATileAttentionBase<TileAttentionPass> {
  using FATileAttentionBase::FATileAttentionBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    SmallVector<AttentionOp> ops;
    func.walk([&](AttentionOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    if (!lookupModuleTarget(func))
      return signalPassFailure();
    // Again, because the pass may run alone.
    eraseDeadCodeOfRegions(func);
    TraceArguments arguments;
    // A program around attention is no kernel's entry.
    if (ops.size() == 1)
      recordWhyNoEntry(func, ops.front());
    else
      func->setAttr(kNoEntryAttr,
                    StringAttr::get(&getContext(),
                                    "it holds " + std::to_string(ops.size())));
    if (!func->hasAttr(kNoEntryAttr))
      recordAttention(func, ops.front());
    if (trace)
      arguments = addTraceArguments(func);
    IRRewriter rewriter(&getContext());
    for (AttentionOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(tileAttention(rewriter, op, arguments)))
        return signalPassFailure();
      ++numTiled;
    }
  }
};
} // namespace
