//===- ElementReduction.h - atomic operations on elements -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cp.reduce.async.bulk and red.async do to each element. Global memory is
// shared with other host threads, so every element is reached by host atomics.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_ELEMENTREDUCTION_H
#define FA_LIB_EMULATOR_EXECUTOR_ELEMENTREDUCTION_H

#include "../Decoder/BulkAux.h"
#include "fa/Emulator/TensorMap.h"

namespace ptxvm {

/// Whether the ISA has this operation for elements of this type.
bool canReduce(Reduction op, TensorType type);
/// to[k] = op(to[k], from[k]) for the elements in `bytes`.
void reduceElements(Reduction op, TensorType type, uint8_t *to,
                    const uint8_t *from, uint64_t bytes);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_ELEMENTREDUCTION_H
