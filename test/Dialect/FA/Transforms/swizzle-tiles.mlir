// RUN: fa-opt %s --allow-unregistered-dialect --fa-swizzle-tiles | FileCheck %s
// REQUIRES: fa-opt

#wg = #gpu.address_space<workgroup>

// A head dimension of 80 gets rows of 128; the tile that is read stays.
// CHECK-LABEL: func @tiles
// CHECK: %[[SK:.*]] = memref.alloc() {fa.swizzle} : memref<2x64x128xf16, #gpu.address_space<workgroup>>
// State is no tile.
// CHECK: memref.alloc() : memref<64x80xf32,
// CHECK: fa.copy_tile {{.*}} to %[[SK]]
// CHECK: fa.load_tile %[[SK]]{{.*}} -> vector<64x80xf16>
func.func @tiles(%K: memref<?x80xf16>) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<2x64x80xf16, #wg>
    %u = memref.alloc() : memref<64x80xf32, #wg>
    fa.copy_tile %K[%ib, %c0] to %sK[%c0, %c0, %c0] : memref<?x80xf16> to memref<2x64x80xf16, #wg>
    %k = fa.load_tile %sK[%c0, %c0, %c0] : memref<2x64x80xf16, #wg> -> vector<64x80xf16>
    "test.use"(%k, %u) : (vector<64x80xf16>, memref<64x80xf32, #wg>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}
