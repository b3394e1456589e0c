// REQUIRES: fa-opt
// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-opt %s --mlir-print-op-generic | fa-opt | FileCheck %s

// Warps with roles, barriers and products in flight parse what they print.

#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: func.func @roles
func.func @roles() {
  // CHECK: fa.warp_roles [8, 1, 3] registers [240, 24, 24] {
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: }, {
  // CHECK-NEXT: fa.fence_async
  // CHECK-NEXT: }, {
  // CHECK-NEXT: }
  fa.warp_roles [8, 1, 3] registers [240, 24, 24] {
    gpu.barrier
  }, {
    fa.fence_async
  }, {
  }
  // CHECK: fa.warp_roles [1, 2] {
  // CHECK-NEXT: }, {
  // CHECK-NEXT: }
  fa.warp_roles [1, 2] {
  }, {
  }
  return
}

// CHECK-LABEL: func.func @barriers
func.func @barriers(%b: memref<2xi64, #wg>, %stage: index, %p: i32, %l: vector<128x4xf32>) {
  // CHECK: fa.init_barriers %{{.*}} count 8 : memref<2xi64, #gpu.address_space<workgroup>>
  fa.init_barriers %b count 8 : memref<2xi64, #wg>
  // CHECK: fa.arrive %{{.*}}[%{{.*}}] : memref<2xi64, #gpu.address_space<workgroup>>
  fa.arrive %b[%stage] : memref<2xi64, #wg>
  // CHECK: fa.arrive %{{.*}}[%{{.*}}] blocks 2 : memref<2xi64, #gpu.address_space<workgroup>>
  fa.arrive %b[%stage] blocks 2 : memref<2xi64, #wg>
  // CHECK: fa.cluster_barrier
  fa.cluster_barrier
  // CHECK: fa.arrive %{{.*}}[%{{.*}}] after %{{.*}} : memref<2xi64, #gpu.address_space<workgroup>>, vector<128x4xf32>
  fa.arrive %b[%stage] after %l : memref<2xi64, #wg>, vector<128x4xf32>
  // CHECK: fa.wait_barrier %{{.*}}[%{{.*}}] parity %{{.*}} : memref<2xi64, #gpu.address_space<workgroup>>
  fa.wait_barrier %b[%stage] parity %p : memref<2xi64, #wg>
  return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%k: memref<?x?x?x64xf16>, %sK: memref<2x96x64xf16, #wg>, %full: memref<2xi64, #wg>, %i: index) -> i1 {
  // CHECK: fa.multiprocessors
  %n = fa.multiprocessors
  // CHECK: %[[MAP:.*]] = fa.tensor_map %{{.*}} box [1, 1, 96, 64] : memref<?x?x?x64xf16> -> !llvm.ptr
  %map = fa.tensor_map %k box [1, 1, 96, 64] : memref<?x?x?x64xf16> -> !llvm.ptr
  // CHECK: %[[HAS:.*]] = fa.has_tensor_map %[[MAP]] : !llvm.ptr
  %has = fa.has_tensor_map %map : !llvm.ptr
  // CHECK: fa.bulk_copy %[[MAP]][%[[I:.*]], %[[I]], %[[I]], %[[I]]] to %{{.*}}[%[[I]], %[[I]], %[[I]]] signals %{{.*}}[%[[I]]] : !llvm.ptr, memref<2x96x64xf16, #gpu.address_space<workgroup>>, memref<2xi64, #gpu.address_space<workgroup>>
  fa.bulk_copy %map[%i, %i, %i, %i] to %sK[%i, %i, %i] signals %full[%i] : !llvm.ptr, memref<2x96x64xf16, #wg>, memref<2xi64, #wg>
  // CHECK: fa.bulk_copy %{{.*}} signals %{{.*}}[%{{.*}}] blocks 2 : !llvm.ptr
  fa.bulk_copy %map[%i, %i, %i, %i] to %sK[%i, %i, %i] signals %full[%i] blocks 2 : !llvm.ptr, memref<2x96x64xf16, #wg>, memref<2xi64, #wg>
  // CHECK: return %[[HAS]]
  return %has : i1
}

// CHECK-LABEL: func.func @outputs
func.func @outputs(%map: !llvm.ptr, %sO: memref<128x64xf16, #wg>, %i: index) {
  // CHECK: fa.warpgroup_barrier
  fa.warpgroup_barrier
  // CHECK: fa.bulk_store %{{.*}}[%[[I:.*]], %[[I]]] columns 64 to %{{.*}}[%[[I]], %[[I]], %[[I]], %[[I]]] row_dim 2 : memref<128x64xf16, #gpu.address_space<workgroup>>, !llvm.ptr
  fa.bulk_store %sO[%i, %i] columns 64 to %map[%i, %i, %i, %i] row_dim 2 : memref<128x64xf16, #wg>, !llvm.ptr
  return
}

// CHECK-LABEL: func.func @turns
func.func @turns() {
  // CHECK: fa.turn open of 2
  fa.turn open of 2
  // CHECK: fa.turn take of 3
  fa.turn take of 3
  // CHECK: fa.turn pass of 3
  fa.turn pass of 3
  // CHECK: fa.turn close of 2
  fa.turn close of 2
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%sQ: memref<128x64xf16, #wg>, %sK: memref<2x96x64xf16, #wg>, %i: index, %z: vector<16x96xf32>, %p: vector<16x96xf16>, %u0: vector<16x64xf32>) {
  // CHECK: %[[S:.*]] = fa.issue_product %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} depth 64 rhs_transposed : memref<128x64xf16, #gpu.address_space<workgroup>>, memref<2x96x64xf16, #gpu.address_space<workgroup>>, vector<16x96xf32>
  %s = fa.issue_product %sQ[%i, %i], %sK[%i, %i, %i], %z depth 64 rhs_transposed : memref<128x64xf16, #wg>, memref<2x96x64xf16, #wg>, vector<16x96xf32>
  // CHECK: %[[U:.*]] = fa.issue_product %{{.*}}[], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} depth 96 : vector<16x96xf16>, memref<2x96x64xf16, #gpu.address_space<workgroup>>, vector<16x64xf32>
  %u = fa.issue_product %p[], %sK[%i, %i, %i], %u0 depth 96 : vector<16x96xf16>, memref<2x96x64xf16, #wg>, vector<16x64xf32>
  // CHECK: %{{.*}} = fa.wait_products pending 1 %[[S]] : vector<16x96xf32>
  %s1 = fa.wait_products pending 1 %s : vector<16x96xf32>
  // CHECK: %{{.*}}:2 = fa.wait_products pending 0 %[[U]], %{{.*}} : vector<16x64xf32>, vector<16x96xf32>
  %u1:2 = fa.wait_products pending 0 %u, %s1 : vector<16x64xf32>, vector<16x96xf32>
  return
}
