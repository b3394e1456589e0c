// RUN: fa-opt %s --allow-unregistered-dialect --fa-overlap-products --split-input-file --verify-diagnostics
// REQUIRES: fa-opt
//
// Loops whose second half cannot be done an iteration later.

#wg = #gpu.address_space<workgroup>

func.func @three_products(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      // expected-error @below {{cannot be turned: expected two products, found 3}}
      scf.for %jb = %c0 to %end step %c1 {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %t = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %r = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @wait_for_both(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %p: vector<64x16xf16>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      // expected-error @below {{cannot be turned: each product must be waited for by itself}}
      scf.for %jb = %c0 to %end step %c1 {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %u0 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %w:2 = fa.wait_products pending 0 %s, %u : vector<64x16xf32>, vector<64x64xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @weights_from_outside(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %p: vector<64x16xf16>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      // expected-error @below {{cannot be turned: the left operand of the second product must be made from one vector of weights}}
      scf.for %jb = %c0 to %end step %c1 {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %u0 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @no_sum(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      // expected-error @below {{cannot be turned: expected a sum of the weights}}
      scf.for %jb = %c0 to %end step %c1 {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %p = arith.truncf %sw : vector<64x16xf32> to vector<64x16xf16>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %u0 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @not_carried(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %l0: vector<64x4xf32>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      // expected-error @below {{cannot be turned: the result of the second product must be carried}}
      %r:2 = scf.for %jb = %c0 to %end step %c1 iter_args(%l = %l0, %acc = %u0) -> (vector<64x4xf32>, vector<64x64xf32>) {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %ln = fa.row_sum %sw, %l : vector<64x16xf32>, vector<64x4xf32>
        %p = arith.truncf %sw : vector<64x16xf32> to vector<64x16xf16>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %acc depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
        scf.yield %ln, %acc : vector<64x4xf32>, vector<64x64xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @used_early(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %l0: vector<64x4xf32>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      // expected-error @below {{cannot be turned: what it carries is needed before the second product}}
      %r:2 = scf.for %jb = %c0 to %end step %c1 iter_args(%l = %l0, %acc = %u0) -> (vector<64x4xf32>, vector<64x64xf32>) {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %ln = fa.row_sum %sw, %l : vector<64x16xf32>, vector<64x4xf32>
        "test.use"(%acc) : (vector<64x64xf32>) -> ()
        %p = arith.truncf %sw : vector<64x16xf32> to vector<64x16xf16>
        %acc2 = arith.addf %acc, %acc : vector<64x64xf32>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %acc2 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
        scf.yield %ln, %uw : vector<64x4xf32>, vector<64x64xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @adds_to_something_else(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %l0: vector<64x4xf32>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      // expected-error @below {{cannot be turned: the second product must add to what is carried}}
      %r:2 = scf.for %jb = %c0 to %end step %c1 iter_args(%l = %l0, %acc = %u0) -> (vector<64x4xf32>, vector<64x64xf32>) {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %ln = fa.row_sum %sw, %l : vector<64x16xf32>, vector<64x4xf32>
        %p = arith.truncf %sw : vector<64x16xf32> to vector<64x16xf16>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %u0 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
        scf.yield %ln, %uw : vector<64x4xf32>, vector<64x64xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @gap(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %l0: vector<64x4xf32>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      %r:2 = scf.for %jb = %c0 to %end step %c1 iter_args(%l = %l0, %acc = %u0) -> (vector<64x4xf32>, vector<64x64xf32>) {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %ln = fa.row_sum %sw, %l : vector<64x16xf32>, vector<64x4xf32>
        %p = arith.truncf %sw : vector<64x16xf32> to vector<64x16xf16>
        %acc2 = arith.addf %acc, %acc : vector<64x64xf32>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %acc2 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
        scf.yield %ln, %uw : vector<64x4xf32>, vector<64x64xf32>
      } {fa.blocks = "full"}
      // expected-error @below {{cannot be turned: it must begin where the loop before it ended, with what that carried}}
      %r2:2 = scf.for %jb = %c1 to %end step %c1 iter_args(%l = %r#0, %acc = %r#1) -> (vector<64x4xf32>, vector<64x64xf32>) {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %ln = fa.row_sum %sw, %l : vector<64x16xf32>, vector<64x4xf32>
        %p = arith.truncf %sw : vector<64x16xf32> to vector<64x16xf16>
        %acc2 = arith.addf %acc, %acc : vector<64x64xf32>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %acc2 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
        scf.yield %ln, %uw : vector<64x4xf32>, vector<64x64xf32>
      } {fa.blocks = "partial"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @reads_what_is_not_carried(%sQ: memref<64x64xf16, #wg>, %sK: memref<16x64xf16, #wg>, %end: index, %zs: vector<64x16xf32>, %l0: vector<64x4xf32>, %u0: vector<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (4) {
    fa.warp_roles [4, 4] {
      %r:2 = scf.for %jb = %c0 to %end step %c1 iter_args(%l = %l0, %acc = %u0) -> (vector<64x4xf32>, vector<64x64xf32>) {
        %s = fa.issue_product %sQ[%c0, %c0], %sK[%c0, %c0], %zs depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<16x64xf16, #wg>, vector<64x16xf32>
        %sw = fa.wait_products pending 0 %s : vector<64x16xf32>
        %ln = fa.row_sum %sw, %l : vector<64x16xf32>, vector<64x4xf32>
        %p = arith.truncf %sw : vector<64x16xf32> to vector<64x16xf16>
        %acc2 = arith.addf %acc, %acc : vector<64x64xf32>
        %u = fa.issue_product %p[], %sK[%c0, %c0], %acc2 depth 16 : vector<64x16xf16>, memref<16x64xf16, #wg>, vector<64x64xf32>
        %uw = fa.wait_products pending 0 %u : vector<64x64xf32>
        // expected-error @below {{cannot be done an iteration later: it reads what is not carried}}
        "test.use"(%uw, %sw) : (vector<64x64xf32>, vector<64x16xf32>) -> ()
        scf.yield %ln, %uw : vector<64x4xf32>, vector<64x64xf32>
      } {fa.blocks = "full"}
    }, {
    }
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}
