//===- TensorPlace.cpp - a plane as a part of its tensor --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorPlace.h"
#include "fa/Support/TensorMap.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::fa;

/// A plane of which the view is the first rows; null where it is none such.
static memref::SubViewOp findWholePlane(memref::SubViewOp view) {
  auto plane = view.getSource().getDefiningOp<memref::SubViewOp>();
  bool isBeginning =
      plane && plane.getType().getRank() == 2 &&
      view.getType().getRank() == 2 &&
      llvm::all_of(view.getMixedOffsets(), isZeroInteger) &&
      view.getType().getDimSize(1) == plane.getType().getDimSize(1);
  return isBeginning && view.hasUnitStride() ? plane : memref::SubViewOp();
}

std::optional<TensorPlace> mlir::fa::findTensorPlace(Value plane) {
  auto view = plane.getDefiningOp<memref::SubViewOp>();
  while (memref::SubViewOp whole = view ? findWholePlane(view) : view)
    view = whole;
  if (!view || !view.hasUnitStride())
    return std::nullopt;
  auto source = cast<MemRefType>(view.getSource().getType());
  llvm::SmallBitVector dropped = view.getDroppedDims();
  SmallVector<unsigned> kept;
  for (unsigned dim = 0; dim < source.getRank(); ++dim)
    if (!dropped.test(dim))
      kept.push_back(dim);
  if (kept.size() != 2 ||
      source.getRank() > static_cast<int64_t>(farun::kMaxTensorRank))
    return std::nullopt;
  TensorPlace place{view.getSource(), view.getMixedOffsets(),        kept[0],
                    kept[1],          view.getMixedSizes()[kept[0]], Value()};
  while (Operation *op = place.tensor.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      place.tensor = cast.getSource();
      continue;
    }
    auto transpose = dyn_cast<memref::TransposeOp>(op);
    if (!transpose)
      break;
    // Dimension i of the view is dimension position(i) of what is viewed.
    AffineMap permutation = transpose.getPermutation();
    SmallVector<OpFoldResult> inner(place.coordinates.size());
    for (auto [i, coordinate] : llvm::enumerate(place.coordinates))
      inner[permutation.getDimPosition(i)] = coordinate;
    place.coordinates = inner;
    place.rowDim = permutation.getDimPosition(place.rowDim);
    place.columnDim = permutation.getDimPosition(place.columnDim);
    place.tensor = transpose.getIn();
  }
  // Rows of a box are of the innermost dimension.
  if (place.columnDim + 1 != place.coordinates.size())
    return std::nullopt;
  return place;
}

Value mlir::fa::createTensorMap(OpBuilder &builder, Location loc,
                                const TensorPlace &place, int64_t rows) {
  auto type = cast<MemRefType>(place.tensor.getType());
  SmallVector<int64_t> box(type.getRank(), 1);
  box[place.rowDim] = rows;
  box[place.columnDim] = kPanelBytes * 8 / type.getElementTypeBitWidth();
  return TensorMapOp::create(builder, loc,
                             LLVM::LLVMPointerType::get(builder.getContext()),
                             place.tensor, builder.getDenseI64ArrayAttr(box));
}
