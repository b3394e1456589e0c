// RUN: fa-opt %s --allow-unregistered-dialect --fa-specialize-warps --split-input-file | FileCheck %s
// REQUIRES: fa-opt
//
// A block of threads does one tile after the other. Each role is a loop over
// them; rings go on where they stood; Q is a ring of one with a producer of its
// own.

#wg = #gpu.address_space<workgroup>
#qk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @roles
// CHECK-SAME: %[[Q:.*]]: memref<?x?x64xf16>, %[[K:.*]]: memref<?x?x64xf16>, %[[L:.*]]: memref<?xindex>, %[[SQ:.*]]: index, %[[SK:.*]]: index, %[[BLOCKS:.*]]: index)
// CHECK: %[[TILES:.*]] = arith.muli %[[BLOCKS]], %{{.*}} : index
// CHECK: %[[SMS:.*]] = fa.multiprocessors
// CHECK: %[[SOME:.*]] = arith.minui %[[TILES]], %[[SMS]] : index
// What 32 bits cannot number is asked for whole, and refused.
// CHECK: %[[TIMES:.*]] = arith.divui %[[TILES]], %c2147483648
// CHECK: %[[OVER:.*]] = arith.minui %[[TIMES]], %c1
// CHECK: %[[ALL:.*]] = arith.muli %[[TILES]], %[[OVER]]
// CHECK: %[[WORKERS:.*]] = arith.maxui %[[SOME]], %[[ALL]]
// CHECK: scf.forall (%[[W:.*]]) in (%[[WORKERS]]) {
// CHECK: %[[TQ:.*]] = memref.alloc() : memref<128x64xf16,
// CHECK: %[[TK:.*]] = memref.alloc() : memref<2x96x64xf16,
// CHECK-NOT: memref.subview
// CHECK: fa.init_barriers %[[QFULL:.*]] count 1 : memref<1xi64,
// CHECK: fa.init_barriers %[[QEMPTY:.*]] count 8 : memref<1xi64,
// CHECK: fa.init_barriers %[[FULL:.*]] count 1 : memref<2xi64,
// CHECK: fa.init_barriers %[[EMPTY:.*]] count 8 : memref<2xi64,
// CHECK: fa.warp_roles [8, 1, 1, 2] registers [232, 40, 40, 40] {
// CHECK:   %[[STRIDE:.*]] = gpu.grid_dim x
// CHECK:   scf.for %[[X:.*]] = %[[W]] to %[[TILES]] step %[[STRIDE]] iter_args(%[[N0:.*]] = %c0_i32{{.*}}, %[[T:.*]] = %c0_i32{{.*}}) -> (i32, i32) {
// CHECK:     %[[QPAR:.*]] = arith.andi %[[T]], %c1_i32
// CHECK:     fa.wait_barrier %[[QFULL]][%{{.*}}] parity %[[QPAR]]
// CHECK:     %[[X32:.*]] = arith.index_cast %[[X]] : index to i32
// CHECK:     %[[NB:.*]] = arith.index_cast %[[BLOCKS]] : index to i32
// CHECK:     %[[IB:.*]] = arith.remui %[[X32]], %[[NB]]
// CHECK:     %[[H32:.*]] = arith.divui %[[X32]], %[[NB]]
// CHECK:     %[[H:.*]] = arith.index_castui %[[H32]]
// CHECK:     %[[END:.*]] = memref.load %[[L]][%[[H]]]
// CHECK:     %[[BASE:.*]] = arith.subi %[[N0]], %{{.*}} : i32
// CHECK:     scf.for %[[JB:.*]] = %c0{{.*}} to %[[END]]
// CHECK:       %[[N:.*]] = arith.addi %{{.*}}, %[[BASE]] : i32
// CHECK:       fa.wait_barrier %[[FULL]]
// CHECK:       fa.arrive %[[EMPTY]]
// CHECK:     "test.use"
// A tile without blocks counts none, even if its end lies before its beginning.
// CHECK:     %[[LAST:.*]] = arith.maxsi %[[END]], %c0
// CHECK:     %[[LAST32:.*]] = arith.index_cast %[[LAST]] : index to i32
// CHECK:     %[[N1:.*]] = arith.addi %[[LAST32]], %[[BASE]] : i32
// CHECK:     fa.arrive %[[QEMPTY]]
// CHECK:     %[[T1:.*]] = arith.addi %[[T]], %c1_i32
// CHECK:     scf.yield %[[N1]], %[[T1]] : i32, i32
// CHECK:   } {fa.tiles}
// CHECK: }, {
// K for each block of each tile, without a look at Q.
// CHECK:   scf.for %[[PX:.*]] = %[[W]] to %[[TILES]] step %{{.*}} iter_args(%[[PN0:.*]] = {{.*}}, %[[PT:.*]] = {{.*}})
// CHECK-NOT: %[[QEMPTY]]
// CHECK:     %[[PEND:.*]] = memref.load %[[L]]
// CHECK:     %[[PBASE:.*]] = arith.subi %[[PN0]],
// CHECK:     scf.for %{{.*}} = %c0{{.*}} to %[[PEND]]
// CHECK:       fa.wait_barrier %[[EMPTY]]
// CHECK:       fa.bulk_copy %{{.*}} to %[[TK]]
// CHECK:     %[[PLAST:.*]] = arith.maxsi %[[PEND]]
// CHECK:     %[[PN1:.*]] = arith.addi %{{.*}}, %[[PBASE]]
// CHECK:     scf.yield %[[PN1]], %{{.*}} : i32, i32
// CHECK:   } {fa.tiles}
// CHECK: }, {
// Q for each tile, when all have given it back; before the first nobody has it.
// CHECK:   scf.for %{{.*}} = %[[W]] to %[[TILES]] step %{{.*}} iter_args(%{{.*}} = {{.*}}, %[[QT:.*]] = {{.*}})
// CHECK-NOT: memref.load
// CHECK:     %[[QN:.*]] = arith.addi %[[QT]], %c1_i32
// CHECK:     %[[BEFORE:.*]] = arith.andi %[[QN]], %c1_i32
// CHECK:     fa.wait_barrier %[[QEMPTY]][%{{.*}}] parity %[[BEFORE]]
// CHECK:     fa.bulk_copy %{{.*}} to %[[TQ]]{{.*}} signals %[[QFULL]]
// CHECK:   } {fa.tiles}
// CHECK: }, {
// CHECK-NEXT: }
func.func @roles(%Q: memref<?x?x64xf16>, %K: memref<?x?x64xf16>, %lengths: memref<?xindex>, %sq: index, %sk: index, %blocks: index) {
  scf.forall (%h, %ib) in (4, %blocks) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : vector<128x96xf32>
    %end = memref.load %lengths[%h] : memref<?xindex>
    %i0 = arith.muli %ib, %c128 : index
    %q = memref.subview %Q[%h, 0, 0] [1, %sq, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %k = memref.subview %K[%h, 0, 0] [1, %sk, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %sK = memref.alloc() : memref<96x64xf16, #wg>
    fa.copy_tile %q[%i0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<128x64xf16, #wg>
    fa.commit_copies
    %r = scf.for %jb = %c0 to %end step %c1 iter_args(%acc = %zero) -> (vector<128x96xf32>) {
      %j0 = arith.muli %jb, %c96 : index
      gpu.barrier
      fa.copy_tile %k[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<96x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %a = fa.load_tile %sQ[%c0, %c0] : memref<128x64xf16, #wg> -> vector<128x64xf16>
      %b = fa.load_tile %sK[%c0, %c0] : memref<96x64xf16, #wg> -> vector<96x64xf16>
      %s = vector.contract {indexing_maps = [#qk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %acc : vector<128x64xf16>, vector<96x64xf16> into vector<128x96xf32>
      scf.yield %s : vector<128x96xf32>
    } {fa.blocks = "partial"}
    "test.use"(%r) : (vector<128x96xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4, persistent = true>}
  return
}
