//===- FAOps.td - the ops of the fa dialect ---------------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The umbrella from which all ops are generated.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FAOPS_TD
#define FA_DIALECT_FA_IR_FAOPS_TD

include "fa/Dialect/FA/IR/FABase.td"
include "fa/Dialect/FA/IR/FAAttentionOps.td"
include "fa/Dialect/FA/IR/FATileOps.td"
include "fa/Dialect/FA/IR/FARoleOps.td"

#endif // FA_DIALECT_FA_IR_FAOPS_TD
