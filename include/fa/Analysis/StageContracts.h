//===- StageContracts.h - what each stage leaves ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage may rely on what the one before it promises to leave. The promises
// are written down here as checks, so that a program that a stage did not
// serve is a located error at that stage and not a puzzle three stages later.
//
//===----------------------------------------------------------------------===//
#ifndef FA_ANALYSIS_STAGECONTRACTS_H
#define FA_ANALYSIS_STAGECONTRACTS_H

#include "mlir/Support/LLVM.h"

#include <optional>

namespace mlir {
class ModuleOp;

namespace fa {

enum class Stage { Tile, Map, Distribute, Lower };

/// "tile", "map", "distribute" or "lower".
StringRef stageName(Stage stage);
std::optional<Stage> parseStage(StringRef name);

/// Checks what `stage` promises to leave:
///
/// tile        the module names a target; no op of fa that is not a word of a
///             tile program; in a function that came from attention: loops
///             over blocks under one scf.forall with a complete schedule, no
///             tensor, every buffer that is allocated is workgroup memory.
/// map         no scf.forall over blocks is left; each kernel is a gpu.func
///             with its parameters, grid, block and shared bytes, which the
///             target has (no grid in words where a program around attention
///             computes it); every memref in a gpu.module has a memory space.
/// distribute  in a gpu.module no op of fa, nor any that the lower stage has no
///             conversion for; no op on a warp's values; every vector is a
///             lane's share, 16 bytes at most.
/// lower       only llvm and nvvm in a gpu.module.
/// Of the last two, neither attention nor a loop over blocks is outside one.
LogicalResult verifyStage(ModuleOp module, Stage stage);

} // namespace fa
} // namespace mlir

#endif // FA_ANALYSIS_STAGECONTRACTS_H
