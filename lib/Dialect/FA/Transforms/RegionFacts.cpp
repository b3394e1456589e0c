//===- RegionFacts.cpp - regions as plain data ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionFacts.h"
#include "fa/Dialect/FA/IR/AttentionSupport.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fa;

SetVector<Value> mlir::fa::getRegionInputs(AttentionOp op) {
  SetVector<Value> used, inputs;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used)
    if (!matchPattern(value, m_Constant()))
      inputs.insert(value);
  return inputs;
}

namespace {

/// Numbers the values of a region as it writes them down.
class RegionDescriber {
public:
  RegionDescriber(Region &region,
                  function_ref<BlockArgument(Value)> findArgument)
      : region(region), findArgument(findArgument), b(region.getContext()) {}

  DictionaryAttr describe();

private:
  int64_t numberOf(Value value);
  int64_t add(Value value, StringRef op, ArrayRef<int64_t> arguments,
              ArrayRef<NamedAttribute> more = {});
  void addOp(Operation &op);
  NamedAttribute named(StringRef name, Attribute value) {
    return b.getNamedAttr(name, value);
  }
  Attribute operandNumber(Value value) {
    return b.getI64IntegerAttr(findArgument(value).getArgNumber());
  }

  Region &region;
  function_ref<BlockArgument(Value)> findArgument;
  Builder b;
  DenseMap<Value, int64_t> numbers;
  SmallVector<Attribute> values;
};

} // namespace

int64_t RegionDescriber::add(Value value, StringRef op,
                             ArrayRef<int64_t> arguments,
                             ArrayRef<NamedAttribute> more) {
  Type type = value.getType();
  if (isa<IndexType>(type))
    type = b.getI64Type();
  std::string typeText;
  llvm::raw_string_ostream(typeText) << type;
  SmallVector<NamedAttribute> facts = {
      named("op", b.getStringAttr(op)),
      named("type", b.getStringAttr(typeText)),
      named("arguments", b.getI64ArrayAttr(arguments))};
  llvm::append_range(facts, more);
  int64_t number = region.getNumArguments() + values.size();
  values.push_back(b.getDictionaryAttr(facts));
  numbers[value] = number;
  return number;
}

int64_t RegionDescriber::numberOf(Value value) {
  if (auto it = numbers.find(value); it != numbers.end())
    return it->second;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (auto truth = dyn_cast<BoolAttr>(constant))
      constant = b.getI64IntegerAttr(truth.getValue());
    return add(value, "constant", {}, named("value", constant));
  }
  return add(value, "operand", {}, named("operand", operandNumber(value)));
}

void RegionDescriber::addOp(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return;
  SmallVector<int64_t> arguments;
  auto load = dyn_cast<memref::LoadOp>(op);
  for (Value operand :
       load ? ValueRange(load.getIndices()) : ValueRange(op.getOperands()))
    arguments.push_back(numberOf(operand));
  SmallVector<NamedAttribute> more;
  if (load)
    more.push_back(named("operand", operandNumber(load.getMemRef())));
  add(op.getResult(0), getRegionOpName(&op), arguments, more);
}

DictionaryAttr RegionDescriber::describe() {
  for (auto [number, argument] : llvm::enumerate(region.getArguments()))
    numbers[argument] = number;
  Block &block = region.front();
  for (Operation &op : block.without_terminator())
    addOp(op);
  int64_t result =
      numberOf(cast<fa::YieldOp>(block.getTerminator()).getValue());
  return b.getDictionaryAttr({named("values", b.getArrayAttr(values)),
                              named("result", b.getI64IntegerAttr(result))});
}

DictionaryAttr
mlir::fa::describeRegion(Region &region,
                         function_ref<BlockArgument(Value)> findArgument) {
  return RegionDescriber(region, findArgument).describe();
}
