// RUN: fa-opt %s --allow-unregistered-dialect --fa-promote-tiles --split-input-file --verify-diagnostics

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @two_tiles(%q: vector<32x64xf16>, %K: memref<?x64xf16>, %end: index, %s0: vector<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    scf.for %jb = %c0 to %end step %c1 {
      %k = fa.load_tile %K[%jb, %c0] : memref<?x64xf16> -> vector<16x64xf16>
      // expected-error @below {{is a second tile of its operand in one iteration; one is supported}}
      %k2 = fa.load_tile %K[%c1, %c0] : memref<?x64xf16> -> vector<16x64xf16>
      %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k, %s0 : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
      %t = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k2, %s : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
      "test.use"(%t) : (vector<32x16xf32>) -> ()
    } {fa.blocks = "full"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @no_loop(%q: vector<32x64xf16>, %K: memref<?x64xf16>, %s0: vector<32x16xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has tiles to copy but no loop over K/V blocks (fa.blocks); was it folded away?}}
  scf.forall (%ib) in (4) {
    %k = fa.load_tile %K[%c0, %c0] : memref<?x64xf16> -> vector<16x64xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %s0 : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
    "test.use"(%s) : (vector<32x16xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @place_not_known(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %end: index, %N: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : vector<32x16xf32>
  scf.forall (%ib) in (4) {
    %q = fa.load_tile %Q[%ib, %c0] : memref<?x64xf16> -> vector<32x64xf16>
    scf.for %jb = %c0 to %end step %c1 {
      // expected-error @below {{is needed earlier but may not be moved}}
      %j = memref.load %N[%jb] : memref<?xindex>
      %k = fa.load_tile %K[%j, %c0] : memref<?x64xf16> -> vector<16x64xf16>
      %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k, %z : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
    } {fa.blocks = "full"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @read_behind_loops(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : vector<32x16xf32>
  scf.forall (%ib) in (4) {
    %q = fa.load_tile %Q[%ib, %c0] : memref<?x64xf16> -> vector<32x64xf16>
    scf.for %jb = %c0 to %end step %c1 {
      %k = fa.load_tile %K[%jb, %c0] : memref<?x64xf16> -> vector<16x64xf16>
      %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k, %z : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
    } {fa.blocks = "full"}
    %k0 = fa.load_tile %Q[%c0, %c0] : memref<?x64xf16> -> vector<16x64xf16>
    // expected-error @below {{uses a tile that is there in the loops over K/V blocks only}}
    %s0 = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k0, %z : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @read_before_loops(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : vector<32x16xf32>
  scf.forall (%ib) in (4) {
    %q = fa.load_tile %Q[%ib, %c0] : memref<?x64xf16> -> vector<32x64xf16>
    %k0 = fa.load_tile %Q[%c0, %c0] : memref<?x64xf16> -> vector<16x64xf16>
    // expected-error @below {{uses a tile that is there from the first loop over K/V blocks on}}
    %s0 = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k0, %z : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
    scf.for %jb = %c0 to %end step %c1 {
      %k = fa.load_tile %K[%jb, %c0] : memref<?x64xf16> -> vector<16x64xf16>
      %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %q, %k, %z : vector<32x64xf16>, vector<16x64xf16> into vector<32x16xf32>
    } {fa.blocks = "full"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers, query = registers>}
  return
}
