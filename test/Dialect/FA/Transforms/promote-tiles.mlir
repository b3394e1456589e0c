// RUN: fa-opt %s --allow-unregistered-dialect --fa-promote-tiles --split-input-file --verify-diagnostics | FileCheck %s
// REQUIRES: fa-opt
//
// Operands of products go through workgroup memory, masks do not.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @query_shared
// CHECK-SAME: %[[Q:.*]]: memref<?x64xf16>, %[[K:.*]]: memref<?x64xf16>, %[[M:.*]]: memref<?x?xi1>
// CHECK-DAG: %[[SQ:.*]] = memref.alloc() : memref<32x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[SK:.*]] = memref.alloc() : memref<16x64xf16, #gpu.address_space<workgroup>>
// CHECK: fa.copy_tile %[[Q]][%[[I0:.*]], %{{.*}}] to %[[SQ]]
// CHECK-NEXT: fa.commit_copies
// CHECK: scf.for
// The address of the block is known before the first barrier.
// CHECK:   %[[J0:.*]] = arith.muli
// CHECK:   gpu.barrier
// CHECK:   fa.copy_tile %[[K]][%[[J0]], %{{.*}}] to %[[SK]]
// CHECK-NEXT: fa.commit_copies
// CHECK-NEXT: fa.wait_copies pending 0
// CHECK-NEXT: gpu.barrier
// CHECK:   "test.before"
// CHECK:   %[[LQ:.*]] = fa.load_tile %[[SQ]]
// CHECK:   %[[LK:.*]] = fa.load_tile %[[SK]]
// CHECK-NEXT: vector.contract {{.*}} %[[LQ]], %[[LK]]
// CHECK:   fa.load_tile %[[M]]
// CHECK: } {fa.blocks = "partial"}
// CHECK-NEXT: }
func.func @query_shared(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %M: memref<?x?xi1>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x16xf32>
  scf.forall (%ib) in (4) {
    %i0 = arith.muli %ib, %c32 : index
    %q = fa.load_tile %Q[%i0, %c0] : memref<?x64xf16> -> vector<32x64xf16>
    scf.for %jb = %c0 to %end step %c1 {
      "test.before"() : () -> ()
      %j0 = arith.muli %jb, %c16 : index
      %k = fa.load_tile %K[%j0, %c0] : memref<?x64xf16> -> vector<16x64xf16>
      %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k, %zero : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
      %m = fa.load_tile %M[%i0, %j0] : memref<?x?xi1> -> vector<32x16xi1>
      "test.use"(%s, %m) : (vector<32x16xf32>, vector<32x16xi1>) -> ()
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers, query = shared>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Q is read once, after its copy has arrived. State in workgroup memory gets a
// barrier behind the loops.
// CHECK-LABEL: func @query_registers
// CHECK: fa.commit_copies
// CHECK-NEXT: fa.wait_copies pending 0
// CHECK-NEXT: gpu.barrier
// CHECK: %[[LQ:.*]] = fa.load_tile %{{.*}} : memref<32x64xf16, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK-NOT: vector<32x64xf16>
// CHECK: vector.contract {{.*}} %[[LQ]],
// CHECK: } {fa.blocks = "full"}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: vector.transfer_read
func.func @query_registers(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  scf.forall (%ib) in (4) {
    %q = fa.load_tile %Q[%ib, %c0] : memref<?x64xf16> -> vector<32x64xf16>
    %state = memref.alloc() : memref<32x16xf32, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      %s0 = vector.transfer_read %state[%c0, %c0], %f0 {in_bounds = [true, true]} : memref<32x16xf32, #wg>, vector<32x16xf32>
      %k = fa.load_tile %K[%jb, %c0] : memref<?x64xf16> -> vector<16x64xf16>
      %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k, %s0 : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
      vector.transfer_write %s, %state[%c0, %c0] {in_bounds = [true, true]} : vector<32x16xf32>, memref<32x16xf32, #wg>
    } {fa.blocks = "full"}
    %r = vector.transfer_read %state[%c0, %c0], %f0 {in_bounds = [true, true]} : memref<32x16xf32, #wg>, vector<32x16xf32>
    "test.use"(%r) : (vector<32x16xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = shared, query = registers>}
  return
}
