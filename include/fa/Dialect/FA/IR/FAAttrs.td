//===- FAAttrs.td - masks and schedules as attributes -----*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FAATTRS_TD
#define FA_DIALECT_FA_IR_FAATTRS_TD

include "fa/Dialect/FA/IR/FAEnums.td"
include "fa/Dialect/FA/IR/FAInterfaces.td"

class FA_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<FA_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class FA_Mask<string name, string attrMnemonic>
    : FA_Attr<name, attrMnemonic,
              [DeclareAttrInterfaceMethods<FA_MaskAttr, ["getAlignment"]>]> {
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Structural masks
//===----------------------------------------------------------------------===//

def FA_CausalAttr : FA_Mask<"Causal", "causal"> {
  let summary = "a query sees the keys up to its own position";
  let description = [{
    Key j is visible to query i when `j <= i + offset`, or when `j < prefix`.
    The offset is 0 for `top_left` and keys - queries for `bottom_right`.

    ```mlir
    #fa.causal<bottom_right>
    #fa.causal<top_left, prefix = 64>
    ```
  }];
  let parameters = (ins EnumParameter<FA_Alignment>:$alignment,
                        DefaultValuedParameter<"int64_t", "0">:$prefix);
  let assemblyFormat = "`<` $alignment (`,` `prefix` `=` $prefix^)? `>`";
}

def FA_WindowAttr : FA_Mask<"Window", "window"> {
  let summary = "a query sees the keys within a distance of its own position";
  let description = [{
    Key j is visible to query i when `-left <= j - i - offset <= right`. Both
    distances are inclusive; -1 leaves that side unbounded.

    ```mlir
    #fa.window<bottom_right, left = 127, right = 0>
    ```
  }];
  let parameters = (ins EnumParameter<FA_Alignment>:$alignment,
                        "int64_t":$left, "int64_t":$right);
  let assemblyFormat = "`<` $alignment `,` struct($left, $right) `>`";
}

def FA_ChunkAttr : FA_Mask<"Chunk", "chunk"> {
  let summary = "a query sees the keys of its own chunk";
  let description = [{
    Key j is visible to query i when
    `floor((i + offset) / size) = floor(j / size)`.

    ```mlir
    #fa.chunk<top_left, size = 128>
    ```
  }];
  let parameters = (ins EnumParameter<FA_Alignment>:$alignment,
                        "int64_t":$size);
  let assemblyFormat = "`<` $alignment `,` `size` `=` $size `>`";
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

class FA_Key<string type> : OptionalParameter<"std::optional<" # type # ">">;

def FA_ScheduleAttr : FA_Attr<"Schedule", "schedule"> {
  let summary = "how a kernel is laid out; what is absent is chosen";
  let description = [{
    Every key is optional and overrides the compiler's choice of that number
    alone: `tile_q` query rows and `tile_kv` keys a block, `warps` that own
    query rows, `stages` of the K/V pipeline, `state` (where m, l and u live
    between blocks), `splits` (parts into which the keys are cut), `query`
    (where Q lives during the loop), `pingpong` (whether consumer warpgroups
    take turns), `producers`, warps beside those that only copy (0 or 4),
    `persistent` (whether a block of threads does one tile of the output after
    the other, as many blocks as run at once), `cluster` (how many blocks of
    threads share the K and V that each of them fetches a part of, 1 or 2), and
    `polynomial` (of how many exponentials one is a polynomial instead of an
    instruction of its own; 0: of none).

    ```mlir
    #fa.schedule<tile_q = 128, tile_kv = 64, warps = 4, stages = 2, state = registers, splits = 1>
    ```
  }];
  let parameters = (ins FA_Key<"int64_t">:$tile_q, FA_Key<"int64_t">:$tile_kv,
                        FA_Key<"int64_t">:$warps, FA_Key<"int64_t">:$stages,
                        FA_Key<"::mlir::fa::StateKind">:$state,
                        FA_Key<"int64_t">:$splits,
                        FA_Key<"::mlir::fa::QueryKind">:$query,
                        FA_Key<"bool">:$pingpong,
                        FA_Key<"int64_t">:$producers,
                        FA_Key<"bool">:$persistent, FA_Key<"int64_t">:$cluster,
                        FA_Key<"int64_t">:$polynomial);
  // Written out, so that a refusal names the key and what it takes.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // FA_DIALECT_FA_IR_FAATTRS_TD
