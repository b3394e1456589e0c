// RUN: fa-opt %s --allow-unregistered-dialect --fa-issue-products --split-input-file --verify-diagnostics | FileCheck %s
// REQUIRES: fa-opt
//
// A contraction is issued and waited for; operands stay where they lie.

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @both
// CHECK: %[[SQ:.*]] = memref.alloc() : memref<128x64xf16,
// CHECK: %[[SK:.*]] = memref.alloc() : memref<2x96x64xf16,
// CHECK-NOT: fa.load_tile
// CHECK: %[[S:.*]] = fa.issue_product %[[SQ]][%[[I:.*]], %{{.*}}], %[[SK]][%[[ST:.*]], %{{.*}}, %{{.*}}], %{{.*}} depth 64 rhs_transposed
// CHECK: %[[SW:.*]] = fa.wait_products pending 0 %[[S]] : vector<128x96xf32>
// CHECK: %[[P:.*]] = arith.truncf %[[SW]]
// CHECK: %[[U:.*]] = fa.issue_product %[[P]][], %[[SK]][%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} depth 96 : vector<128x96xf16>
// CHECK: %[[UW:.*]] = fa.wait_products pending 0 %[[U]] : vector<128x64xf32>
// CHECK: "test.use"(%[[UW]])
func.func @both(%i: index, %st: index) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %zs = arith.constant dense<0.0> : vector<128x96xf32>
    %zu = arith.constant dense<0.0> : vector<128x64xf32>
    %sQ = memref.alloc() : memref<128x64xf16, #wg>
    %sK = memref.alloc() : memref<2x96x64xf16, #wg>
    %q = fa.load_tile %sQ[%i, %c0] : memref<128x64xf16, #wg> -> vector<128x64xf16>
    %k = fa.load_tile %sK[%st, %c0, %c0] : memref<2x96x64xf16, #wg> -> vector<96x64xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %zs : vector<128x64xf16>, vector<96x64xf16> into vector<128x96xf32>
    %p = arith.truncf %s : vector<128x96xf32> to vector<128x96xf16>
    %v = fa.load_tile %sK[%st, %c0, %c0] : memref<2x96x64xf16, #wg> -> vector<96x64xf16>
    %u = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %v, %zu : vector<128x96xf16>, vector<96x64xf16> into vector<128x64xf32>
    "test.use"(%u) : (vector<128x64xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 96, warps = 8, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Without producers nothing changes.
// CHECK-LABEL: func @none
// CHECK: vector.contract
func.func @none(%q: vector<16x16xf16>, %k: vector<16x16xf16>, %z: vector<16x16xf32>) {
  scf.forall (%h) in (4) {
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    "test.use"(%s) : (vector<16x16xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 16, tile_kv = 16, warps = 1, stages = 2, state = registers>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @in_registers(%q: vector<64x16xf16>, %k: vector<16x16xf16>, %z: vector<64x16xf32>) {
  scf.forall (%h) in (4) {
    // expected-error @below {{a product of a warpgroup needs its right operand in workgroup memory}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %z : vector<64x16xf16>, vector<16x16xf16> into vector<64x16xf32>
    "test.use"(%s) : (vector<64x16xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @left_transposed(%q: vector<16x64xf16>, %sK: memref<16x16xf16, #wg>, %z: vector<64x16xf32>) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %k = fa.load_tile %sK[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    // expected-error @below {{expected a sum of (m, k) x (n, k) or (m, k) x (k, n) to (m, n)}}
    %s = vector.contract {indexing_maps = [#km, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %z : vector<16x64xf16>, vector<16x16xf16> into vector<64x16xf32>
    "test.use"(%s) : (vector<64x16xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @largest(%q: vector<64x16xf16>, %sK: memref<16x16xf16, #wg>, %z: vector<64x16xf32>) {
  scf.forall (%h) in (4) {
    %c0 = arith.constant 0 : index
    %k = fa.load_tile %sK[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    // expected-error @below {{expected a sum of (m, k) x (n, k) or (m, k) x (k, n) to (m, n)}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<maximumf>} %q, %k, %z : vector<64x16xf16>, vector<16x16xf16> into vector<64x16xf32>
    "test.use"(%s) : (vector<64x16xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}
