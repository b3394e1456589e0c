//===- IssueProducts.cpp - contractions run by themselves -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage, after fa-specialize-warps. A contraction whose right
// operand is a tile in workgroup memory becomes a product that is issued and
// then waited for; its operands are read where they lie. What may run between
// the two is for fa-overlap-products.
//===----------------------------------------------------------------------===//

#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAISSUEPRODUCTS
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// The load of an operand from workgroup memory, or null.
LoadTileOp getTileLoad(Value operand) {
  auto load = operand.getDefiningOp<LoadTileOp>();
  return load && isInWorkgroupMemory(load.getSource().getType()) ? load
                                                                 : LoadTileOp();
}

LogicalResult issue(vector::ContractionOp op) {
  LoadTileOp rhs = getTileLoad(op.getRhs()), lhs = getTileLoad(op.getLhs());
  if (!rhs)
    return op.emitOpError("a product of a warpgroup needs its right operand in "
                          "workgroup memory");
  std::optional<bool> isTransposed =
      isRightTransposed(op.getIndexingMapsArray());
  if (op.getKind() != vector::CombiningKind::ADD || !isTransposed)
    return op.emitOpError(
        "expected a sum of (m, k) x (n, k) or (m, k) x (k, n) "
        "to (m, n)");
  OpBuilder builder(op);
  Value left = lhs ? Value(lhs.getSource()) : Value(op.getLhs());
  ValueRange leftIndices = lhs ? lhs.getIndices() : ValueRange();
  auto product = IssueProductOp::create(
      builder, op.getLoc(), op.getAcc(), left, leftIndices, rhs.getSource(),
      rhs.getIndices(), op.getLhsType().getDimSize(1), *isTransposed);
  auto wait = WaitProductsOp::create(builder, op.getLoc(), product.getType(), 0,
                                     product.getResult());
  op.replaceAllUsesWith(wait->getResult(0));
  op.erase();
  for (LoadTileOp load : {rhs, lhs})
    if (load && load->use_empty())
      load.erase();
  return success();
}

struct FAIssueProducts : public fa::impl::FAIssueProductsBase<FAIssueProducts> {
  void runOnOperation() override {
    auto issueAll = [](scf::ForallOp program,
                       const CompleteSchedule &schedule) -> LogicalResult {
      if (schedule.producers == 0)
        return success();
      SmallVector<vector::ContractionOp> contractions;
      program.walk(
          [&](vector::ContractionOp op) { contractions.push_back(op); });
      for (vector::ContractionOp op : contractions)
        if (failed(issue(op)))
          return failure();
      return success();
    };
    if (failed(forEachTileProgram(getOperation(), issueAll)))
      signalPassFailure();
  }
};

} // namespace
