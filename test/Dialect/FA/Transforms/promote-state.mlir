// RUN: fa-opt %s --allow-unregistered-dialect --fa-promote-state --split-input-file --verify-diagnostics | FileCheck %s
// REQUIRES: fa-opt
//
// m, l and u leave workgroup memory when the schedule says so.

#wg = #gpu.address_space<workgroup>

// Two loops in a row and a read in an scf.if: one chain of values.
// CHECK-LABEL: func @loops_two
// CHECK-NOT: memref.alloc
// CHECK: %[[INIT:.*]] = arith.constant dense<0.0{{.*}}> : vector<32xf32>
// CHECK: %[[A:.*]] = scf.for {{.*}} iter_args(%[[R:.*]] = %[[INIT]]) -> (vector<32xf32>)
// CHECK:   %[[N:.*]] = arith.addf %[[R]], %[[R]]
// CHECK:   scf.yield %[[N]]
// CHECK: fa.blocks = "full"
// CHECK: %[[B:.*]] = scf.for {{.*}} iter_args(%[[R:.*]] = %[[A]]) -> (vector<32xf32>)
// CHECK:   scf.if
// CHECK:     "test.use"(%[[R]])
// CHECK:   %[[N:.*]] = arith.mulf %[[R]], %[[R]]
// CHECK:   scf.yield %[[N]]
// CHECK: fa.blocks = "partial"
// CHECK: "test.use"(%[[B]])
func.func @loops_two(%full: index, %end: index, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  scf.forall (%b) in (4) {
    %m = memref.alloc() : memref<32xf32, #wg>
    %init = arith.constant dense<0.0> : vector<32xf32>
    vector.transfer_write %init, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32, #wg>
    scf.for %jb = %c0 to %full step %c1 {
      %r = vector.transfer_read %m[%c0], %f0 {in_bounds = [true]} : memref<32xf32, #wg>, vector<32xf32>
      %n = arith.addf %r, %r : vector<32xf32>
      vector.transfer_write %n, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32, #wg>
    } {fa.blocks = "full"}
    scf.for %jb = %full to %end step %c1 {
      scf.if %flag {
        %x = vector.transfer_read %m[%c0], %f0 {in_bounds = [true]} : memref<32xf32, #wg>, vector<32xf32>
        "test.use"(%x) : (vector<32xf32>) -> ()
      }
      %r = vector.transfer_read %m[%c0], %f0 {in_bounds = [true]} : memref<32xf32, #wg>, vector<32xf32>
      %n = arith.mulf %r, %r : vector<32xf32>
      vector.transfer_write %n, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32, #wg>
    } {fa.blocks = "partial"}
    %last = vector.transfer_read %m[%c0], %f0 {in_bounds = [true]} : memref<32xf32, #wg>, vector<32xf32>
    "test.use"(%last) : (vector<32xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: func @negative_state_shared
// CHECK: memref.alloc
// CHECK: vector.transfer_write
func.func @negative_state_shared(%v: vector<32xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%b) in (4) {
    %m = memref.alloc() : memref<32xf32, #wg>
    vector.transfer_write %v, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = shared>}
  return
}
