//===- FAAttentionOps.td - attention as one op ------------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed, with no word about how. The constraints that the verifiers
// check have labels; docs/AttentionConstraints.md lists them.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FAATTENTIONOPS_TD
#define FA_DIALECT_FA_IR_FAATTENTIONOPS_TD

include "fa/Dialect/FA/IR/FAAttrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def FA_Shaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef],
                          "ranked tensor or memref", "::mlir::ShapedType">;

def FA_MaskArray : TypedArrayAttrBase<FA_MaskAttr, "array of masks">;

//===----------------------------------------------------------------------===//
// fa.attention
//===----------------------------------------------------------------------===//

def FA_AttentionOp : FA_Op<"attention", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "scaled dot-product attention";
  let description = [{
    For each batch b, query head h and query row i: the weights are the softmax
    of the scores of the visible keys, and the row of O is the sum of the rows
    of V by these weights. `kv(h) = h / (Hq / Hkv)` is the head of K and V.

    ```
    fa.attention Q, K, V [scale] [masks] [softcap] [bias] [mask] [alibi] [sink]
                 [q_lengths] [kv_lengths] [segments] [scales] [q_offsets]
                 [kv_offsets] [pages] [dropout] [score] [visible] [outs]
                 [attr-dict] : types -> types
    ```

    The clauses may be written in any order and are printed in this one. On
    tensors the op has results, O and optionally LSE, the natural logarithm of
    the row sums in f32; on memrefs it has none and writes its `outs`.

    ```mlir
    %o, %lse = fa.attention %q, %k, %v scale(0.125) masks [#fa.causal<bottom_right>]
      : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
      -> tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
    ```

    The order is fixed: scale, softcap, score region, ALiBi, bias, masks, sink,
    softmax, dropout. Without a scale it is 1/sqrt(D), rounded to f32.
    `layout`, `precision`, `empty_row` (words) and `schedule` are written in
    the attribute dictionary.
  }];
  let arguments = (ins
    FA_Shaped:$query, FA_Shaped:$key, FA_Shaped:$value,
    Optional<F32>:$scale_operand,
    Optional<FA_Shaped>:$bias, Optional<FA_Shaped>:$mask,
    Optional<FA_Shaped>:$alibi, Optional<FA_Shaped>:$sink,
    Optional<FA_Shaped>:$q_lengths, Optional<FA_Shaped>:$kv_lengths,
    Optional<FA_Shaped>:$q_segments, Optional<FA_Shaped>:$kv_segments,
    Optional<FA_Shaped>:$q_scales, Optional<FA_Shaped>:$k_scales,
    Optional<FA_Shaped>:$v_scales,
    Optional<FA_Shaped>:$q_offsets, Optional<FA_Shaped>:$kv_offsets,
    Optional<FA_Shaped>:$pages, Optional<I64>:$seed,
    Variadic<FA_Shaped>:$outs,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<FA_MaskArray>:$masks,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<F64Attr>:$dropout,
    DefaultValuedOptionalStrAttr<StrAttr, "bhsd">:$layout,
    DefaultValuedOptionalStrAttr<StrAttr, "ieee">:$precision,
    DefaultValuedOptionalStrAttr<StrAttr, "zero">:$empty_row,
    OptionalAttr<FA_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$score, AnyRegion:$visible);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the op works on memrefs: no results, O and LSE in `outs`.
    bool isMemRefForm() {
      return ::llvm::isa<::mlir::MemRefType>(getQuery().getType());
    }
    /// Whether Q is a packed batch, [Tq, Hq, D].
    bool isPacked() { return static_cast<bool>(getQOffsets()); }
    /// Whether K and V are pages, [pages, Hkv, page_size, D].
    bool isPaged() { return static_cast<bool>(getPages()); }
    bool hasScore() { return !getScore().empty(); }
    bool hasVisible() { return !getVisible().empty(); }

    /// O and LSE: results on tensors, `outs` on memrefs. LSE may be null.
    ::mlir::Value getOutput();
    ::mlir::Value getLse();

    /// Where the dimensions of the operands lie, and their extents.
    ::mlir::fa::AttentionDims getDims();
    /// Every operand that has a shape, then O and LSE, in the order of the
    /// operand list, with the name of each of its dimensions.
    ::llvm::SmallVector<::mlir::fa::AttentionOperand> getShapedOperands();

    /// The masks in the order written.
    ::llvm::SmallVector<::mlir::fa::MaskAttr> getMaskAttrs();
    /// The alignment of ALiBi: that of the causal mask, else bottom_right.
    ::mlir::fa::Alignment getAlibiAlignment();

    /// The scale attribute, else 1/sqrt(D) rounded to f32; nothing when the
    /// scale is an operand or D is not static.
    ::std::optional<double> getStaticScale();

    // The words of the attribute dictionary; valid on a verified op.
    ::mlir::fa::Layout getLayoutKind();
    ::mlir::fa::Precision getPrecisionKind();
    ::mlir::fa::EmptyRow getEmptyRowKind();
  }];
}

//===----------------------------------------------------------------------===//
// fa.merge
//===----------------------------------------------------------------------===//

def FA_MergeOp : FA_Op<"merge", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "joins attention over disjoint parts of the keys";
  let description = [{
    Each partial result is O and LSE of the same queries over some of the keys.
    With w_n = exp(LSE_n - LSE), the result is the sum of w_n O_n, and LSE is
    the logarithm of the sum of the exp(LSE_n). On memrefs the op writes `outs`.

    ```mlir
    %o, %lse = fa.merge (%o0, %lse0), (%o1, %lse1)
      : tensor<1x8x64x64xf16>, tensor<1x8x64xf32>, tensor<1x8x64x64xf16>, tensor<1x8x64xf32>
      -> tensor<1x8x64x64xf16>, tensor<1x8x64xf32>
    ```
  }];
  let arguments = (ins
    Variadic<FA_Shaped>:$partials, Variadic<FA_Shaped>:$lses,
    Variadic<FA_Shaped>:$outs,
    DefaultValuedOptionalStrAttr<StrAttr, "bhsd">:$layout);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the op works on memrefs: no results, O and LSE in `outs`.
    bool isMemRefForm() { return getResults().empty(); }
    /// Every operand, then O and LSE, with the names of its dimensions.
    ::llvm::SmallVector<::mlir::fa::AttentionOperand> getShapedOperands();
    ::mlir::Value getOutput() {
      return isMemRefForm() ? getOuts()[0] : getResults()[0];
    }
    ::mlir::Value getLse() {
      return isMemRefForm() ? getOuts()[1] : getResults()[1];
    }
  }];
}

//===----------------------------------------------------------------------===//
// fa.yield
//===----------------------------------------------------------------------===//

def FA_YieldOp : FA_Op<"yield", [
    Pure, Terminator, HasParent<"AttentionOp">]> {
  let summary = "ends a score or visibility region";
  let description = [{
    Gives the changed score (f32) or whether the key is visible (i1).

    ```mlir
    fa.yield %t : f32
    ```
  }];
  let arguments = (ins AnyTypeOf<[F32, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // FA_DIALECT_FA_IR_FAATTENTIONOPS_TD
