//===- ScoreSite.cpp - where a vector of scores lies ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScoreSite.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fa;

Value ScoreSite::emitRows(TileBuilder &b) const {
  return b.create<TileIndexOp>(getType(b.getI32Type()), b.toI32(firstRow),
                               /*dim=*/0);
}

Value ScoreSite::emitKeys(TileBuilder &b) const {
  VectorType type = getType(b.getI32Type());
  Value first = b.toI32(firstKey);
  if (!isTile())
    return b.spread(first, type);
  return b.create<TileIndexOp>(type, first, /*dim=*/1);
}

Value ScoreSite::loadPlane(TileBuilder &b, Value plane) const {
  VectorType type = getType(cast<MemRefType>(plane.getType()).getElementType());
  if (isTile()) {
    auto load =
        b.create<LoadTileOp>(type, plane, ValueRange{firstRow, firstKey});
    load.setNearest(true);
    load.setPaired(isFull);
    return load;
  }
  Value column = emitVectorAt(b, plane, /*dim=*/1, firstKey);
  return b.create<LoadTileOp>(type, column, firstRow);
}

Value ScoreSite::loadKeys(TileBuilder &b, Value line) const {
  VectorType type = getType(cast<MemRefType>(line.getType()).getElementType());
  if (!isTile())
    return b.spread(b.create<memref::LoadOp>(line, firstKey), type);
  auto load = b.create<LoadTileOp>(type, line, firstKey);
  load.setEachRow(true);
  load.setNearest(true);
  return load;
}

Value mlir::fa::emitVectorAt(TileBuilder &b, Value plane, unsigned dim,
                             Value position) {
  auto type = cast<MemRefType>(plane.getType());
  Attribute zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(2, zero), sizes(2, one), strides(2, one);
  offsets[dim] = position;
  sizes[1 - dim] = memref::getMixedSize(b, b.getLoc(), plane, 1 - dim);
  SmallVector<int64_t> shape = {type.getDimSize(1 - dim)};
  MemRefType vectorType = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  return b.create<memref::SubViewOp>(vectorType, plane, offsets, sizes,
                                     strides);
}
