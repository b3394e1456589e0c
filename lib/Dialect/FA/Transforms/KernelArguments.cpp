//===- KernelArguments.cpp - what a kernel is handed ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Support/ExtentExpression.h"
#include "fa/Support/TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fa;

/// PTX's global memory.
static constexpr unsigned kGlobalAddressSpace = 1;

/// Whether a reinterpret_cast keeps its source's first element.
static bool keepsPointer(memref::ReinterpretCastOp cast) {
  Value source = getViewedMemref(cast.getSource());
  OpFoldResult offset = cast.getMixedOffsets().front();
  if (auto value = dyn_cast<Value>(offset))
    if (auto metadata = value.getDefiningOp<memref::ExtractStridedMetadataOp>())
      return value == metadata.getOffset() &&
             getViewedMemref(metadata.getSource()) == source;
  int64_t own;
  SmallVector<int64_t> strides;
  auto type = dyn_cast<MemRefType>(source.getType());
  return type && succeeded(type.getStridesAndOffset(strides, own)) &&
         !ShapedType::isDynamic(own) && getConstantIntValue(offset) == own;
}

/// Whether `memref` is ranked and has dimension `dim`; memref.dim may ask for
/// others.
static bool hasDimension(Value memref, int64_t dim) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  return type && dim >= 0 && dim < type.getRank();
}

/// The memref that `memref` is a view of, if it begins at the same element.
static Value getViewSource(Value memref) {
  Operation *op = memref.getDefiningOp();
  if (!op)
    return {};
  return TypeSwitch<Operation *, Value>(op)
      .Case<memref::CastOp>([](auto cast) -> Value {
        bool isRanked = isa<MemRefType>(cast.getSource().getType());
        return isRanked ? cast.getSource() : Value();
      })
      .Case<memref::TransposeOp>(
          [](auto transpose) { return transpose.getIn(); })
      .Case<memref::ReinterpretCastOp>([](auto cast) {
        return keepsPointer(cast) ? cast.getSource() : Value();
      })
      .Case<memref::ExtractStridedMetadataOp>([&](auto metadata) {
        return memref == metadata.getBaseBuffer() ? metadata.getSource()
                                                  : Value();
      })
      .Default([](Operation *) { return Value(); });
}

Value mlir::fa::getViewedMemref(Value memref) {
  while (Value source = getViewSource(memref))
    memref = source;
  return memref;
}

KernelArguments::KernelArguments(func::FuncOp function, gpu::GPUFuncOp kernel,
                                 OpBuilder &builder)
    : function(function), kernel(kernel), builder(builder),
      operands(function->getAttrOfType<ArrayAttr>(kOperandsAttr)) {}

//===----------------------------------------------------------------------===//
// Inside the kernel
//===----------------------------------------------------------------------===//

FailureOr<Value> KernelArguments::getInKernel(Value host) {
  if (Value known = inKernel.lookupOrNull(host))
    return known;
  FailureOr<Value> value =
      isa<MemRefType>(host.getType()) ? getView(host) : getScalar(host);
  if (succeeded(value))
    inKernel.map(host, *value);
  return value;
}

Value KernelArguments::getConstant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, kernel.getLoc(), value);
}

/// Numbers are handed over as i64 and used as index.
Value KernelArguments::getArgument(Argument argument, Type type) {
  // A dimension of the same name has the same extent in all operands.
  StringRef name = argument.kind == Kind::Extent
                       ? getDimName(argument.source, argument.dim)
                       : "";
  for (auto [known, value] : llvm::zip_equal(arguments, values))
    if (known == argument || (!name.empty() && known.kind == Kind::Extent &&
                              getDimName(known.source, known.dim) == name))
      return value;
  bool isIndex = isa<IndexType>(type);
  Location loc = kernel.getLoc();
  Value value = kernel.getBody().front().addArgument(
      isIndex ? builder.getI64Type() : type, loc);
  if (isIndex)
    value = arith::IndexCastOp::create(builder, loc, type, value);
  arguments.push_back(argument);
  values.push_back(value);
  return value;
}

FailureOr<Value> KernelArguments::getFolded(OpFoldResult host) {
  if (std::optional<int64_t> constant = getConstantIntValue(host))
    return getConstant(*constant);
  return getInKernel(cast<Value>(host));
}

FailureOr<Value> KernelArguments::getStride(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getDimSize(dim) == 1)
    return getConstant(0); // the index is always 0
  auto [strides, offset] = type.getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[dim]))
    return getConstant(strides[dim]);
  Value source = getViewSource(memref);
  if (!source)
    return getArgument({Kind::Stride, memref, dim}, builder.getIndexType());
  if (auto transpose = memref.getDefiningOp<memref::TransposeOp>())
    return getStride(source, transpose.getPermutation().getDimPosition(dim));
  if (auto cast = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return getFolded(cast.getMixedStrides()[dim]);
  return getStride(source, dim);
}

FailureOr<Value> KernelArguments::getSize(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return getConstant(type.getDimSize(dim));
  Value source = getViewSource(memref);
  if (!source) {
    // The manifest has no word for the number of traced blocks, and nothing
    // asks for it: the buffer is large enough for all.
    if (isTrace(memref))
      return getConstant(std::numeric_limits<int64_t>::max());
    return getArgument({Kind::Extent, memref, dim}, builder.getIndexType());
  }
  if (auto transpose = memref.getDefiningOp<memref::TransposeOp>())
    return getSize(source, transpose.getPermutation().getDimPosition(dim));
  if (auto cast = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return getFolded(cast.getMixedSizes()[dim]);
  return getSize(source, dim);
}

/// The trace buffer is contiguous, [blocks, 2 + Dv], whatever its type says.
MemRefType KernelArguments::getTraceType(MemRefType type) {
  for (auto argument : function.getArguments()) {
    auto operand = dyn_cast<MemRefType>(argument.getType());
    for (int64_t dim = 0; operand && dim < operand.getRank(); ++dim)
      if (getDimName(argument, dim) == "Dv" && !operand.isDynamicDim(dim))
        return MemRefType::get(
            {ShapedType::kDynamic, 2 + operand.getDimSize(dim)},
            type.getElementType());
  }
  return type;
}

FailureOr<Value> KernelArguments::getView(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (isTrace(memref))
    type = getTraceType(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return emitError(memref.getLoc()) << type << " has no strides";
  if (!type.getElementType().isIntOrFloat())
    return emitError(memref.getLoc())
           << type << " cannot be handed to a kernel; elements must be "
           << "integers or floats";
  Value pointer = getArgument(
      {Kind::Pointer, getViewedMemref(memref), 0},
      LLVM::LLVMPointerType::get(builder.getContext(), kGlobalAddressSpace));
  SmallVector<Value> strideValues, sizeValues;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    FailureOr<Value> stride = ShapedType::isDynamic(strides[dim])
                                  ? getStride(memref, dim)
                                  : getConstant(strides[dim]);
    if (failed(stride))
      return failure();
    strideValues.push_back(*stride);
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    FailureOr<Value> size = getSize(memref, dim);
    if (failed(size))
      return failure();
    sizeValues.push_back(*size);
  }
  auto layout = StridedLayoutAttr::get(builder.getContext(), 0, strides);
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Global);
  auto viewType =
      MemRefType::get(type.getShape(), type.getElementType(), layout, space);
  return ViewOp::create(builder, memref.getLoc(), viewType, pointer, sizeValues,
                        strideValues)
      .getResult();
}

FailureOr<Value> KernelArguments::getScalar(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex();
        index && hasDimension(dim.getSource(), *index))
      return getSize(dim.getSource(), *index);
  if (auto metadata = dyn_cast_or_null<memref::ExtractStridedMetadataOp>(op)) {
    auto dim = llvm::find(metadata.getSizes(), scalar);
    if (dim != metadata.getSizes().end())
      return getSize(metadata.getSource(), dim - metadata.getSizes().begin());
    dim = llvm::find(metadata.getStrides(), scalar);
    if (dim != metadata.getStrides().end())
      return getStride(metadata.getSource(),
                       dim - metadata.getStrides().begin());
  }
  if (isa_and_nonnull<TensorMapOp>(op))
    return getArgument({Kind::TensorMap, scalar, 0}, scalar.getType());
  bool canRepeat =
      op && isPure(op) && op->getNumRegions() == 0 &&
      llvm::none_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
  if (!canRepeat) {
    if (!scalar.getType().isIntOrIndexOrFloat())
      return emitError(scalar.getLoc()) << "a value of " << scalar.getType()
                                        << " cannot be handed to a kernel";
    return getArgument({Kind::Scalar, scalar, 0}, scalar.getType());
  }
  for (Value operand : op->getOperands())
    if (failed(getInKernel(operand)))
      return failure();
  builder.clone(*op, inKernel);
  return inKernel.lookup(scalar);
}

void KernelArguments::finish() {
  Block &entry = kernel.getBody().front();
  kernel.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), {}));
}

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

/// A pointer to the first element, in global memory.
Value KernelArguments::emitPointer(OpBuilder &host, Location loc,
                                   Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(host, loc, memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(host, loc, memref);
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  Value size = arith::ConstantIndexOp::create(host, loc, bytes);
  Value offset = arith::MulIOp::create(host, loc, metadata.getOffset(), size);
  address = arith::AddIOp::create(host, loc, address, offset);
  address = arith::IndexCastOp::create(host, loc, host.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      host, loc,
      LLVM::LLVMPointerType::get(host.getContext(), kGlobalAddressSpace),
      address);
}

SmallVector<Value> KernelArguments::emitHostValues(OpBuilder &host,
                                                   Location loc) {
  SmallVector<Value> result;
  for (const Argument &argument : arguments) {
    Value value = argument.source;
    switch (argument.kind) {
    case Kind::Pointer:
      value = emitPointer(host, loc, argument.source);
      break;
    case Kind::Stride:
      value = memref::ExtractStridedMetadataOp::create(host, loc, value)
                  .getStrides()[argument.dim];
      break;
    case Kind::Extent:
      value = memref::DimOp::create(host, loc, value, argument.dim);
      break;
    case Kind::Scalar:
    case Kind::TensorMap:
      break;
    }
    if (isa<IndexType>(value.getType()))
      value = arith::IndexCastOp::create(host, loc, host.getI64Type(), value);
    result.push_back(value);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// For the manifest
//===----------------------------------------------------------------------===//

std::optional<int64_t> KernelArguments::getOperandNumber(Value source) {
  auto argument = dyn_cast<BlockArgument>(source);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  return argument.getArgNumber();
}

bool KernelArguments::isTrace(Value source) {
  std::optional<int64_t> number = getOperandNumber(source);
  return number && function.getArgAttr(*number, kTraceAttr);
}

StringRef KernelArguments::getDimName(Value source, int64_t dim) {
  std::optional<int64_t> number = getOperandNumber(source);
  if (!operands || !number || *number >= static_cast<int64_t>(operands.size()))
    return "";
  auto operand = dyn_cast<DictionaryAttr>(operands[*number]);
  auto dims = operand ? operand.getAs<ArrayAttr>("dims") : ArrayAttr();
  if (!dims || dim >= static_cast<int64_t>(dims.size()))
    return "";
  if (operand && operand.contains("broadcasts"))
    return "";
  auto name = dyn_cast<StringAttr>(dims[dim]);
  return name && name.getValue() != "1" ? name.getValue() : "";
}

void KernelArguments::appendTensorMap(TensorMapOp map,
                                      SmallVectorImpl<NamedAttribute> &row) {
  row.push_back(builder.getNamedAttr("box", map.getBoxAttr()));
  row.push_back(builder.getNamedAttr(
      "swizzle", builder.getStringAttr(name(farun::TensorSwizzle::Bytes128))));
}

FailureOr<ArrayAttr> KernelArguments::getParameterRows() {
  static constexpr StringLiteral names[] = {"pointer", "stride", "extent",
                                            "scalar", "tensormap"};
  SmallVector<Attribute> rows;
  for (auto [argument, value] :
       llvm::zip_equal(arguments, kernel.getBody().front().getArguments())) {
    auto map = argument.source.getDefiningOp<TensorMapOp>();
    Value source = map ? getViewedMemref(map.getSource()) : argument.source;
    std::optional<int64_t> number = getOperandNumber(source);
    if (operands && !number)
      return emitError(argument.source.getLoc())
             << "the kernel's " << names[static_cast<int>(argument.kind)]
             << " of this value does not follow from the function's arguments";
    bool trace = isTrace(source);
    std::string type;
    llvm::raw_string_ostream stream(type);
    if (argument.kind == Kind::Pointer)
      stream << "ptr";
    else if (map)
      stream << "tensormap";
    else
      stream << value.getType();
    SmallVector<NamedAttribute> row;
    StringRef kind = trace ? "trace" : names[static_cast<int>(argument.kind)];
    row.push_back(builder.getNamedAttr("kind", builder.getStringAttr(kind)));
    if (number && !trace)
      row.push_back(
          builder.getNamedAttr("operand", builder.getI64IntegerAttr(*number)));
    if (argument.kind == Kind::Stride || argument.kind == Kind::Extent) {
      if (trace)
        return emitError(argument.source.getLoc())
               << "the width of the trace buffer is not known";
      row.push_back(
          builder.getNamedAttr("dim", builder.getI64IntegerAttr(argument.dim)));
    }
    if (map)
      appendTensorMap(map, row);
    row.push_back(builder.getNamedAttr("type", builder.getStringAttr(type)));
    rows.push_back(builder.getDictionaryAttr(row));
  }
  return builder.getArrayAttr(rows);
}

FailureOr<std::string> KernelArguments::getDimText(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return std::to_string(type.getDimSize(dim));
  if (auto transpose = memref.getDefiningOp<memref::TransposeOp>())
    return getDimText(transpose.getIn(),
                      transpose.getPermutation().getDimPosition(dim));
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return getDimText(cast.getSource(), dim);
  StringRef name = getDimName(memref, dim);
  if (name.empty())
    return failure();
  return name.str();
}

FailureOr<std::string> KernelArguments::getExtentText(Value host) {
  if (std::optional<int64_t> constant = getConstantIntValue(host))
    return std::to_string(*constant);
  Operation *op = host.getDefiningOp();
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex();
        index && hasDimension(dim.getSource(), *index))
      return getDimText(dim.getSource(), *index);
  if (isa_and_nonnull<MultiprocessorsOp>(op))
    return std::string(farun::kMultiprocessorsName);
  if (!op || op->getNumOperands() != 2)
    return failure();
  FailureOr<std::string> a = getExtentText(op->getOperand(0));
  FailureOr<std::string> b = getExtentText(op->getOperand(1));
  if (failed(a) || failed(b))
    return failure();
  auto call = [&](StringRef f) {
    return (f + "(" + *a + ", " + *b + ")").str();
  };
  auto infix = [&](StringRef f) { return ("(" + *a + f + *b + ")").str(); };
  return TypeSwitch<Operation *, FailureOr<std::string>>(op)
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [&](auto) { return call("ceildiv"); })
      .Case<arith::MinUIOp, arith::MinSIOp>([&](auto) { return call("min"); })
      .Case<arith::MaxUIOp, arith::MaxSIOp>([&](auto) { return call("max"); })
      .Case<arith::AddIOp>([&](auto) { return infix(" + "); })
      .Case<arith::SubIOp>([&](auto) { return infix(" - "); })
      .Case<arith::MulIOp>([&](auto) { return infix(" * "); })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) { return infix(" / "); })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return infix(" % "); })
      .Default([](Operation *) { return failure(); });
}
