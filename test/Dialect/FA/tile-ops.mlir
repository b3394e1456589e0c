// REQUIRES: fa-opt
// RUN: fa-opt %s | fa-opt | FileCheck %s

// The ops of a tile program parse what they print.

#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: func.func @tiles
func.func @tiles(%q: memref<?x40xf16>, %row: memref<40xf16>, %o: memref<?x40xf16>, %i: index) {
  %c0 = arith.constant 0 : index
  // CHECK: fa.load_tile %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x40xf16> -> vector<16x48xf16>
  %t = fa.load_tile %q[%i, %c0] : memref<?x40xf16> -> vector<16x48xf16>
  // CHECK: fa.load_tile %{{.*}}[%{{.*}}] each_row : memref<40xf16> -> vector<16x48xf16>
  %e = fa.load_tile %row[%c0] each_row : memref<40xf16> -> vector<16x48xf16>
  // CHECK: fa.load_tile %{{.*}}[%{{.*}}] each_row nearest paired : memref<40xf16> -> vector<16x16xf16>
  %p = fa.load_tile %row[%c0] each_row nearest paired : memref<40xf16> -> vector<16x16xf16>
  // CHECK: fa.pairs_aligned %{{.*}} : memref<?x40xf16>
  %a = fa.pairs_aligned %q : memref<?x40xf16>
  // CHECK: fa.store_tile %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : vector<16x48xf16>, memref<?x40xf16>
  fa.store_tile %t, %o[%i, %c0] : vector<16x48xf16>, memref<?x40xf16>
  return
}

// CHECK-LABEL: func.func @elements
func.func @elements(%t: memref<?x?xf16>, %i: vector<16x8xi32>, %j: vector<16x8xi64>, %line: memref<?xi32>, %first: index) {
  // CHECK: fa.gather %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf16>, vector<16x8xi32>, vector<16x8xi64> -> vector<16x8xf16>
  %x = fa.gather %t[%i, %j] : memref<?x?xf16>, vector<16x8xi32>, vector<16x8xi64> -> vector<16x8xf16>
  // CHECK: fa.minmax %{{.*}}[%{{.*}}] count 96 : memref<?xi32>
  %least, %greatest = fa.minmax %line[%first] count 96 : memref<?xi32>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%base: i32, %p: vector<16x8xf32>, %l: vector<16x4xf32>, %c: vector<16xi1>, %n: i1) {
  // CHECK: fa.tile_index %{{.*}} dim 1 : vector<16x8xi32>
  %j = fa.tile_index %base dim 1 : vector<16x8xi32>
  // CHECK: fa.row_sum %{{.*}}, %{{.*}} : vector<16x8xf32>, vector<16x4xf32>
  %s = fa.row_sum %p, %l : vector<16x8xf32>, vector<16x4xf32>
  // CHECK: fa.exp2 %{{.*}} polynomial 8 : vector<16x8xf32>
  %w = fa.exp2 %p polynomial 8 : vector<16x8xf32>
  // CHECK: fa.note_rows %{{.*}}, %{{.*}} : vector<16xi1>
  %m = fa.note_rows %c, %n : vector<16xi1>
  // CHECK: fa.any_noted %{{.*}}
  %a = fa.any_noted %m
  return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%k: memref<?x64xf16>, %s: memref<2x16x64xf16, #wg>, %i: index) {
  %c0 = arith.constant 0 : index
  // CHECK: fa.copy_aligned %{{.*}} : memref<?x64xf16>
  %a = fa.copy_aligned %k : memref<?x64xf16>
  // CHECK: fa.copy_tile %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<?x64xf16> to memref<2x16x64xf16
  fa.copy_tile %k[%i, %c0] to %s[%c0, %c0, %c0] : memref<?x64xf16> to memref<2x16x64xf16, #wg>
  // CHECK: fa.copy_tile {{.*}} in_bounds : memref<?x64xf16>
  fa.copy_tile %k[%i, %c0] to %s[%c0, %c0, %c0] in_bounds : memref<?x64xf16> to memref<2x16x64xf16, #wg>
  // CHECK: fa.commit_copies
  fa.commit_copies
  // CHECK: fa.wait_copies pending 1
  fa.wait_copies pending 1
  return
}

// CHECK-LABEL: func.func @view
func.func @view(%p: !llvm.ptr<1>, %n: index, %s: index) {
  // CHECK: fa.view %{{.*}} sizes[%{{.*}}] strides[%{{.*}}, %{{.*}}] : !llvm.ptr<1> to memref<?x64xf16>
  %v = fa.view %p sizes [%n] strides [%s, %s] : !llvm.ptr<1> to memref<?x64xf16>
  return
}
