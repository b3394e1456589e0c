// RUN: fa-opt %s --allow-unregistered-dialect --fa-stage-outputs | FileCheck %s
// REQUIRES: fa-opt
//
// What consumers store goes through the tile of Q, and from there as boxes.

#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: func @out
// CHECK-SAME: %[[MAP:.*]]: !llvm.ptr, %[[O:.*]]: memref<?x?x64xf16>
// CHECK: %[[OMAP:.*]] = fa.tensor_map %[[O]] box [1, 16, 64] : {{.*}} -> !llvm.ptr
// CHECK: %[[SQ:.*]] = memref.alloc() : memref<128x64xf16,
// CHECK: %[[V:.*]] = "test.value"() : () -> vector<128x64xf16>
// CHECK: %[[HAS:.*]] = fa.has_tensor_map %[[OMAP]]
// CHECK: scf.if %[[HAS]] {
// CHECK-NEXT: fa.warpgroup_barrier
// CHECK-NEXT: fa.store_tile %[[V]], %[[SQ]][%{{.*}}, %{{.*}}]
// CHECK-NEXT: fa.bulk_store %[[SQ]][%{{.*}}, %{{.*}}] columns 64 to %[[OMAP]][%{{.*}}, %{{.*}}, %{{.*}}] row_dim 1
// CHECK-NEXT: } else {
// CHECK-NEXT: fa.store_tile %[[V]], %{{.*}}[%{{.*}}, %{{.*}}]
// CHECK-NEXT: }
// A value of another type does not fit there, nor a row.
// CHECK: %[[W:.*]]:2 = "test.wide"
// CHECK-NEXT: fa.store_tile %[[W]]#0
// CHECK-NEXT: fa.store_tile
func.func @out(%map: !llvm.ptr, %O: memref<?x?x64xf16>, %P: memref<?x?x64xf32>, %L: memref<?xf32>, %sq: index) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %o = memref.subview %O[%h, 0, 0] [1, %sq, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %p = memref.subview %P[%h, 0, 0] [1, %sq, 64] [1, 1, 1] : memref<?x?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %full = memref.alloc() : memref<1xi64, #wg>
    fa.warp_roles [8, 1, 3] {
      %v = "test.value"() : () -> vector<128x64xf16>
      fa.store_tile %v, %o[%c0, %c0] : vector<128x64xf16>, memref<?x64xf16, strided<[64, 1], offset: ?>>
      %w, %l = "test.wide"() : () -> (vector<128x64xf32>, vector<128xf32>)
      fa.store_tile %w, %p[%c0, %c0] : vector<128x64xf32>, memref<?x64xf32, strided<[64, 1], offset: ?>>
      fa.store_tile %l, %L[%c0] : vector<128xf32>, memref<?xf32>
    }, {
      fa.bulk_copy %map[%h, %c0, %c0] to %sQ[%c0, %c0] signals %full[%c0] : !llvm.ptr, memref<128x64xf16, #wg>, memref<1xi64, #wg>
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4>}
  return
}
