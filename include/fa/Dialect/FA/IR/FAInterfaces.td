//===- FAInterfaces.td - what every structural mask says --*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Visibility has one definition. A structural mask shows to query row i the
// keys of one interval [lo(i), hi(i)), and neither bound ever decreases with
// i. The predicate of an element is lo(i) <= j < hi(i); for a block of rows,
// the bounds of its first and last row say which blocks of keys are skipped,
// full or partial. Several masks intersect their intervals.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FAINTERFACES_TD
#define FA_DIALECT_FA_IR_FAINTERFACES_TD

include "mlir/IR/OpBase.td"

def FA_MaskAttr : AttrInterface<"MaskAttr"> {
  let cppNamespace = "::mlir::fa";
  let description = [{
    A structural mask: the interval of keys that a query row sees. A new mask
    is a new attribute that implements this; no pass names one.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the bounds of the visible keys of `row`, an i32 or a vector of i32;
      the bounds have its type. `offset` is an i32 for the whole sequence: 0
      for top_left, keys - queries for bottom_right. A null bound means that
      the mask has none on that side. Bounds may lie outside [0, Sk], and lo
      may exceed hi: who uses them clamps.
    }], "::mlir::fa::KeyInterval", "emitKeyInterval",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$row, "::mlir::Value":$offset)>,
    InterfaceMethod<"What the mask is aligned with.",
      "::mlir::fa::Alignment", "getAlignment">,
    InterfaceMethod<[{
      The mask as plain data, for manifests and the oracle: `kind` (the name
      of the attribute), `alignment`, and each number under its key.
    }], "::mlir::DictionaryAttr", "getDescription">
  ];
}

#endif // FA_DIALECT_FA_IR_FAINTERFACES_TD
