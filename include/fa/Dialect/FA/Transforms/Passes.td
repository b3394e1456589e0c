//===- Passes.td - the passes on the fa dialect -----------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The umbrella; one file for each stage, in the order of the pipeline.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_PASSES_TD
#define FA_DIALECT_FA_TRANSFORMS_PASSES_TD

include "fa/Dialect/FA/Transforms/TilePasses.td"
include "fa/Dialect/FA/Transforms/MapPasses.td"

#endif // FA_DIALECT_FA_TRANSFORMS_PASSES_TD
