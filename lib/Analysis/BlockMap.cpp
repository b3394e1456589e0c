//===- BlockMap.cpp - which blocks a tile program skips -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Analysis/BlockMap.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fa;

int64_t BlockMap::count(char kind) const {
  int64_t count = 0;
  for (StringRef row : rows)
    count += row.count(kind);
  return count;
}

std::string BlockMap::str() const {
  std::string text;
  for (auto [number, row] : llvm::enumerate(rows))
    text += llvm::formatv("{0,8}  {1}\n", int64_t(number) * tileQ, row);
  text += llvm::formatv("{0} full {1}, {2} partial {3}, {4} skipped {5}\n",
                        kFull, count(kFull), kPartial, count(kPartial),
                        kSkipped, count(kSkipped));
  return text;
}

namespace {

/// Runs the integers of a tile program and leaves everything else unknown.
class IntegerEvaluator {
public:
  IntegerEvaluator(func::FuncOp function, const GivenNumbers &given)
      : function(function), given(given) {}

  void set(Value value, int64_t number) {
    known[value] = IntegerAttr::get(value.getType(), number);
  }
  std::optional<int64_t> get(Value value) const;
  /// The ops of `block` in their order; `onLoop` gets the loops over blocks.
  void run(Block &block, function_ref<void(scf::ForOp)> onLoop);
  /// The extent of the first operand that has a dimension of that name.
  std::optional<int64_t> extentOf(StringRef name);
  /// What was asked for and is not given, or nothing.
  StringRef missing() const { return firstMissing; }

private:
  Attribute lookup(Value value) const;
  void set(Value value, OpFoldResult folded);
  void fold(Operation &op);
  void runLoop(scf::ForOp loop, function_ref<void(scf::ForOp)> onLoop);
  void runLoopOverBlocks(scf::ForOp loop,
                         function_ref<void(scf::ForOp)> onLoop);
  void runIf(scf::IfOp op, function_ref<void(scf::ForOp)> onLoop);
  void runDim(memref::DimOp op);
  void runLoad(memref::LoadOp op);
  void runMinMax(MinMaxOp op);
  /// The number that all elements of an operand have.
  std::optional<int64_t> elementOf(Value memref);
  /// The row of fa.operands of the argument of the function that is viewed.
  DictionaryAttr operandOf(Value value);
  std::optional<int64_t> numberOf(StringRef name);

  func::FuncOp function;
  const GivenNumbers &given;
  DenseMap<Value, Attribute> known;
  StringRef firstMissing;
};

} // namespace

Attribute IntegerEvaluator::lookup(Value value) const {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  return {};
}

std::optional<int64_t> IntegerEvaluator::get(Value value) const {
  auto number = dyn_cast_or_null<IntegerAttr>(lookup(value));
  if (!number)
    return std::nullopt;
  return number.getInt();
}

void IntegerEvaluator::set(Value value, OpFoldResult folded) {
  auto attribute = dyn_cast<Attribute>(folded);
  if (!attribute)
    attribute = lookup(cast<Value>(folded));
  if (attribute)
    known[value] = attribute;
  else
    known.erase(value);
}

/// A fold may rewrite the op in its place before it gives a result.
void IntegerEvaluator::fold(Operation &op) {
  for (Value result : op.getResults())
    known.erase(result);
  for (int attempt = 0; attempt < 3; ++attempt) {
    SmallVector<Attribute> operands = llvm::map_to_vector(
        op.getOperands(), [&](Value operand) { return lookup(operand); });
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)))
      return;
    for (auto [value, folded] : llvm::zip(op.getResults(), results))
      set(value, folded);
    if (!results.empty())
      return;
  }
}

DictionaryAttr IntegerEvaluator::operandOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(value);
  auto operands = function->getAttrOfType<ArrayAttr>(kOperandsAttr);
  if (!argument || argument.getOwner() != &function.front() || !operands ||
      argument.getArgNumber() >= operands.size())
    return {};
  return dyn_cast<DictionaryAttr>(operands[argument.getArgNumber()]);
}

std::optional<int64_t> IntegerEvaluator::numberOf(StringRef name) {
  if (auto it = given.find(name); it != given.end())
    return it->second;
  if (firstMissing.empty())
    firstMissing = name;
  return std::nullopt;
}

std::optional<int64_t> IntegerEvaluator::extentOf(StringRef name) {
  for (BlockArgument argument : function.getArguments()) {
    DictionaryAttr operand = operandOf(argument);
    auto dims = operand ? operand.getAs<ArrayAttr>("dims") : ArrayAttr();
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!dims || !type)
      continue;
    for (auto [dim, extent] : llvm::zip(dims, type.getShape()))
      if (cast<StringAttr>(dim).getValue() == name &&
          !ShapedType::isDynamic(extent))
        return extent;
  }
  return numberOf(name);
}

void IntegerEvaluator::runDim(memref::DimOp op) {
  // A view has dimensions of its own.
  if (!isa<BlockArgument>(op.getSource()))
    return;
  DictionaryAttr operand = operandOf(op.getSource());
  std::optional<int64_t> index = get(op.getIndex());
  auto dims = operand ? operand.getAs<ArrayAttr>("dims") : ArrayAttr();
  if (!dims || !index || *index < 0 || *index >= int64_t(dims.size()))
    return;
  if (auto extent = extentOf(cast<StringAttr>(dims[*index]).getValue()))
    set(op.getResult(), *extent);
}

std::optional<int64_t> IntegerEvaluator::elementOf(Value memref) {
  DictionaryAttr operand = operandOf(memref);
  auto role = operand ? operand.getAs<StringAttr>("role") : StringAttr();
  if (!role)
    return std::nullopt;
  // Lengths that are not given are those of whole sequences.
  auto shortened = operand.getAs<StringAttr>("shortens");
  if (shortened && !given.contains(role.getValue()))
    return extentOf(shortened.getValue());
  return numberOf(role.getValue());
}

void IntegerEvaluator::runLoad(memref::LoadOp op) {
  known.erase(op.getResult());
  if (!op.getType().isIntOrIndex())
    return;
  if (std::optional<int64_t> number = elementOf(op.getMemRef()))
    set(op.getResult(), *number);
}

void IntegerEvaluator::runMinMax(MinMaxOp op) {
  std::optional<int64_t> number = elementOf(op.getSource());
  for (Value result : op.getResults()) {
    known.erase(result);
    if (number)
      set(result, *number);
  }
}

void IntegerEvaluator::runLoop(scf::ForOp loop,
                               function_ref<void(scf::ForOp)> onLoop) {
  std::optional<int64_t> begin = get(loop.getLowerBound()),
                         end = get(loop.getUpperBound()),
                         step = get(loop.getStep());
  if (!begin || !end || !step || *step <= 0)
    return;
  SmallVector<Attribute> carried = llvm::map_to_vector(
      loop.getInitArgs(), [&](Value init) { return lookup(init); });
  for (int64_t i = *begin; i < *end; i += *step) {
    set(loop.getInductionVar(), i);
    for (auto [value, attribute] : llvm::zip(loop.getRegionIterArgs(), carried))
      known[value] = attribute;
    run(*loop.getBody(), onLoop);
    carried = llvm::map_to_vector(loop.getYieldedValues(), [&](Value yielded) {
      return lookup(yielded);
    });
  }
  for (auto [value, attribute] : llvm::zip(loop.getResults(), carried))
    known[value] = attribute;
}

/// No row has scores of a size that asks for another pass.
void IntegerEvaluator::runLoopOverBlocks(
    scf::ForOp loop, function_ref<void(scf::ForOp)> onLoop) {
  onLoop(loop);
  for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInitArgs()))
    set(result, OpFoldResult(init));
}

void IntegerEvaluator::runIf(scf::IfOp op,
                             function_ref<void(scf::ForOp)> onLoop) {
  for (Value result : op.getResults())
    known.erase(result);
  std::optional<int64_t> condition = get(op.getCondition());
  if (!condition)
    return;
  Region &taken = *condition ? op.getThenRegion() : op.getElseRegion();
  if (taken.empty())
    return;
  run(taken.front(), onLoop);
  for (auto [result, yielded] :
       llvm::zip(op.getResults(), taken.front().getTerminator()->getOperands()))
    set(result, OpFoldResult(yielded));
}

void IntegerEvaluator::run(Block &block,
                           function_ref<void(scf::ForOp)> onLoop) {
  for (Operation &op : block.without_terminator()) {
    // Set by who asks.
    if (op.hasAttr(kPlaceAttr))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (loop->hasAttr(kBlocksAttr))
        runLoopOverBlocks(loop, onLoop);
      else
        runLoop(loop, onLoop);
    } else if (auto anyNoted = dyn_cast<AnyNotedOp>(op)) {
      set(anyNoted.getResult(), OpFoldResult(anyNoted.getNoted()));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      runIf(branch, onLoop);
    } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
      runDim(dim);
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      runLoad(load);
    } else if (auto minMax = dyn_cast<MinMaxOp>(op)) {
      runMinMax(minMax);
    } else if (isa<PairsAlignedOp>(op)) {
      // Arrays that begin where they may, one row behind the other.
      set(op.getResult(0), 1);
    } else if (op.getNumResults() == 1 &&
               op.getResult(0).getType().isIntOrIndex()) {
      fold(op);
    }
  }
}

namespace {

/// Draws one scf.forall over (batch, head, block of queries), or over a number
/// that says all three.
class MapDrawer {
public:
  MapDrawer(IntegerEvaluator &evaluator, scf::ForallOp forall,
            ScheduleAttr schedule)
      : evaluator(evaluator), forall(forall) {
    // Blocks of a cluster go through the same blocks of keys.
    map.tileQ = *schedule.getTileQ() * schedule.getCluster().value_or(1);
    map.tileKV = *schedule.getTileKv();
    llvm::append_range(place, forall.getInductionVars());
    if (place.size() != 1)
      return;
    place.resize(3);
    for (Operation &op : *forall.getBody())
      if (auto dim = op.getAttrOfType<IntegerAttr>(kPlaceAttr))
        place[dim.getInt()] = op.getResult(0);
  }

  FailureOr<BlockMap> draw(int64_t batch, int64_t head);

private:
  LogicalResult drawRow(int64_t number);
  LogicalResult drawLoop(scf::ForOp loop, std::string &row);
  std::optional<int64_t> keyBlockOf(scf::ForOp loop, int64_t number);
  InFlightDiagnostic unknown();
  FailureOr<int64_t> extent(unsigned number);

  IntegerEvaluator &evaluator;
  scf::ForallOp forall;
  SmallVector<Value> place; // batch, head, block of queries
  BlockMap map;
};

} // namespace

InFlightDiagnostic MapDrawer::unknown() {
  StringRef name = evaluator.missing();
  if (!name.empty())
    return emitError(forall.getLoc())
           << "the block map depends on " << name << ", which is not given";
  return emitError(forall.getLoc())
         << "the block map depends on what a program around attention computes";
}

FailureOr<int64_t> MapDrawer::extent(unsigned number) {
  std::optional<int64_t> extent;
  if (forall.getRank() == 1) {
    static constexpr StringLiteral names[] = {"B", "Hq", "Sq"};
    extent = evaluator.extentOf(names[number]);
    if (extent && number == 2)
      extent = llvm::divideCeil(*extent, map.tileQ);
  } else {
    OpFoldResult bound = forall.getMixedUpperBound()[number];
    extent = getConstantIntValue(bound);
    if (auto value = dyn_cast<Value>(bound); value && !extent)
      extent = evaluator.get(value);
  }
  if (!extent)
    return unknown();
  return *extent;
}

/// A loop's number counts blocks; where the first tile that it reads, K's, has
/// its first row is which one.
std::optional<int64_t> MapDrawer::keyBlockOf(scf::ForOp loop, int64_t number) {
  evaluator.set(loop.getInductionVar(), number);
  evaluator.run(*loop.getBody(), [](scf::ForOp) {});
  auto loads = loop.getBody()->getOps<LoadTileOp>();
  if (loads.empty())
    return std::nullopt;
  std::optional<int64_t> row = evaluator.get((*loads.begin()).getIndices()[0]);
  if (!row)
    return std::nullopt;
  return *row / map.tileKV;
}

LogicalResult MapDrawer::drawLoop(scf::ForOp loop, std::string &row) {
  auto kind = loop->getAttrOfType<StringAttr>(kBlocksAttr).getValue();
  if (kind == kExactBlocks)
    return success();
  bool isFull = kind == kFullBlocks && !loop->hasAttr(kHidingAttr);
  std::optional<int64_t> begin = evaluator.get(loop.getLowerBound()),
                         end = evaluator.get(loop.getUpperBound());
  if (!begin || !end)
    return unknown();
  for (int64_t number = *begin; number < *end; ++number) {
    std::optional<int64_t> block = keyBlockOf(loop, number);
    if (!block || *block < 0)
      return unknown();
    row.resize(std::max<size_t>(row.size(), *block + 1), BlockMap::kSkipped);
    row[*block] = isFull ? BlockMap::kFull : BlockMap::kPartial;
  }
  return success();
}

LogicalResult MapDrawer::drawRow(int64_t number) {
  evaluator.set(place[2], number);
  std::string row;
  LogicalResult result = success();
  evaluator.run(*forall.getBody(), [&](scf::ForOp loop) {
    if (succeeded(result))
      result = drawLoop(loop, row);
  });
  map.rows.push_back(std::move(row));
  return result;
}

FailureOr<BlockMap> MapDrawer::draw(int64_t batch, int64_t head) {
  FailureOr<int64_t> batches = extent(0), heads = extent(1), rows = extent(2);
  if (failed(batches) || failed(heads) || failed(rows))
    return failure();
  auto check = [&](StringRef name, int64_t number, int64_t count) {
    if (number >= 0 && number < count)
      return success();
    return LogicalResult(forall.emitError() << name << " is " << number
                                            << "; there are " << count);
  };
  if (failed(check("batch", batch, *batches)) ||
      failed(check("head", head, *heads)))
    return failure();
  evaluator.set(place[0], batch);
  evaluator.set(place[1], head);
  for (int64_t number = 0; number < *rows; ++number)
    if (failed(drawRow(number)))
      return failure();
  size_t width = 0;
  if (std::optional<int64_t> keys = evaluator.extentOf("Sk"))
    width = llvm::divideCeil(*keys, map.tileKV);
  for (const std::string &row : map.rows)
    width = std::max(width, row.size());
  for (std::string &row : map.rows)
    row.resize(width, BlockMap::kSkipped);
  return map;
}

/// Refuses a number for what the function has not.
static LogicalResult checkGiven(func::FuncOp function,
                                const GivenNumbers &given) {
  SetVector<StringRef> names;
  auto operands = function->getAttrOfType<ArrayAttr>(kOperandsAttr);
  if (!operands)
    return success();
  for (auto operand : operands.getAsRange<DictionaryAttr>()) {
    if (auto dims = operand.getAs<ArrayAttr>("dims"))
      for (auto dim : dims.getAsRange<StringAttr>())
        names.insert(dim.getValue());
    if (auto role = operand.getAs<StringAttr>("role"))
      names.insert(role.getValue());
  }
  for (StringRef name : given.keys())
    if (!names.contains(name))
      return emitError(function.getLoc())
             << "a number is given for '" << name << "'; the function has "
             << llvm::join(names, ", ");
  return success();
}

FailureOr<SmallVector<BlockMap>>
mlir::fa::computeBlockMaps(func::FuncOp function, const GivenNumbers &given,
                           int64_t batch, int64_t head) {
  if (failed(checkGiven(function, given)))
    return failure();
  // Folding rewrites.
  OwningOpRef<func::FuncOp> copy = function.clone();
  IntegerEvaluator evaluator(*copy, given);
  evaluator.run(copy->front(), [](scf::ForOp) {});
  SmallVector<BlockMap> maps;
  WalkResult result = copy->walk([&](scf::ForallOp forall) {
    auto schedule = forall->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule)
      return WalkResult::advance();
    FailureOr<BlockMap> map =
        MapDrawer(evaluator, forall, schedule).draw(batch, head);
    if (failed(map))
      return WalkResult::interrupt();
    maps.push_back(std::move(*map));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return maps;
}
