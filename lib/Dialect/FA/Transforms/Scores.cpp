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

/// i + offset - key of each row, as f32: exact up to 2^24, beyond which a
/// rounding is as small beside the distance as that of any product.
static Value emitRowsFrom(TileBuilder &b, const ScoreClauses &clauses,
                          const ScoreSite &site) {
  Value first =
      b.create<arith::SubIOp>(clauses.firstRow, b.toI32(site.firstKey));
  Value row = b.create<TileIndexOp>(b.vector({site.numRows()}, b.getI32Type()),
                                    first, /*dim=*/0);
  return b.create<arith::SIToFPOp>(b.f32Vector({site.numRows()}), row);
}

/// |i + offset - j|.
static Value emitDistances(TileBuilder &b, const ScoreClauses &clauses,
                           const ScoreSite &site) {
  Value rows = emitRowsFrom(b, clauses, site);
  if (!site.isTile())
    return b.create<math::AbsFOp>(rows);
  Value column = b.create<TileIndexOp>(site.getType(b.getI32Type()), b.i32(0),
                                       /*dim=*/1);
  Value distance = b.create<arith::SubFOp>(
      site.spreadRows(b, rows),
      b.create<arith::SIToFPOp>(site.getType(b.getF32Type()), column));
  return b.create<math::AbsFOp>(distance);
}

Value mlir::fa::emitScores(TileBuilder &b, const ScoreClauses &clauses,
                           Value products, const ScoreSite &site) {
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
  Value x;
  if (clauses.region) {
    x = emitRegion(b, clauses.region, site,
                   b.create<arith::MulFOp>(value, factor));
    if (clauses.biasPlane)
      x = b.create<arith::AddFOp>(
          x, b.toF32(site.loadPlane(b, clauses.biasPlane)));
  } else if (clauses.biasPlane)
    x = b.create<math::FmaOp>(value, factor,
                              b.toF32(site.loadPlane(b, clauses.biasPlane)));
  else
    x = b.create<arith::MulFOp>(value, factor);
  if (!clauses.slope)
    return x;
  Value minusSlope = b.create<arith::NegFOp>(clauses.slope);
  return b.create<math::FmaOp>(emitDistances(b, clauses, site),
                               b.spread(minusSlope, type), x);
}
