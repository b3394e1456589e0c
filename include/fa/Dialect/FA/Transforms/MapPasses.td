//===- MapPasses.td - the passes of the map stage -----------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the order of the pipeline. Each works on the tile programs of a function:
// its scf.forall with a complete schedule (attribute fa.schedule).
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_MAPPASSES_TD
#define FA_DIALECT_FA_TRANSFORMS_MAPPASSES_TD

include "mlir/Pass/PassBase.td"

def FAPromoteState : Pass<"fa-promote-state", "func::FuncOp"> {
  let summary = "lets loops carry m, l and u instead of workgroup memory";
  let description = [{
    The tile stage writes the state of the online softmax to buffers of
    workgroup memory, whatever the schedule. Where the schedule says
    `state = registers`, each buffer becomes a value that the loops over K/V
    blocks carry; with `state = shared` nothing changes.

    Before:

    ```mlir
    %m = memref.alloc() : memref<128xf32, #wg>
    vector.transfer_write %init, %m[%c0] {in_bounds = [true]}
    scf.for %jb = %c0 to %full step %c1 {
      %r0 = vector.transfer_read %m[%c0], %f0 {in_bounds = [true]}
      %r1 = arith.maxnumf %r0, %rb : vector<128xf32>
      vector.transfer_write %r1, %m[%c0] {in_bounds = [true]}
    }
    %rf = vector.transfer_read %m[%c0], %f0 {in_bounds = [true]}
    ```

    After:

    ```mlir
    %rf = scf.for %jb = %c0 to %full step %c1 iter_args(%r0 = %init) -> (vector<128xf32>) {
      %r1 = arith.maxnumf %r0, %rb : vector<128xf32>
      scf.yield %r1 : vector<128xf32>
    }
    ```

    Each access must cover the whole buffer: then a row is touched only by the
    warp that owns it, and no barrier orders the accesses. Writes may stand in
    any number of loops in a row, reads in an `scf.if` too. Anything else is an
    error, because a schedule that was asked for is not silently given up.
  }];
}

def FAPromoteTiles : Pass<"fa-promote-tiles", "func::FuncOp"> {
  let summary = "brings the operands of products to workgroup memory";
  let description = [{
    A tile that a contraction reads gets a buffer of workgroup memory. All
    threads of the block fill it; each warp reads what it needs right before
    the contraction. K and V are copied in each iteration, Q once; with
    `query = registers` Q is also read once. Tiles that no contraction reads
    (masks, biases) stay where they are.

    Before:

    ```mlir
    %q = fa.load_tile %Q[%i0, %c0] : ... -> vector<128x64xf16>
    scf.for %jb = ... {
      %k = fa.load_tile %K[%j0, %c0] : ... -> vector<64x64xf16>
      %s = vector.contract ... %q, %k, %zero
    }
    ```

    After:

    ```mlir
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %sK = memref.alloc() : memref<64x64xf16, #wg>
    fa.copy_tile %Q[%i0, %c0] to %sQ[%c0, %c0]
    fa.commit_copies
    scf.for %jb = ... {
      gpu.barrier
      fa.copy_tile %K[%j0, %c0] to %sK[%c0, %c0]
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %q = fa.load_tile %sQ[%c0, %c0] : ... -> vector<128x64xf16>
      %k = fa.load_tile %sK[%c0, %c0] : ... -> vector<64x64xf16>
      %s = vector.contract ... %q, %k, %zero
    }
    ```

    State that stayed in workgroup memory is ordered by the barriers of the
    iterations; one more follows the last loop.
  }];
  let dependentDialects = ["gpu::GPUDialect", "arith::ArithDialect",
                           "memref::MemRefDialect"];
}

def FAPipelineCopies : Pass<"fa-pipeline-copies", "func::FuncOp"> {
  let summary = "lets the copies of K and V run ahead of their use";
  let description = [{
    With `stages = S` each streamed tile becomes a ring of S tiles and an
    iteration copies the block that comes S - 1 blocks later. A loop over full
    blocks copies without checks; it ends S - 1 blocks early, and at once where
    the rows of K or V do not allow 16-byte copies. The loop behind it, whose
    copies are checked, does the rest; where there is none it is made. S = 1
    changes nothing. The loops must follow each other without a gap.

    Before (each iteration):

    ```mlir
    gpu.barrier
    fa.copy_tile %K[%j0, %c0] to %sK[%c0, %c0]
    fa.commit_copies
    fa.wait_copies pending 0
    gpu.barrier
    ```

    After, for S = 2 (block jb lies in stage jb mod 2):

    ```mlir
    scf.if %first < %end {
      fa.copy_tile %K[%first * 64, %c0] to %sK[%first mod 2, %c0, %c0]
    }
    fa.commit_copies
    scf.for %jb = %first to %fullEarly {
      fa.wait_copies pending 0
      gpu.barrier
      fa.copy_tile %K[(%jb + 1) * 64, %c0] to %sK[(%jb + 1) mod 2, %c0, %c0] in_bounds
      fa.commit_copies
      ...
    } {fa.blocks = "full"}
    scf.for %jb = %fullEarly to %end {
      fa.wait_copies pending 0
      gpu.barrier
      scf.if %jb + 1 < %end {
        fa.copy_tile %K[(%jb + 1) * 64, %c0] to %sK[(%jb + 1) mod 2, %c0, %c0]
      }
      fa.commit_copies
      ...
    } {fa.blocks = "partial"}
    fa.wait_copies pending 0
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect", "arith::ArithDialect",
                           "memref::MemRefDialect", "scf::SCFDialect"];
}

def FASpecializeWarps : Pass<"fa-specialize-warps", "func::FuncOp"> {
  let summary = "lets one warp copy while the others compute";
  let description = [{
    With `producers = 4`, in the place of fa-pipeline-copies. One warp keeps the
    copies, the others the rest; a ring of `stages` tiles for each of K and V
    stands between them, each tile with a barrier that says it is full and one
    that says it is empty again. The number of a block in the ring gives its
    stage and the parity of the phase.

    Before (each iteration):

    ```mlir
    gpu.barrier
    fa.copy_tile %K[%j0, %c0] to %sK[%c0, %c0]
    fa.commit_copies
    fa.wait_copies pending 0
    gpu.barrier
    %k = fa.load_tile %sK[%c0, %c0]
    %s = vector.contract ... %q, %k, %zero
    ```

    After:

    ```mlir
    %map = fa.tensor_map %K box [1, 1, 96, 64]           // on the host
    fa.warp_roles [8, 1, 3] registers [232, 40, 40] {
      scf.for %jb = ... {
        fa.wait_barrier %full[%stage] parity %p
        %k = fa.load_tile %sK[%stage, %c0, %c0]
        %s = vector.contract ... %q, %k, %zero
        fa.arrive %empty[%stage]
      }
    }, {
      scf.for %jb = ... {
        fa.wait_barrier %empty[%stage] parity %before
        fa.bulk_copy %map[%b, %h, %j0, %c0] to %sK[%stage, %c0, %c0] signals %full[%stage]
      }
    }, {
    }
    ```

    Where there is no tensor map at run time, or where a sequence ends inside
    the tile but its tensor does not, the producer's lanes copy the tile.

    With `persistent = true` the program's iterations are blocks of threads, as
    many as run at once, and each role is a loop over tiles of the output that
    carries how many blocks and how many tiles went before. Q gets an empty
    barrier and a producer of its own:

    ```mlir
    %workers = arith.minui %tiles, (fa.multiprocessors)
    scf.forall (%w) in (%workers) {
      fa.warp_roles [8, 1, 1, 2] registers [232, 40, 40, 40] {
        scf.for %x = %w to %tiles step (gpu.grid_dim x) iter_args(%n = %c0, %t = %c0) {
          ...
        } {fa.tiles}
      }, {
        ...
    ```

    With `cluster = 2` an iteration is two blocks of threads, which must walk the
    same blocks of K and V: nothing by which tiles are found may depend on
    `gpu.cluster_block_id`. Each copies a half of a tile to both, and consumers
    give a tile back to both:

    ```mlir
    %half = fa.tensor_map %K box [1, 1, 48, 64]
    fa.init_barriers %full count 2
    fa.init_barriers %empty count 16
    fa.cluster_barrier
    fa.warp_roles [8, 1, 3] registers [232, 40, 40] {
        ...
        fa.wait_barrier %full[%stage] parity %p
        %k = fa.load_tile %sK[%stage, %c0, %c0]
        %s = vector.contract ... %q, %k, %zero
        fa.arrive %empty[%stage] blocks 2
    }, {
        fa.wait_barrier %empty[%stage] parity %before
        fa.bulk_copy %half[%b, %h, %j0 + %rank * 48, %c0] to %sK[%stage, %rank * 48, %c0] signals %full[%stage] blocks 2
    }, {
    }
    fa.cluster_barrier
    ```

    A loop that one of the blocks does again has whole tiles and barriers of its
    own:

    ```mlir
        fa.wait_barrier %ownEmpty[%stage] parity %before
        fa.bulk_copy %map[%b, %h, %j0, %c0] to %sK[%stage, %c0, %c0] signals %ownFull[%stage]
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect", "arith::ArithDialect",
                           "LLVM::LLVMDialect", "memref::MemRefDialect",
                           "scf::SCFDialect"];
}

def FAStageOutputs : Pass<"fa-stage-outputs", "func::FuncOp"> {
  let summary = "lets results leave through workgroup memory";
  let description = [{
    Of programs whose warps have roles. A tile that consumers store goes through
    the tile of Q, when that has its type and is large enough, and from there as
    boxes of its tensor. Where there is no tensor map at run time the lanes
    store.

    ```mlir
    fa.store_tile %o, %O[%i0, %c0]
    // becomes
    %map = fa.tensor_map %Out box [1, 1, 16, 64]     // on the host
    %has = fa.has_tensor_map %map
    scf.if %has {
      fa.warpgroup_barrier                           // all have read Q
      fa.store_tile %o, %sQ[%c0, %c0]
      fa.bulk_store %sQ[%c0, %c0] columns 64 to %map[%b, %h, %i0, %c0] row_dim 2
    } else {
      fa.store_tile %o, %O[%i0, %c0]
    }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "LLVM::LLVMDialect",
                           "scf::SCFDialect"];
}

def FAIssueProducts : Pass<"fa-issue-products", "func::FuncOp"> {
  let summary = "makes products of warpgroups of contractions";
  let description = [{
    With `producers = 4`. A contraction becomes a product that is issued and
    then waited for. It reads the tiles in workgroup memory itself.

    ```mlir
    %q = fa.load_tile %sQ[%c0, %c0] : ... -> vector<128x64xf16>
    %k = fa.load_tile %sK[%stage, %c0, %c0] : ... -> vector<96x64xf16>
    %s = vector.contract ... %q, %k, %zero
    // becomes
    %0 = fa.issue_product %sQ[%c0, %c0], %sK[%stage, %c0, %c0], %zero depth 64 rhs_transposed
    %s = fa.wait_products pending 0 %0
    ```
  }];
}

def FAOverlapProducts : Pass<"fa-overlap-products", "func::FuncOp"> {
  let summary = "computes the softmax of a block while the one before is multiplied";
  let description = [{
    With `producers = 4` and `state = registers`. The loops over full and
    partial blocks are turned: an iteration takes block n from its scores to its
    weights, and block n - 1 from its weights to u. In front of the loops the
    first block is taken up to its weights, behind them the last one from there.

    Before (an iteration, block n):

    ```mlir
    %0 = fa.issue_product %sQ[...], %sK[%stage, ...], %zero ...
    %s = fa.wait_products pending 0 %0
    fa.arrive %emptyK[%stage]
    ... %w = math.exp2 %e ; %l1 = fa.row_sum %w, %l0 ; %u1 = arith.mulf %u0, %a
    %p = arith.truncf %w
    %1 = fa.issue_product %p[], %sV[%stage, ...], %u1 ...
    %u2 = fa.wait_products pending 0 %1
    ```

    After (block n, with %u and %p of block n - 1):

    ```mlir
    %0 = fa.issue_product %sQ[...], %sK[%stage, ...], %zero ...
    %1 = fa.issue_product %p[], %sV[%before, ...], %u ...
    %s = fa.wait_products pending 1 %0
    ... %w = math.exp2 %e ; %l1 = fa.row_sum %w, %l0
    fa.arrive %emptyK[%stage] after %l1
    %u1, %w1 = fa.wait_products pending 0 %1, %w
    %u2 = arith.mulf %u1, %a
    %p1 = arith.truncf %w1
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "scf::SCFDialect"];
}

def FAMapRowsToWarps : Pass<"fa-map-rows-to-warps", "func::FuncOp"> {
  let summary = "gives each warp its own rows of the query tile";
  let description = [{
    Vectors with query rows in dimension 0 shrink from `tile_q` to
    `tile_q / warps` rows, and what names a row by number (loads, stores, the
    state's transfers, `fa.tile_index dim 0`, `fa.trace_state`) adds the
    warp's first row. The right-hand sides of contractions, and vectors along
    the keys, stay whole. From here on the program is what one warp does.

    Before (tile_q = 128, warps = 4):

    ```mlir
    %q = fa.load_tile %sQ[%c0, %c0] : ... -> vector<128x64xf16>
    %k = fa.load_tile %sK[%c0, %c0] : ... -> vector<64x64xf16>
    %s = vector.contract ... %q, %k, %zero : ... into vector<128x64xf32>
    ```

    After:

    ```mlir
    %warp = arith.divui %thread, %c32
    %row = arith.muli %warp, %c32_rows
    %q = fa.load_tile %sQ[%row, %c0] : ... -> vector<32x64xf16>
    %k = fa.load_tile %sK[%c0, %c0] : ... -> vector<64x64xf16>
    %s = vector.contract ... %q, %k, %zero : ... into vector<32x64xf32>
    ```

    A reduction over rows to an `i1` becomes one over the warp's rows: each
    warp decides by itself. Other reductions over rows are refused.
  }];
  let dependentDialects = ["gpu::GPUDialect", "arith::ArithDialect"];
}

def FASwizzleTiles : Pass<"fa-swizzle-tiles", "func::FuncOp"> {
  let summary = "marks tiles to be stored so that banks do not conflict";
  let description = [{
    Tiles that copies fill get rows of a power of two and the attribute
    `fa.swizzle`; the distribute stage computes addresses from it. The widened
    part of a row is never read. Tiles of products of a warpgroup get
    `fa.panels` instead: columns in panels of 128 bytes, one behind the other.

    ```mlir
    %sK = memref.alloc() : memref<2x64x80xf16, #wg>                   // before
    %sK = memref.alloc() {fa.swizzle} : memref<2x64x128xf16, #wg>     // after
    ```
  }];
}

def FAMapToGPU : Pass<"fa-map-to-gpu", "ModuleOp"> {
  let summary = "makes a kernel and its launch of each tile program";
  let description = [{
    The program moves to a `gpu.func`, each in a `gpu.module` of its own. The
    grid is one-dimensional, the last dimension of the `scf.forall` fastest; an
    empty one is not launched. Memrefs from outside are handed over as pointer,
    strides and extents (64-bit), as far as their types leave them open. The
    buffers of workgroup memory become views of one arena of dynamic shared
    memory, each at a multiple of 128 bytes, tiles of panels at one of 1024.

    The kernel's attributes say how to launch it from the function's operands:
    `fa.parameters` (a row {kind, operand, dim, type} for each argument),
    `fa.grid` (over the names of `fa.operands`), `fa.shared_bytes`, and
    `known_block_size`, which `gpu.func` has of its own.
    A function without `fa.operands` may hold any values around the program;
    its kernels can be launched by the host code only.

    Before:

    ```mlir
    func.func @f(%Q: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>) {
      scf.forall (%b, %h, %ib) in (1, 8, %nq) {
        %sQ = memref.alloc() {fa.swizzle} : memref<128x64xf16, #wg>
        ...
      } {fa.schedule = ...}
    ```

    After:

    ```mlir
    func.func @f(...) {
      scf.if %grid != 0 {
        gpu.launch_func @f_kernels::@f_kernel blocks in (%grid, %c1, %c1)
          threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes
          args(%p : !llvm.ptr<1>, %s1 : i64, %s2 : i64, %s3 : i64, %sq : i64)
      }
    }
    gpu.module @f_kernels {
      memref.global @f_kernel_smem : memref<0xi8, #wg> {alignment = 128}
      gpu.func @f_kernel(...) kernel attributes {fa.grid = ["ceildiv(Sq, 128) * 8", "1", "1"], ...} {
        %smem = memref.get_global @f_kernel_smem
        %sQ = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<128x64xf16, #wg>
        %Q = fa.view %p sizes [%sq] strides [%c0, %s1, %s2, %s3] : !llvm.ptr<1> to memref<1x8x?x64xf16, strided<[?, ?, ?, ?]>, #gl>
        ...
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect", "arith::ArithDialect",
                           "LLVM::LLVMDialect", "memref::MemRefDialect",
                           "scf::SCFDialect"];
}

#endif // FA_DIALECT_FA_TRANSFORMS_MAPPASSES_TD
