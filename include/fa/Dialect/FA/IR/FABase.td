//===- FABase.td - the fa dialect -------------------------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FABASE_TD
#define FA_DIALECT_FA_IR_FABASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def FA_Dialect : Dialect {
  let name = "fa";
  let cppNamespace = "::mlir::fa";
  let summary = "Attention as one op, and the few words its tile program needs";
  let description = [{
    Two families of ops live here. `fa.attention` and `fa.merge` say *what* is
    computed (FAAttentionOps.td). The tile ops say what upstream dialects have no word
    for once attention has become a loop over blocks: a tile that is loaded
    with its bounds, an asynchronous copy of a tile by a whole block of
    threads, the coordinates of a tile (FATileOps.td). Everything else in a
    tile program is `scf`, `arith`, `math`, `vector`, `memref` and `gpu`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

class FA_Op<string mnemonic, list<Trait> traits = []>
    : Op<FA_Dialect, mnemonic, traits>;

#endif // FA_DIALECT_FA_IR_FABASE_TD
