// RUN: fa-opt %s --allow-unregistered-dialect --fa-specialize-warps | FileCheck %s
// REQUIRES: fa-opt
//
// One warp copies, eight compute; a ring of two tiles stands between them.

#wg = #gpu.address_space<workgroup>
#qk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @roles
// CHECK-SAME: %[[Q:.*]]: memref<?x?x64xf16>, %[[K:.*]]: memref<?x?x64xf16>
// The host describes both tensors; boxes are a panel of 64 columns wide.
// CHECK: %[[QMAP:.*]] = fa.tensor_map %[[Q]] box [1, 128, 64] : {{.*}} -> !llvm.ptr
// CHECK: %[[KMAP:.*]] = fa.tensor_map %[[K]] box [1, 96, 64] : {{.*}} -> !llvm.ptr
// CHECK: scf.forall
// CHECK-DAG: %[[SQ:.*]] = memref.alloc() : memref<128x64xf16,
// CHECK-DAG: %[[SK:.*]] = memref.alloc() : memref<2x96x64xf16,
// Q has come once; a tile of K is full by one copy, empty by all consumers.
// CHECK: fa.init_barriers %[[QFULL:.*]] count 1 : memref<1xi64,
// CHECK: fa.init_barriers %[[FULL:.*]] count 1 : memref<2xi64,
// CHECK: fa.init_barriers %[[EMPTY:.*]] count 8 : memref<2xi64,
// CHECK-NEXT: gpu.barrier
// CHECK: fa.warp_roles [8, 1, 3] registers [232, 40, 40] {
// CHECK:   fa.wait_barrier %[[QFULL]][%{{.*}}] parity %{{.*}}
// CHECK:   %[[S:.*]] = scf.for %[[JB:.*]] = %c0{{.*}} to %{{.*}} step
// The number in the ring gives stage and parity.
// CHECK:     %[[STAGE:.*]] = arith.remui %[[N:.*]], %c2_i32
// CHECK:     %[[ROUND:.*]] = arith.divui %[[N]], %c2_i32
// CHECK:     %[[PARITY:.*]] = arith.andi %[[ROUND]], %c1_i32
// CHECK:     %[[ST:.*]] = arith.index_castui %[[STAGE]]
// CHECK-NOT: fa.copy_tile
// CHECK:     fa.wait_barrier %[[FULL]][%[[ST]]] parity %[[PARITY]]
// CHECK:     fa.load_tile %[[SK]][%[[ST]], %{{.*}}, %{{.*}}]
// CHECK:     vector.contract
// CHECK-NEXT: fa.arrive %[[EMPTY]][%[[ST]]]
// CHECK-NOT: gpu.barrier
// CHECK:   "test.use"(%[[S]])
// CHECK: }, {
// The producer: Q once, K in a loop, by a box or by its lanes.
// CHECK:   %[[HAS:.*]] = fa.has_tensor_map %[[QMAP]]
// CHECK:   %[[MAY:.*]] = arith.andi %[[HAS]], %{{.*}}
// CHECK:   scf.if %[[MAY]] {
// CHECK:     fa.bulk_copy %[[QMAP]][{{.*}}] to %[[SQ]][%{{.*}}, %{{.*}}] signals %[[QFULL]]
// CHECK:   } else {
// CHECK:     fa.copy_tile %{{.*}} to %[[SQ]]
// CHECK-NEXT: fa.commit_copies
// CHECK-NEXT: fa.wait_copies pending 0
// CHECK-NEXT: fa.fence_async
// CHECK-NEXT: fa.arrive %[[QFULL]]
// Whether there is a map of K is asked once, in front of the loop.
// CHECK:   %[[KHAS:.*]] = fa.has_tensor_map %[[KMAP]]
// CHECK:   scf.for
// CHECK-NOT: fa.has_tensor_map
// CHECK:     %[[P:.*]] = arith.andi
// CHECK:     %[[BEFORE:.*]] = arith.xori %[[P]], %c1_i32
// CHECK:     fa.wait_barrier %[[EMPTY]][%[[PST:.*]]] parity %[[BEFORE]]
// CHECK:     %[[KMAY:.*]] = arith.andi %[[KHAS]], %{{.*}}
// CHECK:     scf.if %[[KMAY]] {
// CHECK-NEXT: fa.bulk_copy %[[KMAP]][{{.*}}] to %[[SK]][%[[PST]], %{{.*}}, %{{.*}}] signals %[[FULL]][%[[PST]]]
// CHECK-NOT: vector.
// CHECK: }, {
// CHECK-NEXT: }
func.func @roles(%Q: memref<?x?x64xf16>, %K: memref<?x?x64xf16>, %end: index, %sq: index, %sk: index) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %zero = arith.constant dense<0.0> : vector<128x96xf32>
    %q = memref.subview %Q[%h, 0, 0] [1, %sq, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %k = memref.subview %K[%h, 0, 0] [1, %sk, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %sK = memref.alloc() : memref<96x64xf16, #wg>
    fa.copy_tile %q[%c0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<128x64xf16, #wg>
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
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4>}
  return
}

// Tiles of one tensor that differ in rows are copied by maps of their own.

// CHECK-LABEL: func @same_tensor
// CHECK: %[[WIDE:.*]] = fa.tensor_map %[[X:.*]] box [1, 128, 64]
// CHECK: %[[NARROW:.*]] = fa.tensor_map %[[X]] box [1, 96, 64]
// CHECK-NOT: fa.tensor_map
// CHECK-DAG: %[[SQ:.*]] = memref.alloc() : memref<128x64xf16,
// CHECK-DAG: %[[SK:.*]] = memref.alloc() : memref<2x96x64xf16,
// CHECK: fa.bulk_copy %[[WIDE]][{{.*}} to %[[SQ]][
// CHECK: fa.bulk_copy %[[NARROW]][{{.*}} to %[[SK]][
func.func @same_tensor(%X: memref<?x?x64xf16>, %end: index, %s: index) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %x = memref.subview %X[%h, 0, 0] [1, %s, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %sK = memref.alloc() : memref<96x64xf16, #wg>
    fa.copy_tile %x[%c0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<128x64xf16, #wg>
    fa.commit_copies
    scf.for %jb = %c0 to %end step %c1 {
      %j0 = arith.muli %jb, %c96 : index
      gpu.barrier
      fa.copy_tile %x[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<96x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %a = fa.load_tile %sQ[%c0, %c0] : memref<128x64xf16, #wg> -> vector<128x64xf16>
      %b = fa.load_tile %sK[%c0, %c0] : memref<96x64xf16, #wg> -> vector<96x64xf16>
      "test.use"(%a, %b) : (vector<128x64xf16>, vector<96x64xf16>) -> ()
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4>}
  return
}

// Rows of a box are of the innermost dimension: where columns are not, lanes copy.

// CHECK-LABEL: func @columns_in_front
// CHECK-NOT: fa.tensor_map
// CHECK: fa.warp_roles
// CHECK-NOT: fa.bulk_copy
// CHECK: fa.copy_tile
// CHECK-NOT: fa.bulk_copy
// CHECK: return
func.func @columns_in_front(%K: memref<?x64x?xf16>, %end: index, %sk: index) {
  %rows = memref.transpose %K (h, c, r) -> (h, r, c) : memref<?x64x?xf16> to memref<?x?x64xf16, strided<[?, 1, ?]>>
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %k = memref.subview %rows[%h, 0, 0] [1, %sk, 64] [1, 1, 1] : memref<?x?x64xf16, strided<[?, 1, ?]>> to memref<?x64xf16, strided<[1, ?], offset: ?>>
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      %j0 = arith.muli %jb, %c16 : index
      gpu.barrier
      fa.copy_tile %k[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16, strided<[1, ?], offset: ?>> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %b = fa.load_tile %sK[%c0, %c0] : memref<16x64xf16, #wg> -> vector<16x64xf16>
      "test.use"(%b) : (vector<16x64xf16>) -> ()
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// Boxes may bring the rest of a plane that ends with the sequence; lanes stop
// where the view does.
// CHECK-LABEL: func @first_rows
// CHECK-SAME: %[[SK:[a-z0-9]+]]: index, %[[SEEN:[a-z0-9]+]]: index)
// CHECK: %[[EXTENT:.*]] = memref.dim
// CHECK: %[[EXTENT:.*]] = memref.dim
// CHECK: %[[KEYS:.*]] = memref.subview %{{.*}} [1, %[[SK]], 64]
// CHECK: %[[FIRST:.*]] = memref.subview %[[KEYS]][0, 0] [%[[SEEN]], 64]
// CHECK: }, {
// CHECK:   scf.for
// CHECK:     %[[WHOLE:.*]] = arith.cmpi sge, %[[SK]], %[[EXTENT]]
// CHECK:     %[[INSIDE:.*]] = arith.cmpi sle, %{{.*}}, %[[SK]]
// CHECK:     arith.ori %[[WHOLE]], %[[INSIDE]]
// CHECK:     } else {
// CHECK:       fa.copy_tile %[[FIRST]]
func.func @first_rows(%Q: memref<?x?x64xf16>, %K: memref<?x?x64xf16>, %end: index, %sq: index, %sk: index, %seen: index) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %zero = arith.constant dense<0.0> : vector<128x96xf32>
    %q = memref.subview %Q[%h, 0, 0] [1, %sq, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %k = memref.subview %K[%h, 0, 0] [1, %sk, 64] [1, 1, 1] : memref<?x?x64xf16> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %s = memref.subview %k[0, 0] [%seen, 64] [1, 1] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<?x64xf16, strided<[64, 1], offset: ?>>
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %sK = memref.alloc() : memref<96x64xf16, #wg>
    fa.copy_tile %q[%c0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<128x64xf16, #wg>
    fa.commit_copies
    %r = scf.for %jb = %c0 to %end step %c1 iter_args(%acc = %zero) -> (vector<128x96xf32>) {
      %j0 = arith.muli %jb, %c96 : index
      gpu.barrier
      fa.copy_tile %s[%j0, %c0] to %sK[%c0, %c0] : memref<?x64xf16, strided<[64, 1], offset: ?>> to memref<96x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      %a = fa.load_tile %sQ[%c0, %c0] : memref<128x64xf16, #wg> -> vector<128x64xf16>
      %b = fa.load_tile %sK[%c0, %c0] : memref<96x64xf16, #wg> -> vector<96x64xf16>
      %p = vector.contract {indexing_maps = [#qk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %acc : vector<128x64xf16>, vector<96x64xf16> into vector<128x96xf32>
      scf.yield %p : vector<128x96xf32>
    } {fa.blocks = "partial"}
    "test.use"(%r) : (vector<128x96xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4>}
  return
}
