//===- FAAttentionOps.cpp - what fa.attention tells of itself ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accessors, memory effects and result shapes of fa.attention and fa.merge.
// AttentionOp::getShapedOperands is the table of operands and the names of
// their dimensions, from which the verifier, the shapes of results and the
// manifest are made.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fa;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

Value AttentionOp::getOutput() {
  return isMemRefForm() ? getOuts()[0] : getResults()[0];
}

Value AttentionOp::getLse() {
  ValueRange outputs =
      isMemRefForm() ? ValueRange(getOuts()) : ValueRange(getResults());
  return outputs.size() > 1 ? outputs[1] : Value();
}

Layout AttentionOp::getLayoutKind() {
  return symbolizeLayout(getLayout()).value_or(Layout::BHSD);
}
Precision AttentionOp::getPrecisionKind() {
  return symbolizePrecision(getPrecision()).value_or(Precision::IEEE);
}
EmptyRow AttentionOp::getEmptyRowKind() {
  return symbolizeEmptyRow(getEmptyRow()).value_or(EmptyRow::Zero);
}

SmallVector<MaskAttr> AttentionOp::getMaskAttrs() {
  if (!getMasksAttr())
    return {};
  return llvm::to_vector(getMasksAttr().getAsRange<MaskAttr>());
}

Alignment AttentionOp::getAlibiAlignment() {
  for (MaskAttr mask : getMaskAttrs())
    if (auto causal = dyn_cast<CausalAttr>(mask))
      return causal.getAlignment();
  return Alignment::BottomRight;
}

std::optional<double> AttentionOp::getStaticScale() {
  if (getScaleOperand())
    return std::nullopt;
  if (FloatAttr scale = getScaleAttr())
    return scale.getValueAsDouble();
  int64_t headDim = getDims().D;
  if (ShapedType::isDynamic(headDim) || headDim < 1)
    return std::nullopt;
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(headDim)));
}

AttentionDims AttentionOp::getDims() {
  constexpr DimPositions bhsd = {0, 1, 2, 3}, bshd = {0, 2, 1, 3},
                         packed = {-1, 1, 0, 2};
  DimPositions dense = getLayoutKind() == Layout::BSHD ? bshd : bhsd;
  AttentionDims dims;
  dims.query = isPacked() ? packed : dense;
  dims.keyValue = isPacked() && !isPaged() ? packed : dense;

  auto query = cast<ShapedType>(getQuery().getType());
  auto key = cast<ShapedType>(getKey().getType());
  auto value = cast<ShapedType>(getValue().getType());
  auto extent = [](ShapedType type, int64_t position) {
    return position >= 0 && position < type.getRank()
               ? type.getDimSize(position)
               : ShapedType::kDynamic;
  };
  dims.Hq = extent(query, dims.query.heads);
  dims.Hkv = extent(key, dims.keyValue.heads);
  dims.D = extent(query, dims.query.feature);
  dims.Dv = extent(value, dims.keyValue.feature);
  dims.B = extent(query, dims.query.batch);
  dims.Sq = extent(query, dims.query.seq);
  dims.Sk = extent(key, dims.keyValue.seq);
  dims.Tq = dims.Tk = 0;
  if (isPacked()) {
    auto offsets = cast<ShapedType>(getQOffsets().getType());
    int64_t numOffsets = extent(offsets, 0);
    dims.B = ShapedType::isDynamic(numOffsets) ? numOffsets : numOffsets - 1;
    dims.Tq = std::exchange(dims.Sq, ShapedType::kDynamic);
    if (!isPaged())
      dims.Tk = dims.Sk;
  }
  if (isPacked() || isPaged())
    dims.Sk = ShapedType::kDynamic;
  return dims;
}

/// The trailing names for an operand that is broadcast from the right; "1"
/// where its extent is 1. Nothing when the rank is none that broadcasts.
static SmallVector<StringRef, 4> broadcastNames(Value operand) {
  static constexpr StringRef names[] = {"B", "Hq", "Sq", "Sk"};
  auto type = cast<ShapedType>(operand.getType());
  if (type.getRank() < 1 || type.getRank() > 4)
    return {};
  SmallVector<StringRef, 4> result(
      ArrayRef<StringRef>(names).take_back(type.getRank()));
  for (auto [name, extent] : llvm::zip(result, type.getShape()))
    if (extent == 1)
      name = "1";
  return result;
}

SmallVector<AttentionOperand> AttentionOp::getShapedOperands() {
  SmallVector<AttentionOperand> operands;
  auto add = [&](StringRef role, Value value, ArrayRef<StringRef> dims,
                 StringRef shortens = "") {
    if (value)
      operands.push_back(
          {role, value, SmallVector<StringRef, 4>(dims), shortens});
  };
  bool isBSHD = getLayoutKind() == Layout::BSHD;
  auto queryDims = [&](StringRef feature) -> SmallVector<StringRef, 4> {
    if (isPacked())
      return {"Tq", "Hq", feature};
    if (isBSHD)
      return {"B", "Sq", "Hq", feature};
    return {"B", "Hq", "Sq", feature};
  };
  auto keyDims = [&](StringRef feature) -> SmallVector<StringRef, 4> {
    if (isPacked() && !isPaged())
      return {"Tk", "Hkv", feature};
    StringRef batch = isPaged() ? "pages" : "B";
    StringRef seq = isPaged() ? "page_size" : "Sk";
    if (isBSHD)
      return {batch, seq, "Hkv", feature};
    return {batch, "Hkv", seq, feature};
  };
  add("query", getQuery(), queryDims("D"));
  add("key", getKey(), keyDims("D"));
  add("value", getValue(), keyDims("Dv"));
  if (Value bias = getBias())
    add("bias", bias, broadcastNames(bias));
  if (Value mask = getMask())
    add("mask", mask, broadcastNames(mask));
  add("alibi", getAlibi(), {"Hq"});
  add("sink", getSink(), {"Hq"});
  add("q_lengths", getQLengths(), {"B"}, /*shortens=*/"Sq");
  add("kv_lengths", getKvLengths(), {"B"}, /*shortens=*/"Sk");
  add("q_segments", getQSegments(), {"B", "Sq"});
  add("kv_segments", getKvSegments(), {"B", "Sk"});
  add("q_scales", getQScales(), {"B", "Hkv"});
  add("k_scales", getKScales(), {"B", "Hkv"});
  add("v_scales", getVScales(), {"B", "Hkv"});
  add("q_offsets", getQOffsets(), {"B+1"});
  add("kv_offsets", getKvOffsets(), {"B+1"});
  add("pages", getPages(), {"B", "table"});
  add("out", getOutput(), queryDims("Dv"));
  if (isPacked())
    add("lse", getLse(), {"Hq", "Tq"});
  else
    add("lse", getLse(), {"B", "Hq", "Sq"});
  return operands;
}

SmallVector<AttentionOperand> MergeOp::getShapedOperands() {
  // Partial results of packed sequences are [Tq, Hq, Dv] and [Hq, Tq].
  bool isPacked = cast<ShapedType>(getPartials()[0].getType()).getRank() == 3;
  SmallVector<StringRef, 4> out = {"B", "Hq", "Sq", "Dv"};
  SmallVector<StringRef, 4> lse = {"B", "Hq", "Sq"};
  if (isPacked) {
    out = {"Tq", "Hq", "Dv"};
    lse = {"Hq", "Tq"};
  } else if (getLayout() == stringifyLayout(Layout::BSHD)) {
    out = {"B", "Sq", "Hq", "Dv"};
  }
  SmallVector<AttentionOperand> operands;
  for (auto [partial, partialLse] : llvm::zip(getPartials(), getLses())) {
    operands.push_back({"partial", partial, out});
    operands.push_back({"partial lse", partialLse, lse});
  }
  operands.push_back({"out", getOutput(), out});
  operands.push_back({"lse", getLse(), lse});
  return operands;
}

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Memrefs are read, `outs` are written; tensors have no effect.
static void addEffects(Operation *op, MutableOperandRange outs,
                       Effects &effects) {
  unsigned firstOut =
      outs.empty() ? op->getNumOperands() : outs[0].getOperandNumber();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (operand.getOperandNumber() < firstOut)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

void AttentionOp::getEffects(Effects &effects) {
  addEffects(*this, getOutsMutable(), effects);
  // The regions read what they see from outside; the verifier allows no more.
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(getOperation()->getRegions(), captured);
  if (llvm::any_of(captured,
                   [](Value v) { return isa<MemRefType>(v.getType()); }))
    effects.emplace_back(MemoryEffects::Read::get());
}

void MergeOp::getEffects(Effects &effects) {
  addEffects(*this, getOutsMutable(), effects);
}

//===----------------------------------------------------------------------===//
// Shapes of results
//===----------------------------------------------------------------------===//

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  if (isMemRefForm())
    return failure();
  SmallVector<AttentionOperand> operands = getShapedOperands();
  // Each name of a dimension of a result is found in query or value.
  auto find = [&](StringRef name) {
    for (Value input : {getQuery(), getValue()})
      for (AttentionOperand &operand : operands)
        if (operand.value == input)
          for (auto [position, dim] : llvm::enumerate(operand.dims))
            if (dim == name)
              return tensor::getMixedSize(builder, getLoc(), input, position);
    return OpFoldResult();
  };
  for (AttentionOperand &operand : operands)
    if (llvm::is_contained(getResults(), operand.value))
      shapes.push_back(llvm::map_to_vector(operand.dims, find));
  return success();
}

LogicalResult MergeOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  if (isMemRefForm())
    return failure();
  shapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getPartials().front()));
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getLses().front()));
  return success();
}
