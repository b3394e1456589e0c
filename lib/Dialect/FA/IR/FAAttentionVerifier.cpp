//===- FAAttentionVerifier.cpp - what is a legal attention ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constraints of fa.attention and fa.merge, under the labels of
// docs/AttentionConstraints.md. Ranks and extents are checked from the table
// of operands (getShapedOperands); a dynamic extent is taken to fit. What is
// legal but not compiled yet is none of this file's business: see
// AttentionSupport.cpp.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/AttentionSupport.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fa;

//===----------------------------------------------------------------------===//
// Form, ranks, element types
//===----------------------------------------------------------------------===//

/// attention_c1, merge_c1: tensors go with results and without outs, memrefs
/// with outs and without results; the two are not mixed.
static LogicalResult verifyForm(Operation *op, OperandRange outs,
                                bool isMemRefForm, unsigned leastOutputs) {
  StringRef kind = isMemRefForm ? "memrefs" : "tensors";
  for (Type type : op->getOperandTypes())
    if (isa<ShapedType>(type) && isa<MemRefType>(type) != isMemRefForm)
      return op->emitOpError("expected ")
             << kind << " alone, as the first operand is, found " << type;
  unsigned unwanted = isMemRefForm ? op->getNumResults() : outs.size();
  if (unwanted != 0)
    return op->emitOpError("on ")
           << kind << " expected " << (isMemRefForm ? "outs" : "results")
           << " alone, found " << unwanted
           << (isMemRefForm ? " results" : " outs");
  unsigned found = isMemRefForm ? outs.size() : op->getNumResults();
  if (found < leastOutputs || found > 2) {
    InFlightDiagnostic diag = op->emitOpError("expected ");
    diag << (leastOutputs == 1 ? "O and at most LSE" : "O and LSE")
         << (isMemRefForm ? " as outs" : " as results");
    return diag << ", found " << found;
  }
  return success();
}

/// attention_c2, merge_c2: each operand has the rank of its role.
static LogicalResult verifyRanks(Operation *op,
                                 ArrayRef<AttentionOperand> operands) {
  for (const AttentionOperand &operand : operands) {
    int64_t rank = operand.getType().getRank();
    // No names: a mask or bias of a rank that has none, 0 among them.
    if (!operand.dims.empty() &&
        rank == static_cast<int64_t>(operand.dims.size()))
      continue;
    InFlightDiagnostic diag = op->emitOpError("expected ");
    diag << operand.role << " of rank ";
    if (operand.dims.empty())
      return diag << "1 to 4, found rank " << rank;
    diag << operand.dims.size() << " (";
    llvm::interleaveComma(operand.dims, diag);
    return diag << "), found rank " << rank;
  }
  return success();
}

static LogicalResult verifyElementType(Operation *op,
                                       const AttentionOperand &operand,
                                       bool isAccepted, const Twine &accepted) {
  if (isAccepted)
    return success();
  return op->emitOpError("expected ")
         << operand.role << " with elements of type " << accepted << ", found "
         << operand.getType().getElementType();
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// attention_c3 (query, key, value, out) and attention_c4 (the others).
static LogicalResult verifyElementTypes(AttentionOp op,
                                        ArrayRef<AttentionOperand> operands) {
  Type queryType = getElementTypeOrSelf(op.getQuery());
  for (const AttentionOperand &operand : operands) {
    Type type = operand.getType().getElementType();
    bool isWide = type.isF16() || type.isBF16() || type.isF32();
    bool isAccepted = false;
    std::string accepted;
    if (operand.role == "query") {
      isAccepted = isWide || isFloat8(type);
      accepted = "f32, f16, bf16, f8E4M3FN or f8E5M2";
    } else if (operand.role == "key" || operand.role == "value") {
      isAccepted = type == queryType;
      llvm::raw_string_ostream(accepted) << queryType << ", as query has";
    } else if (operand.role == "out" || operand.role == "bias") {
      isAccepted = isWide;
      accepted = "f32, f16 or bf16";
    } else if (operand.role == "mask") {
      isAccepted = type.isInteger(1);
      accepted = "i1";
    } else if (operand.role == "alibi" || operand.role == "sink" ||
               operand.role == "lse" || operand.role.ends_with("_scales")) {
      isAccepted = type.isF32();
      accepted = "f32";
    } else {
      isAccepted = type.isSignlessInteger(32);
      accepted = "i32";
    }
    if (failed(verifyElementType(op, operand, isAccepted, accepted)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// attention_c5, merge_c4: extents of one name agree. attention_c8: a bias or
/// mask is broadcast from the right, and shorter than that is refused.
static LogicalResult verifyExtents(Operation *op,
                                   ArrayRef<AttentionOperand> operands) {
  struct Known {
    StringRef role;
    int64_t extent;
  };
  llvm::StringMap<Known> known;
  for (const AttentionOperand &operand : operands) {
    for (auto [position, name] : llvm::enumerate(operand.dims)) {
      int64_t extent = operand.getType().getDimSize(position);
      if (name == "1" || ShapedType::isDynamic(extent))
        continue;
      StringRef plainName = name;
      if (plainName.consume_back("+1"))
        extent -= 1;
      auto [it, isNew] = known.insert({plainName, {operand.role, extent}});
      if (isNew || it->second.extent == extent)
        continue;
      InFlightDiagnostic diag = op->emitOpError(operand.role);
      diag << " has " << plainName << " = " << extent << " in dimension "
           << position << ", but " << it->second.role << " has " << plainName
           << " = " << it->second.extent;
      if (operand.role == "bias" || operand.role == "mask")
        diag << ", and a " << operand.role
             << " has the whole extent or 1 in each dimension";
      return diag;
    }
  }
  return success();
}

/// attention_c6 (heads), attention_c7 (head dims, pages, offsets).
static LogicalResult verifyDims(AttentionOp op) {
  AttentionDims dims = op.getDims();
  // kDynamic is negative, so these tests see static extents alone.
  bool isKnown = dims.Hq >= 0 && dims.Hkv >= 0;
  if (dims.Hq == 0 || dims.Hkv == 0 || (isKnown && dims.Hq % dims.Hkv != 0)) {
    auto count = [](int64_t extent) {
      return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
    };
    return op.emitOpError("expected the number of query heads to be a positive "
                          "multiple of the number of key and value heads, "
                          "found Hq = ")
           << count(dims.Hq) << " and Hkv = " << count(dims.Hkv);
  }
  if (dims.D == 0 || dims.Dv == 0)
    return op.emitOpError("expected head dims of at least 1, found ")
           << (dims.D == 0 ? "D = 0 of query and key" : "Dv = 0 of value");
  if (op.isPaged()) {
    auto key = cast<ShapedType>(op.getKey().getType());
    if (key.getDimSize(dims.keyValue.seq) == 0)
      return op.emitOpError("expected pages of at least 1 key, found 0");
  }
  if (op.isPacked() && dims.B == -1)
    return op.emitOpError("expected q_offsets with B + 1 elements, found 0");
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers and words
//===----------------------------------------------------------------------===//

/// attention_c9 (scale), attention_c10 (softcap), attention_c11 (dropout).
static LogicalResult verifyNumbers(AttentionOp op) {
  if (op.getScaleAttr() && op.getScaleOperand())
    return op.emitOpError(
        "expected a scale as attribute or as operand, found both");
  if (FloatAttr scale = op.getScaleAttr())
    if (!scale.getValue().isFinite())
      return op.emitOpError("expected a finite scale, found ")
             << scale.getValueAsDouble();
  if (FloatAttr softcap = op.getSoftcapAttr()) {
    double cap = softcap.getValueAsDouble();
    if (!std::isfinite(cap) || cap <= 0)
      return op.emitOpError("expected a finite softcap above 0, found ") << cap;
  }
  if (static_cast<bool>(op.getDropoutAttr()) != static_cast<bool>(op.getSeed()))
    return op.emitOpError("expected dropout and its seed together, found ")
           << (op.getSeed() ? "the seed" : "dropout") << " alone";
  if (FloatAttr dropout = op.getDropoutAttr()) {
    double probability = dropout.getValueAsDouble();
    if (!(probability >= 0 && probability <= 1))
      return op.emitOpError("expected dropout between 0 and 1, found ")
             << probability;
  }
  return success();
}

/// attention_c12, merge_c5: the words of the attribute dictionary.
static LogicalResult verifyWord(Operation *op, StringRef name, StringRef word,
                                bool isKnown, StringRef accepted) {
  if (isKnown)
    return success();
  return op->emitOpError("expected ")
         << name << " to be " << accepted << ", found '" << word << "'";
}

static LogicalResult verifyWords(AttentionOp op) {
  if (failed(verifyWord(op, "layout", op.getLayout(),
                        symbolizeLayout(op.getLayout()).has_value(),
                        "bhsd or bshd")) ||
      failed(verifyWord(op, "precision", op.getPrecision(),
                        symbolizePrecision(op.getPrecision()).has_value(),
                        "ieee, tf32x3 or tf32")) ||
      failed(verifyWord(op, "empty_row", op.getEmptyRow(),
                        symbolizeEmptyRow(op.getEmptyRow()).has_value(),
                        "zero, nan or uniform")))
    return failure();
  Type type = getElementTypeOrSelf(op.getQuery());
  if (op.getPrecisionKind() != Precision::IEEE && !type.isF32())
    return op.emitOpError("expected precision ")
           << op.getPrecision() << " with operands of f32, found " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Clauses that need or exclude each other
//===----------------------------------------------------------------------===//

/// attention_c13 (segments, scales), attention_c14 (packed sequences),
/// attention_c15 (pages).
static LogicalResult verifyClauses(AttentionOp op) {
  if (!op.getQSegments() != !op.getKvSegments())
    return op.emitOpError("expected segments of query and key together, found "
                          "those of ")
           << (op.getQSegments() ? "query" : "key") << " alone";
  unsigned numScales =
      !!op.getQScales() + !!op.getKScales() + !!op.getVScales();
  if (numScales % 3 != 0)
    return op.emitOpError("expected scales of query, key and value together, "
                          "found ")
           << numScales << " of 3";
  Type type = getElementTypeOrSelf(op.getQuery());
  if (numScales != 0 && !isFloat8(type))
    return op.emitOpError("expected scales with fp8 operands, found ") << type;

  if (op.getKvOffsets() && op.isPaged())
    return op.emitOpError("expected kv_offsets or pages, found both");
  if (op.getKvOffsets() && !op.isPacked())
    return op.emitOpError(
        "expected q_offsets with kv_offsets, found kv_offsets "
        "alone");
  if (op.isPacked() && !op.getKvOffsets() && !op.isPaged())
    return op.emitOpError("expected kv_offsets or pages with q_offsets, found "
                          "q_offsets alone");
  StringRef dense = op.getBias()        ? "bias"
                    : op.getMask()      ? "mask"
                    : op.getQSegments() ? "segments"
                                        : "";
  if (op.isPacked() && !dense.empty())
    return op.emitOpError("expected no ")
           << dense << " with packed sequences, where a region says the same";
  if (op.isPaged() && !op.getKvLengths())
    return op.emitOpError("expected kv_lengths with pages, found none");
  return success();
}

/// attention_c1: the generic form can give query, key and value any number of
/// operands, and no accessor means anything before each has one.
static LogicalResult verifySegments(AttentionOp op) {
  static constexpr StringLiteral roles[] = {"query", "key", "value"};
  for (auto [index, role] : llvm::enumerate(roles)) {
    unsigned found = op.getODSOperandIndexAndLength(index).second;
    if (found != 1)
      return op.emitOpError("expected one operand as ")
             << role << " in operandSegmentSizes, found " << found;
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifySegments(*this)) ||
      failed(verifyForm(*this, getOuts(), isMemRefForm(), 1)) ||
      failed(verifyWords(*this)) || failed(verifyClauses(*this)))
    return failure();
  SmallVector<AttentionOperand> operands = getShapedOperands();
  return success(succeeded(verifyRanks(*this, operands)) &&
                 succeeded(verifyElementTypes(*this, operands)) &&
                 succeeded(verifyExtents(*this, operands)) &&
                 succeeded(verifyDims(*this)) &&
                 succeeded(verifyNumbers(*this)));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// attention_c16: arguments and yield of a region.
static LogicalResult verifyRegionForm(AttentionOp op, StringRef name,
                                      Region &region, ArrayRef<Type> arguments,
                                      Type result) {
  if (!region.hasOneBlock())
    return op.emitOpError("expected one block in the ")
           << name << " region, found " << region.getBlocks().size();
  Block &block = region.front();
  if (block.getArgumentTypes() != TypeRange(arguments)) {
    InFlightDiagnostic diag = op.emitOpError("expected the arguments (");
    llvm::interleaveComma(arguments, diag);
    diag << ") of the " << name << " region, found (";
    llvm::interleaveComma(block.getArgumentTypes(), diag);
    return diag << ")";
  }
  auto yield = block.empty() ? nullptr : dyn_cast<fa::YieldOp>(block.back());
  if (!yield)
    return op.emitOpError("expected the ")
           << name << " region to end with fa.yield";
  if (yield.getValue().getType() != result)
    return yield.emitOpError("expected the ")
           << name << " region to yield " << result << ", found "
           << yield.getValue().getType();
  return success();
}

/// attention_c17: a region computes, and reads memory at most.
static LogicalResult verifyRegionEffects(AttentionOp op, StringRef name,
                                         Region &region) {
  WalkResult result = region.walk([&](Operation *inner) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    bool mayWrite = !effects;
    if (effects) {
      SmallVector<MemoryEffects::EffectInstance> instances;
      effects.getEffects(instances);
      mayWrite = llvm::any_of(instances, [](auto &instance) {
        return !isa<MemoryEffects::Read>(instance.getEffect());
      });
    } else if (inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
      mayWrite = false;
    }
    if (!mayWrite)
      return WalkResult::advance();
    inner->emitOpError("expected no effect but reads in the ")
        << name << " region of fa.attention";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  for (Value out : op.getOuts())
    if (captured.contains(out))
      return op.emitOpError("expected the ")
             << name << " region not to use the outs, found a use of "
             << out.getType();
  return success();
}

/// attention_c18: what a region reads is of a type that arrays have; what it
/// reads in vain may be of any.
static LogicalResult verifyRegionTables(AttentionOp op, StringRef name,
                                        Region &region) {
  auto check = [&](Operation *inner) {
    if (!isa<memref::LoadOp, tensor::ExtractOp>(inner) ||
        isTableElement(inner->getResult(0).getType()))
      return WalkResult::advance();
    inner->emitOpError("expected a table of f32, f16, bf16, i1, i32 or i64 in "
                       "the ")
        << name << " region, found " << inner->getResult(0).getType();
    return WalkResult::interrupt();
  };
  for (Operation *needed : getNeededOps(region))
    if (needed->walk(check).wasInterrupted())
      return failure();
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  Type index = IndexType::get(getContext());
  Type f32 = Float32Type::get(getContext());
  Type i1 = IntegerType::get(getContext(), 1);
  if (hasScore() &&
      (failed(verifyRegionForm(*this, "score", getScore(),
                               {f32, index, index, index, index}, f32)) ||
       failed(verifyRegionEffects(*this, "score", getScore())) ||
       failed(verifyRegionTables(*this, "score", getScore()))))
    return failure();
  if (hasVisible() &&
      (failed(verifyRegionForm(*this, "visible", getVisible(),
                               {index, index, index, index}, i1)) ||
       failed(verifyRegionEffects(*this, "visible", getVisible())) ||
       failed(verifyRegionTables(*this, "visible", getVisible()))))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// fa.merge
//===----------------------------------------------------------------------===//

LogicalResult MergeOp::verify() {
  if (getPartials().empty() || getPartials().size() != getLses().size())
    return emitOpError("expected pairs of O and LSE, found ")
           << getPartials().size() << " O and " << getLses().size() << " LSE";
  bool isMemRef = isa<MemRefType>(getPartials()[0].getType());
  if (failed(verifyForm(*this, getOuts(), isMemRef, 2)) ||
      failed(verifyWord(*this, "layout", getLayout(),
                        symbolizeLayout(getLayout()).has_value(),
                        "bhsd or bshd")))
    return failure();
  SmallVector<AttentionOperand> operands = getShapedOperands();
  if (failed(verifyRanks(*this, operands)))
    return failure();
  // merge_c3
  for (const AttentionOperand &operand : operands) {
    Type type = operand.getType().getElementType();
    bool isLse = operand.role.ends_with("lse");
    bool isAccepted =
        type.isF32() || (!isLse && (type.isF16() || type.isBF16()));
    if (failed(verifyElementType(*this, operand, isAccepted,
                                 isLse ? "f32" : "f32, f16 or bf16")))
      return failure();
  }
  return verifyExtents(*this, operands);
}
