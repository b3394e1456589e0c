//===- FAEnums.td - the words that attributes choose from -*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FAENUMS_TD
#define FA_DIALECT_FA_IR_FAENUMS_TD

include "fa/Dialect/FA/IR/FABase.td"
include "mlir/IR/EnumAttr.td"

class FA_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::mlir::fa";
}

def FA_Alignment : FA_Enum<"Alignment",
    "the alignment of queries with keys", [
      I32EnumCase<"TopLeft", 0, "top_left">,
      I32EnumCase<"BottomRight", 1, "bottom_right">]>;

def FA_StateKind : FA_Enum<"StateKind",
    "the place of m, l and u between blocks", [
      I32EnumCase<"Registers", 0, "registers">,
      I32EnumCase<"Shared", 1, "shared">]>;

def FA_QueryKind : FA_Enum<"QueryKind",
    "the place of Q during the loop", [
      I32EnumCase<"Shared", 0, "shared">,
      I32EnumCase<"Registers", 1, "registers">]>;

def FA_Precision : FA_Enum<"Precision",
    "the precision of products of f32", [
      I32EnumCase<"IEEE", 0, "ieee">,
      I32EnumCase<"TF32x3", 1, "tf32x3">,
      I32EnumCase<"TF32", 2, "tf32">]>;

def FA_EmptyRow : FA_Enum<"EmptyRow",
    "the value of a row without a visible key", [
      I32EnumCase<"Zero", 0, "zero">,
      I32EnumCase<"NaN", 1, "nan">,
      I32EnumCase<"Uniform", 2, "uniform">]>;

def FA_Layout : FA_Enum<"Layout",
    "the order of dimensions of Q, K, V and O", [
      I32EnumCase<"BHSD", 0, "bhsd">,
      I32EnumCase<"BSHD", 1, "bshd">]>;

def FA_TurnKind : FA_Enum<"TurnKind",
    "what is done with a turn", [
      I32EnumCase<"Open", 0, "open">,
      I32EnumCase<"Take", 1, "take">,
      I32EnumCase<"Pass", 2, "pass">,
      I32EnumCase<"Close", 3, "close">]>;

#endif // FA_DIALECT_FA_IR_FAENUMS_TD
