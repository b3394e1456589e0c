//===- KnownIndices.h - what is known of an index ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a warp's tile lies in workgroup memory is arithmetic on the thread's
// number. Whether the swizzle fits there, and whether the tile lies inside, is
// read off that arithmetic; what cannot be read off is not known.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_GPU_DISTRIBUTE_KNOWNINDICES_H
#define FA_LIB_GPU_DISTRIBUTE_KNOWNINDICES_H

#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::fa {

/// Whether `index` is known to be a multiple of `factor`.
bool isMultipleOf(Value index, int64_t factor);

/// The largest number that `index`, then known not to be negative, can be in a
/// block of `threads`.
std::optional<int64_t> findMaximum(Value index, int64_t threads);

} // namespace mlir::fa

#endif // FA_LIB_GPU_DISTRIBUTE_KNOWNINDICES_H
