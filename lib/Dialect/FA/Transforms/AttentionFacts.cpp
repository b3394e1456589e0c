//===- AttentionFacts.cpp - what the tile stage takes and notes ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionFacts.h"
#include "RegionFacts.h"
#include "fa/Dialect/FA/IR/AttentionSupport.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fa;

//===----------------------------------------------------------------------===//
// What is accepted
//===----------------------------------------------------------------------===//

LogicalResult mlir::fa::checkTileable(AttentionOp op) {
  if (!op.isMemRefForm())
    return op.emitOpError("is on tensors; bufferize it before it is tiled");
  // Asked again, because the pass may run alone.
  if (failed(checkSupported(op)))
    return failure();
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule || !schedule.getTileQ() || !schedule.getTileKv() ||
      !schedule.getWarps() || !schedule.getStages() || !schedule.getState())
    return op.emitOpError("has no complete schedule; fa-select-schedule "
                          "completes it");
  return success();
}

const TargetInfo *mlir::fa::lookupModuleTarget(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto name =
      module ? module->getAttrOfType<StringAttr>(kTargetAttr) : StringAttr();
  if (!name) {
    op->emitError("the module names no target (")
        << kTargetAttr << "); fa-select-schedule sets it";
    return nullptr;
  }
  std::string error;
  const TargetInfo *target = lookupTarget(name, error);
  if (!target)
    op->emitError(error);
  return target;
}

StridedLayoutAttr mlir::fa::getDynamicStrides(MLIRContext *context,
                                              int64_t rank) {
  SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
  return StridedLayoutAttr::get(context, ShapedType::kDynamic, strides);
}

FailureOr<Value> mlir::fa::emitDynamicStrides(OpBuilder &builder,
                                              AttentionOp op, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isStrided())
    return op.emitOpError("operand of type ")
           << type << " has no strides; only strided layouts are accepted";
  auto dynamic =
      MemRefType::get(type.getShape(), type.getElementType(),
                      getDynamicStrides(type.getContext(), type.getRank()),
                      type.getMemorySpace());
  if (dynamic == type)
    return memref;
  return memref::CastOp::create(builder, op.getLoc(), dynamic, memref)
      .getResult();
}

//===----------------------------------------------------------------------===//
// What regions read in vain
//===----------------------------------------------------------------------===//

/// The function's arguments from which something is computed that a region
/// reads.
static SmallVector<BlockArgument> findArgumentsOfRegions(func::FuncOp func) {
  SetVector<Value> values;
  func.walk([&](AttentionOp op) { values.insert_range(getRegionInputs(op)); });
  SmallVector<BlockArgument> arguments;
  for (size_t n = 0; n < values.size(); ++n) {
    auto argument = dyn_cast<BlockArgument>(values[n]);
    if (argument && argument.getOwner() == &func.getBody().front())
      arguments.push_back(argument);
    else if (Operation *def = values[n].getDefiningOp())
      values.insert_range(def->getOperands());
  }
  return arguments;
}

void mlir::fa::eraseDeadCodeOfRegions(func::FuncOp func) {
  auto isThere = [](Region &region) { return !region.empty(); };
  WalkResult regions = func.walk([&](AttentionOp op) {
    return llvm::any_of(op->getRegions(), isThere) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
  });
  if (!regions.wasInterrupted())
    return;
  SmallVector<BlockArgument> arguments = findArgumentsOfRegions(func);
  func.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (!isa_and_nonnull<FADialect>(op->getDialect()) && isOpTriviallyDead(op))
      op->erase();
  });
  for (BlockArgument argument : arguments)
    if (argument.use_empty())
      func.setArgAttr(argument.getArgNumber(), kReadInVainAttr,
                      UnitAttr::get(func.getContext()));
}

//===----------------------------------------------------------------------===//
// What is noted
//===----------------------------------------------------------------------===//

void mlir::fa::recordSource(func::FuncOp func, AttentionOp op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope());
  func->setAttr(kSourceAttr, StringAttr::get(func.getContext(), text));
}

static Value seeThroughCasts(Value value) {
  Operation *def = value.getDefiningOp();
  while (isa_and_nonnull<memref::CastOp, tensor::CastOp>(def)) {
    value = def->getOperand(0);
    def = value.getDefiningOp();
  }
  return value;
}

/// The argument of the function that `value` is, seen through casts.
static BlockArgument findArgument(Value value) {
  return dyn_cast<BlockArgument>(seeThroughCasts(value));
}

static std::string printWholeType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::string printType(Type type) {
  if (isa<IndexType>(type))
    return "i64"; // as kernels are handed it
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(type);
  return text;
}

static DictionaryAttr describeOperand(Builder &b, StringRef role,
                                      StringRef kind, Type type,
                                      ArrayRef<StringRef> dims,
                                      ArrayRef<Attribute> also, bool broadcasts,
                                      StringRef shortens) {
  SmallVector<NamedAttribute> facts = {
      b.getNamedAttr("role", b.getStringAttr(role)),
      b.getNamedAttr("kind", b.getStringAttr(kind)),
      b.getNamedAttr("type", b.getStringAttr(printType(type))),
      b.getNamedAttr("dims", b.getStrArrayAttr(dims))};
  if (!also.empty())
    facts.push_back(b.getNamedAttr("also", b.getArrayAttr(also)));
  // Its extents may be 1 where those of the same names are more.
  if (broadcasts)
    facts.push_back(b.getNamedAttr("broadcasts", b.getUnitAttr()));
  if (!shortens.empty())
    facts.push_back(b.getNamedAttr("shortens", b.getStringAttr(shortens)));
  return b.getDictionaryAttr(facts);
}

/// The roles that an argument has beside `first`: role and dims of each.
static SmallVector<Attribute>
describeFurtherRoles(Builder &b, BlockArgument argument,
                     const AttentionOperand *first,
                     ArrayRef<AttentionOperand> operands) {
  SmallVector<Attribute> also;
  for (const AttentionOperand &operand : operands)
    if (&operand != first && findArgument(operand.value) == argument)
      also.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("role", b.getStringAttr(operand.role)),
           b.getNamedAttr("dims", b.getStrArrayAttr(operand.dims))}));
  return also;
}

/// The arguments that regions read or have read, in the order of the
/// function's.
static SmallVector<BlockArgument> findRegionArguments(func::FuncOp func,
                                                      AttentionOp op) {
  SetVector<Value> values = getRegionInputs(op);
  SmallVector<BlockArgument> result;
  for (BlockArgument argument : func.getArguments())
    if (func.getArgAttr(argument.getArgNumber(), kReadInVainAttr) ||
        llvm::any_of(values, [&](Value value) {
          return findArgument(value) == argument;
        }))
      result.push_back(argument);
  return result;
}

/// Where a value that is no argument of the function comes from.
static std::string describeSource(Value value) {
  value = seeThroughCasts(value);
  Operation *def = value.getDefiningOp();
  Operation *op = def ? def : value.getParentBlock()->getParentOp();
  return (def ? ", but made by '" : ", but one of the body of '") +
         op->getName().getStringRef().str() + "'";
}

/// The name of a region of `op` that uses `value`.
static StringRef getUsingRegion(AttentionOp op, Value value) {
  bool isInScore = llvm::any_of(value.getUsers(), [&](Operation *user) {
    return op.getScore().findAncestorOpInRegion(*user);
  });
  return isInScore ? "score" : "visible";
}

std::string mlir::fa::whyNotOnArguments(func::FuncOp func, AttentionOp op) {
  auto isOfFunction = [&](Value value) {
    BlockArgument argument = findArgument(value);
    return argument && argument.getOwner() == &func.getBody().front();
  };
  SmallVector<AttentionOperand> operands = op.getShapedOperands();
  if (Value scale = op.getScaleOperand())
    operands.push_back({"scale", scale, {}});
  if (Value seed = op.getSeed())
    operands.push_back({"seed", seed, {}});
  for (const AttentionOperand &operand : operands) {
    bool isOwnResult = operand.value.getDefiningOp() == op;
    if (!isOwnResult && !isOfFunction(operand.value))
      return "its " + operand.role.str() + " is no argument" +
             describeSource(operand.value);
  }
  for (Value value : getRegionInputs(op))
    if (!isOfFunction(value))
      return "its " + getUsingRegion(op, value).str() +
             " region uses a value of type " + printWholeType(value.getType()) +
             " that is no argument" + describeSource(value);
  // Arrays have a rank and elements, and nothing else has a shape.
  for (BlockArgument argument : findRegionArguments(func, op))
    if (isa<ShapedType>(argument.getType()) &&
        !isa<MemRefType, RankedTensorType>(argument.getType()))
      return "its regions read argument " +
             std::to_string(argument.getArgNumber()) + " of type " +
             printWholeType(argument.getType()) +
             ", which no launcher can pass";
  return "";
}

void mlir::fa::recordWhyNoEntry(func::FuncOp func, AttentionOp op) {
  std::string whyNot = whyNotOnArguments(func, op);
  if (whyNot.empty())
    func->removeAttr(kNoEntryAttr);
  else if (!func->hasAttr(kNoEntryAttr))
    func->setAttr(kNoEntryAttr, StringAttr::get(func.getContext(), whyNot));
}

static ArrayAttr describeArguments(func::FuncOp func, AttentionOp op) {
  Builder b(func.getContext());
  SmallVector<AttentionOperand> operands = op.getShapedOperands();
  SmallVector<Attribute> result;
  SmallVector<BlockArgument> ofRegions = findRegionArguments(func, op);
  for (BlockArgument argument : func.getArguments()) {
    const auto *operand = llvm::find_if(operands, [&](AttentionOperand &o) {
      return findArgument(o.value) == argument;
    });
    StringRef role = "none", kind = "input";
    ArrayRef<StringRef> dims;
    if (operand != operands.end()) {
      role = operand->role;
      dims = operand->dims;
      if (llvm::is_contained(op.getOuts(), operand->value))
        kind = "output";
    } else if (op.getScaleOperand() == argument || op.getSeed() == argument) {
      role = op.getSeed() == argument ? "seed" : "scale";
      kind = "scalar";
    } else if (!isa<ShapedType>(argument.getType())) {
      kind = "scalar";
    }
    std::string ownRole;
    SmallVector<std::string> ownDims;
    SmallVector<StringRef> ownDimNames;
    if (auto it = llvm::find(ofRegions, argument);
        role == "none" && it != ofRegions.end()) {
      ownRole = "region" + std::to_string(it - ofRegions.begin());
      role = ownRole;
      if (auto shaped = dyn_cast<ShapedType>(argument.getType()))
        for (int64_t dim = 0; dim < shaped.getRank(); ++dim)
          ownDims.push_back(ownRole + "." + std::to_string(dim));
      llvm::append_range(ownDimNames, ownDims);
      dims = ownDimNames;
    }
    bool broadcasts =
        operand != operands.end() &&
        llvm::is_contained({op.getMask(), op.getBias()}, operand->value);
    result.push_back(describeOperand(
        b, role, kind, argument.getType(), dims,
        describeFurtherRoles(b, argument, operand, operands), broadcasts,
        operand != operands.end() ? operand->shortens : ""));
  }
  return b.getArrayAttr(result);
}

void mlir::fa::recordAttention(func::FuncOp func, AttentionOp op) {
  Builder b(func.getContext());
  SmallVector<Attribute> masks;
  for (MaskAttr mask : op.getMaskAttrs())
    masks.push_back(mask.getDescription());
  SmallVector<NamedAttribute> facts = {
      b.getNamedAttr("masks", b.getArrayAttr(masks)),
      b.getNamedAttr("layout",
                     b.getStringAttr(stringifyLayout(op.getLayoutKind()))),
      b.getNamedAttr("empty_row",
                     b.getStringAttr(stringifyEmptyRow(op.getEmptyRowKind())))};
  if (std::optional<double> scale = op.getStaticScale())
    facts.push_back(b.getNamedAttr("scale", b.getF64FloatAttr(*scale)));
  if (FloatAttr softcap = op.getSoftcapAttr())
    facts.push_back(b.getNamedAttr("softcap", softcap));
  for (auto [name, region] : {std::pair("score", &op.getScore()),
                              std::pair("visible", &op.getVisible())})
    if (!region->empty())
      facts.push_back(
          b.getNamedAttr(name, describeRegion(*region, findArgument)));
  if (FloatAttr dropout = op.getDropoutAttr())
    facts.push_back(b.getNamedAttr("dropout", dropout));
  if (ScheduleAttr schedule = op.getScheduleAttr())
    facts.push_back(b.getNamedAttr("schedule", schedule));
  func->setAttr(kOperandsAttr, describeArguments(func, op));
  func->setAttr(kAttentionAttr, b.getDictionaryAttr(facts));
  if (!func->hasAttr(kSourceAttr))
    recordSource(func, op);
}

TraceArguments mlir::fa::addTraceArguments(func::FuncOp func) {
  Builder b(func.getContext());
  auto buffer =
      MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                      b.getF32Type(), getDynamicStrides(func.getContext(), 2));
  auto mark = b.getDictionaryAttr(b.getNamedAttr(kTraceAttr, b.getUnitAttr()));
  unsigned first = func.getNumArguments();
  for (Type type : {Type(buffer), Type(b.getIndexType())})
    if (failed(func.insertArgument(func.getNumArguments(), type, mark,
                                   func.getLoc())))
      return {};
  return {func.getArgument(first), func.getArgument(first + 1)};
}
