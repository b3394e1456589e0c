//===- Reduction.cpp - over rows, and over the rows of a warp ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "LaneEmitter.h"

using namespace mlir;
using namespace mlir::fa;

Value LaneEmitter::reduceQuad(vector::CombiningKind kind, Value value) {
  for (int64_t mask = 1; mask < kLanesPerRow; mask *= 2) {
    Value other = createShuffleXor(b, b.getLoc(), value, mask);
    value = vector::makeArithReduction(b, b.getLoc(), kind, value, other);
  }
  return value;
}

/// Whether combining with `acc` changes nothing: the identity that the tile
/// stage starts a block's maximum or a sum from.
static bool isIdentity(vector::CombiningKind kind, Value acc) {
  DenseFPElementsAttr dense;
  if (!matchPattern(acc, m_Constant(&dense)) || !dense.isSplat())
    return false;
  APFloat value = dense.getSplatValue<APFloat>();
  if (kind == vector::CombiningKind::MAXNUMF)
    return value.isInfinity() && value.isNegative();
  return kind == vector::CombiningKind::ADD && value.isZero();
}

LogicalResult LaneEmitter::emitReduction(vector::MultiDimReductionOp op) {
  ArrayRef<int64_t> dims = op.getReductionDims();
  LaneShare source = *layoutOf(op, op.getSource());
  if (source.kind == LaneShare::Kind::Row && dims == ArrayRef<int64_t>{0})
    return emitRowReduction(op);
  Type element = op.getSourceVectorType().getElementType();
  if (dims != ArrayRef<int64_t>{1} || source.kind == LaneShare::Kind::Row ||
      (!element.isF32() && !element.isInteger(32)))
    return op.emitOpError("only rows of 32-bit tiles are reduced");
  Values values = shareOf(op.getSource()), acc = shareOf(op.getAcc());
  Values rows(acc.size());
  bool skipAcc = isIdentity(op.getKind(), op.getAcc());
  for (int64_t m = 0; m < source.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      Value row;
      auto join = [&](Value value) {
        row = row ? vector::makeArithReduction(b, op.getLoc(), op.getKind(),
                                               row, value)
                  : value;
      };
      if (source.kind == LaneShare::Kind::Partial)
        join(values[LaneShare::row(m, half)]);
      else
        for (int64_t n = 0; n < source.colPieces; ++n)
          for (int64_t e : {0, 1})
            join(values[source.at(m, n, half, e)]);
      row = reduceQuad(op.getKind(), row);
      if (!skipAcc)
        join(acc[LaneShare::row(m, half)]);
      rows[LaneShare::row(m, half)] = row;
    }
  replaceWithShare(op, std::move(rows));
  return success();
}

LogicalResult LaneEmitter::emitRowReduction(vector::MultiDimReductionOp op) {
  if (op.getKind() != vector::CombiningKind::OR ||
      !op.getSource().getType().getElementType().isInteger(1))
    return op.emitOpError("over the rows of a warp only 'or' of i1 is reduced");
  Value any;
  for (Value value : shareOf(op.getSource()))
    any = any ? arith::OrIOp::create(b, any, value) : value;
  any = createVoteAny(b, op.getLoc(), any);
  if (!matchPattern(op.getAcc(), m_Zero()))
    any = arith::OrIOp::create(b, any, op.getAcc());
  op.getResult().replaceAllUsesWith(any);
  dead.push_back(op);
  return success();
}

LogicalResult LaneEmitter::emitRowSum(RowSumOp op) {
  LaneShare tile = *layoutOf(op, op.getTile());
  LaneShare acc = *layoutOf(op, op.getAcc());
  if (tile.kind != LaneShare::Kind::Tile ||
      acc.kind != LaneShare::Kind::Partial)
    return op.emitOpError("the accumulator needs ")
           << kLanesPerRow << " columns, one for each lane of a row";
  Values values = shareOf(op.getTile()), sums = shareOf(op.getAcc());
  for (int64_t m = 0; m < tile.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      Value &sum = sums[LaneShare::row(m, half)];
      for (int64_t n = 0; n < tile.colPieces; ++n)
        for (int64_t e : {0, 1})
          sum = arith::AddFOp::create(b, sum, values[tile.at(m, n, half, e)]);
    }
  replaceWithShare(op, std::move(sums));
  return success();
}

LogicalResult LaneEmitter::emitNoteRows(NoteRowsOp op) {
  Value noted = op.getNoted();
  for (Value value : shareOf(op.getCondition()))
    noted = arith::OrIOp::create(b, noted, value);
  op.getResult().replaceAllUsesWith(noted);
  dead.push_back(op);
  return success();
}
