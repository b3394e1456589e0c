//===- Passes.td - from a warp's values to a lane's -------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_GPU_PASSES_TD
#define FA_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def FADistribute : Pass<"fa-distribute", "::mlir::gpu::GPUModuleOp"> {
  let summary = "gives each lane its share of the warp's vectors";
  let description = [{
    Rewrites the kernels of a gpu.module from warp-level values to lane-level
    ones. A vector<MxN> becomes the values that one lane holds of it (the
    layout is taught in fa/GPU/MMA/MMALayout.h): elementwise ops map one to
    one, a row reduction is a reduction in the lane and two shuffles, a
    contraction becomes `mma.sync` with `ldmatrix` from the swizzled tiles in
    workgroup memory (of f32, multiply-adds on loads from there), a tile copy
    becomes `cp.async` of 16-byte chunks, and the probabilities enter the second
    product from the registers in which the scores were computed. Where warps
    have roles, these become branches on the warp's number with `setmaxnreg`
    before them, an issued product `wgmma` on tiles in panels, and copies of
    boxes `cp.async.bulk.tensor`. A vector for which there is no layout, an op
    without a rule, or an instruction that the module's target (`fa.target`,
    where it names one) does not have, is an error.

    ```mlir
    %m = vector.multi_reduction <maxnumf>, %s, %ninf [1] : vector<16x8xf32> to vector<16xf32>
    ```
    becomes, for each of the two rows that a lane shares with its quad,
    ```mlir
    %0 = arith.maxnumf %s0, %s1 : f32
    %1, %_ = gpu.shuffle xor %0, %c1, %c32 : f32
    %2 = arith.maxnumf %0, %1 : f32
    %3, %_ = gpu.shuffle xor %2, %c2, %c32 : f32
    %4 = arith.maxnumf %2, %3 : f32
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "LLVM::LLVMDialect", "math::MathDialect",
                           "memref::MemRefDialect", "NVVM::NVVMDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
}

#endif // FA_GPU_PASSES_TD
