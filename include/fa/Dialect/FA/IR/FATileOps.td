//===- FATileOps.td - the words of a tile program ---------*- tablegen -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile program holds vectors of a whole block of threads after the tile
// stage, and of one warp after the map stage; the ops are the same. After the
// distribute stage none of them is left.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FATILEOPS_TD
#define FA_DIALECT_FA_IR_FATILEOPS_TD

include "fa/Dialect/FA/IR/FABase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def FA_LoadTileOp : FA_Op<"load_tile", []> {
  let summary = "loads a tile; what lies outside the source is zero";
  let description = [{
    Reads the tile whose first element is `source[indices]`. The dimensions of
    the vector are the trailing dimensions of the source. An element outside
    the extents of the source is not read and is zero (false for i1), so a
    tail needs no second form, and a head dimension is padded by asking for a
    wider tile.

    With `each_row` the vector has one dimension more than the source, in
    front: each row of the tile is the same part of the source.

    With `nearest` an element outside is what the nearest one inside is, of
    which there is one: for tiles whose outside is never looked at, it is
    shorter than zeros.

    With `paired`, too, the columns lie inside, the first of them is an even
    one, and `fa.pairs_aligned` holds for the source: two neighbours are one
    load.

    ```mlir
    %q = fa.load_tile %Q[%i0, %c0] : memref<?x40xf16, strided<[?, ?], offset: ?>> -> vector<128x48xf16>
    %v = fa.load_tile %row[%c0] each_row : memref<40xf16, strided<[?], offset: ?>> -> vector<128x48xf16>
    %b = fa.load_tile %bias[%i0, %j0] nearest paired : memref<?x?xf16, strided<[?, ?], offset: ?>> -> vector<128x64xf16>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Variadic<Index>:$indices,
                       UnitAttr:$each_row, UnitAttr:$nearest,
                       UnitAttr:$paired);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`each_row` $each_row^)? (`nearest` $nearest^)?
    (`paired` $paired^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FA_GatherOp : FA_Op<"gather", []> {
  let summary = "loads an element for each position of a tile";
  let description = [{
    Element x of the result is the element of the source at the elements x of
    the indices, one vector for each dimension of the source. All of them lie
    inside.

    ```mlir
    %x = fa.gather %T[%i, %j] : memref<?x?xf32, strided<[?, ?]>>, vector<64x32xi32>, vector<64x32xi32> -> vector<64x32xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Variadic<VectorOfNonZeroRankOf<[I32, I64]>>:$indices);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict
    `:` type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def FA_MinMaxOp : FA_Op<"minmax", []> {
  let summary = "the least and the greatest of a stretch of integers";
  let description = [{
    Of the `count` elements of the source from `first` on; what lies behind its
    end takes no part. Of none, the least is the largest i32 and the greatest
    the smallest. The source has an element at least.

    ```mlir
    %least, %greatest = fa.minmax %line[%first] count 96 : memref<?xi32, strided<[?], offset: ?>>
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32], [1]>, "", [MemRead]>:$source,
                       Index:$first,
                       ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let results = (outs I32:$least, I32:$greatest);
  let assemblyFormat = [{
    $source `[` $first `]` `count` $count attr-dict `:` type($source)
  }];
}

def FA_StoreTileOp : FA_Op<"store_tile", []> {
  let summary = "stores the part of a tile that lies inside the destination";
  let description = [{
    The counterpart of `fa.load_tile`: elements outside the extents of the
    destination are dropped.

    ```mlir
    fa.store_tile %o, %O[%i0, %c0] : vector<128x48xf16>, memref<?x40xf16, strided<[?, ?], offset: ?>>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$value,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       Variadic<Index>:$indices);
  let assemblyFormat = [{
    $value `,` $dest `[` $indices `]` attr-dict `:` type($value) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def FA_TileIndexOp : FA_Op<"tile_index", [Pure]> {
  let summary = "the coordinates of a tile along one of its dimensions";
  let description = [{
    Element x of the result is `base` plus the position of x along `dim`.
    Masks, bias and score regions are ordinary arithmetic on these values.

    ```mlir
    %j = fa.tile_index %j0 dim 1 : vector<128x64xi32>   // %j[r, c] = %j0 + c
    ```
  }];
  let arguments = (ins I32:$base, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs VectorOfNonZeroRankOf<[I32]>:$result);
  let assemblyFormat = "$base `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def FA_RowSumOp : FA_Op<"row_sum", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "adds a tile to the partial sums of its rows";
  let description = [{
    A row of a tile is spread over several lanes (four in an `mma` accumulator),
    and a sum over the row costs a shuffle for each doubling. Sums of later
    blocks are only added to it, so the lanes keep their parts apart and the
    shuffles happen once, after the last block. The accumulator has one column
    for each part; adding up its columns gives the sums of the rows. Which
    elements of the tile enter which part is left to the layout.

    ```mlir
    %l1 = fa.row_sum %p, %l0 : vector<128x64xf32>, vector<128x4xf32>
    ...
    %l = vector.multi_reduction <add>, %ln, %zero [1] : vector<128x4xf32> to vector<128xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$tile,
                       VectorOfRankAndType<[2], [F32]>:$acc);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$result);
  let assemblyFormat = [{
    $tile `,` $acc attr-dict `:` type($tile) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def FA_Exp2Op
    : FA_Op<"exp2",
            !listconcat([Pure, SameOperandsAndResultType],
                        ElementwiseMappable.traits)> {
  let summary = "2^x, where some columns take a polynomial";
  let description = [{
    `math.exp2` is one instruction, of a unit that does 4 lanes a clock where
    that of sums and products does 32. Of the columns that a lane holds of a
    row, one of each `polynomial`, from the first on, takes sums and products
    instead: for x up to 127 they give 2^x to 3e-6 of it, exactly where x is a
    whole number, 0 below -126.5, and NaN of NaN.

    ```mlir
    %p = fa.exp2 %x polynomial 8 : vector<128x64xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$exponents,
                       ConfinedAttr<I64Attr, [IntPositive]>:$polynomial);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$result);
  let assemblyFormat = [{
    $exponents `polynomial` $polynomial attr-dict `:` type($result)
  }];
}

def FA_ViewOp : FA_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a memref over a kernel's pointer, sizes and strides";
  let description = [{
    Inside a kernel an operand is a pointer to its first element, its strides
    (in elements, 64-bit) and those of its extents that are not static. The
    dynamic sizes are listed in order. Such a memref is never materialised as
    a descriptor: the distribute stage reads pointer, sizes and strides here.

    ```mlir
    %Q = fa.view %p sizes [%B, %Sq] strides [%s0, %s1, %s2, %s3]
         : !llvm.ptr<1> to memref<?x8x?x64xf16, strided<[?, ?, ?, ?]>, #gpu.address_space<global>>
    ```
  }];
  let arguments = (ins AnyType:$base, Variadic<Index>:$sizes,
                       Variadic<Index>:$strides);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $base `sizes` `[` $sizes `]` `strides` `[` $strides `]` attr-dict
    `:` type($base) `to` type($result)
  }];
  let hasVerifier = 1;
}

def FA_CopyTileOp : FA_Op<"copy_tile", [AttrSizedOperandSegments]> {
  let summary = "an asynchronous copy of a tile by all threads of the block";
  let description = [{
    Copies the tile at `source[sourceIndices]` to `dest[destIndices]` in
    workgroup memory. The tile has the last two dimensions of `dest`; what lies
    outside the source is written as zero. The copy belongs to the group that
    the next `fa.commit_copies` closes, may finish as late as the
    `fa.wait_copies` that waits for it, and is visible to other threads only
    after a barrier behind that wait.

    With `in_bounds` all rows of the tile lie inside the source and
    `fa.copy_aligned` of the source is true: no row is checked. Columns behind
    the last of the source, a padded head dimension, are zero all the same.

    ```mlir
    fa.copy_tile %K[%j0, %c0] to %sK[%stage, %c0, %c0]
      : memref<?x64xf16, strided<[?, ?], offset: ?>> to memref<2x64x64xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Variadic<Index>:$sourceIndices,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       Variadic<Index>:$destIndices,
                       UnitAttr:$in_bounds);
  let assemblyFormat = [{
    $source `[` $sourceIndices `]` `to` $dest `[` $destIndices `]`
    (`in_bounds` $in_bounds^)? attr-dict `:` type($source) `to` type($dest)
  }];
  let hasVerifier = 1;
}

def FA_CopyAlignedOp : FA_Op<"copy_aligned", [Pure]> {
  let summary = "whether 16-byte copies may be made from the rows of a memref";
  let description = [{
    True when the innermost stride is 1 and the address of every row is a
    multiple of 16 bytes. Uniform over the block.

    ```mlir
    %aligned = fa.copy_aligned %K : memref<?x64xf16, strided<[?, ?], offset: ?>>
    ```
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def FA_PairsAlignedOp : FA_Op<"pairs_aligned", [Pure]> {
  let summary = "whether two neighbours in a row may be loaded at once";
  let description = [{
    True when the innermost stride is 1 and the address of every row is a
    multiple of two elements. Uniform over the block.

    ```mlir
    %paired = fa.pairs_aligned %bias : memref<?x?xf16, strided<[?, ?], offset: ?>>
    ```
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def FA_CommitCopiesOp : FA_Op<"commit_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "closes a group of the copies issued since the last commit";
  let description = [{
    Of this thread's copies by `fa.copy_tile`; a group may be empty.

    ```mlir
    fa.copy_tile %K[%j0, %c0] to %sK[%stage, %c0, %c0] : ...
    fa.commit_copies
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def FA_WaitCopiesOp : FA_Op<"wait_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` groups of copies are unfinished";
  let description = [{
    Of this thread's groups, which finish in the order of their commits. What
    other threads copied is there behind a barrier that follows.

    ```mlir
    fa.wait_copies pending 1
    gpu.barrier
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "`pending` $pending attr-dict";
}

def FA_NoteRowsOp : FA_Op<"note_rows", [Pure]> {
  let summary = "notes that a condition held for some row of the tile";
  let description = [{
    True when `noted` is, or when the condition holds for a row that this
    thread has a part of. The result is this thread's own note: nothing is
    exchanged, so that a loop can note at no cost what is asked once behind it,
    by `fa.any_noted`.

    ```mlir
    %n1 = fa.note_rows %huge, %n0 : vector<128xi1>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I1]>:$condition, I1:$noted);
  let results = (outs I1:$result);
  let assemblyFormat = "$condition `,` $noted attr-dict `:` type($condition)";
}

def FA_AnyNotedOp : FA_Op<"any_noted", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "whether some thread of the block has noted something";
  let description = [{
    The same for all threads of the block, which meet here: a barrier. Where
    warps have roles, those meet in whose role there is one.

    ```mlir
    %again = fa.any_noted %n1
    ```
  }];
  let arguments = (ins I1:$noted);
  let results = (outs I1:$result);
  let assemblyFormat = "$noted attr-dict";
}

def FA_TraceStateOp : FA_Op<"trace_state", []> {
  let summary = "writes m, l and u of one query row to the trace buffer";
  let description = [{
    For `fa-run --trace-state`. When query row `row` lies in the tile that
    starts at row `first`, writes to `dest[block, ...]`: the row maximum in
    natural units (`max`, which is in log2 units, times ln 2), the row sum
    (the columns of `sum` added up) and the unnormalised output.

    ```mlir
    fa.trace_state row %row first %i0 max %r sum %l acc %u to %T[%block]
      : vector<128xf32>, vector<128x4xf32>, vector<128x64xf32>, memref<?x66xf32, ...>
    ```
  }];
  let arguments = (ins Index:$row, Index:$first,
                       VectorOfRankAndType<[1], [F32]>:$max,
                       VectorOfRankAndType<[2], [F32]>:$sum,
                       VectorOfRankAndType<[2], [F32]>:$acc,
                       Arg<MemRefRankOf<[F32], [2]>, "", [MemWrite]>:$dest,
                       Index:$block);
  let assemblyFormat = [{
    `row` $row `first` $first `max` $max `sum` $sum `acc` $acc `to` $dest
    `[` $block `]` attr-dict `:` type($max) `,` type($sum) `,` type($acc) `,`
    type($dest)
  }];
  let hasVerifier = 1;
}

#endif // FA_DIALECT_FA_IR_FATILEOPS_TD
