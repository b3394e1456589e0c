//===- Pipelines.h - the stages as lists of passes --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From fa.attention to llvm + nvvm in four stages. Each leaves a program that
// can be printed, read, stored and taken up again, and ends with a check of
// what it promises (fa-verify-stage). The target is told to the first stage,
// which records it on the module; passes ask TargetInfo what the chip has.
//
//   tile        loops over query and key blocks, state in workgroup memory
//   map         one kernel and its launch, warp-level values
//   distribute  a lane's values, mma, ldmatrix, cp.async
//   lower       llvm and nvvm
//
//===----------------------------------------------------------------------===//
#ifndef FA_PIPELINES_PIPELINES_H
#define FA_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

#include <string>

namespace mlir {
class DialectRegistry;
class OpPassManager;

namespace fa {

/// What the tile stage, and so a whole pipeline, is told.
struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("The chip to compile for; by "
                                            "default the module's fa.target, "
                                            "else sm_80"),
                             llvm::cl::init("")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("KEY=V,... as in #fa.schedule; the rest is chosen"),
      llvm::cl::init("")};
  Option<bool> trace{
      *this, "trace",
      llvm::cl::desc("Let the kernel also store m, l and u of one query row"),
      llvm::cl::init(false)};
};

/// The passes of one stage; `manager` is one of builtin.module.
void buildTilePipeline(OpPassManager &manager, const PipelineOptions &options);
void buildMapPipeline(OpPassManager &manager);
void buildDistributePipeline(OpPassManager &manager);
void buildLowerPipeline(OpPassManager &manager);

/// All four.
void buildPipeline(OpPassManager &manager, const PipelineOptions &options);

/// fa-stage-tile, fa-stage-map, fa-stage-distribute, fa-stage-lower and
/// fa-pipeline. Once in a process.
void registerAllPipelines();

/// Every pass of ours. Once in a process.
void registerAllPasses();

/// The dialects that a program may hold before, between and after the stages,
/// with the interfaces that our passes ask of them.
void registerAllDialects(DialectRegistry &registry);

} // namespace fa
} // namespace mlir

#endif // FA_PIPELINES_PIPELINES_H
