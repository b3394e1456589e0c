// RUN: fa-opt %s --allow-unregistered-dialect --fa-promote-state --split-input-file --verify-diagnostics

#wg = #gpu.address_space<workgroup>

// A part of a buffer may belong to another warp than the whole.
func.func @part(%v: vector<16xf32>) {
  %c16 = arith.constant 16 : index
  scf.forall (%b) in (4) {
    %m = memref.alloc() : memref<32xf32, #wg>
    // expected-error @below {{accesses a part of a state buffer; state = registers needs accesses to all of it}}
    vector.transfer_write %v, %m[%c16] {in_bounds = [true]} : vector<16xf32>, memref<32xf32, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @written_under_condition(%v: vector<32xf32>, %flag: i1) {
  %c0 = arith.constant 0 : index
  scf.forall (%b) in (4) {
    %m = memref.alloc() : memref<32xf32, #wg>
    scf.if %flag {
      // expected-error @below {{accesses a state buffer inside 'scf.if'}}
      vector.transfer_write %v, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32, #wg>
    }
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @not_initialised() {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  scf.forall (%b) in (4) {
    %m = memref.alloc() : memref<32xf32, #wg>
    // expected-error @below {{reads a state buffer before it is written}}
    %x = vector.transfer_read %m[%c0], %f0 {in_bounds = [true]} : memref<32xf32, #wg>, vector<32xf32>
    "test.use"(%x) : (vector<32xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

func.func @open_schedule() {
  // expected-error @below {{schedule leaves 'warps' open; fa-select-schedule completes it}}
  scf.forall (%b) in (4) {
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @read_first(%f: f32, %end: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : vector<32xf32>
  scf.forall (%ib) in (4) {
    %m = memref.alloc() : memref<32xf32, #wg>
    // expected-error @below {{reads a state buffer before it is written}}
    %r = vector.transfer_read %m[%c0], %f {in_bounds = [true]} : memref<32xf32, #wg>, vector<32xf32>
    vector.transfer_write %z, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @written_in_loop_first(%f: f32, %end: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : vector<32xf32>
  scf.forall (%ib) in (4) {
    %m = memref.alloc() : memref<32xf32, #wg>
    // expected-error @below {{writes a state buffer that has no initial value}}
    scf.for %j = %c0 to %end step %c1 {
      vector.transfer_write %z, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32, #wg>
    }
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}
