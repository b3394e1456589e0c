//===- TileBuilder.h - a builder with the words of tiles --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpBuilder that knows constants, the two ways in which a value is spread
// over a tile, and scalar arithmetic that folds: bounds of static extents come
// out as numbers.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_TILEBUILDER_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_TILEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace mlir::fa {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

class TileBuilder : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Value index(int64_t value) {
    return create<arith::ConstantIndexOp>(value).getResult();
  }
  Value i32(int64_t value) {
    return create<arith::ConstantIntOp>(value, 32).getResult();
  }
  Value f32(float value) {
    return create<arith::ConstantOp>(getF32FloatAttr(value)).getResult();
  }
  /// A constant with `value` in each element.
  Value splat(VectorType type, float value) {
    return create<arith::ConstantOp>(
               DenseElementsAttr::get(
                   type, FloatAttr::get(type.getElementType(), value)))
        .getResult();
  }

  Value toI32(Value index) {
    return createOrFold<arith::IndexCastOp>(getI32Type(), index);
  }
  Value toIndex(Value i32) {
    return createOrFold<arith::IndexCastOp>(getIndexType(), i32);
  }

  /// ceil(value / divisor) of an index that is not negative.
  Value ceilDiv(Value value, int64_t divisor) {
    Value padded = createOrFold<arith::AddIOp>(value, index(divisor - 1));
    return createOrFold<arith::DivUIOp>(padded, index(divisor));
  }
  Value floorDiv(Value value, int64_t divisor) {
    return createOrFold<arith::DivUIOp>(value, index(divisor));
  }

  VectorType vector(ArrayRef<int64_t> shape, Type element) {
    return VectorType::get(shape, element);
  }
  VectorType f32Vector(ArrayRef<int64_t> shape) {
    return VectorType::get(shape, getF32Type());
  }

  /// A vector of floats as f32, and one of f32 rounded to `element`; what has
  /// the type already is left alone.
  Value toF32(Value floats) {
    auto type = cast<VectorType>(floats.getType());
    if (type.getElementType().isF32())
      return floats;
    return create<arith::ExtFOp>(f32Vector(type.getShape()), floats);
  }
  Value roundTo(Type element, Value floats) {
    auto type = cast<VectorType>(floats.getType());
    if (element.isF32())
      return floats;
    return create<arith::TruncFOp>(vector(type.getShape(), element), floats);
  }

  /// The scalar in every element of `type`, which has its element type; a
  /// value that has the type already is left alone.
  Value spread(Value scalar, Type type) {
    if (scalar.getType() == type)
      return scalar;
    return create<vector::BroadcastOp>(type, scalar).getResult();
  }

  /// Element r of a row vector in each of the `columns` columns of row r. A
  /// vector.broadcast alone would add leading dimensions.
  Value spreadRows(Value rows, int64_t columns) {
    auto type = cast<VectorType>(rows.getType());
    int64_t numRows = type.getDimSize(0);
    Type element = type.getElementType();
    Value column = create<vector::ShapeCastOp>(
        VectorType::get({numRows, 1}, element), rows);
    return create<vector::BroadcastOp>(
               VectorType::get({numRows, columns}, element), column)
        .getResult();
  }
};

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_TILEBUILDER_H
