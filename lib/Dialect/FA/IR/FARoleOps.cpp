//===- FARoleOps.cpp - verifiers of the role ops ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Support/TensorMap.h"
#include "fa/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fa;

std::optional<bool> mlir::fa::isRightTransposed(ArrayRef<AffineMap> maps) {
  if (maps.size() != 3)
    return std::nullopt;
  MLIRContext *context = maps.front().getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  auto of = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(/*dimCount=*/3, 0, {row, column}, context);
  };
  if (maps[0] != of(m, k) || maps[2] != of(m, n))
    return std::nullopt;
  if (maps[1] == of(n, k))
    return true;
  if (maps[1] == of(k, n))
    return false;
  return std::nullopt;
}

int64_t WarpRolesOp::getNumWarps() {
  return llvm::sum_of(getWarps(), int64_t(0));
}

int64_t WarpRolesOp::getFirstWarp(unsigned role) {
  return llvm::sum_of(getWarps().take_front(role), int64_t(0));
}

/// Registers are given to whole warpgroups.
static LogicalResult verifyRegisters(WarpRolesOp op,
                                     ArrayRef<int64_t> registers) {
  SmallVector<int64_t> ofWarp;
  for (auto [warps, number] : llvm::zip_equal(op.getWarps(), registers)) {
    if (number < 24 || number > 256 || number % 8 != 0)
      return op.emitOpError("registers of a role must be a multiple of 8 from "
                            "24 to 256, found ")
             << number;
    ofWarp.append(warps, number);
  }
  for (size_t warp = 0; warp < ofWarp.size(); ++warp)
    if (ofWarp[warp] != ofWarp[warp - warp % kWarpsPerWarpgroup])
      return op.emitOpError("warps ")
             << warp - warp % kWarpsPerWarpgroup << " and " << warp
             << " are of one warpgroup and need the same registers, found "
             << ofWarp[warp - warp % kWarpsPerWarpgroup] << " and "
             << ofWarp[warp];
  return success();
}

LogicalResult WarpRolesOp::verify() {
  ArrayRef<int64_t> warps = getWarps();
  if (warps.empty() || warps.size() != getRoles().size())
    return emitOpError("expected a region for each of ")
           << warps.size() << " roles, found " << getRoles().size();
  for (int64_t number : warps)
    if (number < 1 || number > 32)
      return emitOpError("a role has 1 to 32 warps, found ") << number;
  std::optional<ArrayRef<int64_t>> registers = getRegisters();
  if (!registers)
    return success();
  if (registers->size() != warps.size())
    return emitOpError("expected registers of ")
           << warps.size() << " roles, found " << registers->size();
  return verifyRegisters(*this, *registers);
}

LogicalResult TensorMapOp::verify() {
  auto type = cast<MemRefType>(getSource().getType());
  Type element = type.getElementType();
  if (type.getRank() < 1 ||
      type.getRank() > static_cast<int64_t>(farun::kMaxTensorRank))
    return emitOpError("source must have rank 1 to ")
           << farun::kMaxTensorRank << ", found " << type;
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitOpError("source must have elements of whole bytes, found ")
           << element;
  if (static_cast<int64_t>(getBox().size()) != type.getRank())
    return emitOpError("expected a box of ")
           << type.getRank() << " extents, found " << getBox().size();
  for (int64_t extent : getBox())
    if (extent < 1 || extent > farun::kMaxTensorBox)
      return emitOpError("an extent of a box is from 1 to ")
             << farun::kMaxTensorBox << ", found " << extent;
  // What the 128-byte swizzle spans, neither more nor less.
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (getBox().back() * bytes != kPanelBytes)
    return emitOpError("a row of a box is a panel of ")
           << kPanelBytes << " bytes, " << kPanelBytes / bytes << " of "
           << element << ", found " << getBox().back();
  return success();
}

/// Those of a tile in a tensor that a map can describe.
static LogicalResult verifyCoordinates(Operation *op, ValueRange coordinates) {
  if (coordinates.size() >= 2 && coordinates.size() <= farun::kMaxTensorRank)
    return success();
  return op->emitOpError("expected 2 to ")
         << farun::kMaxTensorRank << " coordinates, found "
         << coordinates.size();
}

LogicalResult BulkCopyOp::verify() {
  auto dest = cast<MemRefType>(getDest().getType());
  if (!dest.hasStaticShape() || dest.getRank() < 2)
    return emitOpError("destination must have static extents and rank 2 or "
                       "more, found ")
           << dest;
  if (static_cast<int64_t>(getDestIndices().size()) != dest.getRank())
    return emitOpError("expected ")
           << dest.getRank() << " indices of the destination, found "
           << getDestIndices().size();
  if (failed(verifyCoordinates(*this, getCoordinates())))
    return failure();
  // A part begins where the swizzle's pattern does.
  int64_t rows = *std::prev(dest.getShape().end(), 2), blocks = getBlocks(),
          unit = blocks * (kPanelAlignment / kPanelBytes);
  if (blocks != 1 && rows % unit != 0)
    return emitOpError("for ")
           << blocks << " blocks the rows of a tile must be a multiple of "
           << unit << ", found " << rows;
  return success();
}

LogicalResult BulkStoreOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  if (!source.hasStaticShape() || source.getRank() != 2 ||
      getSourceIndices().size() != 2)
    return emitOpError("source must be a matrix of static extents with two "
                       "indices, found ")
           << source << " with " << getSourceIndices().size();
  if (failed(verifyCoordinates(*this, getCoordinates())))
    return failure();
  if (getRowDim() >= getCoordinates().size())
    return emitOpError("row_dim ") << getRowDim() << " is outside of "
                                   << getCoordinates().size() << " coordinates";
  return success();
}

LogicalResult IssueProductOp::verify() {
  auto rhs = cast<MemRefType>(getRhs().getType());
  auto verifyTile = [&](StringRef side, MemRefType type,
                        size_t indices) -> LogicalResult {
    if (type.getRank() < 2 || !type.hasStaticShape() ||
        static_cast<int64_t>(indices) != type.getRank())
      return emitOpError("the ")
             << side << " operand must be a tile of rank 2 or more with an "
             << "index for each dimension, found " << type << " with "
             << indices;
    return success();
  };
  if (failed(verifyTile("right", rhs, getRhsIndices().size())))
    return failure();
  auto vector = dyn_cast<VectorType>(getLhs().getType());
  auto tile = dyn_cast<MemRefType>(getLhs().getType());
  if (!vector && !tile)
    return emitOpError("the left operand must be a vector or a tile, found ")
           << getLhs().getType();
  if (vector && (vector.getRank() != 2 || !getLhsIndices().empty() ||
                 vector.getDimSize(1) != static_cast<int64_t>(getDepth()) ||
                 vector.getDimSize(0) != getAcc().getType().getDimSize(0)))
    return emitOpError("a left operand in registers must have the rows of the "
                       "result and depth columns, found ")
           << vector;
  if (tile && failed(verifyTile("left", tile, getLhsIndices().size())))
    return failure();
  Type element = vector ? vector.getElementType() : tile.getElementType();
  if (rhs.getElementType() != element)
    return emitOpError("left operand of ")
           << element << " does not match right operand of "
           << rhs.getElementType();
  return success();
}
