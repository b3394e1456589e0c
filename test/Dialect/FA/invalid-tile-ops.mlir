// REQUIRES: fa-opt
// RUN: fa-opt %s --split-input-file --verify-diagnostics

// Each refusal of the ops of a tile program.

#wg = #gpu.address_space<workgroup>

func.func @load_element(%q: memref<?x64xf16>, %i: index) {
  // expected-error @below {{tile of 'f32' does not match memref of 'f16'}}
  %t = fa.load_tile %q[%i, %i] : memref<?x64xf16> -> vector<16x64xf32>
  return
}

// -----

func.func @gather_rank(%t: memref<?x?xf16>, %i: vector<16x8xi32>) {
  // expected-error @below {{expected 2 indices, one for each dimension of 'memref<?x?xf16>', found 1}}
  %x = fa.gather %t[%i] : memref<?x?xf16>, vector<16x8xi32> -> vector<16x8xf16>
  return
}

// -----

func.func @gather_element(%t: memref<?xf16>, %i: vector<16x8xi32>) {
  // expected-error @below {{loads 'f32' from 'memref<?xf16>'}}
  %x = fa.gather %t[%i] : memref<?xf16>, vector<16x8xi32> -> vector<16x8xf32>
  return
}

// -----

func.func @gather_shape(%t: memref<?xf16>, %i: vector<16x4xi32>) {
  // expected-error @below {{expected indices of the shape of 'vector<16x8xf16>', found 'vector<16x4xi32>'}}
  %x = fa.gather %t[%i] : memref<?xf16>, vector<16x4xi32> -> vector<16x8xf16>
  return
}

// -----

func.func @minmax_element(%line: memref<?xi64>, %i: index) {
  // expected-error @below {{operand #0 must be 1D memref of 32-bit signless integer values, but got 'memref<?xi64>'}}
  %least, %greatest = fa.minmax %line[%i] count 16 : memref<?xi64>
  return
}

// -----

func.func @minmax_count(%line: memref<?xi32>, %i: index) {
  // expected-error @below {{'count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %least, %greatest = fa.minmax %line[%i] count 0 : memref<?xi32>
  return
}

// -----

func.func @load_rank(%q: memref<64xf16>, %i: index) {
  // expected-error @below {{tile of rank 2 exceeds memref of rank 1}}
  %t = fa.load_tile %q[%i] : memref<64xf16> -> vector<16x64xf16>
  return
}

// -----

func.func @load_indices(%q: memref<?x64xf16>, %i: index) {
  // expected-error @below {{expected 2 indices, one for each dimension, found 1}}
  %t = fa.load_tile %q[%i] : memref<?x64xf16> -> vector<16x64xf16>
  return
}

// -----

func.func @load_paired(%q: memref<?x64xf16>, %i: index) {
  // expected-error @below {{with paired needs nearest and columns in pairs, found 'vector<16x64xf16>' without nearest}}
  %t = fa.load_tile %q[%i, %i] paired : memref<?x64xf16> -> vector<16x64xf16>
  return
}

// -----

func.func @load_paired_columns(%q: memref<?x64xf16>, %i: index) {
  // expected-error @below {{with paired needs nearest and columns in pairs, found 'vector<16x15xf16>'}}
  %t = fa.load_tile %q[%i, %i] nearest paired : memref<?x64xf16> -> vector<16x15xf16>
  return
}

// -----

func.func @load_each_row(%q: memref<64xf16>, %i: index) {
  // expected-error @below {{with each_row expected a tile of rank 2 or more, found 'vector<64xf16>'}}
  %t = fa.load_tile %q[%i] each_row : memref<64xf16> -> vector<64xf16>
  return
}

// -----

func.func @store_element(%t: vector<16x64xf32>, %o: memref<?x64xf16>, %i: index) {
  // expected-error @below {{tile of 'f32' does not match memref of 'f16'}}
  fa.store_tile %t, %o[%i, %i] : vector<16x64xf32>, memref<?x64xf16>
  return
}

// -----

func.func @tile_index(%base: i32) {
  // expected-error @below {{dim 2 is outside a tile of rank 2}}
  %j = fa.tile_index %base dim 2 : vector<16x8xi32>
  return
}

// -----

func.func @row_sum_rows(%p: vector<16x8xf32>, %l: vector<32x4xf32>) {
  // expected-error @below {{tile has 16 rows, accumulator has 32}}
  %s = fa.row_sum %p, %l : vector<16x8xf32>, vector<32x4xf32>
  return
}

// -----

func.func @exp2_share(%x: vector<16x8xf32>) {
  // expected-error @below {{attribute 'polynomial' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %p = fa.exp2 %x polynomial 0 : vector<16x8xf32>
  return
}

// -----

func.func @row_sum_columns(%p: vector<16x8xf32>, %l: vector<16x3xf32>) {
  // expected-error @below {{tile of 8 columns cannot be divided into 3 equal parts}}
  %s = fa.row_sum %p, %l : vector<16x8xf32>, vector<16x3xf32>
  return
}

// -----

func.func @view_sizes(%p: !llvm.ptr<1>, %s: index) {
  // expected-error @below {{expected 1 sizes, one for each dynamic extent, found 0}}
  %v = fa.view %p sizes [] strides [%s, %s] : !llvm.ptr<1> to memref<?x64xf16>
  return
}

// -----

func.func @view_strides(%p: !llvm.ptr<1>, %s: index) {
  // expected-error @below {{expected 2 strides, one for each dimension, found 1}}
  %v = fa.view %p sizes [%s] strides [%s] : !llvm.ptr<1> to memref<?x64xf16>
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @copy_rank(%k: memref<64xf16>, %s: memref<16x64xf16, #wg>, %i: index) {
  // expected-error @below {{source and destination need rank 2 or more}}
  fa.copy_tile %k[%i] to %s[%i, %i] : memref<64xf16> to memref<16x64xf16, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @copy_indices(%k: memref<?x64xf16>, %s: memref<16x64xf16, #wg>, %i: index) {
  // expected-error @below {{expected one index for each dimension of source and destination}}
  fa.copy_tile %k[%i] to %s[%i, %i] : memref<?x64xf16> to memref<16x64xf16, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @copy_element(%k: memref<?x64xf32>, %s: memref<16x64xf16, #wg>, %i: index) {
  // expected-error @below {{source of 'f32' does not match destination of 'f16'}}
  fa.copy_tile %k[%i, %i] to %s[%i, %i] : memref<?x64xf32> to memref<16x64xf16, #wg>
  return
}

// -----

#wg = #gpu.address_space<workgroup>
func.func @copy_dynamic(%k: memref<?x64xf16>, %s: memref<?x64xf16, #wg>, %i: index) {
  // expected-error @below {{destination must have static extents}}
  fa.copy_tile %k[%i, %i] to %s[%i, %i] : memref<?x64xf16> to memref<?x64xf16, #wg>
  return
}

// -----

func.func @trace_rows(%m: vector<16xf32>, %l: vector<32x4xf32>, %u: vector<16x64xf32>, %t: memref<?x66xf32>, %i: index) {
  // expected-error @below {{max, sum and acc must have the same rows, found 16, 32 and 16}}
  fa.trace_state row %i first %i max %m sum %l acc %u to %t[%i] : vector<16xf32>, vector<32x4xf32>, vector<16x64xf32>, memref<?x66xf32>
  return
}
