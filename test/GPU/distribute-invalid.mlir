// RUN: fa-opt %s --fa-distribute --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @below {{needs a known block size that is a multiple of 32}}
  gpu.func @no_block_size(%n: i32) kernel {
    %j = fa.tile_index %n dim 1 : vector<16x8xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @odd_rows(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{no lane layout covers 'vector<12x8xf32>': rows must be a multiple of 16, columns 1, 4 or a multiple of 8}}
    %s = vector.broadcast %f : f32 to vector<12x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_rule(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = vector.broadcast %f : f32 to vector<16x16xf32>
    // expected-error @below {{has no distribution to lanes}}
    %t = vector.transpose %s, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unknown_memref(%m: memref<16xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{cannot trace the memref of type 'memref<16xf32>' to fa.view or to workgroup memory}}
    %s = fa.load_tile %m[%i] : memref<16xf32> -> vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{needs a known block size that is a multiple of 32 in x, and 1 in y and z}}
  gpu.func @two_dimensions(%f: f32) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    %v = vector.broadcast %f : f32 to vector<16xf32>
    gpu.return
  }
}

// -----

module attributes {fa.target = "sm_10"} {
  // expected-error @below {{target 'sm_10' is unknown; supported: sm_80}}
  gpu.module @m {
    gpu.func @unknown_target() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
}

// -----

gpu.module @m {
  gpu.func @index_elements(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{no lane layout covers 'vector<16x8xindex>': rows must be a multiple of 16, columns 1, 4 or a multiple of 8, elements integers or floats}}
    %s = vector.broadcast %n : index to vector<16x8xindex>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @vector_argument(%v: vector<16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{operand of type 'vector<16xf32>' was not distributed}}
    %s = arith.addf %v, %v : vector<16xf32>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @store_to_view(%p: !llvm.ptr<1>, %f: f32, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %O = fa.view %p sizes [] strides [%i] : !llvm.ptr<1> to memref<4xf32, #gl>
    // expected-error @below {{has no distribution to lanes of its operand of type 'memref<4xf32, #gpu.address_space<global>>'}}
    memref.store %f, %O[%i] : memref<4xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @view_in_loop(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %O = fa.view %p sizes [] strides [%i] : !llvm.ptr<1> to memref<4xf32, #gl>
    // expected-error @below {{has no distribution to lanes of its operand of type 'memref<4xf32, #gpu.address_space<global>>'}}
    %r = scf.for %j = %i to %i step %i iter_args(%x = %O) -> (memref<4xf32, #gl>) {
      scf.yield %x : memref<4xf32, #gl>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @not_splat() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{only splat constants can be distributed}}
    %c = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @broadcast_columns(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %r = vector.broadcast %f : f32 to vector<16xf32>
    // expected-error @below {{only scalars and columns (Mx1) are broadcast, found 'vector<16xf32>'}}
    %s = vector.broadcast %r : vector<16xf32> to vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @cast_of_tile(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %r = vector.broadcast %f : f32 to vector<16x16xf32>
    // expected-error @below {{only a row vector and its column form are cast}}
    %s = vector.shape_cast %r : vector<16x16xf32> to vector<32x8xf32>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @load_partial(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %M = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf32, #gl>
    // expected-error @below {{only rows and tiles are loaded from global memory}}
    %s = fa.load_tile %M[%i, %i] : memref<?x64xf32, #gl> -> vector<16x4xf32>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @store_partial(%p: !llvm.ptr<1>, %i: index, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %M = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf32, #gl>
    %s = vector.broadcast %f : f32 to vector<16x4xf32>
    // expected-error @below {{only rows and tiles are stored}}
    fa.store_tile %s, %M[%i, %i] : vector<16x4xf32>, memref<?x64xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @store_bits(%p: !llvm.ptr<1>, %i: index, %f: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %M = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xi1, #gl>
    %s = vector.broadcast %f : i1 to vector<16x8xi1>
    // expected-error @below {{cannot store to a memref of i1}}
    fa.store_tile %s, %M[%i, %i] : vector<16x8xi1>, memref<?x64xi1, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @elements_in_memory(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %M = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xindex, #gl>
    // expected-error @below {{cannot address 'memref<?x64xindex, #gpu.address_space<global>>'; elements are i1, i8, i16, i32, i64, f16, bf16, f32 or f64}}
    %s = memref.load %M[%i, %i] : memref<?x64xindex, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @view_of_number(%p: i64, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{expected global memory by an !llvm.ptr<1>, found 'memref<4xf32, #gpu.address_space<global>>' by 'i64'}}
    %M = fa.view %p sizes [] strides [%i] : i64 to memref<4xf32, #gl>
    %s = memref.load %M[%i] : memref<4xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @trace_acc(%p: !llvm.ptr<1>, %i: index, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m = vector.broadcast %f : f32 to vector<16xf32>
    %l = vector.broadcast %f : f32 to vector<16x4xf32>
    %u = vector.broadcast %f : f32 to vector<16x4xf32>
    %M = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf32, #gl>
    // expected-error @below {{expected acc with columns in multiples of 8 and sum with 4, found 'vector<16x4xf32>' and 'vector<16x4xf32>'}}
    fa.trace_state row %i first %i max %m sum %l acc %u to %M[%i] : vector<16xf32>, vector<16x4xf32>, vector<16x4xf32>, memref<?x64xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @trace_sum(%p: !llvm.ptr<1>, %i: index, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m = vector.broadcast %f : f32 to vector<16xf32>
    %l = vector.broadcast %f : f32 to vector<16x8xf32>
    %u = vector.broadcast %f : f32 to vector<16x16xf32>
    %M = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf32, #gl>
    // expected-error @below {{expected acc with columns in multiples of 8 and sum with 4, found 'vector<16x16xf32>' and 'vector<16x8xf32>'}}
    fa.trace_state row %i first %i max %m sum %l acc %u to %M[%i] : vector<16xf32>, vector<16x8xf32>, vector<16x16xf32>, memref<?x64xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

gpu.module @m {
  gpu.func @copy_aligned_scalar(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %M = fa.view %p sizes [] strides [] : !llvm.ptr<1> to memref<f16, #gl>
    // expected-error @below {{source of type 'memref<f16, #gpu.address_space<global>>' has no rows}}
    %a = fa.copy_aligned %M : memref<f16, #gl>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @reduce_halves(%h: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = vector.broadcast %h : f16 to vector<16x8xf16>
    %a = vector.broadcast %h : f16 to vector<16xf16>
    // expected-error @below {{only rows of 32-bit tiles are reduced}}
    %m = vector.multi_reduction <add>, %s, %a [1] : vector<16x8xf16> to vector<16xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @reduce_rows(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = vector.broadcast %f : f32 to vector<16xf32>
    // expected-error @below {{over the rows of a warp only 'or' of i1 is reduced}}
    %m = vector.multi_reduction <add>, %s, %f [0] : vector<16xf32> to f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @row_sum_parts(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = vector.broadcast %f : f32 to vector<16x8xf32>
    // expected-error @below {{the accumulator needs 4 columns, one for each lane of a row}}
    %m = fa.row_sum %s, %s : vector<16x8xf32>, vector<16x8xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @arena_dynamic(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ours = arith.constant dense<0.0> : vector<16xf32>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    // expected-error @below {{expected a tile of static extents in an arena of workgroup memory, at a multiple of 16 bytes}}
    %t = memref.view %smem[%c0][%i] : memref<0xi8, #wg> to memref<?xf32, #wg>
    %x = memref.load %t[%c0] : memref<?xf32, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @arena_unaligned() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ours = arith.constant dense<0.0> : vector<16xf32>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %c8 = arith.constant 8 : index
    // expected-error @below {{expected a tile of static extents in an arena of workgroup memory, at a multiple of 16 bytes}}
    %t = memref.view %smem[%c8][] : memref<0xi8, #wg> to memref<4xf32, #wg>
    %x = memref.load %t[%c0] : memref<4xf32, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @swizzled_store(%h: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    %v = vector.broadcast %h : f16 to vector<16x16xf16>
    // expected-error @below {{stores 16 rows of 16-bit elements to a tile in panels, from column 0 on, found 'vector<16x16xf16>' to 'memref<16x64xf16, #gpu.address_space<workgroup>>'}}
    fa.store_tile %v, %t[%c0, %c0] : vector<16x16xf16>, memref<16x64xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @swizzled_subview() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<32x64xf16, #wg>
    // expected-error @below {{of a swizzled tile has no order of its own}}
    %s = memref.subview %t[0, 0] [16, 64] [1, 1] : memref<32x64xf16, #wg> to memref<16x64xf16, strided<[64, 1]>, #wg>
    %v = fa.load_tile %s[%c0, %c0] : memref<16x64xf16, strided<[64, 1]>, #wg> -> vector<16x16xf16>
    %y = arith.addf %v, %v : vector<16x16xf16>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @transfer_outside() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] : memref<0xi8, #wg> to memref<16x8xf32, #wg>
    %f0 = arith.constant 0.0 : f32
    // expected-error @below {{expected rows of 32-bit elements as they lie in memory, in bounds and unmasked}}
    %v = vector.transfer_read %t[%c0, %c0], %f0  : memref<16x8xf32, #wg>, vector<16x8xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @transfer_transposed() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] : memref<0xi8, #wg> to memref<16x16xf32, #wg>
    %f0 = arith.constant 0.0 : f32
    // expected-error @below {{expected rows of 32-bit elements as they lie in memory, in bounds and unmasked}}
    %v = vector.transfer_read %t[%c0, %c0], %f0 {in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (j, i)>} : memref<16x16xf32, #wg>, vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @transfer_column() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] : memref<0xi8, #wg> to memref<16x1xf32, #wg>
    %f0 = arith.constant 0.0 : f32
    // expected-error @below {{expected rows of 32-bit elements as they lie in memory, in bounds and unmasked}}
    %v = vector.transfer_read %t[%c0, %c0], %f0 {in_bounds = [true, true]} : memref<16x1xf32, #wg>, vector<16x1xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @transfer_write_odd(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] : memref<0xi8, #wg> to memref<16x9xf32, #wg>
    %f0 = arith.constant 0.0 : f32
    %v = vector.broadcast %f : f32 to vector<16x8xf32>
    // expected-error @below {{needs contiguous rows of an even length, from an even column on}}
    vector.transfer_write %v, %t[%c0, %c0] {in_bounds = [true, true]} : vector<16x8xf32>, memref<16x9xf32, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_shape() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    // expected-error @below {{a product needs rows and columns in multiples of 16, found 'vector<16x8xf16>'}}
    %x = fa.load_tile %t[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x8xf16>
    %y = arith.addf %x, %x : vector<16x8xf16>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_cast() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %d = memref.cast %t : memref<16x16xf16, #wg> to memref<?x16xf16, #wg>
    // expected-error @below {{a tile in workgroup memory must be contiguous, with static extents, found 'memref<?x16xf16, #gpu.address_space<workgroup>>'}}
    %x = fa.load_tile %d[%c0, %c0] : memref<?x16xf16, #wg> -> vector<16x16xf16>
    %y = arith.addf %x, %x : vector<16x16xf16>
    gpu.return
  }
}
