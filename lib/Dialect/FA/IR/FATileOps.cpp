//===- FATileOps.cpp - verifiers of the tile ops ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fa;

/// A tile covers the trailing dimensions of its memref, element type alike,
/// and is placed by one index for each dimension of the memref.
static LogicalResult verifyTile(Operation *op, VectorType tile,
                                MemRefType memref, size_t numIndices) {
  if (tile.getElementType() != memref.getElementType())
    return op->emitOpError("tile of ")
           << tile.getElementType() << " does not match memref of "
           << memref.getElementType();
  if (tile.getRank() > memref.getRank())
    return op->emitOpError("tile of rank ")
           << tile.getRank() << " exceeds memref of rank " << memref.getRank();
  if (numIndices != static_cast<size_t>(memref.getRank()))
    return op->emitOpError("expected ")
           << memref.getRank() << " indices, one for each dimension, found "
           << numIndices;
  return success();
}

LogicalResult LoadTileOp::verify() {
  auto tile = cast<VectorType>(getResult().getType());
  if (getPaired() && (!getNearest() || tile.getShape().back() % 2 != 0))
    return emitOpError("with paired needs nearest and columns in pairs, found ")
           << tile << (getNearest() ? "" : " without nearest");
  if (getEachRow()) {
    if (tile.getRank() < 2)
      return emitOpError("with each_row expected a tile of rank 2 or more, "
                         "found ")
             << tile;
    tile = VectorType::get(tile.getShape().drop_front(), tile.getElementType());
  }
  return verifyTile(*this, tile, cast<MemRefType>(getSource().getType()),
                    getIndices().size());
}

LogicalResult GatherOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto result = cast<VectorType>(getResult().getType());
  if (static_cast<int64_t>(getIndices().size()) != source.getRank())
    return emitOpError("expected ")
           << source.getRank() << " indices, one for each dimension of "
           << source << ", found " << getIndices().size();
  if (result.getElementType() != source.getElementType())
    return emitOpError("loads ")
           << result.getElementType() << " from " << source;
  for (Type index : getIndices().getTypes())
    if (cast<VectorType>(index).getShape() != result.getShape())
      return emitOpError("expected indices of the shape of ")
             << result << ", found " << index;
  return success();
}

LogicalResult StoreTileOp::verify() {
  return verifyTile(*this, cast<VectorType>(getValue().getType()),
                    cast<MemRefType>(getDest().getType()), getIndices().size());
}

LogicalResult TileIndexOp::verify() {
  auto type = cast<VectorType>(getResult().getType());
  if (static_cast<int64_t>(getDim()) >= type.getRank())
    return emitOpError("dim ")
           << getDim() << " is outside a tile of rank " << type.getRank();
  return success();
}

LogicalResult RowSumOp::verify() {
  auto tile = cast<VectorType>(getTile().getType());
  auto acc = cast<VectorType>(getAcc().getType());
  if (tile.getDimSize(0) != acc.getDimSize(0))
    return emitOpError("tile has ")
           << tile.getDimSize(0) << " rows, accumulator has "
           << acc.getDimSize(0);
  if (tile.getDimSize(1) % acc.getDimSize(1) != 0)
    return emitOpError("tile of ")
           << tile.getDimSize(1) << " columns cannot be divided into "
           << acc.getDimSize(1) << " equal parts";
  return success();
}

LogicalResult ViewOp::verify() {
  auto type = cast<MemRefType>(getResult().getType());
  if (getSizes().size() != static_cast<size_t>(type.getNumDynamicDims()))
    return emitOpError("expected ")
           << type.getNumDynamicDims()
           << " sizes, one for each dynamic extent, found "
           << getSizes().size();
  if (getStrides().size() != static_cast<size_t>(type.getRank()))
    return emitOpError("expected ")
           << type.getRank() << " strides, one for each dimension, found "
           << getStrides().size();
  return success();
}

LogicalResult CopyTileOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  if (source.getRank() < 2 || dest.getRank() < 2)
    return emitOpError("source and destination need rank 2 or more");
  if (static_cast<int64_t>(getSourceIndices().size()) != source.getRank() ||
      static_cast<int64_t>(getDestIndices().size()) != dest.getRank())
    return emitOpError("expected one index for each dimension of source and "
                       "destination");
  if (source.getElementType() != dest.getElementType())
    return emitOpError("source of ")
           << source.getElementType() << " does not match destination of "
           << dest.getElementType();
  if (!dest.hasStaticShape())
    return emitOpError("destination must have static extents");
  return success();
}

LogicalResult TraceStateOp::verify() {
  auto rowsOf = [](Value value) {
    return cast<VectorType>(value.getType()).getDimSize(0);
  };
  int64_t rows = rowsOf(getAcc());
  if (rowsOf(getMax()) != rows || rowsOf(getSum()) != rows)
    return emitOpError("max, sum and acc must have the same rows, found ")
           << rowsOf(getMax()) << ", " << rowsOf(getSum()) << " and " << rows;
  return success();
}

#define GET_OP_CLASSES
#include "fa/Dialect/FA/IR/FAOps.cpp.inc"
