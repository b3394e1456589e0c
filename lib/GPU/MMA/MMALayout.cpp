//===- MMALayout.cpp - which lane holds which element -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/GPU/MMA/MMALayout.h"

using namespace mlir;
using namespace mlir::fa;

FailureOr<LaneShare> LaneShare::get(VectorType type) {
  if (type.isScalable() || type.getRank() < 1 || type.getRank() > 2 ||
      type.getDimSize(0) % kPieceRows != 0)
    return failure();
  Type element = type.getElementType();
  if (!element.isIntOrFloat())
    return failure();
  int64_t rowPieces = type.getDimSize(0) / kPieceRows;
  int64_t cols = type.getRank() == 2 ? type.getDimSize(1) : 1;
  if (cols == 1)
    return LaneShare{Kind::Row, rowPieces, 1, element, false};
  if (cols == kLanesPerRow)
    return LaneShare{Kind::Partial, rowPieces, 1, element, false};
  if (cols % kPieceCols != 0)
    return failure();
  bool packed = element.getIntOrFloatBitWidth() == 16;
  Type held = packed ? VectorType::get({2}, element) : element;
  return LaneShare{Kind::Tile, rowPieces, cols / kPieceCols, held, packed};
}

int64_t PanelOperand::getDescriptorBits() const {
  constexpr int64_t swizzle128 = int64_t(1) << 62;
  constexpr int64_t pattern = (kPanelAlignment / kDescriptorUnit) << 32;
  // Of K-major operands it is not read, and taken to be 1.
  int64_t nextPanel = (isKMajor ? 1 : panelBytes / kDescriptorUnit) << 16;
  return swizzle128 | pattern | nextPanel;
}

int64_t PanelOperand::getStepBytes(int64_t step) const {
  constexpr int64_t stepBytes = kPieceK * 2;
  constexpr int64_t perPanel = kPanelBytes / stepBytes;
  return isKMajor ? step / perPanel * panelBytes + step % perPanel * stepBytes
                  : step * kPieceK * kPanelBytes;
}
