//===- KernelArguments.h - what a kernel is handed --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The border between a host function and a kernel made from a part of it. A
// memref crosses it as a pointer to its first element, the strides and the
// extents that its type leaves open; a scalar as itself. Everything that can be
// computed from these is computed again inside the kernel. A tensor map is
// handed over by value, as its 128 bytes:
//
//   host:    %n = arith.ceildivui (memref.dim %Q, 2), 128
//   kernel:  %n = arith.ceildivui (index_cast %sq), 128      %sq: one i64
//
// A view of an argument (transpose, cast, reinterpret_cast with the argument's
// own strides) is no argument of its own: its strides are those of what it
// views, in another order, so that each parameter can be named by an operand
// of the function and one of its dimensions. A launcher that has only the
// operands can then compute all parameters; their names are the rows of the
// manifest.
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_KERNELARGUMENTS_H
#define LIB_DIALECT_FA_TRANSFORMS_KERNELARGUMENTS_H

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace mlir::fa {

/// The memref whose pointer and strides describe `memref`: looks through views.
Value getViewedMemref(Value memref);

class KernelArguments {
public:
  /// `kernel` has no arguments yet; `builder` stands where the kernel's values
  /// are to be computed.
  KernelArguments(func::FuncOp function, gpu::GPUFuncOp kernel,
                  OpBuilder &builder);

  /// The value inside the kernel that stands for one of the host. Adds
  /// arguments to the kernel where it must.
  FailureOr<Value> getInKernel(Value host);

  /// Gives the kernel its final type.
  void finish();

  /// The values to launch the kernel with, computed where `host` stands.
  SmallVector<Value> emitHostValues(OpBuilder &host, Location loc);

  /// The manifest's rows for the arguments, in order: dictionaries {kind,
  /// operand, dim, type}. An error when the function says what its operands
  /// are and an argument cannot be computed from them.
  FailureOr<ArrayAttr> getParameterRows();

  /// An extent on the host as text over the names of dimensions, for the
  /// manifest: "ceildiv(Sq, 128)".
  FailureOr<std::string> getExtentText(Value host);

  /// Whether the function's operands are described (`fa.operands`).
  bool isDescribed() const { return bool(operands); }

private:
  enum class Kind { Pointer, Stride, Extent, Scalar, TensorMap };
  struct Argument {
    Kind kind;
    Value source;
    int64_t dim;
    bool operator==(const Argument &) const = default;
  };

  FailureOr<Value> getView(Value memref);
  MemRefType getTraceType(MemRefType type);
  FailureOr<Value> getStride(Value memref, int64_t dim);
  FailureOr<Value> getSize(Value memref, int64_t dim);
  FailureOr<Value> getScalar(Value scalar);
  void appendTensorMap(TensorMapOp map, SmallVectorImpl<NamedAttribute> &row);
  FailureOr<Value> getFolded(OpFoldResult host);
  Value getArgument(Argument argument, Type type);
  Value getConstant(int64_t value);
  bool isTrace(Value source);
  /// Which argument of the function a value is.
  std::optional<int64_t> getOperandNumber(Value source);
  /// The name of a dimension of an argument of the function, or "".
  StringRef getDimName(Value source, int64_t dim);
  FailureOr<std::string> getDimText(Value memref, int64_t dim);
  Value emitPointer(OpBuilder &host, Location loc, Value memref);

  func::FuncOp function;
  gpu::GPUFuncOp kernel;
  OpBuilder &builder;
  ArrayAttr operands;
  IRMapping inKernel;
  SmallVector<Argument> arguments;
  SmallVector<Value> values; // of the arguments, as index where i64
};

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_KERNELARGUMENTS_H
