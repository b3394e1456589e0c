//===- Regions.cpp - regions of the op, written out -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "IntegerRanges.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fa;

namespace {

class RegionEmitter {
public:
  RegionEmitter(TileBuilder &b, const RegionClause &clause,
                const ScoreSite &site, Value scores);

  Value emit();

private:
  void emitOp(Operation &op);
  void emitRead(memref::LoadOp load);
  Value emitVector(Operation &op);
  Value emitCast(Operation &op, unsigned bits);
  bool isVector(Value original) const { return vectors.contains(original); }
  /// Bits in which an integer of the region is held in vectors.
  unsigned bitsOf(Value original) const;
  unsigned bitsToCompute(Operation &op) const;
  /// A value of the region at each score; integers of `bits` bits.
  Value toVector(Value original, unsigned bits = 0);
  Value resize(Value integers, unsigned bits);
  VectorType integerVector(unsigned bits) const {
    return site.getType(b.getIntegerType(bits));
  }

  TileBuilder &b;
  const RegionClause &clause;
  const ScoreSite &site;
  IntegerRanges ranges;
  IRMapping scalars;
  DenseMap<Value, Value> vectors;
};

} // namespace

static bool isWideInteger(Type type) {
  return isa<IndexType>(type) || type.isInteger(64);
}

/// Whether what a region does at the places of the scores may be a fault behind
/// the last row and key: a read, or a division by what is 0 only there. To
/// upstream the rounded divisions are total functions.
static bool mayOnlyBeAskedInside(Operation &op) {
  return !isSpeculatable(&op) ||
         isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
}

RegionEmitter::RegionEmitter(TileBuilder &b, const RegionClause &clause,
                             const ScoreSite &site, Value scores)
    : b(b), clause(clause), site(site), ranges(*clause.region, clause.dims) {
  Block &block = clause.region->front();
  unsigned first = scores ? 1 : 0;
  if (scores)
    vectors[block.getArgument(0)] = scores;
  scalars.map(block.getArgument(first), clause.batch);
  scalars.map(block.getArgument(first + 1), clause.head);
  bool asksOnlyInside = llvm::any_of(block, mayOnlyBeAskedInside);
  auto coordinate = [&](Value places, Value last) -> Value {
    if (!asksOnlyInside)
      return places;
    return b.create<arith::MinSIOp>(places, b.spread(last, places.getType()));
  };
  BlockArgument row = block.getArgument(first + 2),
                key = block.getArgument(first + 3);
  if (!row.use_empty())
    vectors[row] = coordinate(site.emitRows(b), clause.lastRow);
  if (!key.use_empty())
    vectors[key] = coordinate(site.emitKeys(b), clause.lastKey);
}

unsigned RegionEmitter::bitsOf(Value original) const {
  if (!isWideInteger(original.getType()))
    return original.getType().getIntOrFloatBitWidth();
  return ranges.fitsInto32Bits(original) ? 32 : 64;
}

/// The bits that hold each operand and the result. An unsigned op reads a
/// negative number as one of all 64 bits.
unsigned RegionEmitter::bitsToCompute(Operation &op) const {
  unsigned bits = 1;
  bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp, arith::UIToFPOp>(op);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    isUnsigned = compare.getPredicate() >= arith::CmpIPredicate::ult;
  auto hold = [&](Value value) {
    if (!value.getType().isIntOrIndex())
      return;
    bool isWhole = isUnsigned && isWideInteger(value.getType()) &&
                   ranges.mayBeNegative(value);
    bits = std::max(bits, isWhole ? 64 : bitsOf(value));
  };
  for (Value operand : op.getOperands())
    hold(operand);
  if (!isa<arith::CmpIOp>(op))
    for (Value result : op.getResults())
      hold(result);
  return bits;
}

/// With the sign; a value that has the bits already is left alone.
Value RegionEmitter::resize(Value integers, unsigned bits) {
  unsigned held = getElementTypeOrSelf(integers).getIntOrFloatBitWidth();
  if (held == bits)
    return integers;
  if (held < bits)
    return b.create<arith::ExtSIOp>(integerVector(bits), integers);
  return b.create<arith::TruncIOp>(integerVector(bits), integers);
}

Value RegionEmitter::toVector(Value original, unsigned bits) {
  bool isInteger = original.getType().isIntOrIndex();
  if (isInteger && bits == 0)
    bits = bitsOf(original);
  if (Value vector = vectors.lookup(original))
    return isInteger ? resize(vector, bits) : vector;
  Value scalar = scalars.lookupOrDefault(original);
  if (!isInteger)
    return b.spread(scalar, site.getType(scalar.getType()));
  unsigned held = bitsOf(original);
  Type type = b.getIntegerType(held);
  if (isa<IndexType>(scalar.getType()))
    scalar = b.createOrFold<arith::IndexCastOp>(type, scalar);
  else if (scalar.getType() != type)
    scalar = b.createOrFold<arith::TruncIOp>(type, scalar);
  return resize(b.spread(scalar, integerVector(held)), bits);
}

/// Between integers; of what is held in fewer bits than its type says.
Value RegionEmitter::emitCast(Operation &op, unsigned bits) {
  Value from = op.getOperand(0);
  Value value = toVector(from);
  unsigned held = bitsOf(from);
  if (isa<arith::ExtUIOp>(op) && held < bits &&
      (held == 1 || ranges.mayBeNegative(from)))
    return b.create<arith::ExtUIOp>(integerVector(bits), value);
  return resize(value, bits);
}

Value RegionEmitter::emitVector(Operation &op) {
  Type type = op.getResult(0).getType();
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          op))
    return emitCast(op, bitsOf(op.getResult(0)));
  unsigned bits = bitsToCompute(op);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(
        toVector(operand, operand.getType().isInteger(1) ? 1 : bits));
  bool isWide = isWideInteger(type);
  VectorType result = site.getType(isWide ? b.getIntegerType(bits) : type);
  OperationState state(b.getLoc(), op.getName(), operands, {result},
                       op.getAttrs());
  Value value = b.create(state)->getResult(0);
  return isWide ? resize(value, bitsOf(op.getResult(0))) : value;
}

/// One read for all where the place is the same, else one for each score.
void RegionEmitter::emitRead(memref::LoadOp load) {
  if (llvm::none_of(load.getIndices(), [&](Value v) { return isVector(v); })) {
    b.clone(*load, scalars);
    return;
  }
  SmallVector<Value> indices;
  for (Value index : load.getIndices())
    indices.push_back(toVector(index));
  vectors[load.getResult()] = b.create<GatherOp>(site.getType(load.getType()),
                                                 load.getMemRef(), indices);
}

void RegionEmitter::emitOp(Operation &op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return emitRead(load);
  bool hasVectors =
      llvm::any_of(op.getOperands(), [&](Value v) { return isVector(v); });
  if (hasVectors)
    vectors[op.getResult(0)] = emitVector(op);
  else
    b.clone(op, scalars);
}

Value RegionEmitter::emit() {
  Block &block = clause.region->front();
  for (Operation &op : block.without_terminator())
    emitOp(op);
  return toVector(cast<fa::YieldOp>(block.getTerminator()).getValue());
}

Value mlir::fa::emitRegion(TileBuilder &b, const RegionClause &clause,
                           const ScoreSite &site, Value scores) {
  return RegionEmitter(b, clause, site, scores).emit();
}
