//===- LateTiles.cpp - tiles emitted where they are used --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane may have a hundred elements of a tile. Op by op, as everything else is
// emitted, a chain of integer arithmetic on them, or a load and what is made of
// it, would keep a register or two for each element at each step. Such ops wait
// until a reduction, a product or a store asks for the result; then the whole
// chain is emitted for one element after the other. Columns come before rows,
// since most of what rows share belongs to a column.
//===----------------------------------------------------------------------===//

#include "../MMA/Wgmma.h"
#include "LaneEmitter.h"

using namespace mlir;
using namespace mlir::fa;

static bool isTile(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && LaneShare::get(vector)->kind == LaneShare::Kind::Tile;
}

/// Whether an op begins or continues a chain. What lanes compute anyhow, floats
/// from scores, stays as it stands.
bool LaneEmitter::mayBeLate(Operation *op) const {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0).getType()) ||
      op->getNumRegions() != 0)
    return false;
  bool continues = llvm::any_of(
      op->getOperands(), [&](Value operand) { return late.contains(operand); });
  if (isa<GatherOp>(op))
    return continues;
  if (!OpTrait::hasElementwiseMappableTraits(op) || comparesColumns(op) ||
      isa<Exp2Op>(op))
    return false;
  auto element = cast<VectorType>(op->getResult(0).getType()).getElementType();
  bool isWide = element.isInteger(32) || element.isInteger(64);
  return (continues || isWide) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           return !isa<VectorType>(type) || isTile(type);
         });
}

void LaneEmitter::postpone(Operation *op, LateTile tile) {
  tile.elements.resize(tile.scalars.size());
  late[op->getResult(0)] = std::move(tile);
  dead.push_back(op);
}

LogicalResult LaneEmitter::postpone(Operation *op) {
  LaneShare scalars = *layoutOf(op, op->getResult(0));
  scalars.packed = false;
  scalars.type = cast<VectorType>(op->getResult(0).getType()).getElementType();
  TileAddress source;
  if (auto gather = dyn_cast<GatherOp>(op)) {
    FailureOr<TileAddress> place = resolvePlain(op, gather.getSource());
    if (failed(place))
      return failure();
    source = *place;
  }
  postpone(op, {op, scalars, source, {}, {}, me});
  return success();
}

Value LaneEmitter::elementOf(Value value, int64_t i) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return value;
  auto *it = late.find(value);
  if (it == late.end()) {
    const Values &values = shares[value];
    if (!LaneShare::get(type)->packed)
      return values[i];
    return vector::ExtractOp::create(b, values[i / 2], i % 2);
  }
  LateTile &tile = it->second;
  if (!tile.elements[i]) {
    b.setLoc(tile.op->getLoc());
    if (auto load = dyn_cast<LoadTileOp>(tile.op))
      emitLateElement(load, tile, i);
    else if (auto gather = dyn_cast<GatherOp>(tile.op))
      tile.elements[i] = emitGathered(gather, tile.source, i);
    else
      tile.elements[i] = emitElement(tile.op, tile.scalars.type, i);
  }
  return tile.elements[i];
}

Value LaneEmitter::emitElement(Operation *op, Type type, int64_t i) {
  Values operands;
  for (Value operand : op->getOperands())
    operands.push_back(elementOf(operand, i));
  OperationState state(op->getLoc(), op->getName(), operands, {type},
                       op->getAttrs());
  return b.create(state)->getResult(0);
}

/// Of how many columns, in eights, a chain is done before the next ones begin.
static constexpr int64_t kPiecesOfAChain = 4;

void LaneEmitter::settle(Value value) {
  auto *it = late.find(value);
  if (it == late.end())
    return;
  LaneShare scalars = it->second.scalars;
  Values values(scalars.size()), together;
  for (int64_t n = 0; n < scalars.colPieces; ++n) {
    if (n % kPiecesOfAChain == 0 && n != 0) {
      readBehind(together);
      together.clear();
    }
    for (int64_t m = 0; m < scalars.rowPieces; ++m)
      for (int64_t half : {0, 1})
        for (int64_t e : {0, 1}) {
          int64_t at = scalars.at(m, n, half, e);
          values[at] = elementOf(value, at);
          together.push_back(values[at]);
        }
  }
  LaneShare share = *LaneShare::get(cast<VectorType>(value.getType()));
  shares[value] = repack(scalars, share, std::move(values));
  late.erase(value);
}

/// What is read from now on of one row for all rows of a tile is read behind
/// `results`. ptxas would find the addresses of a whole row first, at two
/// registers each: so the stride is there only when these are.
void LaneEmitter::readBehind(ArrayRef<Value> results) {
  if (!results.front().getType().isF32())
    return;
  Value stamp;
  for (auto &[value, tile] : late) {
    auto load = dyn_cast<LoadTileOp>(tile.op);
    if (!load || !load.getEachRow() || load.getNearest())
      continue;
    if (!stamp) {
      stamp = results.front();
      for (Value result : results.drop_front())
        stamp = arith::AddFOp::create(b, stamp, result);
      stamp = createAddressAfter(b, b.getLoc(), constantI32(0), stamp);
      stamp = arith::ExtSIOp::create(b, b.getI64Type(), stamp);
    }
    Value &stride = tile.source.strides.back();
    stride = add(stride, stamp);
  }
}

/// In front of an op that is not late: its operands, and before what may write
/// or has code inside, everything that is still asked for.
void LaneEmitter::settleBefore(Operation *op) {
  for (Value operand : op->getOperands())
    settle(operand);
  if (late.empty() || (op->getNumRegions() == 0 &&
                       (isMemoryEffectFree(op) || isa<LoadTileOp>(op))))
    return;
  // From the ends of the chains, else they are emitted op by op after all.
  while (!late.empty())
    settle(late.back().first);
}
