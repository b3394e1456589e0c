// RUN: fa-opt %s --fa-distribute --split-input-file --verify-diagnostics

// Copies of tiles that fa-distribute refuses.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @swizzled_element() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ours = arith.constant dense<0.0> : vector<16xf32>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    // expected-error @below {{does not know the order of a swizzled tile; fa.load_tile and fa.copy_tile do}}
    %x = memref.load %t[%c0, %c0] : memref<16x64xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_rank(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i, %i] : !llvm.ptr<1> to memref<?x8x64xf16, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    // expected-error @below {{the source must be a matrix in global memory with static columns}}
    fa.copy_tile %K[%i, %i, %c0] to %t[%c0, %c0] : memref<?x8x64xf16, #gl> to memref<16x64xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_columns(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i, %i] strides [%i, %i] : !llvm.ptr<1> to memref<?x?xf16, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    // expected-error @below {{the source must be a matrix in global memory with static columns}}
    fa.copy_tile %K[%i, %c0] to %t[%c0, %c0] : memref<?x?xf16, #gl> to memref<16x64xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_bytes(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xi8, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xi8, #wg>
    // expected-error @below {{copies elements of 16 or 32 bits, found 'i8'}}
    fa.copy_tile %K[%i, %c0] to %t[%c0, %c0] : memref<?x64xi8, #gl> to memref<16x64xi8, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_unswizzled(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf16, #gl>
    %t = memref.view %smem[%c0][] : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    // expected-error @below {{the destination needs swizzled rows of a power of two of 16-byte chunks that divides the block}}
    fa.copy_tile %K[%i, %c0] to %t[%c0, %c0] : memref<?x64xf16, #gl> to memref<16x64xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_pitch(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf16, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x48xf16, #wg>
    // expected-error @below {{the destination needs swizzled rows of a power of two of 16-byte chunks that divides the block}}
    fa.copy_tile %K[%i, %c0] to %t[%c0, %c0] : memref<?x64xf16, #gl> to memref<16x48xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_part_of_chunk(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf16, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x12xf16, #wg>
    // expected-error @below {{the destination needs swizzled rows of a power of two of 16-byte chunks that divides the block}}
    fa.copy_tile %K[%i, %c0] to %t[%c0, %c0] : memref<?x64xf16, #gl> to memref<16x12xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_from_column(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf16, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    // expected-error @below {{the tile must start at the first column}}
    fa.copy_tile %K[%i, %i] to %t[%c0, %c0] : memref<?x64xf16, #gl> to memref<16x64xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_to_row(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf16, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    // expected-error @below {{must fill its tile from the first element}}
    fa.copy_tile %K[%i, %c0] to %t[%i, %c0] : memref<?x64xf16, #gl> to memref<16x64xf16, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copy_to_stage(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %K = fa.view %p sizes [%i] strides [%i, %i] : !llvm.ptr<1> to memref<?x64xf16, #gl>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<2x16x64xf16, #wg>
    // expected-error @below {{is not known to lie inside 'memref<2x16x64xf16, #gpu.address_space<workgroup>>' in dimension 0}}
    fa.copy_tile %K[%i, %c0] to %t[%i, %c0, %c0] : memref<?x64xf16, #gl> to memref<2x16x64xf16, #wg>
    gpu.return
  }
}
