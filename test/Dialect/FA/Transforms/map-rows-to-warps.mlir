// RUN: fa-opt %s --allow-unregistered-dialect --fa-map-rows-to-warps --split-input-file --verify-diagnostics | FileCheck %s
// REQUIRES: fa-opt
//
// Dimension 0 shrinks to the warp's rows, wherever it counts queries.

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// tile_q = tile_kv: shapes alone would not tell Q from K.
// CHECK-LABEL: func @program_square
// CHECK: %[[TID:.*]] = gpu.thread_id x
// CHECK: %[[WARP:.*]] = arith.divui %[[TID]], %c32
// CHECK: %[[ROW:.*]] = arith.muli %[[WARP]], %c16
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : vector<16x64xf32>
// CHECK-DAG: %[[INIT:.*]] = arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK: %[[R32:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK: %[[I0:.*]] = arith.addi %{{.*}}, %[[R32]]
// CHECK: fa.tile_index %[[I0]] dim 0 : vector<16xi32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (vector<16xf32>)
// CHECK:   fa.load_tile %{{.*}}[%[[ROW]], %{{.*}}] : {{.*}} -> vector<16x64xf16>
// CHECK:   fa.load_tile %{{.*}}[%c0, %c0] : {{.*}} -> vector<64x64xf16>
// CHECK:   vector.contract {{.*}}, %[[ZERO]] : vector<16x64xf16>, vector<64x64xf16> into vector<16x64xf32>
// A column index names no row; a vector along the keys is whole.
// CHECK:   fa.tile_index %{{.*}} dim 1 : vector<16x64xi32>
// CHECK:   fa.load_tile %{{.*}} : memref<?xf32> -> vector<64xf32>
// CHECK:   vector.broadcast %{{.*}} : vector<64xf32> to vector<16x64xf32>
// CHECK:   vector.multi_reduction <or>, %{{.*}} [0] : vector<16xi1> to i1
// CHECK:   vector.transfer_read %{{.*}}[%[[ROW]], %{{.*}}]{{.*}} vector<16x4xf32>
// CHECK:   %[[FIRST:.*]] = arith.addi %c0{{.*}}, %[[ROW]]
// CHECK:   fa.trace_state row %{{.*}} first %[[FIRST]] max {{.*}} : vector<16xf32>, vector<16x4xf32>, vector<16x64xf32>
// CHECK: fa.store_tile %{{.*}}, %{{.*}}[%[[ROW]]] : vector<16xf32>
func.func @program_square(%sQ: memref<64x64xf16, #wg>, %sK: memref<64x64xf16, #wg>, %l: memref<64x4xf32, #wg>,
                          %bias: memref<?xf32>, %T: memref<?x66xf32>, %L: memref<?xf32>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %z = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %init = arith.constant dense<0xFF800000> : vector<64xf32>
  %false = arith.constant false
  scf.forall (%ib) in (4) {
    %i = fa.tile_index %z dim 0 : vector<64xi32>
    %r = scf.for %jb = %c0 to %end step %c1 iter_args(%m = %init) -> (vector<64xf32>) {
      %q = fa.load_tile %sQ[%c0, %c0] : memref<64x64xf16, #wg> -> vector<64x64xf16>
      %k = fa.load_tile %sK[%c0, %c0] : memref<64x64xf16, #wg> -> vector<64x64xf16>
      %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k, %zero : vector<64x64xf16>, vector<64x64xf16> into vector<64x64xf32>
      %j = fa.tile_index %z dim 1 : vector<64x64xi32>
      %ic = vector.shape_cast %i : vector<64xi32> to vector<64x1xi32>
      %ib2 = vector.broadcast %ic : vector<64x1xi32> to vector<64x64xi32>
      %vis = arith.cmpi sle, %j, %ib2 : vector<64x64xi32>
      %bv = fa.load_tile %bias[%jb] : memref<?xf32> -> vector<64xf32>
      %bb = vector.broadcast %bv : vector<64xf32> to vector<64x64xf32>
      %x = arith.select %vis, %s, %bb : vector<64x64xi1>, vector<64x64xf32>
      %n = vector.multi_reduction <maxnumf>, %x, %m [1] : vector<64x64xf32> to vector<64xf32>
      %big = arith.cmpf uge, %n, %init : vector<64xf32>
      %any = vector.multi_reduction <or>, %big, %false [0] : vector<64xi1> to i1
      "test.use"(%any) : (i1) -> ()
      %l0 = vector.transfer_read %l[%c0, %c0], %f0 {in_bounds = [true, true]} : memref<64x4xf32, #wg>, vector<64x4xf32>
      %l1 = fa.row_sum %x, %l0 : vector<64x64xf32>, vector<64x4xf32>
      fa.trace_state row %c0 first %c0 max %n sum %l1 acc %x to %T[%jb] : vector<64xf32>, vector<64x4xf32>, vector<64x64xf32>, memref<?x66xf32>
      scf.yield %n : vector<64xf32>
    } {fa.blocks = "partial"}
    fa.store_tile %r, %L[%c0] : vector<64xf32>, memref<?xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

// The same row for all: no warp reads another one.
// CHECK-LABEL: func @each_row
// CHECK: %[[V:.*]] = fa.load_tile %{{.*}}[%c0{{.*}}] each_row : memref<64xf32> -> vector<16x64xf32>
// CHECK: fa.store_tile %[[V]]
func.func @each_row(%row: memref<64xf32>, %O: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %v = fa.load_tile %row[%c0] each_row : memref<64xf32> -> vector<64x64xf32>
    fa.store_tile %v, %O[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = registers>}
  return
}
