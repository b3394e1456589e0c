// REQUIRES: fa-opt
// RUN: fa-opt %s --split-input-file --verify-diagnostics

// Each refusal of the ops for warps with roles and products in flight.

func.func @roles_without_region() {
  // expected-error @below {{expected a region for each of 3 roles, found 2}}
  fa.warp_roles [8, 1, 3] {
  }, {
  }
  return
}

// -----

func.func @no_roles() {
  // expected-error @below {{expected a region for each of 0 roles, found 1}}
  fa.warp_roles [] {
  }
  return
}

// -----

func.func @no_warps() {
  // expected-error @below {{a role has 1 to 32 warps, found 0}}
  fa.warp_roles [8, 0] {
  }, {
  }
  return
}

// -----

func.func @too_many_warps() {
  // expected-error @below {{a role has 1 to 32 warps, found 33}}
  fa.warp_roles [33] {
  }
  return
}

// -----

func.func @registers_of_some() {
  // expected-error @below {{expected registers of 2 roles, found 1}}
  fa.warp_roles [4, 4] registers [232] {
  }, {
  }
  return
}

// -----

func.func @too_few_registers() {
  // expected-error @below {{registers of a role must be a multiple of 8 from 24 to 256, found 16}}
  fa.warp_roles [4, 4] registers [232, 16] {
  }, {
  }
  return
}

// -----

func.func @too_many_registers() {
  // expected-error @below {{registers of a role must be a multiple of 8 from 24 to 256, found 264}}
  fa.warp_roles [4, 4] registers [264, 24] {
  }, {
  }
  return
}

// -----

func.func @odd_registers() {
  // expected-error @below {{registers of a role must be a multiple of 8 from 24 to 256, found 42}}
  fa.warp_roles [4, 4] registers [232, 42] {
  }, {
  }
  return
}

// -----

func.func @registers_inside_a_warpgroup() {
  // expected-error @below {{warps 4 and 5 are of one warpgroup and need the same registers, found 40 and 24}}
  fa.warp_roles [4, 1, 3] registers [232, 40, 24] {
  }, {
  }, {
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @count(%b: memref<2xi64, #wg>) {
  // expected-error @below {{attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  fa.init_barriers %b count 0 : memref<2xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @barriers_of_i32(%b: memref<2xi32, #wg>, %i: index) {
  // expected-error @below {{operand #0 must be 1D memref of 64-bit signless integer values}}
  fa.arrive %b[%i] : memref<2xi32, #wg>
  return
}

// -----

func.func @box_rank(%k: memref<?x?x64xf16>) {
  // expected-error @below {{expected a box of 3 extents, found 2}}
  %map = fa.tensor_map %k box [96, 64] : memref<?x?x64xf16> -> !llvm.ptr
  return
}

// -----

func.func @box_without_extent(%k: memref<?x64xf16>) {
  // expected-error @below {{an extent of a box is from 1 to 256, found 0}}
  %map = fa.tensor_map %k box [0, 64] : memref<?x64xf16> -> !llvm.ptr
  return
}

// -----

func.func @box_too_large(%k: memref<?x64xf16>) {
  // expected-error @below {{an extent of a box is from 1 to 256, found 257}}
  %map = fa.tensor_map %k box [257, 64] : memref<?x64xf16> -> !llvm.ptr
  return
}

// -----

func.func @tensor_without_dimensions(%k: memref<f16>) {
  // expected-error @below {{source must have rank 1 to 5, found 'memref<f16>'}}
  %map = fa.tensor_map %k box [] : memref<f16> -> !llvm.ptr
  return
}

// -----

func.func @tensor_of_six_dimensions(%k: memref<?x?x?x?x?x64xf16>) {
  // expected-error @below {{source must have rank 1 to 5, found 'memref<?x?x?x?x?x64xf16>'}}
  %map = fa.tensor_map %k box [1, 1, 1, 1, 96, 64] : memref<?x?x?x?x?x64xf16> -> !llvm.ptr
  return
}

// -----

func.func @tensor_of_bits(%k: memref<?x64xi1>) {
  // expected-error @below {{source must have elements of whole bytes, found 'i1'}}
  %map = fa.tensor_map %k box [96, 64] : memref<?x64xi1> -> !llvm.ptr
  return
}

// -----

func.func @tensor_of_positions(%k: memref<?x64xindex>) {
  // expected-error @below {{source must have elements of whole bytes, found 'index'}}
  %map = fa.tensor_map %k box [96, 16] : memref<?x64xindex> -> !llvm.ptr
  return
}

// -----

func.func @box_of_half_a_panel(%k: memref<?x64xf16>) {
  // expected-error @below {{a row of a box is a panel of 128 bytes, 64 of 'f16', found 32}}
  %map = fa.tensor_map %k box [96, 32] : memref<?x64xf16> -> !llvm.ptr
  return
}

// -----

func.func @box_of_two_panels(%k: memref<?x64xf32>) {
  // expected-error @below {{a row of a box is a panel of 128 bytes, 32 of 'f32', found 64}}
  %map = fa.tensor_map %k box [96, 64] : memref<?x64xf32> -> !llvm.ptr
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @copy_to_open_tile(%map: !llvm.ptr, %t: memref<?x64xf16, #wg>, %b: memref<1xi64, #wg>, %i: index) {
  // expected-error @below {{destination must have static extents and rank 2 or more, found 'memref<?x64xf16, #gpu.address_space<workgroup>>'}}
  fa.bulk_copy %map[%i, %i] to %t[%i, %i] signals %b[%i] : !llvm.ptr, memref<?x64xf16, #wg>, memref<1xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @copy_to_row(%map: !llvm.ptr, %t: memref<64xf16, #wg>, %b: memref<1xi64, #wg>, %i: index) {
  // expected-error @below {{destination must have static extents and rank 2 or more, found 'memref<64xf16, #gpu.address_space<workgroup>>'}}
  fa.bulk_copy %map[%i, %i] to %t[%i] signals %b[%i] : !llvm.ptr, memref<64xf16, #wg>, memref<1xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @copy_indices(%map: !llvm.ptr, %t: memref<2x96x64xf16, #wg>, %b: memref<1xi64, #wg>, %i: index) {
  // expected-error @below {{expected 3 indices of the destination, found 2}}
  fa.bulk_copy %map[%i, %i] to %t[%i, %i] signals %b[%i] : !llvm.ptr, memref<2x96x64xf16, #wg>, memref<1xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @copy_of_row(%map: !llvm.ptr, %t: memref<96x64xf16, #wg>, %b: memref<1xi64, #wg>, %i: index) {
  // expected-error @below {{expected 2 to 5 coordinates, found 1}}
  fa.bulk_copy %map[%i] to %t[%i, %i] signals %b[%i] : !llvm.ptr, memref<96x64xf16, #wg>, memref<1xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @copy_of_six(%map: !llvm.ptr, %t: memref<96x64xf16, #wg>, %b: memref<1xi64, #wg>, %i: index) {
  // expected-error @below {{expected 2 to 5 coordinates, found 6}}
  fa.bulk_copy %map[%i, %i, %i, %i, %i, %i] to %t[%i, %i] signals %b[%i] : !llvm.ptr, memref<96x64xf16, #wg>, memref<1xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @halves_inside_a_pattern(%map: !llvm.ptr, %t: memref<24x64xf16, #wg>, %b: memref<1xi64, #wg>, %i: index) {
  // expected-error @below {{for 2 blocks the rows of a tile must be a multiple of 16, found 24}}
  fa.bulk_copy %map[%i, %i] to %t[%i, %i] signals %b[%i] blocks 2 : !llvm.ptr, memref<24x64xf16, #wg>, memref<1xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @too_many_blocks(%b: memref<2xi64, #wg>, %i: index) {
  // expected-error @below {{attribute 'blocks' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 1 whose maximum value is 8}}
  fa.arrive %b[%i] blocks 9 : memref<2xi64, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @right_open(%p: vector<16x96xf16>, %t: memref<?x64xf16, #wg>, %i: index, %u: vector<16x64xf32>) {
  // expected-error @below {{the right operand must be a tile of rank 2 or more with an index for each dimension, found 'memref<?x64xf16, #gpu.address_space<workgroup>>' with 2}}
  %r = fa.issue_product %p[], %t[%i, %i], %u depth 96 : vector<16x96xf16>, memref<?x64xf16, #wg>, vector<16x64xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @right_indices(%p: vector<16x96xf16>, %t: memref<2x96x64xf16, #wg>, %i: index, %u: vector<16x64xf32>) {
  // expected-error @below {{the right operand must be a tile of rank 2 or more with an index for each dimension, found 'memref<2x96x64xf16, #gpu.address_space<workgroup>>' with 2}}
  %r = fa.issue_product %p[], %t[%i, %i], %u depth 96 : vector<16x96xf16>, memref<2x96x64xf16, #wg>, vector<16x64xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @left_indices(%q: memref<128x64xf16, #wg>, %t: memref<96x64xf16, #wg>, %i: index, %s: vector<16x96xf32>) {
  // expected-error @below {{the left operand must be a tile of rank 2 or more with an index for each dimension, found 'memref<128x64xf16, #gpu.address_space<workgroup>>' with 1}}
  %r = fa.issue_product %q[%i], %t[%i, %i], %s depth 64 rhs_transposed : memref<128x64xf16, #wg>, memref<96x64xf16, #wg>, vector<16x96xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @left_scalar(%q: f16, %t: memref<96x64xf16, #wg>, %i: index, %s: vector<16x96xf32>) {
  // expected-error @below {{the left operand must be a vector or a tile, found 'f16'}}
  %r = fa.issue_product %q[], %t[%i, %i], %s depth 64 rhs_transposed : f16, memref<96x64xf16, #wg>, vector<16x96xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @left_columns(%p: vector<16x80xf16>, %t: memref<96x64xf16, #wg>, %i: index, %u: vector<16x64xf32>) {
  // expected-error @below {{a left operand in registers must have the rows of the result and depth columns, found 'vector<16x80xf16>'}}
  %r = fa.issue_product %p[], %t[%i, %i], %u depth 96 : vector<16x80xf16>, memref<96x64xf16, #wg>, vector<16x64xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @left_rows(%p: vector<32x96xf16>, %t: memref<96x64xf16, #wg>, %i: index, %u: vector<16x64xf32>) {
  // expected-error @below {{a left operand in registers must have the rows of the result and depth columns, found 'vector<32x96xf16>'}}
  %r = fa.issue_product %p[], %t[%i, %i], %u depth 96 : vector<32x96xf16>, memref<96x64xf16, #wg>, vector<16x64xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @left_with_indices(%p: vector<16x96xf16>, %t: memref<96x64xf16, #wg>, %i: index, %u: vector<16x64xf32>) {
  // expected-error @below {{a left operand in registers must have the rows of the result and depth columns, found 'vector<16x96xf16>'}}
  %r = fa.issue_product %p[%i], %t[%i, %i], %u depth 96 : vector<16x96xf16>, memref<96x64xf16, #wg>, vector<16x64xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @elements(%p: vector<16x96xbf16>, %t: memref<96x64xf16, #wg>, %i: index, %u: vector<16x64xf32>) {
  // expected-error @below {{left operand of 'bf16' does not match right operand of 'f16'}}
  %r = fa.issue_product %p[], %t[%i, %i], %u depth 96 : vector<16x96xbf16>, memref<96x64xf16, #wg>, vector<16x64xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @depth(%p: vector<16x96xf16>, %t: memref<96x64xf16, #wg>, %i: index, %u: vector<16x64xf32>) {
  // expected-error @below {{attribute 'depth' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %r = fa.issue_product %p[], %t[%i, %i], %u depth 0 : vector<16x96xf16>, memref<96x64xf16, #wg>, vector<16x64xf32>
  return
}

// -----

func.func @pending(%s: vector<16x96xf32>) {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r = fa.wait_products pending -1 %s : vector<16x96xf32>
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @store_of_ring(%map: !llvm.ptr, %t: memref<2x96x64xf16, #wg>, %i: index) {
  // expected-error @below {{source must be a matrix of static extents with two indices, found 'memref<2x96x64xf16, #gpu.address_space<workgroup>>' with 3}}
  fa.bulk_store %t[%i, %i, %i] columns 64 to %map[%i, %i] row_dim 0 : memref<2x96x64xf16, #wg>, !llvm.ptr
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @store_of_open_tile(%map: !llvm.ptr, %t: memref<?x64xf16, #wg>, %i: index) {
  // expected-error @below {{source must be a matrix of static extents with two indices, found 'memref<?x64xf16, #gpu.address_space<workgroup>>' with 2}}
  fa.bulk_store %t[%i, %i] columns 64 to %map[%i, %i] row_dim 0 : memref<?x64xf16, #wg>, !llvm.ptr
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @store_indices(%map: !llvm.ptr, %t: memref<96x64xf16, #wg>, %i: index) {
  // expected-error @below {{source must be a matrix of static extents with two indices, found 'memref<96x64xf16, #gpu.address_space<workgroup>>' with 1}}
  fa.bulk_store %t[%i] columns 64 to %map[%i, %i] row_dim 0 : memref<96x64xf16, #wg>, !llvm.ptr
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @store_to_six(%map: !llvm.ptr, %t: memref<96x64xf16, #wg>, %i: index) {
  // expected-error @below {{expected 2 to 5 coordinates, found 6}}
  fa.bulk_store %t[%i, %i] columns 64 to %map[%i, %i, %i, %i, %i, %i] row_dim 4 : memref<96x64xf16, #wg>, !llvm.ptr
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @store_row_dim(%map: !llvm.ptr, %t: memref<96x64xf16, #wg>, %i: index) {
  // expected-error @below {{row_dim 2 is outside of 2 coordinates}}
  fa.bulk_store %t[%i, %i] columns 64 to %map[%i, %i] row_dim 2 : memref<96x64xf16, #wg>, !llvm.ptr
  return
}

// -----

// One warpgroup has nobody to take turns with.
func.func @turn_alone() {
  // expected-error @below {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2 whose maximum value is 3}}
  fa.turn take of 1
  return
}
