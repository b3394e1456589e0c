//===- FARoleOps.td - warps with roles, products in flight -*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Further words of a tile program, for chips whose copies and products run by
// themselves: which warps do what, what they wait for, and when a product is
// there. Barriers here are those that count arrivals and bytes (PTX: mbarrier).
// docs/Hopper.md teaches their phases.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FAROLEOPS_TD
#define FA_DIALECT_FA_IR_FAROLEOPS_TD

include "fa/Dialect/FA/IR/FABase.td"
include "fa/Dialect/FA/IR/FAEnums.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Of a portable cluster: eight at most.
def FA_BlocksOfCluster
    : ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<8>]>;

def FA_WarpRolesOp
    : FA_Op<"warp_roles", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "gives the warps of a block different programs";
  let description = [{
    The first `warps[0]` warps of the block run the first region, the next
    `warps[1]` the second, and so on; together they are the whole block.
    `registers` says how many registers a thread of each role needs; all warps
    of a warpgroup (four, from a multiple of four on) need the same number.

    ```mlir
    fa.warp_roles [8, 1, 3] registers [240, 24, 24] {
      ...                     // 8 warps compute
    }, {
      ...                     // 1 warp copies
    }, {
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$warps,
                       OptionalAttr<DenseI64ArrayAttr>:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$roles);
  let assemblyFormat = [{
    $warps (`registers` $registers^)? attr-dict-with-keyword $roles
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Warps of the block.
    int64_t getNumWarps();
    /// The first warp of role `role`.
    int64_t getFirstWarp(unsigned role);
  }];
}

def FA_InitBarriersOp : FA_Op<"init_barriers", []> {
  let summary = "readies barriers for use";
  let description = [{
    Each barrier of the buffer begins its phase 0, which `count` arrivals (and
    the bytes announced with them) end. By one thread of the block; the others
    may use them after the next barrier of the block.

    ```mlir
    fa.init_barriers %full count 1 : memref<2xi64, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[I64], [1]>, "", [MemWrite]>:$barriers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let assemblyFormat = "$barriers `count` $count attr-dict `:` type($barriers)";
}

def FA_ArriveOp : FA_Op<"arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one arrival at a barrier for each warp";
  let description = [{
    What the warp read and wrote before is done for those who wait. With
    `after`, the arrival stays behind whatever computes those values, for the
    compilers below too: without it nothing orders registers and barriers, and
    a wait that follows would be moved up in front of the computation.

    With `blocks`, at the barrier of this place in each of so many blocks of
    threads, those of the cluster.

    ```mlir
    fa.arrive %empty[%stage] after %l : memref<2xi64, #wg>, vector<128x4xf32>
    fa.arrive %empty[%stage] blocks 2 : memref<2xi64, #wg>
    ```
  }];
  let arguments = (ins MemRefRankOf<[I64], [1]>:$barriers, Index:$index,
                       Optional<VectorOfRankAndType<[2], [F32]>>:$after,
                       DefaultValuedAttr<FA_BlocksOfCluster, "1">:$blocks);
  let assemblyFormat = [{
    $barriers `[` $index `]` (`after` $after^)? (`blocks` $blocks^)? attr-dict
    `:` type($barriers) (`,` type($after)^)?
  }];
}

def FA_WaitBarrierOp
    : FA_Op<"wait_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for the end of a phase of a barrier";
  let description = [{
    Returns when the phase of parity `parity` (0 or 1) has ended: phases are
    numbered from 0, and while number n runs, that of parity (n - 1) mod 2 is
    the last one that ended. So on a new barrier parity 1 does not wait.

    ```mlir
    fa.wait_barrier %full[%stage] parity %p : memref<2xi64, #wg>
    ```
  }];
  let arguments = (ins MemRefRankOf<[I64], [1]>:$barriers, Index:$index,
                       I32:$parity);
  let assemblyFormat = [{
    $barriers `[` $index `]` `parity` $parity attr-dict `:` type($barriers)
  }];
}

def FA_ClusterBarrierOp
    : FA_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a barrier of all blocks of threads of a cluster";
  let description = [{
    In front of what reaches into another block's workgroup memory, which that
    block must have made ready, and behind it, since memory goes with its block.

    ```mlir
    fa.init_barriers %full count 2 : memref<2xi64, #wg>
    fa.cluster_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def FA_MultiprocessorsOp : FA_Op<"multiprocessors", [Pure]> {
  let summary = "how many multiprocessors the device has";
  let description = [{
    On the host, for the number of blocks of threads that run at once. The
    manifest's grid calls it `SMs`.

    ```mlir
    %n = fa.multiprocessors
    %workers = arith.minui %tiles, %n : index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def FA_TensorMapOp : FA_Op<"tensor_map", [Pure]> {
  let summary = "describes a tensor to the unit that copies boxes of it";
  let description = [{
    On the host. `box` has one number for each dimension of `source`; its
    innermost extent is one panel of 128 bytes. What lies outside the tensor is
    zero. A tensor that cannot be described (strides or an address that are no
    multiples of 16 bytes, an innermost stride that is not 1) gives a map of
    zeros, and the kernel copies by other means.

    ```mlir
    %map = fa.tensor_map %K box [1, 1, 96, 64] : memref<?x?x?x64xf16, strided<[?, ?, ?, ?], offset: ?>> -> !llvm.ptr
    ```
  }];
  let arguments = (ins AnyMemRef:$source, DenseI64ArrayAttr:$box);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source `box` $box attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FA_HasTensorMapOp : FA_Op<"has_tensor_map", [MemoryEffects<[MemRead]>]> {
  let summary = "whether a tensor could be described to the copying unit";
  let description = [{
    In a kernel, of what `fa.tensor_map` gave on the host: a map of zeros is
    none. The same for all threads.

    ```mlir
    %has = fa.has_tensor_map %map : !llvm.ptr
    ```
  }];
  let arguments = (ins AnyType:$map);
  let results = (outs I1:$result);
  let assemblyFormat = "$map attr-dict `:` type($map)";
}

def FA_BulkCopyOp : FA_Op<"bulk_copy", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "an asynchronous copy of a tile, issued by one thread of a warp";
  let description = [{
    Copies the tile at `coordinates` of the tensor (in the order of its
    dimensions) to `dest[destIndices]`, panel by panel. The warp arrives once at
    the barrier and announces the bytes of the tile; the phase ends when they
    have come.

    With `blocks`, each of so many blocks of a cluster copies its part of the rows,
    and all parts come to all, to the same place, with a signal at the barrier of
    the same place. A block announces the whole tile at its own and arrives there
    for all of them. The boxes of the map have the rows of a part.

    ```mlir
    fa.bulk_copy %map[%b, %h, %j0, %c0] to %sK[%stage, %c0, %c0] signals %full[%stage]
      : !llvm.ptr, memref<2x96x64xf16, #wg>, memref<2xi64, #wg>
    %part = arith.muli %rank, %c48 : index
    %j = arith.addi %j0, %part : index
    fa.bulk_copy %half[%b, %h, %j, %c0] to %sK[%stage, %part, %c0] signals %full[%stage] blocks 2
      : !llvm.ptr, memref<2x96x64xf16, #wg>, memref<2xi64, #wg>
    ```
  }];
  let arguments = (ins AnyType:$map, Variadic<Index>:$coordinates,
                       AnyMemRef:$dest, Variadic<Index>:$destIndices,
                       MemRefRankOf<[I64], [1]>:$barriers, Index:$index,
                       DefaultValuedAttr<FA_BlocksOfCluster, "1">:$blocks);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $dest `[` $destIndices `]`
    `signals` $barriers `[` $index `]` (`blocks` $blocks^)? attr-dict
    `:` type($map) `,` type($dest) `,` type($barriers)
  }];
  let hasVerifier = 1;
}

def FA_FenceAsyncOp
    : FA_Op<"fence_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "shows this thread's writes to the units that run by themselves";
  let description = [{
    Tensor cores that read tiles themselves, and copies of whole boxes, see
    workgroup memory by another path than loads and stores. What a thread
    stored they see after this.

    ```mlir
    fa.wait_copies pending 0
    fa.fence_async
    fa.arrive %full[%stage] : memref<2xi64, #wg>
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def FA_IssueProductOp : FA_Op<"issue_product", [
    TypesMatchWith<"the result has the type of what it adds to", "acc",
                   "result", "$_self">,
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts acc + lhs . rhs, by four warps together";
  let description = [{
    The right operand is a tile in workgroup memory, [k, n] or with
    `rhs_transposed` [n, k]; the left one a tile in workgroup memory, [m, k], or
    a vector. `depth` is k. The result, the accumulators and a left operand in
    registers may not be touched before `fa.wait_products`. Products end in the
    order in which they were issued.

    ```mlir
    %s = fa.issue_product %sQ[%row, %c0], %sK[%stage, %c0, %c0], %zero depth 64 rhs_transposed
      : memref<128x64xf16, #wg>, memref<2x96x64xf16, #wg>, vector<16x96xf32>
    %u = fa.issue_product %p[], %sV[%stage, %c0, %c0], %u0 depth 96
      : vector<16x96xf16>, memref<2x96x64xf16, #wg>, vector<16x64xf32>
    ```
  }];
  // The accumulators first: their type is inferred by the operand's number.
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$acc,
                       AnyType:$lhs, Variadic<Index>:$lhsIndices,
                       AnyMemRef:$rhs, Variadic<Index>:$rhsIndices,
                       ConfinedAttr<I64Attr, [IntPositive]>:$depth,
                       UnitAttr:$rhs_transposed);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$result);
  let assemblyFormat = [{
    $lhs `[` $lhsIndices `]` `,` $rhs `[` $rhsIndices `]` `,` $acc
    `depth` $depth (`rhs_transposed` $rhs_transposed^)? attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def FA_WaitProductsOp
    : FA_Op<"wait_products", [
    TypesMatchWith<"results have the types of the operands", "values", "results", "$_self">,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` products are in flight";
  let description = [{
    The results are the operands: those that are products are there now, and
    others (which the compilers below must not change while a product in flight
    still reads registers made from them) are only led through.

    ```mlir
    %s1 = fa.wait_products pending 1 %s : vector<16x96xf32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending,
                       Variadic<VectorOfRankAndType<[2], [F32]>>:$values);
  let results = (outs Variadic<VectorOfRankAndType<[2], [F32]>>:$results);
  let assemblyFormat = [{
    `pending` $pending $values attr-dict `:` type($values)
  }];
}

def FA_TurnAttr : EnumAttr<FA_Dialect, FA_TurnKind, "turn">;

def FA_TurnOp : FA_Op<"turn", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "lets warpgroups do something one after the other";
  let description = [{
    `take` waits until it is this warpgroup's turn, `pass` gives the turn to the
    next of the first `groups` warpgroups of the block. `open` gives the first
    one its first turn; `close`, behind as many takes as passes in every
    warpgroup, leaves no turn behind.

    ```mlir
    fa.turn open of 2
    scf.for ... {
      fa.turn take of 2
      ...
      fa.turn pass of 2
    }
    fa.turn close of 2
    ```
  }];
  let arguments = (ins FA_TurnAttr:$kind,
                       ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<3>]>:$groups);
  let assemblyFormat = "$kind `of` $groups attr-dict";
}

def FA_WarpgroupBarrierOp
    : FA_Op<"warpgroup_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a barrier of the four warps of a warpgroup";
  let description = [{
    Of the warpgroup that runs it, by itself; what its lanes wrote to workgroup
    memory before, all of them see behind it. Every lane comes to it.

    ```mlir
    fa.warpgroup_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def FA_BulkStoreOp : FA_Op<"bulk_store", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies a warp's rows of a tile to a tensor";
  let description = [{
    The counterpart of `fa.bulk_copy`: what the warp wrote to its rows of
    `source` goes to `coordinates` of the tensor, by one lane, panel by panel;
    what lies outside the tensor is dropped. Behind it the tile may be written
    again. `row_dim` is the tensor's dimension of the rows.

    ```mlir
    fa.bulk_store %sO[%row, %c0] columns 64 to %map[%b, %h, %i0, %c0] row_dim 2
      : memref<128x64xf16, #wg>, !llvm.ptr
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$sourceIndices,
                       AnyType:$map, Variadic<Index>:$coordinates,
                       ConfinedAttr<I64Attr, [IntPositive]>:$columns,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$row_dim);
  let assemblyFormat = [{
    $source `[` $sourceIndices `]` `columns` $columns `to` $map `[` $coordinates `]`
    `row_dim` $row_dim attr-dict `:` type($source) `,` type($map)
  }];
  let hasVerifier = 1;
}

#endif // FA_DIALECT_FA_IR_FAROLEOPS_TD
