// RUN: fa-opt %s --fa-pipeline-copies --split-input-file --verify-diagnostics

#wg = #gpu.address_space<workgroup>

func.func @step(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
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
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @gap(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "full"}
    // expected-error @below {{over K/V blocks must begin where the loop before it ended}}
    scf.for %jb = %c1 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @no_copies(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    // expected-error @below {{does not fill its tiles as fa-promote-tiles leaves it: barrier, copies, commit, wait, barrier}}
    scf.for %jb = %c0 to %end step %c1 {
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @two_commits(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    // expected-error @below {{does not fill its tiles as fa-promote-tiles leaves it: barrier, copies, commit, wait, barrier}}
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      fa.commit_copies
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @other_order(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    // expected-error @below {{does not fill its tiles as fa-promote-tiles leaves it: barrier, copies, commit, wait, barrier}}
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.wait_copies pending 0
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @not_from_first(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      // expected-error @below {{must fill its tile from the first element}}
      fa.copy_tile %K[%jb, %c0] to %sK[%c1, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @source_in_loop(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      %V = memref.subview %K[%jb, 0] [16, 64] [1, 1] : memref<?x64xf16> to memref<16x64xf16, strided<[64, 1], offset: ?>>
      gpu.barrier
      // expected-error @below {{source must be defined before the loop over K/V blocks}}
      fa.copy_tile %V[%c0, %c0] to %sK[%c0, %c0] : memref<16x64xf16, strided<[64, 1], offset: ?>> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @carried_place(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    %r = scf.for %jb = %c0 to %end step %c1 iter_args(%at = %c0) -> (index) {
      gpu.barrier
      // expected-error @below {{cannot run ahead: its place depends on what an iteration before it computes}}
      fa.copy_tile %K[%at, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
      scf.yield %jb : index
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @other_tile(%K: memref<?x64xf16>, %full: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    %sV = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %full step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "full"}
    // expected-error @below {{copies other tiles than the loop before it}}
    scf.for %jb = %full to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sV[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @other_place(%K: memref<?x64xf16>, %full: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %full step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "full"}
    // expected-error @below {{copies other tiles than the loop before it}}
    scf.for %jb = %full to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%c1, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @foreign_tile(%K: memref<?x64xf16>, %end: index, %sK: memref<16x64xf16, #wg>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      // expected-error @below {{destination must be a buffer that the tile program allocates}}
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @twice(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      // expected-error @below {{must be the only copy to its tile in the loop}}
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @read_outside(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
    // expected-error @below {{uses a tile of K or V; only the copies and loads behind them in the loops over K/V blocks may}}
    %k = fa.load_tile %sK[%c0, %c0] : memref<16x64xf16, #wg> -> vector<16x64xf16>
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @read_before(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      // expected-error @below {{uses a tile of K or V; only the copies and loads behind them in the loops over K/V blocks may}}
      %k = fa.load_tile %sK[%c0, %c0] : memref<16x64xf16, #wg> -> vector<16x64xf16>
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @between_loops(%K: memref<?x64xf16>, %full: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %full step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "full"}
    // expected-error @below {{copies, or waits for copies, between the loops over K/V blocks}}
    fa.commit_copies
    scf.for %jb = %full to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @two_groups_before(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    fa.commit_copies
    // expected-error @below {{before the loops over K/V blocks copies are closed by one fa.commit_copies, and waited for behind it}}
    fa.commit_copies
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @bound_from_loop(%K: memref<?x64xf16>, %n: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    fa.commit_copies
    // expected-error @below {{is needed earlier but may not be moved}}
    %end = memref.load %n[%ib] : memref<?xindex>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @open_schedule(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{schedule leaves 'stages' open; fa-select-schedule completes it}}
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 16, warps = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

func.func @no_schedule(%K: memref<?x64xf16>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{has no fa.schedule of the form #fa.schedule}}
  scf.forall (%ib) in (4) {
    %sK = memref.alloc() : memref<16x64xf16, #wg>
    scf.for %jb = %c0 to %end step %c1 {
      gpu.barrier
      fa.copy_tile %K[%jb, %c0] to %sK[%c0, %c0] : memref<?x64xf16> to memref<16x64xf16, #wg>
      fa.commit_copies
      fa.wait_copies pending 0
      gpu.barrier
    } {fa.blocks = "partial"}
  } {fa.schedule = "complete"}
  return
}
