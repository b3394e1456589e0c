//===- OnlineSoftmax.cpp - softmax over blocks of keys ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OnlineSoftmax.h has the idea, the formulae and why they hold in f32.
//===----------------------------------------------------------------------===//

#include "OnlineSoftmax.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fa;

/// From here on the rounding of r may matter (the exponent's residue is up to
/// half an ulp of r: 4 at 2^26).
static constexpr float kHugeReference = 67108864.0f;

/// A factor below the normal numbers is multiplied by 2^64, and the scores by
/// 2^-64: what they lose then is too small to matter.
static constexpr float kLeastFactor = std::numeric_limits<float>::min();
static constexpr float kLift = 0x1p64f;

/// The scale operand at run time: the same case distinction as for a number.
static ScoreScale emitScaleOperand(TileBuilder &b, Value operand) {
  Value zero = b.f32(0.0f), one = b.f32(1.0f);
  Value log2e = b.f32(static_cast<float>(llvm::numbers::log2e));
  Value magnitude = b.create<math::AbsFOp>(operand);
  Value factor = b.create<arith::MulFOp>(magnitude, log2e);
  Value isZero =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, operand, zero);
  Value isTiny = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, factor,
                                         b.f32(kLeastFactor));
  Value isNegative =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, operand, zero);
  auto select = [&](Value condition, Value a, Value c) {
    return b.create<arith::SelectOp>(condition, a, c).getResult();
  };
  Value lifted = b.create<arith::MulFOp>(
      b.create<arith::MulFOp>(magnitude, b.f32(kLift)), log2e);
  factor = select(isZero, log2e, select(isTiny, lifted, factor));
  Value size = select(isTiny, b.f32(1.0f / kLift), one);
  Value sign = select(isNegative, b.create<arith::NegFOp>(size), size);
  return {factor, ScoreScale::Sign::Multiply, select(isZero, zero, sign)};
}

ScoreScale mlir::fa::emitScoreScale(TileBuilder &b,
                                    std::optional<double> number,
                                    Value operand) {
  if (!number)
    return emitScaleOperand(b, operand);
  double factor = std::abs(*number) * llvm::numbers::log2e;
  if (factor == 0.0)
    return {b.f32(static_cast<float>(llvm::numbers::log2e)),
            ScoreScale::Sign::Multiply, b.f32(0.0f)};
  if (factor >= kLeastFactor)
    return {b.f32(static_cast<float>(factor)),
            *number < 0 ? ScoreScale::Sign::Negate : ScoreScale::Sign::Keep,
            Value()};
  // Below 2^-190 no finite score makes a difference.
  factor = std::max<double>(factor * kLift, kLeastFactor);
  return {b.f32(static_cast<float>(factor)), ScoreScale::Sign::Multiply,
          b.f32(*number < 0 ? -1.0f / kLift : 1.0f / kLift)};
}

Value mlir::fa::emitSignedScores(TileBuilder &b, const ScoreScale &scale,
                                 Value scores) {
  switch (scale.sign) {
  case ScoreScale::Sign::Keep:
    return scores;
  case ScoreScale::Sign::Negate:
    return b.create<arith::NegFOp>(scores);
  case ScoreScale::Sign::Multiply:
    return b.create<arith::MulFOp>(
        scores, b.spread(scale.multiplier, scores.getType()));
  }
  llvm_unreachable("every sign is handled");
}

/// The rows whose reference is so large that the cold path is needed.
static Value emitIsHuge(TileBuilder &b, Value reference) {
  auto type = cast<VectorType>(reference.getType());
  Value magnitude = b.create<math::AbsFOp>(reference);
  return b.create<arith::CmpFOp>(arith::CmpFPredicate::UGE, magnitude,
                                 b.splat(type, kHugeReference));
}

/// fl(s * c).
static Value emitLogits(TileBuilder &b, const ScoreScale &scale, Value scores) {
  auto type = cast<VectorType>(scores.getType());
  Value logits = b.create<arith::MulFOp>(scores, b.spread(scale.factor, type));
  if (!scale.isBounded)
    return logits;
  constexpr float kLargest = std::numeric_limits<float>::max();
  Value bounded = b.create<arith::MaxNumFOp>(logits, b.splat(type, -kLargest));
  bounded = b.create<arith::MinNumFOp>(bounded, b.splat(type, kLargest));
  Value isFinite = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT,
                                           b.create<math::AbsFOp>(scores),
                                           b.splat(type, kInfinity));
  return b.create<arith::SelectOp>(isFinite, bounded, logits);
}

/// The scores and the factor that enter the exponent: on the cold path the
/// scores are multiplied (and rounded) first, and the factor is 1.
static std::pair<Value, Value> emitExponentOperands(TileBuilder &b,
                                                    Value scores,
                                                    const ScoreScale &scale,
                                                    Value isHuge) {
  Value factor = scale.factor;
  Value none = b.create<arith::ConstantIntOp>(0, 1);
  Value isAnyHuge = b.create<vector::MultiDimReductionOp>(
      vector::CombiningKind::OR, isHuge, none, ArrayRef<int64_t>{0});
  auto branch =
      b.create<scf::IfOp>(TypeRange{scores.getType(), factor.getType()},
                          isAnyHuge, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value rounded = emitLogits(b, scale, scores);
  b.create<scf::YieldOp>(ValueRange{rounded, b.f32(1.0f)});
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(ValueRange{scores, factor});
  return {branch.getResult(0), branch.getResult(1)};
}

/// What is subtracted in exponents: r, or 0 in a row that has seen no key.
static Value emitReference(TileBuilder &b, Value max) {
  auto rows = cast<VectorType>(max.getType());
  Value hasSeen = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, max,
                                          b.splat(rows, -kInfinity));
  return b.create<arith::SelectOp>(hasSeen, max, b.splat(rows, 0.0f));
}

SoftmaxStep mlir::fa::emitSoftmaxStep(TileBuilder &b, Value scores,
                                      Value oldMax, const ScoreScale &scale,
                                      bool hasColdPath, float lift,
                                      int64_t polynomial) {
  auto tile = cast<VectorType>(scores.getType());
  auto rows = cast<VectorType>(oldMax.getType());
  Value negativeInfinity = b.splat(rows, -kInfinity);

  // r = max(r_old, fl(max * c)).
  Value blockMax = b.create<vector::MultiDimReductionOp>(
      vector::CombiningKind::MAXNUMF, scores, negativeInfinity,
      ArrayRef<int64_t>{1});
  Value factor = scale.factor, blockReference;
  if (hasColdPath)
    blockReference = emitLogits(b, scale, blockMax);
  else
    blockReference = b.create<arith::MulFOp>(blockMax, b.spread(factor, rows));
  if (lift != 0.0f)
    blockReference =
        b.create<arith::SubFOp>(blockReference, b.splat(rows, lift));
  Value max = b.create<arith::MaxNumFOp>(oldMax, blockReference);

  Value reference = emitReference(b, max);

  // p = 2^(s*c - r).
  Value isHuge = emitIsHuge(b, reference), base = scores, multiplier = factor;
  if (hasColdPath)
    std::tie(base, multiplier) = emitExponentOperands(b, scores, scale, isHuge);
  Value minusReference =
      b.spreadRows(b.create<arith::NegFOp>(reference), tile.getDimSize(1));
  Value exponent =
      b.create<math::FmaOp>(base, b.spread(multiplier, tile), minusReference);
  Value weights = polynomial == 0
                      ? b.create<math::Exp2Op>(exponent).getResult()
                      : b.create<Exp2Op>(tile, exponent, polynomial);

  // a = 2^(r_old - r).
  Value rescale =
      b.create<math::Exp2Op>(b.create<arith::SubFOp>(oldMax, reference));
  return {max, rescale, weights, isHuge};
}

KeyStep mlir::fa::emitKeySoftmaxStep(TileBuilder &b, Value scores, Value oldMax,
                                     Value isTaken, const ScoreScale &scale) {
  auto rows = cast<VectorType>(oldMax.getType());
  // The cold path's form: s*c rounded first, so that no exponent is above 0.
  Value logits = emitLogits(b, scale, scores);
  Value nothing = b.splat(rows, -kInfinity);
  logits = b.create<arith::SelectOp>(isTaken, logits, nothing);
  // A score of -inf hides its key as a mask does.
  isTaken = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, logits, nothing);
  Value max = b.create<arith::MaxNumFOp>(oldMax, logits);
  Value reference = emitReference(b, max);
  Value weight =
      b.create<math::Exp2Op>(b.create<arith::SubFOp>(logits, reference));
  Value rescale =
      b.create<math::Exp2Op>(b.create<arith::SubFOp>(oldMax, reference));
  return {max, rescale, weight, isTaken};
}

/// The sink is one more key: it has a score and no value.
static void takeSink(TileBuilder &b, FinishedRows &rows, Value sink) {
  auto type = cast<VectorType>(rows.max.getType());
  ScoreScale toBase2 = {b.f32(static_cast<float>(llvm::numbers::log2e)),
                        ScoreScale::Sign::Keep, Value(), /*isBounded=*/true};
  Value score = emitLogits(b, toBase2, b.spread(sink, type));
  Value max = b.create<arith::MaxNumFOp>(rows.max, score);
  Value reference = emitReference(b, max);
  auto weightOf = [&](Value logarithm) {
    return b.create<math::Exp2Op>(
        b.create<arith::SubFOp>(logarithm, reference));
  };
  Value rescale = weightOf(rows.max);
  Value keys = b.create<arith::MulFOp>(rows.sum, rescale);
  Value least = b.splat(type, kLeastShare);
  Value isLess =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, keys, least);
  rows.share = b.create<arith::SelectOp>(
      rows.isMean, b.create<arith::SelectOp>(isLess, least, keys), rescale);
  rows.sum = b.create<arith::AddFOp>(keys, weightOf(score));
  rows.max = max;
}

FinishedRows mlir::fa::emitFinishedRows(TileBuilder &b, Value max,
                                        Value partialSums, Value isMean,
                                        Value sink, EmptyRow emptyRow,
                                        Value noQuery) {
  auto type = cast<VectorType>(max.getType());
  Value zero = b.splat(type, 0.0f);
  FinishedRows rows = {};
  rows.max = max;
  rows.sum = b.create<vector::MultiDimReductionOp>(
      vector::CombiningKind::ADD, partialSums, zero, ArrayRef<int64_t>{1});
  rows.isMean = isMean;
  rows.noQuery = noQuery;
  rows.emptyRow = emptyRow;
  if (sink)
    takeSink(b, rows, sink);
  // An ordered compare: a row that is NaN is not empty. Testing r instead
  // would take a row of NaN scores for empty, since maxnum drops them.
  rows.isEmpty =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, rows.sum, zero);
  return rows;
}

Value mlir::fa::emitOutput(TileBuilder &b, const FinishedRows &rows,
                           Value acc) {
  auto rowType = cast<VectorType>(rows.sum.getType());
  auto tile = cast<VectorType>(acc.getType());
  int64_t columns = tile.getDimSize(1);
  // One division a row; it costs one rounding more than dividing each element,
  // far below the rounding of the output.
  Value one = b.splat(rowType, 1.0f);
  Value inverse;
  if (rows.share)
    inverse = b.create<arith::DivFOp>(rows.share, rows.sum);
  else
    inverse = b.create<arith::SelectOp>(rows.isMean, one,
                                        b.create<arith::DivFOp>(one, rows.sum));
  if (rows.growth)
    inverse = b.create<arith::MulFOp>(inverse, b.splat(rowType, *rows.growth));
  Value output = b.create<arith::MulFOp>(acc, b.spreadRows(inverse, columns));
  Value fill = acc;
  if (rows.emptyRow != EmptyRow::Uniform)
    fill = b.splat(tile, rows.emptyRow == EmptyRow::NaN
                             ? std::numeric_limits<float>::quiet_NaN()
                             : 0.0f);
  output = b.create<arith::SelectOp>(b.spreadRows(rows.isEmpty, columns), fill,
                                     output);
  if (!rows.noQuery)
    return output;
  return b.create<arith::SelectOp>(b.spreadRows(rows.noQuery, columns),
                                   b.splat(tile, 0.0f), output);
}

Value mlir::fa::emitLogSumExp(TileBuilder &b, const FinishedRows &rows) {
  auto type = cast<VectorType>(rows.max.getType());
  Value logarithm =
      b.create<arith::AddFOp>(rows.max, b.create<math::Log2Op>(rows.sum));
  Value lse = b.create<arith::MulFOp>(
      logarithm, b.splat(type, static_cast<float>(llvm::numbers::ln2)));
  float fill = rows.emptyRow == EmptyRow::NaN
                   ? std::numeric_limits<float>::quiet_NaN()
                   : -kInfinity;
  lse = b.create<arith::SelectOp>(rows.isEmpty, b.splat(type, fill), lse);
  if (!rows.noQuery)
    return lse;
  return b.create<arith::SelectOp>(rows.noQuery, b.splat(type, -kInfinity),
                                   lse);
}
