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

def FAPrintBlockMap : Pass<"fa-print-block-map", "::mlir::ModuleOp"> {
  let summary = "draws which blocks of scores are skipped, full or partial";
  let description = [{
    Changes nothing and draws, on stderr, what becomes of each block of queries
    (a row, with its first query) and keys (a column). Attention that has not
    been tiled is tiled in a copy, for `target` and with `schedule`; the bounds
    of the loops are then evaluated for one batch and head: what is drawn is
    what the kernel does. Lengths are whole sequences unless `given`.

    ```mlir
    fa.attention %q, %k, %v masks [#fa.window<top_left, left = 100, right = 0>] : tensor<1x1x256x64xf16>, ...
    ```
    with `schedule=tile_q=64,tile_kv=32,warps=4` draws
    ```
    @f batch 0 head 0: blocks of 64 queries and 32 keys
           0  ++......
          64  +#++....
         128  +++#++..
         192  ..+++#++
    # full 3, + partial 15, . skipped 14
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "The chip to tile for, as in fa-stage-tile">,
    Option<"schedule", "schedule", "std::string", /*default=*/"",
           "KEY=V,... as in fa-stage-tile">,
    ListOption<"given", "given", "std::string",
               "NAME=NUMBER,... of open extents (Sq, Sk, ...) and of operands "
               "whose elements a bound depends on (kv_lengths, ...)">,
    Option<"batch", "batch", "int64_t", /*default=*/"0", "The batch to draw">,
    Option<"head", "head", "int64_t", /*default=*/"0",
           "The query head to draw">,
  ];
}

#endif // FA_PIPELINES_PASSES_TD
