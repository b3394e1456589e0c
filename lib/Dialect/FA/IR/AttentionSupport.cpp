//===- AttentionSupport.cpp - what the compiler can do now ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that learns a clause changes a `false` here, and nothing else here.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/AttentionSupport.h"
#include "fa/Support/Limits.h"
#include "fa/Support/Manifest.h"
#include "fa/Support/RegionProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fa;

template <typename Mask> static bool hasMask(AttentionOp op) {
  return llvm::any_of(op.getMaskAttrs(), llvm::IsaPred<Mask>);
}

static bool hasPrefix(AttentionOp op) {
  return llvm::any_of(op.getMaskAttrs(), [](MaskAttr mask) {
    auto causal = dyn_cast<CausalAttr>(mask);
    return causal && causal.getPrefix() > 0;
  });
}

static bool hasSplits(AttentionOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  return schedule && schedule.getSplits().value_or(1) != 1;
}

ArrayRef<ClauseSupport> mlir::fa::getClauseSupport() {
  using Op = AttentionOp;
  static const ClauseSupport table[] = {
      {"scale", true,
       [](Op op) { return op.getScaleAttr() || op.getScaleOperand(); }},
      {"#fa.causal", true, hasMask<CausalAttr>},
      {"#fa.causal with prefix", true, hasPrefix},
      {"#fa.window", true, hasMask<WindowAttr>},
      {"#fa.chunk", true, hasMask<ChunkAttr>},
      {"softcap", true, [](Op op) { return bool(op.getSoftcapAttr()); }},
      {"bias", true, [](Op op) { return bool(op.getBias()); }},
      {"mask", true, [](Op op) { return bool(op.getMask()); }},
      {"alibi", true, [](Op op) { return bool(op.getAlibi()); }},
      {"sink", true, [](Op op) { return bool(op.getSink()); }},
      {"q_lengths", true, [](Op op) { return bool(op.getQLengths()); }},
      {"kv_lengths", true, [](Op op) { return bool(op.getKvLengths()); }},
      {"segments", true, [](Op op) { return bool(op.getQSegments()); }},
      {"scales", false, [](Op op) { return bool(op.getQScales()); }},
      {"q_offsets", false, [](Op op) { return bool(op.getQOffsets()); }},
      {"kv_offsets", false, [](Op op) { return bool(op.getKvOffsets()); }},
      {"pages", false, [](Op op) { return bool(op.getPages()); }},
      {"dropout", true, [](Op op) { return bool(op.getDropoutAttr()); }},
      {"score", true, [](Op op) { return op.hasScore(); }},
      {"visible", true, [](Op op) { return op.hasVisible(); }},
      {"lse", true, [](Op op) { return bool(op.getLse()); }},
      {"layout = bshd", true,
       [](Op op) { return op.getLayoutKind() == Layout::BSHD; }},
      {"empty_row = nan", true,
       [](Op op) { return op.getEmptyRowKind() == EmptyRow::NaN; }},
      {"empty_row = uniform", true,
       [](Op op) { return op.getEmptyRowKind() == EmptyRow::Uniform; }},
      {"precision = tf32x3", false,
       [](Op op) { return op.getPrecisionKind() == Precision::TF32x3; }},
      {"precision = tf32", false,
       [](Op op) { return op.getPrecisionKind() == Precision::TF32; }},
      {"schedule with splits above 1", false, hasSplits},
  };
  return table;
}

static LogicalResult checkHeadDim(AttentionOp op, StringRef name,
                                  int64_t headDim) {
  if (ShapedType::isDynamic(headDim))
    return op.emitOpError("head dim ")
           << name << " that is not static is not supported yet";
  if (headDim < 1 || headDim > kMaxHeadDim)
    return op.emitOpError("head dim ")
           << name << " = " << headDim
           << " is not supported yet, supported are those from 1 to "
           << kMaxHeadDim;
  return success();
}

static LogicalResult checkPositions(AttentionOp op) {
  AttentionDims dims = op.getDims();
  for (auto [name, extent] : {std::pair("Sq", dims.Sq), {"Sk", dims.Sk}})
    if (extent > farun::kMaxPositions)
      return op.emitOpError("extent ")
             << name << " = " << extent
             << " is not supported yet, supported are at most "
             << farun::kMaxPositions;
  return success();
}

/// The factor of the exponent, |scale| log2 e, is an f32.
static LogicalResult checkScale(AttentionOp op) {
  std::optional<double> scale = op.getStaticScale();
  if (scale && !farun::isScaleInRange(*scale))
    return op.emitOpError("scale ")
           << *scale << " is not supported yet, |scale| log2 e must be finite "
           << "in f32";
  return success();
}

static LogicalResult checkSoftcap(AttentionOp op) {
  FloatAttr softcap = op.getSoftcapAttr();
  if (softcap && !farun::isSoftcapInRange(softcap.getValueAsDouble()))
    return op.emitOpError("softcap ")
           << softcap.getValueAsDouble()
           << " is not supported yet, it and its reciprocal must be finite in "
              "f32";
  return success();
}

/// What a block of rows has written, others still read as a key.
static LogicalResult checkOwnOuts(AttentionOp op) {
  for (const AttentionOperand &operand : op.getShapedOperands()) {
    bool isOut = llvm::is_contained({"out", "lse"}, operand.role);
    if (!isOut && llvm::is_contained(op.getOuts(), operand.value))
      return op.emitOpError("'outs' holds the ")
             << operand.role << "; results need memory of their own";
  }
  return success();
}

/// A memref of no elements has no first element for a view to start at.
static LogicalResult checkNotEmpty(AttentionOp op) {
  AttentionDims dims = op.getDims();
  for (auto [name, extent] :
       {std::pair("B", dims.B), {"Sq", dims.Sq}, {"Sk", dims.Sk}})
    if (extent == 0)
      return op.emitOpError("an extent ")
             << name
             << " that is 0 in the types is not supported yet; one that is "
                "open may be 0 at run time";
  return success();
}

std::string mlir::fa::getRegionOpName(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  if (isa<arith::ConstantOp>(op))
    name = "constant";
  else if (isa<memref::LoadOp, tensor::ExtractOp>(op))
    name = "load";
  else if (auto compare = dyn_cast<arith::CmpIOp>(op))
    name += " " + stringifyCmpIPredicate(compare.getPredicate()).str();
  else if (auto compare = dyn_cast<arith::CmpFOp>(op))
    name += " " + stringifyCmpFPredicate(compare.getPredicate()).str();
  return farun::findRegionOp(name) ? name : "";
}

SmallVector<Operation *> mlir::fa::getNeededOps(Region &region) {
  Block &block = region.front();
  llvm::SetVector<Operation *> needed;
  auto isNeeded = [&](Operation *user) {
    return needed.contains(block.findAncestorOpInBlock(*user));
  };
  for (Operation &op : llvm::reverse(block))
    if (!wouldOpBeTriviallyDead(&op) || llvm::any_of(op.getUsers(), isNeeded))
      needed.insert(&op);
  SmallVector<Operation *> ops = needed.takeVector();
  std::reverse(ops.begin(), ops.end());
  return ops;
}

bool mlir::fa::isTableElement(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() ||
         type.isSignlessInteger(1) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64);
}

/// What is divided by a constant of 0 has no value, nor has the quotient that
/// no number of its type is.
static LogicalResult checkDivisor(Operation &op, StringRef region) {
  bool isSigned = isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                      arith::RemSIOp>(op);
  if (!isSigned && !isa<arith::DivUIOp, arith::RemUIOp>(op))
    return success();
  APInt dividend, divisor;
  if (!matchPattern(op.getOperand(1), m_ConstantInt(&divisor)))
    return success();
  if (divisor.isZero())
    return op.emitOpError("in the ") << region << " region divides by 0";
  if (isSigned && divisor.isAllOnes() &&
      matchPattern(op.getOperand(0), m_ConstantInt(&dividend)) &&
      dividend.isMinSignedValue())
    return op.emitOpError("in the ")
           << region << " region divides the least number of "
           << op.getResult(0).getType() << " by -1";
  return success();
}

/// Names the op and, where others of its predicates are compiled, those.
static LogicalResult refuseOp(Operation &op, StringRef region) {
  std::string found;
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    found = stringifyCmpFPredicate(compare.getPredicate()).str() + " ";
  InFlightDiagnostic error = op.emitOpError(found)
                             << "in the " << region
                             << " region is not supported yet";
  if (found.empty())
    return error;
  SmallVector<StringRef> supported;
  for (const farun::RegionOpFacts &facts : farun::kRegionOps)
    if (StringRef name = facts.name; name.consume_front("arith.cmpf "))
      supported.push_back(name);
  return error << "; supported are " << llvm::join(supported, ", ");
}

/// Of what is made in a region and of what comes from outside.
static LogicalResult checkTypes(Operation &op, StringRef region) {
  auto check = [&](StringRef verb, Type type) -> LogicalResult {
    if (isTableElement(type) || isa<IndexType>(type))
      return success();
    return op.emitOpError("in the ")
           << region << " region " << verb << " " << type
           << ", which is not supported yet; supported are f32, f16, bf16, "
              "i1, i32, i64 and index";
  };
  for (Type type : op.getResultTypes())
    if (failed(check("gives", type)))
      return failure();
  for (Type type : op.getOperandTypes())
    if (!isa<MemRefType, TensorType>(type) && failed(check("takes", type)))
      return failure();
  return success();
}

/// A region is compiled, and written down for the oracle, op by op; what it
/// computes in vain is not.
static LogicalResult checkRegion(AttentionOp op, StringRef name,
                                 Region &region) {
  if (region.empty())
    return success();
  for (Operation *inner : getNeededOps(region)) {
    if (isa<fa::YieldOp>(inner))
      continue;
    if (getRegionOpName(inner).empty())
      return refuseOp(*inner, name);
    if (failed(checkDivisor(*inner, name)))
      return failure();
    if (failed(checkTypes(*inner, name)))
      return failure();
  }
  return success();
}

LogicalResult mlir::fa::checkSupported(AttentionOp op) {
  for (const ClauseSupport &clause : getClauseSupport())
    if (!clause.isSupported && clause.isUsed(op))
      return op.emitOpError("'") << clause.name << "' is not supported yet";

  Type type = getElementTypeOrSelf(op.getQuery());
  if (!type.isF16() && !type.isBF16() && !type.isF32())
    return op.emitOpError("element type ")
           << type << " is not supported yet, supported are f16, bf16 and f32";
  AttentionDims dims = op.getDims();
  return success(succeeded(checkOwnOuts(op)) &&
                 succeeded(checkRegion(op, "score", op.getScore())) &&
                 succeeded(checkRegion(op, "visible", op.getVisible())) &&
                 succeeded(checkNotEmpty(op)) &&
                 succeeded(checkPositions(op)) && succeeded(checkScale(op)) &&
                 succeeded(checkSoftcap(op)) &&
                 succeeded(checkHeadDim(op, "D", dims.D)) &&
                 succeeded(checkHeadDim(op, "Dv", dims.Dv)));
}

LogicalResult mlir::fa::checkSupported(MergeOp op) {
  return op.emitOpError("is not supported yet");
}
