//===- TensorPlace.h - a plane as a part of its tensor ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile program reads and writes planes, views of rank 2 of an operand; a
// tensor map describes the operand itself.
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_TENSORPLACE_H
#define LIB_DIALECT_FA_TRANSFORMS_TENSORPLACE_H

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::fa {

/// Where a plane lies, in the words of its tensor.
struct TensorPlace {
  Value tensor;                          ///< memref outside the program
  SmallVector<OpFoldResult> coordinates; ///< of the plane's first element
  unsigned rowDim, columnDim;            ///< of the tensor
  OpFoldResult rows;                     ///< that may be read
  Value extent;                          ///< rows that the tensor has
};

/// The plane's place in its tensor; nothing where a view is not understood. Of
/// the first rows of a plane it is that of the whole plane: the rest of it may
/// be read, too.
std::optional<TensorPlace> findTensorPlace(Value plane);

/// The map of boxes of `rows` rows, one panel wide.
Value createTensorMap(OpBuilder &builder, Location loc,
                      const TensorPlace &place, int64_t rows);

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_TENSORPLACE_H
