//===- Scores.cpp - from products to logits ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scores.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fa;

Value mlir::fa::emitScores(TileBuilder &b, const ScoreClauses &clauses,
                           Value products, function_ref<Value()> distance,
                           function_ref<Value()> bias) {
  if (!clauses.multiplier)
    return emitSignedScores(b, clauses.scale, products);
  auto type = cast<VectorType>(products.getType());
  // x is value * factor, multiplied where something is added.
  Value value = products, factor = clauses.multiplier;
  if (clauses.softcap) {
    Value inverse = b.f32(static_cast<float>(1.0 / *clauses.softcap));
    Value part = b.createOrFold<arith::MulFOp>(factor, inverse);
    value = b.create<math::TanhOp>(
        b.create<arith::MulFOp>(value, b.spread(part, type)));
    factor = b.f32(static_cast<float>(*clauses.softcap));
  }
  factor = b.spread(factor, type);
  Value x = clauses.hasBias
                ? b.create<math::FmaOp>(value, factor, bias()).getResult()
                : b.create<arith::MulFOp>(value, factor).getResult();
  if (!clauses.slope)
    return x;
  Value minusSlope = b.create<arith::NegFOp>(clauses.slope);
  return b.create<math::FmaOp>(distance(), b.spread(minusSlope, type), x);
}

/// i + offset - key of each row, as f32: exact up to 2^24, beyond which a
/// rounding is as small beside the distance as that of any product.
static Value emitRowsFrom(TileBuilder &b, const ScoreClauses &clauses,
                          Value key, int64_t rows) {
  Value first = b.create<arith::SubIOp>(clauses.firstRow, key);
  Value row = b.create<TileIndexOp>(b.vector({rows}, b.getI32Type()), first,
                                    /*dim=*/0);
  return b.create<arith::SIToFPOp>(b.f32Vector({rows}), row);
}

Value mlir::fa::emitDistances(TileBuilder &b, const ScoreClauses &clauses,
                              Value firstKey, VectorType tile) {
  Value rows = emitRowsFrom(b, clauses, firstKey, tile.getDimSize(0));
  Value column = b.create<TileIndexOp>(
      b.vector(tile.getShape(), b.getI32Type()), b.i32(0), /*dim=*/1);
  Value distance =
      b.create<arith::SubFOp>(b.spreadRows(rows, tile.getDimSize(1)),
                              b.create<arith::SIToFPOp>(tile, column));
  return b.create<math::AbsFOp>(distance);
}

Value mlir::fa::emitKeyDistances(TileBuilder &b, const ScoreClauses &clauses,
                                 Value key, int64_t rows) {
  return b.create<math::AbsFOp>(emitRowsFrom(b, clauses, key, rows));
}
