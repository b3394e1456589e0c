//===- Scores.cpp - from products to logits ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scores.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fa;

//===----------------------------------------------------------------------===//
// The clauses of a block of rows
//===----------------------------------------------------------------------===//

/// Dividing a slope by a factor of this size or more does not leave the range
/// of f32 in any model.
static constexpr double kLeastDivisor = 0x1p-10;

/// The largest softcap c for which 2 c 2^-23 is less than a log-sum-exp may be
/// wrong by (fa/Reference/Tolerance.h).
static constexpr double kLargestShortSoftcap = 64.0;

/// A slope that is finite stays so: times a distance of 0 it is nothing.
static Value emitDivided(TileBuilder &b, Value slope, double divisor) {
  Value quotient =
      b.create<arith::MulFOp>(slope, b.f32(static_cast<float>(1.0 / divisor)));
  if (divisor >= 1.0)
    return quotient;
  constexpr float kLargest = std::numeric_limits<float>::max();
  Value bounded = b.create<arith::MaxNumFOp>(quotient, b.f32(-kLargest));
  bounded = b.create<arith::MinNumFOp>(bounded, b.f32(kLargest));
  Value isFinite = b.create<arith::CmpFOp>(
      arith::CmpFPredicate::OLT, b.create<math::AbsFOp>(slope),
      b.f32(std::numeric_limits<float>::infinity()));
  return b.create<arith::SelectOp>(isFinite, bounded, quotient);
}

ScoreClauses mlir::fa::emitScoreClauses(TileBuilder &b, AttentionOp op,
                                        const RegionClause &region,
                                        Value biasPlane, Value head,
                                        Value firstRow,
                                        const SequenceLengths &lengths) {
  ScoreClauses clauses;
  std::optional<double> scale = op.getStaticScale(), left = scale;
  clauses.region = region;
  clauses.biasPlane = biasPlane;
  if (op.getSoftcapAttr()) {
    clauses.softcap = op.getSoftcapAttr().getValueAsDouble();
    clauses.isShortSoftcap =
        *clauses.softcap <= kLargestShortSoftcap &&
        !getElementTypeOrSelf(op.getQuery().getType()).isF32();
    left = clauses.getSoftcapUnit();
  }
  bool mayDivide = left && std::abs(*left) >= kLeastDivisor;
  bool mustDivide = clauses.softcap || op.getAlibi();
  clauses.isScaleLeft =
      !clauses.region && !clauses.biasPlane && (mayDivide || !mustDivide);
  clauses.scale = clauses.isScaleLeft
                      ? emitScoreScale(b, left, op.getScaleOperand())
                      : emitScoreScale(b, 1.0, Value());
  // What regions and biases give may come near the end of f32 on purpose.
  auto bias = dyn_cast_or_null<MemRefType>(
      clauses.biasPlane ? clauses.biasPlane.getType() : Type());
  clauses.scale.isBounded =
      clauses.region || (bias && !bias.getElementType().isF16());
  if (clauses.softcap || !clauses.isScaleLeft)
    clauses.multiplier =
        scale ? b.f32(static_cast<float>(*scale)) : op.getScaleOperand();
  if (!op.getAlibi())
    return clauses;
  clauses.slope = b.create<memref::LoadOp>(op.getAlibi(), head);
  if (clauses.isScaleLeft)
    clauses.slope = emitDivided(b, clauses.slope, std::abs(*left));
  clauses.firstRow = b.toI32(firstRow);
  if (op.getAlibiAlignment() == Alignment::BottomRight)
    clauses.firstRow = b.createOrFold<arith::AddIOp>(
        clauses.firstRow,
        b.createOrFold<arith::SubIOp>(lengths.keys, lengths.queries));
  return clauses;
}

//===----------------------------------------------------------------------===//
// The scores of a site
//===----------------------------------------------------------------------===//

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

/// A value, and what it is still to be multiplied by; null for nothing.
using Scaled = std::pair<Value, Value>;

/// products * multiplier * factor. Where the last two are no f32 together, one
/// comes after the other: a product of 0 stays 0, and none that is not is lost.
static Value emitMultiples(TileBuilder &b, Value products, Value multiplier,
                           double factor) {
  Type type = products.getType();
  constexpr double kLargest = std::numeric_limits<float>::max();
  APFloat known(0.0f);
  bool isKnown = matchPattern(multiplier, m_ConstantFloat(&known));
  if (!isKnown || std::abs(known.convertToFloat() * factor) > kLargest) {
    products = b.create<arith::MulFOp>(products, b.spread(multiplier, type));
    multiplier = b.f32(1.0f);
  }
  factor = std::min(factor, kLargest);
  Value part = b.createOrFold<arith::MulFOp>(multiplier,
                                             b.f32(static_cast<float>(factor)));
  return b.create<arith::MulFOp>(products, b.spread(part, type));
}

/// cap tanh(x / cap) of x = products * multiplier, without the rest.
static Scaled emitCapped(TileBuilder &b, const ScoreClauses &clauses,
                         Value products) {
  double cap = *clauses.softcap;
  auto type = cast<VectorType>(products.getType());
  auto scaledBy = [&](double factor) -> Value {
    return emitMultiples(b, products, clauses.multiplier, factor / cap);
  };
  Value factor = b.f32(static_cast<float>(clauses.getSoftcapUnit()));
  if (!clauses.isShortSoftcap)
    return {b.create<math::TanhOp>(scaledBy(1.0)), factor};
  // tanh(x) / 2 = 1/2 - 1 / (2^(2 x log2 e) + 1): near 0 exact to 2^-23 and no
  // closer, which times 2 cap is what a score may be wrong by.
  Value power = b.create<math::Exp2Op>(scaledBy(2.0 * llvm::numbers::log2e));
  Value one = b.splat(type, 1.0f);
  Value inverse = b.create<arith::DivFOp>(
      one, b.create<arith::AddFOp>(power, one), arith::FastMathFlags::afn);
  if (clauses.getRest() != 0.0)
    return {b.create<arith::NegFOp>(inverse), factor};
  return {b.create<arith::SubFOp>(b.splat(type, 0.5f), inverse), factor};
}

/// The scores before alibi, in the units that the exponent takes them in.
static Value emitBiased(TileBuilder &b, const ScoreClauses &clauses,
                        Value products, const ScoreSite &site) {
  auto [value, factor] = Scaled(products, clauses.multiplier);
  if (clauses.softcap)
    std::tie(value, factor) = emitCapped(b, clauses, products);
  if (clauses.isScaleLeft)
    return clauses.softcap ? value
                           : emitSignedScores(b, clauses.scale, products);
  factor = b.spread(factor, products.getType());
  Value bias = clauses.biasPlane ? b.toF32(site.loadPlane(b, clauses.biasPlane))
                                 : Value();
  if (bias && !clauses.region)
    return b.create<math::FmaOp>(value, factor, bias);
  Value x = b.create<arith::MulFOp>(value, factor);
  if (clauses.region)
    x = emitRegion(b, clauses.region, site, x);
  return bias ? b.create<arith::AddFOp>(x, bias).getResult() : x;
}

Value mlir::fa::emitScores(TileBuilder &b, const ScoreClauses &clauses,
                           Value products, const ScoreSite &site) {
  Value x = emitBiased(b, clauses, products, site);
  if (!clauses.slope)
    return x;
  Value minusSlope = b.create<arith::NegFOp>(clauses.slope);
  return b.create<math::FmaOp>(emitDistances(b, clauses, site),
                               b.spread(minusSlope, x.getType()), x);
}
