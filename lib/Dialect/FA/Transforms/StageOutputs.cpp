//===- StageOutputs.cpp - results leave as boxes ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage, after fa-specialize-warps. What consumers store at
// the end goes through the tile of Q, which nobody reads any more: each warp
// writes its rows there, and one of its lanes sends them as boxes. Where there
// is no tensor map the lanes store as before.
//===----------------------------------------------------------------------===//

#include "TensorPlace.h"
#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FASTAGEOUTPUTS
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// The tile that is filled once, large enough for the value and of its type.
memref::AllocOp findFreeTile(scf::ForallOp program, VectorType value) {
  for (auto alloc : program.getBody()->getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    bool isTile = llvm::any_of(alloc->getUsers(), llvm::IsaPred<BulkCopyOp>);
    if (isTile && type.getRank() == 2 &&
        type.getElementType() == value.getElementType() &&
        type.getDimSize(0) == value.getDimSize(0) &&
        type.getDimSize(1) >= value.getDimSize(1))
      return alloc;
  }
  return {};
}

void stage(scf::ForallOp program, StoreTileOp store) {
  auto value = cast<VectorType>(store.getValue().getType());
  if (value.getRank() != 2)
    return;
  std::optional<TensorPlace> place = findTensorPlace(store.getDest());
  memref::AllocOp tile = findFreeTile(program, value);
  if (!place || !tile ||
      program.getRegion().isAncestor(place->tensor.getParentRegion()))
    return;
  Location loc = store.getLoc();
  OpBuilder builder(program);
  Value map = createTensorMap(builder, loc, *place, kProductRows);
  builder.setInsertionPoint(store);
  Value zero = getIndexConstant(program, 0);
  SmallVector<Value> coordinates;
  for (OpFoldResult offset : place->coordinates) {
    std::optional<int64_t> constant = getConstantIntValue(offset);
    coordinates.push_back(constant ? getIndexConstant(program, *constant)
                                   : cast<Value>(offset));
  }
  for (auto [dim, index] :
       {std::pair<unsigned, Value>(place->rowDim, store.getIndices()[0]),
        {place->columnDim, store.getIndices()[1]}})
    coordinates[dim] =
        builder.createOrFold<arith::AddIOp>(loc, coordinates[dim], index);
  Value hasMap = HasTensorMapOp::create(builder, loc, builder.getI1Type(), map);
  auto branch = scf::IfOp::create(builder, loc, hasMap, /*withElse=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  WarpgroupBarrierOp::create(builder, loc);
  SmallVector<Value> origin(2, zero);
  StoreTileOp::create(builder, loc, store.getValue(), tile, origin);
  BulkStoreOp::create(builder, loc, tile, origin, map, coordinates,
                      value.getDimSize(1), place->rowDim);
  store->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
}

struct FAStageOutputs : public fa::impl::FAStageOutputsBase<FAStageOutputs> {
  void runOnOperation() override {
    auto stageAll = [](scf::ForallOp program,
                       const CompleteSchedule &) -> LogicalResult {
      for (auto roles : program.getBody()->getOps<WarpRolesOp>())
        for (auto store : llvm::make_early_inc_range(
                 getTileBody(roles.getRoles().front()).getOps<StoreTileOp>()))
          stage(program, store);
      return success();
    };
    if (failed(forEachTileProgram(getOperation(), stageAll)))
      signalPassFailure();
  }
};

} // namespace
