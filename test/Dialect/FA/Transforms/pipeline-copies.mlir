// RUN: fa-opt %s --allow-unregistered-dialect --fa-pipeline-copies --split-input-file --verify-diagnostics | FileCheck %s
// REQUIRES: fa-opt
//
// One group of copies a block, S - 1 blocks ahead.

#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: func @stages_two
// CHECK-SAME: %[[Q:.*]]: memref<?x64xf16>, %[[K:.*]]: memref<?x64xf16>, %[[FULL:.*]]: index, %[[END:.*]]: index
// CHECK: %[[SQ:.*]] = memref.alloc() : memref<32x64xf16,
// CHECK: %[[SK:.*]] = memref.alloc() : memref<2x16x64xf16,
// Q joins the group of the first block, which may not exist.
// CHECK: fa.copy_tile %[[Q]][%{{.*}}] to %[[SQ]]
// CHECK-NOT: fa.commit_copies
// CHECK: %[[HAS:.*]] = arith.cmpi sgt, %[[END]], %c0
// CHECK: scf.if %[[HAS]] {
// CHECK:   fa.copy_tile %[[K]][%{{.*}}] to %[[SK]][%{{.*}}] :
// CHECK: }
// CHECK-NEXT: fa.commit_copies
// The full loop runs where copies are aligned, and ends one block early.
// CHECK: %[[AL:.*]] = fa.copy_aligned %[[K]]
// CHECK: %[[LESS:.*]] = arith.addi %[[FULL]], %c-1{{.*}}
// CHECK: %[[MAX:.*]] = arith.maxsi %[[LESS]], %c0{{.*}}
// CHECK: %[[EARLY:.*]] = arith.select %[[AL]], %[[MAX]], %c0{{.*}}
// CHECK: scf.for %[[JB:.*]] = %c0{{.*}} to %[[EARLY]]
// CHECK:   %[[ST:.*]] = arith.remui %[[JB]], %c2{{.*}}
// CHECK:   fa.wait_copies pending 0
// CHECK-NEXT: gpu.barrier
// CHECK:   %[[NEXT:.*]] = arith.addi %[[JB]], %c1{{.*}}
// CHECK:   %[[STN:.*]] = arith.remui %[[NEXT]], %c2{{.*}}
// CHECK:   %[[JN:.*]] = arith.muli %[[NEXT]], %c16{{.*}}
// CHECK:   fa.copy_tile %[[K]][%[[JN]], %{{.*}}] to %[[SK]][%[[STN]], %{{.*}}, %{{.*}}] in_bounds
// CHECK-NEXT: fa.commit_copies
// CHECK-NOT: gpu.barrier
// CHECK:   fa.load_tile %[[SK]][%[[ST]], %{{.*}}, %{{.*}}]
// CHECK: } {fa.blocks = "full"}
// The other loop takes over there, and copies what is left to copy.
// CHECK: scf.for %[[JB:.*]] = %[[EARLY]] to %[[END]]
// CHECK:   fa.wait_copies pending 0
// CHECK-NEXT: gpu.barrier
// CHECK:   %[[NEXT:.*]] = arith.addi %[[JB]], %c1{{.*}}
// CHECK:   %[[HAS:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]]
// CHECK:   scf.if %[[HAS]] {
// CHECK-NOT: in_bounds
// CHECK:   }
// CHECK-NEXT: fa.commit_copies
// CHECK: } {fa.blocks = "partial"}
// CHECK-NEXT: fa.wait_copies pending 0
func.func @stages_two(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %full: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.forall (%ib) in (4) {
    %sQ = memref.alloc() : memref<32x64xf16, #wg>
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    fa.copy_tile %Q[%ib, %c0] to %sQ[%c0, %c0] : memref<?x64xf16> to memref<32x64xf16, #wg>
    fa.commit_copies
    scf.for %jb = %c0 to %full step %c1 {
      %j0 = arith.muli %jb, %c16 : index
      gpu.barrier
      fa.copy_tile %K[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %k = fa.load_tile %sK[%c0, %c0] : memref<16x64xf16, #wg> -> vector<16x64xf16>
      "test.use"(%k) : (vector<16x64xf16>) -> ()
    } {fa.blocks = "full"}
    scf.for %jb = %full to %end step %c1 {
      %j0 = arith.muli %jb, %c16 : index
      gpu.barrier
      fa.copy_tile %K[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %k = fa.load_tile %sK[%c0, %c0] : memref<16x64xf16, #wg> -> vector<16x64xf16>
      "test.use"(%k) : (vector<16x64xf16>) -> ()
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

// Three stages: two groups before the loop, one may be pending in it. Q's own
// wait becomes one for the first group. A full loop without a successor gets
// one that carries on.
// CHECK-LABEL: func @stages_three_full_only
// CHECK: memref.alloc() : memref<3x16x64xf16,
// CHECK: scf.if
// CHECK: fa.commit_copies
// CHECK: scf.if
// CHECK: fa.commit_copies
// CHECK: fa.wait_copies pending 1
// CHECK-NEXT: gpu.barrier
// CHECK: %[[A:.*]] = scf.for {{.*}} to %[[EARLY:.*]] step {{.*}} iter_args
// CHECK:   fa.wait_copies pending 1
// CHECK:   in_bounds
// CHECK: fa.blocks = "full"
// CHECK: %[[B:.*]] = scf.for {{.*}} = %[[EARLY]] to {{.*}} iter_args(%{{.*}} = %[[A]])
// CHECK:   scf.if
// CHECK: fa.blocks = "partial"
// CHECK: fa.wait_copies pending 0
// CHECK-NEXT: "test.use"(%[[B]])
func.func @stages_three_full_only(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  scf.forall (%ib) in (4) {
    %sQ = memref.alloc() : memref<32x64xf16, #wg>
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    fa.copy_tile %Q[%ib, %c0] to %sQ[%c0, %c0] : memref<?x64xf16> to memref<32x64xf16, #wg>
    fa.commit_copies
    fa.wait_copies pending 0
    gpu.barrier
    %r = scf.for %jb = %c0 to %end step %c1 iter_args(%x = %f0) -> (f32) {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %y = "test.compute"(%x) : (f32) -> f32
      scf.yield %y : f32
    } {fa.blocks = "full"}
    "test.use"(%r) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 3, state = registers>}
  return
}
