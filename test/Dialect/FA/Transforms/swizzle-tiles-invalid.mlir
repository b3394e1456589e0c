// RUN: fa-opt %s --fa-swizzle-tiles --split-input-file --verify-diagnostics

#wg = #gpu.address_space<workgroup>

func.func @subview(%K: memref<?x48xf16>) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %t = memref.alloc() : memref<16x48xf16, #wg>
    fa.copy_tile %K[%ib, %c0] to %t[%c0, %c0] : memref<?x48xf16> to memref<16x48xf16, #wg>
    // expected-error @below {{uses a swizzled tile; only tile ops know its order}}
    %s = memref.subview %t[0, 0] [16, 16] [1, 1] : memref<16x48xf16, #wg> to memref<16x16xf16, strided<[48, 1]>, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @layout(%K: memref<?x48xf16>) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    // expected-error @below {{is a tile of type 'memref<16x48xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>'; only contiguous tiles are swizzled}}
    %t = memref.alloc() : memref<16x48xf16, strided<[64, 1]>, #wg>
    fa.copy_tile %K[%ib, %c0] to %t[%c0, %c0] : memref<?x48xf16> to memref<16x48xf16, strided<[64, 1]>, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}
