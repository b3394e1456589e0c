// RUN: fa-opt %s --allow-unregistered-dialect --fa-map-to-gpu --split-input-file --verify-diagnostics

func.func @not_an_operand(%n: index) attributes {fa.operands = [{role = "scale", kind = "scalar", type = "index", dims = []}]} {
  // expected-error @below {{the kernel's pointer of this value does not follow from the function's arguments}}
  %m = memref.alloc(%n) : memref<?xf32>
  scf.forall (%i) in (3) {
    %x = memref.load %m[%i] : memref<?xf32>
    "test.use"(%x) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

func.func @grid(%n: index) attributes {fa.operands = [{role = "scale", kind = "scalar", type = "index", dims = []}]} {
  // expected-error @below {{the number of blocks does not follow from the extents of the function's arguments}}
  scf.forall (%i) in (%n) {
    "test.use"(%i) : (index) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

func.func @global_buffer() {
  scf.forall (%i) in (3) {
    // expected-error @below {{a buffer of a tile program must be contiguous workgroup memory of static extents}}
    %m = memref.alloc() : memref<4xf32>
    "test.use"(%m) : (memref<4xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// expected-error @below {{describes operands but holds no scf.forall with a schedule; was it folded away?}}
func.func @no_program(%x: f32) attributes {fa.operands = [{role = "scale", kind = "scalar", type = "f32", dims = []}]} {
  return
}

// -----

func.func @from_one() {
  // expected-error @below {{a tile program must count from 0 by 1 and have no results}}
  scf.forall (%i) = (1) to (3) step (1) {
    "test.use"(%i) : (index) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

func.func @no_dimension() {
  // expected-error @below {{a tile program must have a dimension}}
  scf.forall () in () {
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

func.func @nested() {
  scf.forall (%j) in (3) {
    // expected-error @below {{is inside another scf.forall}}
    scf.forall (%i) in (3) {
    } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  }
  return
}

// -----

// expected-error @below {{needs a name, after which its kernel is named}}
func.func @""() {
  scf.forall (%i) in (3) {
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @buffer_in_loop() {
  scf.forall (%i) in (3) {
    scf.for %j = %i to %i step %i {
      // expected-error @below {{a buffer of a tile program must be allocated directly in it}}
      %m = memref.alloc() : memref<4xf32, #wg>
    }
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @buffer_of_indices() {
  scf.forall (%i) in (3) {
    // expected-error @below {{a buffer of a tile program must hold integers or floats, aligned to 128 bytes at most}}
    %m = memref.alloc() : memref<4xindex, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @aligned_buffer() {
  scf.forall (%i) in (3) {
    // expected-error @below {{a buffer of a tile program must hold integers or floats, aligned to 128 bytes at most}}
    %m = memref.alloc() {alignment = 256} : memref<4xf32, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

func.func @many_warps() {
  // expected-error @below {{schedule key warps = 33 exceeds the 32 warps of a block}}
  scf.forall (%i) in (3) {
    "test.use"(%i) : (index) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 33, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_86"} {
  func.func @large_buffers() {
    // expected-error @below {{buffers need more than the 101376 bytes of workgroup memory of a block}}
    scf.forall (%i) in (3) {
      %m = memref.alloc() : memref<25344xf32, #wg>
      %n = memref.alloc() : memref<1xi1, #wg>
    } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
    return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @uncountable_buffer() {
  // expected-error @below {{buffers need more than the 2147483647 bytes of workgroup memory of a block}}
  scf.forall (%i) in (3) {
    %m = memref.alloc() : memref<4611686018427387904x4xf32, #wg>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// expected-error @below {{target 'sm_10' is unknown; supported: sm_80}}
module attributes {fa.target = "sm_10"} {
  func.func @unknown_target() {
    scf.forall (%i) in (3) {
    } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
    return
  }
}

// -----

func.func @view_of_operand(%m: memref<4x4xf32>) {
  scf.forall (%i) in (3) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{of a global operand is not supported inside a tile program}}
    %v = memref.collapse_shape %m [[0, 1]] : memref<4x4xf32> into memref<16xf32>
    %x = memref.load %v[%c0] : memref<16xf32>
    "test.use"(%x) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// Arguments of the kernel.

// expected-error @below {{a value of 'vector<4xf32>' cannot be handed to a kernel}}
func.func @vector(%v: vector<4xf32>) {
  scf.forall (%i) in (3) {
    "test.use"(%v) : (vector<4xf32>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// expected-error @below {{'memref<4xindex>' cannot be handed to a kernel; elements must be integers or floats}}
func.func @indices(%m: memref<4xindex>) {
  scf.forall (%i) in (3) {
    %x = memref.load %m[%i] : memref<4xindex>
    "test.use"(%x) : (index) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// expected-error @below {{'memref<4x4xf32, affine_map<(d0, d1) -> (d0 mod 2, d1)>>' has no strides}}
func.func @no_strides(%m: memref<4x4xf32, affine_map<(i, j) -> (i mod 2, j)>>) {
  scf.forall (%i) in (3) {
    %x = memref.load %m[%i, %i] : memref<4x4xf32, affine_map<(i, j) -> (i mod 2, j)>>
    "test.use"(%x) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// expected-error @below {{the width of the trace buffer is not known}}
func.func @trace_width(%t: memref<?x?xf32, strided<[?, ?]>> {fa.trace}) attributes {fa.operands = [{role = "none", kind = "output", type = "f32", dims = []}]} {
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (3) {
    %n = memref.dim %t, %c1 : memref<?x?xf32, strided<[?, ?]>>
    %x = memref.load %t[%i, %n] : memref<?x?xf32, strided<[?, ?]>>
    "test.use"(%x) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}
