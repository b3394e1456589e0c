//===- RegionBounds.cpp - a visibility region over a block ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionBounds.h"
#include "IntegerRanges.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fa;

namespace {

/// The least and the greatest of what a value may be, as index.
struct Span {
  Value first, last;
};

class BoundsEmitter {
public:
  BoundsEmitter(TileBuilder &b, const RegionClause &clause,
                const BlockSpan &rows, const BlockSpan &keys);

  BlockTruth emit();

private:
  void emitOp(Operation &op);
  std::optional<Span> emitInterval(Operation &op);
  std::optional<Span> emitTable(memref::LoadOp load);
  std::optional<Span> emitBinary(Operation &op, Span a, Span c);
  std::optional<Span> emitQuotient(Operation &op, Span a);
  std::optional<Span> emitRest(Operation &op, Span a);
  BlockTruth emitTruth(Operation &op);
  BlockTruth emitComparison(arith::CmpIOp op);

  std::optional<Span> intervalOf(Value original);
  BlockTruth truthOf(Value original);
  BlockTruth unknown() { return {truth(true), truth(false)}; }
  Value truth(bool value) {
    return b.create<arith::ConstantIntOp>(value, 1).getResult();
  }
  Value negate(Value condition) {
    return b.createOrFold<arith::XOrIOp>(condition, truth(true));
  }
  Value both(Value a, Value c) { return b.createOrFold<arith::AndIOp>(a, c); }
  Value either(Value a, Value c) { return b.createOrFold<arith::OrIOp>(a, c); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return b.createOrFold<arith::CmpIOp>(predicate, a, c);
  }
  Value isNegative(Value a) {
    return compare(arith::CmpIPredicate::slt, a, b.index(0));
  }
  Value least(Value a, Value c) { return b.createOrFold<arith::MinSIOp>(a, c); }
  Value most(Value a, Value c) { return b.createOrFold<arith::MaxSIOp>(a, c); }
  /// `op` with its first operand in the place of the dividend.
  Value divide(Operation &op, Value dividend);

  TileBuilder &b;
  const RegionClause &clause;
  IntegerRanges ranges;
  IRMapping scalars;
  DenseMap<Value, BlockSpan> coordinates; ///< the arguments i and j
  DenseMap<Value, Span> intervals;
  DenseMap<Value, BlockTruth> truths;
  DenseSet<Value> varying; ///< values that differ within the block
};

} // namespace

BoundsEmitter::BoundsEmitter(TileBuilder &b, const RegionClause &clause,
                             const BlockSpan &rows, const BlockSpan &keys)
    : b(b), clause(clause), ranges(*clause.region, clause.dims) {
  Block &block = clause.region->front();
  scalars.map(block.getArgument(0), clause.batch);
  scalars.map(block.getArgument(1), clause.head);
  for (auto [number, span] : {std::pair(2, rows), std::pair(3, keys)}) {
    BlockArgument argument = block.getArgument(number);
    coordinates[argument] = span;
    intervals[argument] = {span.first, span.last};
    varying.insert(argument);
  }
}

/// A value of the region as an interval of index; nothing where none is known.
std::optional<Span> BoundsEmitter::intervalOf(Value original) {
  if (auto it = intervals.find(original); it != intervals.end())
    return it->second;
  if (varying.contains(original) || original.getType().isInteger(1))
    return std::nullopt;
  Value scalar = scalars.lookupOrDefault(original);
  if (!isa<IndexType>(scalar.getType()))
    scalar = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), scalar);
  return Span{scalar, scalar};
}

BlockTruth BoundsEmitter::truthOf(Value original) {
  if (auto it = truths.find(original); it != truths.end())
    return it->second;
  if (varying.contains(original))
    return unknown();
  Value scalar = scalars.lookupOrDefault(original);
  return {scalar, scalar};
}

Value BoundsEmitter::divide(Operation &op, Value dividend) {
  Value divisor = intervalOf(op.getOperand(1))->first;
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case<arith::FloorDivSIOp>([&](auto) {
        return b.createOrFold<arith::FloorDivSIOp>(dividend, divisor);
      })
      .Default([&](Operation *) {
        return b.createOrFold<arith::DivSIOp>(dividend, divisor);
      });
}

/// By a positive number a quotient grows with its dividend.
std::optional<Span> BoundsEmitter::emitQuotient(Operation &op, Span a) {
  return Span{divide(op, a.first), divide(op, a.last)};
}

/// A rest grows with its dividend as long as the quotient stays the same.
std::optional<Span> BoundsEmitter::emitRest(Operation &op, Span a) {
  if (ranges.mayBeNegative(op.getOperand(0)))
    return std::nullopt;
  Value divisor = intervalOf(op.getOperand(1))->first;
  Value isSame = compare(arith::CmpIPredicate::eq, divide(op, a.first),
                         divide(op, a.last));
  auto rest = [&](Value dividend) {
    return b.createOrFold<arith::RemSIOp>(dividend, divisor);
  };
  Value largest = b.createOrFold<arith::SubIOp>(divisor, b.index(1));
  return Span{
      b.createOrFold<arith::SelectOp>(isSame, rest(a.first), b.index(0)),
      b.createOrFold<arith::SelectOp>(isSame, rest(a.last), largest)};
}

std::optional<Span> BoundsEmitter::emitBinary(Operation &op, Span a, Span c) {
  bool isByPositive = !varying.contains(op.getOperand(1)) &&
                      ranges.isPositive(op.getOperand(1));
  return llvm::TypeSwitch<Operation *, std::optional<Span>>(&op)
      .Case([&](arith::AddIOp) {
        return Span{b.createOrFold<arith::AddIOp>(a.first, c.first),
                    b.createOrFold<arith::AddIOp>(a.last, c.last)};
      })
      .Case([&](arith::SubIOp) {
        return Span{b.createOrFold<arith::SubIOp>(a.first, c.last),
                    b.createOrFold<arith::SubIOp>(a.last, c.first)};
      })
      .Case([&](arith::MulIOp) {
        auto product = [&](Value x, Value y) {
          return b.createOrFold<arith::MulIOp>(x, y);
        };
        Value corners[] = {product(a.first, c.first), product(a.first, c.last),
                           product(a.last, c.first), product(a.last, c.last)};
        return Span{
            least(least(corners[0], corners[1]), least(corners[2], corners[3])),
            most(most(corners[0], corners[1]), most(corners[2], corners[3]))};
      })
      .Case([&](arith::MinSIOp) {
        return Span{least(a.first, c.first), least(a.last, c.last)};
      })
      .Case([&](arith::MaxSIOp) {
        return Span{most(a.first, c.first), most(a.last, c.last)};
      })
      .Case<arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) -> std::optional<Span> {
            return isByPositive ? emitQuotient(op, a) : std::nullopt;
          })
      .Case<arith::DivUIOp>([&](auto) -> std::optional<Span> {
        bool isUsual = isByPositive && !ranges.mayBeNegative(op.getOperand(0));
        return isUsual ? emitQuotient(op, a) : std::nullopt;
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) -> std::optional<Span> {
        return isByPositive ? emitRest(op, a) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Of a table read along one dimension, at i or at j itself.
std::optional<Span> BoundsEmitter::emitTable(memref::LoadOp load) {
  MemRefType type = load.getMemRefType();
  if (!type.getElementType().isInteger(32))
    return std::nullopt;
  Attribute one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets, sizes, ones(type.getRank(), one);
  const BlockSpan *along = nullptr;
  for (Value index : load.getIndices()) {
    auto it = coordinates.find(index);
    if (it == coordinates.end() && !varying.contains(index)) {
      offsets.push_back(scalars.lookupOrDefault(index));
      sizes.push_back(one);
      continue;
    }
    if (it == coordinates.end() || along)
      return std::nullopt;
    along = &it->second;
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(OpFoldResult(
        b.createOrFold<arith::AddIOp>(it->second.last, b.index(1))));
  }
  MemRefType lineType = memref::SubViewOp::inferRankReducedResultType(
      {ShapedType::kDynamic}, type, offsets, sizes, ones);
  Value line = b.create<memref::SubViewOp>(lineType, load.getMemRef(), offsets,
                                           sizes, ones);
  auto bounds = b.create<MinMaxOp>(b.getI32Type(), b.getI32Type(), line,
                                   along->first, along->count);
  return Span{b.toIndex(bounds.getLeast()), b.toIndex(bounds.getGreatest())};
}

/// What may wrap around has no interval.
std::optional<Span> BoundsEmitter::emitInterval(Operation &op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return emitTable(load);
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op) &&
      !op.getOperand(0).getType().isInteger(1) &&
      (!op.getResult(0).getType().isInteger(32) ||
       ranges.fitsInto32Bits(op.getOperand(0))))
    return intervalOf(op.getOperand(0));
  if (op.getNumOperands() != 2 || !ranges.isBounded(op))
    return std::nullopt;
  std::optional<Span> a = intervalOf(op.getOperand(0));
  std::optional<Span> c = intervalOf(op.getOperand(1));
  if (!a || !c)
    return std::nullopt;
  return emitBinary(op, *a, *c);
}

BlockTruth BoundsEmitter::emitComparison(arith::CmpIOp op) {
  using Predicate = arith::CmpIPredicate;
  std::optional<Span> a = intervalOf(op.getLhs()), c = intervalOf(op.getRhs());
  if (!a || !c)
    return unknown();
  auto isBelow = [&](Predicate predicate, Span x, Span y) -> BlockTruth {
    return {compare(predicate, x.first, y.last),
            compare(predicate, x.last, y.first)};
  };
  // Without signs what is negative is above all that is not.
  auto isBelowUnsigned = [&](Predicate predicate, Span x,
                             Span y) -> BlockTruth {
    BlockTruth signedTruth = isBelow(predicate, x, y);
    return {either(isNegative(y.first),
                   both(negate(isNegative(x.last)), signedTruth.may)),
            both(negate(isNegative(x.first)),
                 either(isNegative(y.last), signedTruth.must))};
  };
  BlockTruth equal = {both(compare(Predicate::sle, a->first, c->last),
                           compare(Predicate::sle, c->first, a->last)),
                      both(compare(Predicate::eq, a->first, c->last),
                           compare(Predicate::eq, a->last, c->first))};
  switch (op.getPredicate()) {
  case Predicate::slt:
  case Predicate::sle:
    return isBelow(op.getPredicate(), *a, *c);
  case Predicate::sgt:
    return isBelow(Predicate::slt, *c, *a);
  case Predicate::sge:
    return isBelow(Predicate::sle, *c, *a);
  case Predicate::eq:
    return equal;
  case Predicate::ne:
    return {negate(equal.must), negate(equal.may)};
  case Predicate::ult:
    return isBelowUnsigned(Predicate::slt, *a, *c);
  case Predicate::ule:
    return isBelowUnsigned(Predicate::sle, *a, *c);
  case Predicate::ugt:
    return isBelowUnsigned(Predicate::slt, *c, *a);
  case Predicate::uge:
    return isBelowUnsigned(Predicate::sle, *c, *a);
  }
  llvm_unreachable("every predicate is handled");
}

BlockTruth BoundsEmitter::emitTruth(Operation &op) {
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return emitComparison(comparison);
  if (op.getNumOperands() != 2 || !op.getOperand(0).getType().isInteger(1))
    return unknown();
  BlockTruth a = truthOf(op.getOperand(0)), c = truthOf(op.getOperand(1));
  if (isa<arith::AndIOp>(op))
    return {both(a.may, c.may), both(a.must, c.must)};
  if (isa<arith::OrIOp>(op))
    return {either(a.may, c.may), either(a.must, c.must)};
  if (!isa<arith::XOrIOp>(op))
    return unknown();
  // True where one is and the other is not.
  BlockTruth notA = {negate(a.must), negate(a.may)};
  BlockTruth notC = {negate(c.must), negate(c.may)};
  return {either(both(a.may, notC.may), both(c.may, notA.may)),
          either(both(a.must, notC.must), both(c.must, notA.must))};
}

void BoundsEmitter::emitOp(Operation &op) {
  bool varies = llvm::any_of(op.getOperands(),
                             [&](Value v) { return varying.contains(v); });
  if (!varies) {
    b.clone(op, scalars);
    return;
  }
  Value result = op.getResult(0);
  varying.insert(result);
  if (result.getType().isInteger(1))
    truths[result] = emitTruth(op);
  else if (result.getType().isIntOrIndex())
    if (std::optional<Span> interval = emitInterval(op))
      intervals[result] = *interval;
}

BlockTruth BoundsEmitter::emit() {
  Block &block = clause.region->front();
  for (Operation &op : block.without_terminator())
    emitOp(op);
  return truthOf(cast<fa::YieldOp>(block.getTerminator()).getValue());
}

BlockTruth mlir::fa::emitRegionBounds(TileBuilder &b,
                                      const RegionClause &clause,
                                      const BlockSpan &rows,
                                      const BlockSpan &keys) {
  return BoundsEmitter(b, clause, rows, keys).emit();
}

//===----------------------------------------------------------------------===//
// From key to key
//===----------------------------------------------------------------------===//

namespace {
/// How a number of a region goes on from key to key.
enum class Trend { Same, Up, Down, Any };
} // namespace

static Trend negated(Trend trend) {
  if (trend == Trend::Up)
    return Trend::Down;
  return trend == Trend::Down ? Trend::Up : trend;
}

static Trend sumOf(Trend a, Trend b) {
  if (a == Trend::Same || b == Trend::Same)
    return a == Trend::Same ? b : a;
  return a == b ? a : Trend::Any;
}

static Trend trendOf(Value value, Value key) {
  if (value == key)
    return Trend::Up;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != key.getParentBlock())
    return Trend::Same;
  auto ofOperand = [&](unsigned number) {
    return trendOf(op->getOperand(number), key);
  };
  return llvm::TypeSwitch<Operation *, Trend>(op)
      .Case<arith::IndexCastOp>([&](auto) { return ofOperand(0); })
      .Case<arith::AddIOp>(
          [&](auto) { return sumOf(ofOperand(0), ofOperand(1)); })
      .Case<arith::SubIOp>(
          [&](auto) { return sumOf(ofOperand(0), negated(ofOperand(1))); })
      .Default([&](Operation *) {
        bool isSame = llvm::all_of(op->getOperands(), [&](Value operand) {
          return trendOf(operand, key) == Trend::Same;
        });
        return isSame ? Trend::Same : Trend::Any;
      });
}

/// Whether a number of the region of `key` is never negative: a coordinate, or
/// such a constant.
static bool isNeverNegative(Value value, Value key) {
  auto argument = dyn_cast<BlockArgument>(value);
  APInt number;
  return (argument && argument.getOwner() == key.getParentBlock()) ||
         (matchPattern(value, m_ConstantInt(&number)) && !number.isNegative());
}

/// Whether `compare` asks for a number from 0 to another that is not negative,
/// where both bounds are passed but once.
static bool asksForLeast(arith::CmpIOp compare, Value key) {
  using Predicate = arith::CmpIPredicate;
  bool isTurned = llvm::is_contained({Predicate::ugt, Predicate::uge},
                                     compare.getPredicate());
  if (!isTurned && !llvm::is_contained({Predicate::ult, Predicate::ule},
                                       compare.getPredicate()))
    return false;
  Value number = compare.getLhs(), limit = compare.getRhs();
  if (isTurned)
    std::swap(number, limit);
  return isNeverNegative(limit, key) && trendOf(number, key) != Trend::Any;
}

/// Whether the keys for which `truth` holds follow one another.
static bool isInOnePiece(Value truth, Value key) {
  using Predicate = arith::CmpIPredicate;
  if (auto both = truth.getDefiningOp<arith::AndIOp>())
    return isInOnePiece(both.getLhs(), key) && isInOnePiece(both.getRhs(), key);
  auto compare = truth.getDefiningOp<arith::CmpIOp>();
  if (compare &&
      (asksForLeast(compare, key) ||
       llvm::is_contained({Predicate::eq, Predicate::slt, Predicate::sle,
                           Predicate::sgt, Predicate::sge},
                          compare.getPredicate())))
    return sumOf(trendOf(compare.getLhs(), key),
                 negated(trendOf(compare.getRhs(), key))) != Trend::Any;
  return trendOf(truth, key) == Trend::Same;
}

bool mlir::fa::mayHideBetween(Region &visible) {
  Block &block = visible.front();
  return !isInOnePiece(block.getTerminator()->getOperand(0),
                       block.getArguments().back());
}
