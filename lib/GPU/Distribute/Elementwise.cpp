//===- Elementwise.cpp - element by element, and coordinates ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise op on a tile is the same op on each value of the share. Only
// the width may change on the way: pairs of 16-bit elements are one value.
//===----------------------------------------------------------------------===//

#include "LaneEmitter.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::fa;

LogicalResult LaneEmitter::emitConstant(arith::ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return op.emitOpError("only splat constants can be distributed");
  LaneShare share = *layoutOf(op, op.getResult());
  auto element = cast<TypedAttr>(splat.getSplatValue<Attribute>());
  TypedAttr held = element;
  if (share.packed)
    held = DenseElementsAttr::get(cast<ShapedType>(share.type), element);
  Value value = arith::ConstantOp::create(b, held);
  replaceWithShare(op, Values(share.size(), value));
  return success();
}

LaneEmitter::Values LaneEmitter::repack(const LaneShare &from,
                                        const LaneShare &to, Values values) {
  if (from.packed == to.packed || from.kind != LaneShare::Kind::Tile)
    return values;
  Values result;
  if (from.packed) {
    for (Value pair : values)
      for (int64_t e : {0, 1})
        result.push_back(vector::ExtractOp::create(b, pair, e));
    return result;
  }
  auto pairType = VectorType::get({2}, from.type);
  for (size_t i = 0; i < values.size(); i += 2)
    result.push_back(vector::FromElementsOp::create(
        b, pairType, ValueRange{values[i], values[i + 1]}));
  return result;
}

/// column < x as constant < x - 2t: the columns of a lane would each need a
/// register throughout the loop, and 2t is taken from one value a row.
LogicalResult LaneEmitter::emitColumnCompare(arith::CmpIOp op) {
  LaneShare share = *layoutOf(op, op.getResult());
  Values bounds = shareOf(op.getRhs()), values(share.size());
  Value laneColumn =
      arith::TruncIOp::create(b, b.getI32Type(), mul(me.quadLane, constant(2)));
  DenseMap<Value, Value> relative;
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t n = 0; n < share.colPieces; ++n)
      for (int64_t half : {0, 1})
        for (int64_t e : {0, 1}) {
          int64_t at = share.at(m, n, half, e);
          Value &bound = relative[bounds[at]];
          if (!bound)
            bound = arith::SubIOp::create(b, bounds[at], laneColumn);
          values[at] = arith::CmpIOp::create(
              b, op.getPredicate(), constantI32(n * kPieceCols + e), bound);
        }
  replaceWithShare(op, std::move(values));
  return success();
}

/// Whether a comparison is one of the column's position within its tile, to
/// which 2t may be added on both sides: not by an unsigned one, which wraps.
static bool comparesTileColumn(arith::CmpIOp op) {
  auto index = op.getLhs().getDefiningOp<TileIndexOp>();
  if (!index || index.getDim() != 1 || !matchPattern(index.getBase(), m_Zero()))
    return false;
  using Predicate = arith::CmpIPredicate;
  return LaneShare::get(cast<VectorType>(index.getType()))->kind ==
             LaneShare::Kind::Tile &&
         !llvm::is_contained(
             {Predicate::ult, Predicate::ule, Predicate::ugt, Predicate::uge},
             op.getPredicate());
}

/// Positions along `dim`, as numbers that are no integers.
static TileIndexOp getPositions(Value value, uint64_t dim) {
  auto cast = value.getDefiningOp<arith::SIToFPOp>();
  auto index = cast ? cast.getIn().getDefiningOp<TileIndexOp>() : TileIndexOp();
  return index && index.getDim() == dim ? index : TileIndexOp();
}

/// The positions of the rows in each column of a tile.
static TileIndexOp getTileRows(Value value) {
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  auto column = broadcast
                    ? broadcast.getSource().getDefiningOp<vector::ShapeCastOp>()
                    : vector::ShapeCastOp();
  return column ? getPositions(column.getSource(), /*dim=*/0) : TileIndexOp();
}

/// The positions of the columns within their tile.
static TileIndexOp getTileColumns(Value value) {
  TileIndexOp index = getPositions(value, /*dim=*/1);
  bool isTile = index && matchPattern(index.getBase(), m_Zero()) &&
                LaneShare::get(cast<VectorType>(index.getType()))->kind ==
                    LaneShare::Kind::Tile;
  return isTile ? index : TileIndexOp();
}

/// row - column is the lane's first row less its first column, and a constant:
/// one difference for all of a lane's elements that lie on a diagonal.
LogicalResult LaneEmitter::emitPositionDifference(arith::SubFOp op) {
  LaneShare share = *layoutOf(op, op.getResult());
  Value lane = arith::TruncIOp::create(
      b, b.getI32Type(), arith::SubIOp::create(b, rowOf(0, 0), columnOf(0, 0)));
  Value first =
      arith::AddIOp::create(b, getTileRows(op.getLhs()).getBase(), lane);
  first = arith::SIToFPOp::create(b, share.type, first);
  DenseMap<int64_t, Value> diagonals;
  Values values(share.size());
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t n = 0; n < share.colPieces; ++n)
      for (int64_t half : {0, 1})
        for (int64_t e : {0, 1}) {
          int64_t further = m * kPieceRows + half * 8 - (n * kPieceCols + e);
          Value &difference = diagonals[further];
          if (!difference)
            difference = arith::AddFOp::create(
                b, first,
                arith::ConstantOp::create(
                    b,
                    b.getFloatAttr(share.type, static_cast<double>(further))));
          values[share.at(m, n, half, e)] = difference;
        }
  replaceWithShare(op, std::move(values));
  return success();
}

bool LaneEmitter::comparesColumns(Operation *op) {
  if (auto difference = dyn_cast<arith::SubFOp>(op))
    return getTileRows(difference.getLhs()) &&
           getTileColumns(difference.getRhs());
  auto compare = dyn_cast<arith::CmpIOp>(op);
  return compare && comparesTileColumn(compare);
}

LogicalResult LaneEmitter::emitElementwise(Operation *op) {
  if (comparesColumns(op)) {
    if (auto difference = dyn_cast<arith::SubFOp>(op))
      return emitPositionDifference(difference);
    return emitColumnCompare(cast<arith::CmpIOp>(op));
  }
  FailureOr<LaneShare> result = layoutOf(op, op->getResult(0));
  if (failed(result))
    return failure();
  SmallVector<Values> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<VectorType>(operand.getType())) {
      operands.push_back(Values(result->size(), operand));
      continue;
    }
    LaneShare share = *layoutOf(op, operand);
    operands.push_back(repack(share, *result, shareOf(operand)));
  }
  Values values;
  for (int64_t i = 0, e = result->size(); i < e; ++i) {
    Values args;
    for (const Values &operand : operands)
      args.push_back(operand[i]);
    OperationState state(op->getLoc(), op->getName(), args, {result->type},
                         op->getAttrs());
    values.push_back(b.create(state)->getResult(0));
  }
  replaceWithShare(op, std::move(values));
  return success();
}

LogicalResult LaneEmitter::emitBroadcast(vector::BroadcastOp op) {
  LaneShare share = *layoutOf(op, op.getResult());
  Value source = op.getSource();
  auto sourceType = dyn_cast<VectorType>(source.getType());
  if (!sourceType) {
    if (share.packed)
      source = vector::BroadcastOp::create(b, share.type, source);
    replaceWithShare(op, Values(share.size(), source));
    return success();
  }
  LaneShare row = *layoutOf(op, source);
  if (sourceType.getRank() != 2 || row.kind != LaneShare::Kind::Row)
    return op.emitOpError(
               "only scalars and columns (Mx1) are broadcast, found ")
           << sourceType;
  Values rows = shareOf(source), values(share.size());
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      Value value = rows[LaneShare::row(m, half)];
      if (share.packed)
        value = vector::BroadcastOp::create(b, share.type, value);
      for (int64_t n = 0; n < share.colPieces; ++n)
        for (int64_t e : {0, 1})
          values[share.at(m, n, half, e)] = value;
    }
  replaceWithShare(op, std::move(values));
  return success();
}

LogicalResult LaneEmitter::emitShapeCast(vector::ShapeCastOp op) {
  LaneShare from = *layoutOf(op, op.getSource());
  LaneShare to = *layoutOf(op, op.getResult());
  if (from.kind != LaneShare::Kind::Row || to.kind != LaneShare::Kind::Row)
    return op.emitOpError("only a row vector and its column form are cast");
  replaceWithShare(op, shareOf(op.getSource()));
  return success();
}

LogicalResult LaneEmitter::emitTileIndex(TileIndexOp op) {
  LaneShare share = *layoutOf(op, op.getResult());
  auto toI32 = [&](Value v) -> Value {
    return arith::TruncIOp::create(b, b.getI32Type(), v);
  };
  Value base = op.getBase();
  // The rows of a mask in a loop: not one register for each throughout.
  llvm::SaveAndRestore outer(me);
  if (op.getDim() == 0 && op->getParentOfType<scf::ForOp>())
    me = numbersOf(readThread());
  Values values(share.size());
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t n = 0; n < share.colPieces; ++n)
      for (int64_t half : {0, 1})
        for (int64_t e : {0, 1}) {
          Value &value = values[share.at(m, n, half, e)];
          if (value)
            continue;
          Value position = rowOf(m, half);
          if (op.getDim() == 1)
            position = share.kind == LaneShare::Kind::Tile      ? columnOf(n, e)
                       : share.kind == LaneShare::Kind::Partial ? me.quadLane
                                                                : constant(0);
          value = arith::AddIOp::create(b, base, toI32(position));
        }
  replaceWithShare(op, std::move(values));
  return success();
}
