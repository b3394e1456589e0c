//===- Passes.td - the passes of the lower stage ------------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_PASSES_TD
#define FA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FALowerMath : Pass<"fa-lower-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "turns math on a lane's values into PTX's own instructions";
  let description = [{
    Left to upstream, most of `math` and `arith.maxnumf` become calls of
    CUDA's device library (`__nv_exp2f`), which is not linked. This pass takes
    the instruction that PTX has instead. Vectors are taken apart, an element
    at a time, for ops that exist on scalars only.

    ```mlir
    %p = math.exp2 %e : f32
    %m = arith.maxnumf %a, %b : f32
    ```
    becomes
    ```mlir
    %p = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%e) : (f32) -> f32
    %m = llvm.intr.maxnum(%a, %b) : (f32, f32) -> f32
    ```

    | op | becomes | error |
    |---|---|---|
    | `exp2` on f32 | `ex2.approx.ftz` | 2 ulp; 0 below 2^-126 |
    | `log2`, `rsqrt` on f32 | `lg2.approx`, `rsqrt.approx` | 2 ulp; `lg2` 2^-22 absolute near 1 |
    | `exp`, `log` on f32 | `ex2` of x log2 e, ln 2 times `lg2` | that, and one rounding of the product |
    | `tanh` on f32 | 1 - 2 / (2^(2 x log2 e) + 1) by `ex2` and `rcp`, below 0.6 an odd polynomial | 2 ulp below 0.6, 2^-22 above |
    | `arith.divf` on f32 that may be approximate (`afn`) | the dividend times `rcp.approx.ftz` | 2 ulp |
    | `arith.ceildivsi`, `floordivsi` and their like | a division and what corrects it | none |
    | `sqrt`, `fma`, `absf`, `floor`, `ceil`, `trunc`, `roundeven`, `copysign`, `maxnumf`, `minnumf` | the exact instruction | none |

    Any other op of `math` is refused: there is nothing to call. On f16 and bf16
    the rows above are computed in f32, and the result is rounded.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def FAAttachLoopAnnotations
    : Pass<"fa-attach-loop-annotations", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lets LLVM see what a loop says about itself";
  let description = [{
    The conversions from `scf` to `llvm` carry the attribute
    `llvm.loop_annotation` of a loop along without meaning: it stays a
    discardable attribute of the branch. This pass makes it the branch's own
    annotation, from which LLVM makes loop metadata.

    ```mlir
    llvm.br ^header {llvm.loop_annotation = #annotation}
    ```
    becomes
    ```mlir
    llvm.br ^header {loop_annotation = #annotation}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def FAPassTensorMaps
    : Pass<"fa-pass-tensor-maps", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lets kernels take tensor maps by value";
  let description = [{
    A tensor map is 128 bytes of the kernel's parameters, which the copying unit
    reads where they lie. The manifest's rows (`fa.parameters`) say which
    arguments are such.

    ```mlir
    llvm.func @k(%map: !llvm.ptr)       // fa.parameters: kind = "tensormap"
    ```
    becomes
    ```mlir
    llvm.func @k(%map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) ...
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // FA_CONVERSION_PASSES_TD
