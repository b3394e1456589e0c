// RUN: fa-opt %s --allow-unregistered-dialect --fa-specialize-warps --split-input-file --verify-diagnostics
// REQUIRES: fa-opt

#wg = #gpu.address_space<workgroup>

func.func @no_loop() {
  // expected-error @below {{has no loop over K/V blocks whose copies a producer could take over}}
  scf.forall (%h) in (4) {
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

// The loops themselves are read as fa-pipeline-copies reads them.

#wg = #gpu.address_space<workgroup>

func.func @step(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    // expected-error @below {{over K/V blocks must have step 1}}
    scf.for %jb = %c0 to %end step %end {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @query_in_registers(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sQ = memref.alloc() : memref<64x64xf16, #wg>
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    fa.copy_tile %Q[%c0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16> to memref<64x64xf16, #wg>
    fa.commit_copies
    // expected-error @below {{before the loops over K/V blocks is not understood; the schedule needs query = shared}}
    fa.wait_copies pending 0
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @barrier_before(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    // expected-error @below {{before the loops over K/V blocks is not understood; the schedule needs query = shared}}
    gpu.barrier
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @query_elsewhere(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %sQ: memref<64x64xf16, #wg>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    // expected-error @below {{must fill, before the loops over K/V blocks, a buffer that the tile program allocates}}
    fa.copy_tile %Q[%c0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16> to memref<64x64xf16, #wg>
    fa.commit_copies
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @query_behind(%Q: memref<?x64xf16>, %K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sQ = memref.alloc() : memref<64x64xf16, #wg>
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
    // expected-error @below {{must fill, before the loops over K/V blocks, a buffer that the tile program allocates}}
    fa.copy_tile %Q[%c0, %c0] to %sQ[%c0, %c0] : memref<?x64xf16> to memref<64x64xf16, #wg>
    fa.commit_copies
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4>}
  return
}

// -----

func.func @open_schedule() {
  // expected-error @below {{schedule leaves 'stages' open; fa-select-schedule completes it}}
  scf.forall (%h) in (4) {
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, state = registers, producers = 4>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @persistent_cluster(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{schedule asks for cluster = 2 and persistent = true; a persistent block goes from tile to tile by itself}}
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, producers = 4, persistent = true, cluster = 2>}
  return
}
