// RUN: fa-opt %s --allow-unregistered-dialect --fa-specialize-warps --split-input-file --verify-diagnostics | FileCheck %s
// REQUIRES: fa-opt
//
// Two blocks of threads walk the same blocks of K: each copies a half of every
// tile to both. What one of them does again it does alone.

#wg = #gpu.address_space<workgroup>
#qk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @roles
// CHECK-SAME: %[[Q:.*]]: memref<?x?x64xf16>, %[[K:.*]]: memref<?x?x64xf16>
// Boxes of whole tiles, and of halves.
// CHECK: %[[QMAP:.*]] = fa.tensor_map %[[Q]] box [1, 128, 64]
// CHECK: %[[KMAP:.*]] = fa.tensor_map %[[K]] box [1, 96, 64]
// CHECK: %[[HALF:.*]] = fa.tensor_map %[[K]] box [1, 48, 64]
// CHECK: scf.forall
// CHECK-DAG: %[[SQ:.*]] = memref.alloc() : memref<128x64xf16,
// CHECK-DAG: %[[SK:.*]] = memref.alloc() : memref<2x96x64xf16,
// Consumers of both blocks give a tile back.
// CHECK: fa.init_barriers %[[QFULL:.*]] count 1 : memref<1xi64,
// CHECK-NEXT: fa.init_barriers %[[FULL:.*]] count 2 : memref<2xi64,
// CHECK-NEXT: fa.init_barriers %[[EMPTY:.*]] count 16 : memref<2xi64,
// CHECK-NEXT: fa.init_barriers %[[OWNFULL:.*]] count 1 : memref<2xi64,
// CHECK-NEXT: fa.init_barriers %[[OWNEMPTY:.*]] count 8 : memref<2xi64,
// CHECK-NEXT: fa.cluster_barrier
// CHECK-NOT: gpu.barrier
// CHECK: fa.warp_roles [8, 1, 3] registers [232, 40, 40] {
// CHECK:   scf.for
// CHECK:     fa.wait_barrier %[[FULL]]
// CHECK:     fa.arrive %[[EMPTY]][%{{.*}}] blocks 2 :
// CHECK:   %[[AGAIN:.*]] = fa.any_noted
// Numbers in the block's own rings begin anew.
// CHECK-NOT: arith.addi
// CHECK:   scf.for %[[JB:.*]] = %{{.*}} to
// CHECK:     %[[J32:.*]] = arith.index_cast %[[JB]] : index to i32
// CHECK:     arith.addi %[[J32]], %[[BASE:.*]] : i32
// CHECK:     fa.wait_barrier %[[OWNFULL]]
// CHECK:     fa.arrive %[[OWNEMPTY]][%{{.*}}] : memref
// CHECK: }, {
// CHECK:   fa.bulk_copy %[[QMAP]]{{.*}} signals %[[QFULL]][%{{[a-z0-9_]+}}] :
// CHECK:   fa.has_tensor_map %[[HALF]]
// CHECK:   scf.for
// CHECK:     fa.wait_barrier %[[EMPTY]]
// CHECK:     %[[RANK:.*]] = gpu.cluster_block_id x upper_bound 2
// CHECK:     %[[PART:.*]] = arith.muli %[[RANK]], %c48
// CHECK:     %[[ROW:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK:     fa.bulk_copy %[[HALF]][%{{.*}}, %[[ROW]], %{{.*}}] to %[[SK]][%{{.*}}, %[[PART]], %{{.*}}] signals %[[FULL]][%{{[a-z0-9_]+}}] blocks 2 :
// By lanes each block copies its own whole tile, and tells the other.
// CHECK:     fa.copy_tile
// CHECK:     fa.arrive %[[FULL]][%{{[a-z0-9_]+}}] blocks 2 : memref
// CHECK:   fa.has_tensor_map %[[KMAP]]
// CHECK:   scf.for
// CHECK:     fa.wait_barrier %[[OWNEMPTY]]
// CHECK:     fa.bulk_copy %[[KMAP]]{{.*}} signals %[[OWNFULL]][%{{[a-z0-9_]+}}] :
// CHECK: }, {
// CHECK-NEXT: }
// CHECK-NEXT: fa.cluster_barrier
func.func @roles(%Q: memref<?x?x64xf16>, %K: memref<?x?x64xf16>, %end: index, %sq: index, %sk: index) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index
    %none = arith.constant false
    %rank = gpu.cluster_block_id x upper_bound 2
    %i0 = arith.muli %rank, %c128 : index
    %q = memref.subview %Q[%h, 0, 0] [1, %sq, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %k = memref.subview %K[%h, 0, 0] [1, %sk, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %sK = memref.alloc() : memref<96x64xf16, #wg>
    fa.copy_tile %q[%i0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<128x64xf16, #wg>
    fa.commit_copies
    %noted = scf.for %jb = %c0 to %end step %c1 iter_args(%n = %none) -> (i1) {
      %j0 = arith.muli %jb, %c96 : index
      gpu.barrier
      fa.copy_tile %k[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<96x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %b = fa.load_tile %sK[%c0, %c0] : memref<96x64xf16, #wg> -> vector<96x64xf16>
      %s = "test.step"(%b, %i0, %n) : (vector<96x64xf16>, index, i1) -> i1
      scf.yield %s : i1
    } {fa.blocks = "partial"}
    %again = fa.any_noted %noted
    %begin = arith.select %again, %c0, %end : index
    scf.for %jb = %begin to %end step %c1 {
      %j0 = arith.muli %jb, %c96 : index
      gpu.barrier
      fa.copy_tile %k[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<96x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %b = fa.load_tile %sK[%c0, %c0] : memref<96x64xf16, #wg> -> vector<96x64xf16>
      "test.use"(%b) : (vector<96x64xf16>) -> ()
    } {fa.blocks = "exact"}
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4, cluster = 2>}
  return
}

// -----

// Blocks of which only one of the two sees the last.

#wg = #gpu.address_space<workgroup>

func.func @end_by_rank(%K: memref<?x64xf16>, %end: index) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @below {{which is asked for here}}
    %rank = gpu.cluster_block_id x upper_bound 2
    %mine = arith.addi %end, %rank : index
    %sK = memref.alloc() : memref<96x64xf16, #wg>
    // expected-error @below {{'scf.for' op copies tiles for a cluster of 2 blocks, but which ones depends on the block's rank}}
    scf.for %jb = %c0 to %mine step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<96x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4, cluster = 2>}
  return
}

// -----

// A view that ends where the rank says, by way of a loop and a branch.

#wg = #gpu.address_space<workgroup>

func.func @source_by_rank(%K: memref<?x64xf16>, %end: index, %is: i1) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @below {{which is asked for here}}
    %rank = gpu.cluster_block_id x upper_bound 2
    %sum = scf.for %i = %c0 to %end step %c1 iter_args(%n = %c0) -> (index) {
      %m = arith.addi %n, %rank : index
      scf.yield %m : index
    }
    %rows = scf.if %is -> (index) {
      scf.yield %sum : index
    } else {
      scf.yield %c1 : index
    }
    %k = memref.subview %K[0, 0] [%rows, 64] [1, 1] : memref<?x64xf16> to memref<?x64xf16, strided<[64, 1]>>
    %sK = memref.alloc() : memref<96x64xf16, #wg>
    // expected-error @below {{copies tiles for a cluster of 2 blocks, but which ones depends on the block's rank}}
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %k[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16, strided<[64, 1]>> to memref<96x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4, cluster = 2>}
  return
}
