//===- Passes.td - passes about stages ----------------------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_PIPELINES_PASSES_TD
#define FA_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def FAVerifyStage : Pass<"fa-verify-stage", "::mlir::ModuleOp"> {
  let summary = "checks that a stage left what it promises";
  let description = [{
    The last pass of every stage. It changes nothing; each fault is an error
    where it stands. fa/Analysis/StageContracts.h has the promises.

    ```mlir
    gpu.func @k() kernel { %0 = fa.load_tile ... }
    ```
    with `stage=distribute` gives "after stage distribute: 'fa.load_tile' is
    left".
  }];
  let options = [
    Option<"stage", "stage", "std::string", /*default=*/"",
           "The stage: tile, map, distribute or lower">,
  ];
}

def FAOverrideSchedule : Pass<"fa-override-schedule", "::mlir::ModuleOp"> {
  let summary = "sets keys of every attention's schedule from a string";
  let description = [{
    What `--schedule=KEY=V,...` of the tools and `schedule=` of the tile stage
    mean: each key that the string names replaces that key of every
    `fa.attention`; the others are kept.

    ```mlir
    fa.attention ... {schedule = #fa.schedule<tile_q = 64, stages = 2>} : ...
    ```
    with `schedule=stages=3,state=shared` becomes
    ```mlir
    fa.attention ... {schedule = #fa.schedule<tile_q = 64, stages = 3, state = shared>} : ...
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/"",
           "KEY=V,... with the keys of #fa.schedule">,
  ];
}

#endif // FA_PIPELINES_PASSES_TD
