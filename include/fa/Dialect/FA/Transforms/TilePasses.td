//===- TilePasses.td - the passes of the tile stage ----------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_TILEPASSES_TD
#define FA_DIALECT_FA_TRANSFORMS_TILEPASSES_TD

include "mlir/Pass/PassBase.td"

#endif // FA_DIALECT_FA_TRANSFORMS_TILEPASSES_TD
