//===- FAAttrs.cpp - structural masks as attributes -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The visible key interval of each structural mask: the one place that knows
// what causal, window and chunk mean. Elementwise arith works on scalars and
// vectors alike, so the same code gives the predicate of an element and the
// bounds of a block.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Support/Limits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fa;

#include "fa/Dialect/FA/IR/FAEnums.cpp.inc"
#include "fa/Dialect/FA/IR/FAInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fa/Dialect/FA/IR/FAAttrs.cpp.inc"

void FADialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fa/Dialect/FA/IR/FAAttrs.cpp.inc"
      >();
}

namespace {
/// Positions are i32. The compiler and the runner keep i + offset 65536 below
/// 2^31, less the rows of a tile; distances and sizes up to this need no care
/// about overflow.
constexpr int64_t kLargestPlain = int64_t(1) << 15;
constexpr int64_t kLargest = farun::kMaxMaskKeys;
constexpr int64_t kLargestChunk = farun::kMaxChunkKeys;

/// Arithmetic on query rows, be they an i32 or a vector of i32.
struct RowArith {
  OpBuilder &builder;
  Location loc;
  Type type;

  Value constant(int64_t number) {
    IntegerAttr attr = builder.getI32IntegerAttr(number);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(vector, attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value splat(Value scalar) {
    if (isa<VectorType>(type))
      return vector::BroadcastOp::create(builder, loc, type, scalar);
    return scalar;
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
  Value add(Value lhs, int64_t number) {
    return number == 0 ? lhs : add(lhs, constant(number));
  }
  /// row + (offset + number): the sum in brackets is the same for all rows.
  Value shift(Value row, Value offset, int64_t number) {
    if (number != 0)
      offset = arith::AddIOp::create(
          builder, loc, offset,
          arith::ConstantOp::create(builder, loc,
                                    builder.getI32IntegerAttr(number)));
    return add(row, splat(offset));
  }
  Value max(Value lhs, int64_t number) {
    return arith::MaxSIOp::create(builder, loc, lhs, constant(number));
  }
  Value min(Value lhs, int64_t number) {
    return arith::MinSIOp::create(builder, loc, lhs, constant(number));
  }
};
} // namespace

/// Describes a mask: its kind, its alignment and its numbers.
static DictionaryAttr
describe(MLIRContext *context, StringRef kind, Alignment alignment,
         ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("kind", builder.getStringAttr(kind)),
      builder.getNamedAttr(
          "alignment", builder.getStringAttr(stringifyAlignment(alignment)))};
  for (auto [name, number] : numbers)
    entries.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(number)));
  return builder.getDictionaryAttr(entries);
}

//===----------------------------------------------------------------------===//
// Causal
//===----------------------------------------------------------------------===//

// mask_c1
LogicalResult CausalAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Alignment alignment, int64_t prefix) {
  if (prefix < 0 || prefix > kLargest)
    return emitError() << "causal prefix must be between 0 and " << kLargest
                       << ", found " << prefix;
  return success();
}

KeyInterval CausalAttr::emitKeyInterval(OpBuilder &builder, Location loc,
                                        Value row, Value offset) const {
  RowArith b{builder, loc, row.getType()};
  // j <= i + offset, or j < prefix.
  Value hi = b.shift(row, offset, 1);
  return {nullptr, getPrefix() > 0 ? b.max(hi, getPrefix()) : hi};
}

DictionaryAttr CausalAttr::getDescription() const {
  return describe(getContext(), getMnemonic(), getAlignment(),
                  {{"prefix", getPrefix()}});
}

//===----------------------------------------------------------------------===//
// Window
//===----------------------------------------------------------------------===//

// mask_c2
LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Alignment alignment, int64_t left,
                                 int64_t right) {
  for (auto [name, bound] : {std::pair("left", left), {"right", right}})
    if (bound < -1 || bound > kLargest)
      return emitError() << "window bound '" << name
                         << "' must be -1 (unbounded) or between 0 and "
                         << kLargest << ", found " << bound;
  return success();
}

KeyInterval WindowAttr::emitKeyInterval(OpBuilder &builder, Location loc,
                                        Value row, Value offset) const {
  RowArith b{builder, loc, row.getType()};
  KeyInterval keys;
  // i + offset - left <= j. "Unbounded" is often written as the largest
  // number, so the sum must not wrap around.
  if (int64_t left = getLeft(); left > kLargestPlain)
    keys.lo = b.add(b.max(b.shift(row, offset, 0), left - kLargest), -left);
  else if (left >= 0)
    keys.lo = b.shift(row, offset, -left);
  // j < i + offset + right + 1
  if (int64_t right = getRight(); right > kLargestPlain)
    keys.hi = b.add(
        b.add(b.min(b.shift(row, offset, 0), kLargest - 1 - right), right), 1);
  else if (right >= 0)
    keys.hi = b.shift(row, offset, right + 1);
  return keys;
}

DictionaryAttr WindowAttr::getDescription() const {
  return describe(getContext(), getMnemonic(), getAlignment(),
                  {{"left", getLeft()}, {"right", getRight()}});
}

//===----------------------------------------------------------------------===//
// Chunk
//===----------------------------------------------------------------------===//

// mask_c3
LogicalResult ChunkAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Alignment alignment, int64_t size) {
  if (size < 1 || size > kLargestChunk)
    return emitError() << "chunk size must be between 1 and " << kLargestChunk
                       << ", found " << size;
  return success();
}

KeyInterval ChunkAttr::emitKeyInterval(OpBuilder &builder, Location loc,
                                       Value row, Value offset) const {
  RowArith b{builder, loc, row.getType()};
  Value position = b.shift(row, offset, 0);
  Value lo;
  if (llvm::isPowerOf2_64(getSize())) {
    // Clearing the low bits rounds down, for negative positions too.
    lo = arith::AndIOp::create(builder, loc, position, b.constant(-getSize()));
  } else {
    Value size = b.constant(getSize());
    Value chunk = arith::FloorDivSIOp::create(builder, loc, position, size);
    lo = arith::MulIOp::create(builder, loc, chunk, size);
  }
  int64_t size = getSize();
  Value last = size > kLargestPlain ? b.min(lo, kLargest - size) : lo;
  return {lo, b.add(last, size)};
}

DictionaryAttr ChunkAttr::getDescription() const {
  return describe(getContext(), getMnemonic(), getAlignment(),
                  {{"size", getSize()}});
}
