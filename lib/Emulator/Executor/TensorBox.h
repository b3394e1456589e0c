//===- TensorBox.h - where a box lies in memory -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The walk of a tensor copy in tile mode: PTX ISA 9.1 section 5.5.3.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_TENSORBOX_H
#define FA_LIB_EMULATOR_EXECUTOR_TENSORBOX_H

#include "fa/Emulator/TensorMap.h"

#include <vector>

namespace ptxvm {

/// A piece of a box that is contiguous in global memory and in the dense tile.
struct TensorRun {
  uint64_t address;
  uint32_t offset; ///< in the tile
  uint32_t bytes;
};

/// The pieces of a box that lie inside the tensor, in the order of the tile.
/// `coordinates` are innermost first, one for each dimension; for gather4 and
/// scatter4 the column and four rows.
std::vector<TensorRun> boxRuns(const TensorMapShape &shape,
                               const int32_t *coordinates, bool isGather);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_TENSORBOX_H
