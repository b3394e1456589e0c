// RUN: fa-opt %s --allow-unregistered-dialect --fa-map-rows-to-warps --split-input-file --verify-diagnostics

func.func @sum_over_rows(%L: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  scf.forall (%ib) in (4) {
    %x = fa.load_tile %L[%c0] : memref<?xf32> -> vector<64xf32>
    // expected-error @below {{reduces over query rows of several warps}}
    %s = vector.multi_reduction <add>, %x, %f0 [0] : vector<64xf32> to f32
    "test.use"(%s) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

func.func @unknown_op(%L: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %x = fa.load_tile %L[%c0] : memref<?xf32> -> vector<64xf32>
    // expected-error @below {{cannot be divided among warps}}
    %s = vector.extract %x[3] : f32 from vector<64xf32>
    "test.use"(%s) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

func.func @rows_differ(%L: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    // expected-error @below {{differs between query rows; only equal elements are supported}}
    %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : vector<16xf32>
    fa.store_tile %x, %L[%c0] : vector<16xf32>, memref<?xf32>
  } {fa.schedule = #fa.schedule<tile_q = 16, tile_kv = 64, warps = 1, stages = 2, state = shared>}
  return
}

// -----

func.func @warps() {
  // expected-error @below {{tile_q = 64 cannot be divided among warps = 8; each warp needs a multiple of 16 rows}}
  scf.forall (%ib) in (4) {
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 8, stages = 2, state = shared>}
  return
}

// -----

func.func @rank_zero(%L: memref<?xf32>, %M: memref<?x64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    // expected-error @below {{has 'vector<f32>', which has no rows to divide among warps}}
    %v = vector.broadcast %f : f32 to vector<f32>
    %w = vector.broadcast %v : vector<f32> to vector<64xf32>
    fa.store_tile %w, %L[%c0] : vector<64xf32>, memref<?xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

func.func @from_outside(%L: memref<?xf32>, %v: vector<64xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    // expected-error @below {{uses a vector from outside the tile program; only constants are accepted}}
    fa.store_tile %v, %L[%c0] : vector<64xf32>, memref<?xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

func.func @transposed(%L: memref<?xf32>, %M: memref<?x64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %f0 = arith.constant 0.0 : f32
    // expected-error @below {{must move rows as they lie, without a mask or a permutation, to be divided among warps}}
    %v = vector.transfer_read %M[%c0, %c0], %f0 {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<?x64xf32>, vector<64x64xf32>
    fa.store_tile %v, %M[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

func.func @wrong_rows(%L: memref<?xf32>, %M: memref<?x64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    // expected-error @below {{a vector of 'vector<32xf32>' should have 64 query rows in dimension 0}}
    %v = fa.load_tile %L[%c0] : memref<?xf32> -> vector<32xf32>
    fa.store_tile %v, %L[%c0] : vector<32xf32>, memref<?xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

func.func @sum_of_rows_to_vector(%L: memref<?xf32>, %M: memref<?x64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %v = fa.load_tile %M[%c0, %c0] : memref<?x64xf32> -> vector<64x64xf32>
    %w = fa.load_tile %L[%c0] : memref<?xf32> -> vector<64xf32>
    // expected-error @below {{reduces over query rows of several warps}}
    %s = vector.multi_reduction <add>, %v, %w [0] : vector<64x64xf32> to vector<64xf32>
    fa.store_tile %s, %L[%c0] : vector<64xf32>, memref<?xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @both_kinds(%L: memref<?xf32>, %M: memref<?x64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %v = fa.load_tile %M[%c0, %c0] : memref<?x64xf32> -> vector<64x64xf32>
    // expected-error @below {{uses a vector both by query rows and as a whole}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %v, %v, %v : vector<64x64xf32>, vector<64x64xf32> into vector<64x64xf32>
    fa.store_tile %s, %M[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#km = affine_map<(m, n, k) -> (k, m)>

func.func @rows_elsewhere(%L: memref<?xf32>, %M: memref<?x64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %v = fa.load_tile %M[%c0, %c0] : memref<?x64xf32> -> vector<64x64xf32>
    // expected-error @below {{must have the query rows in dimension 0 of its left operand and of its result, and nowhere else}}
    %s = vector.contract {indexing_maps = [#km, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %v, %v, %v : vector<64x64xf32>, vector<64x64xf32> into vector<64x64xf32>
    fa.store_tile %s, %M[%c0, %c0] : vector<64x64xf32>, memref<?x64xf32>
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 64, warps = 4, stages = 2, state = shared>}
  return
}
