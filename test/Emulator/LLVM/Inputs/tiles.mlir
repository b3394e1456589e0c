// Kernels in MLIR, lowered by upstream passes and llc (compile.py): a product
// with nvgpu's ldmatrix, mma.sync and asynchronous copies, sums with gpu.shuffle,
// strided loops.
module attributes {gpu.container_module} {
gpu.module @tiles {
  // C (16 x 8) = A (16 x 16) B^T (8 x 16), one warp.
  gpu.func @product(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf32>)
      workgroup(%sa: memref<16x16xf16, #gpu.address_space<workgroup>>, %sb: memref<8x16xf16, #gpu.address_space<workgroup>>)
      kernel attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %row = arith.divui %lane, %c2 : index
    %half = arith.remui %lane, %c2 : index
    %column = arith.muli %half, %c8 : index
    // 16 bytes a lane; B has half as many rows.
    %t0 = nvgpu.device_async_copy %a[%row, %column], %sa[%row, %column], 8 : memref<16x16xf16> to memref<16x16xf16, #gpu.address_space<workgroup>>
    %inB = arith.cmpi ult, %row, %c8 : index
    scf.if %inB {
      %t1 = nvgpu.device_async_copy %b[%row, %column], %sb[%row, %column], 8 {bypassL1} : memref<8x16xf16> to memref<8x16xf16, #gpu.address_space<workgroup>>
    }
    %group = nvgpu.device_async_create_group %t0
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.barrier
    // Rows of A for ldmatrix.x4: lane l names row l % 16 of half l / 16.
    %ra = arith.remui %lane, %c16 : index
    %ha = arith.divui %lane, %c16 : index
    %ca = arith.muli %ha, %c8 : index
    %fa = nvgpu.ldmatrix %sa[%ra, %ca] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    %rb = arith.remui %lane, %c8 : index
    %qb = arith.divui %lane, %c8 : index
    %hb = arith.remui %qb, %c2 : index
    %cb = arith.muli %hb, %c8 : index
    %fb = nvgpu.ldmatrix %sb[%rb, %cb] {numTiles = 2 : i32, transpose = false} : memref<8x16xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync (%fa, %fb, %zero) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %c4 = arith.constant 4 : index
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %cc = arith.muli %t, %c2 : index
    %g8 = arith.addi %g, %c8 : index
    %low = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %high = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %low, %c[%g, %cc] : memref<16x8xf32>, vector<2xf32>
    vector.store %high, %c[%g8, %cc] : memref<16x8xf32>, vector<2xf32>
    gpu.return
  }

  // Each warp divides its numbers by their sum: v + (v / sum)^2.
  gpu.func @normalise(%x: memref<?xf32>, %y: memref<?xf32>) kernel attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %n = gpu.block_dim x
    %first = arith.muli %b, %n : index
    %i = arith.addi %first, %t : index
    %v = memref.load %x[%i] : memref<?xf32>
    %width = arith.constant 32 : i32
    %d1 = arith.constant 1 : index
    %d32 = arith.constant 32 : index
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %five = arith.constant 5 : index
    %sum, %last = scf.for %k = %zero to %five step %d1 iter_args(%s = %v, %d = %one) -> (f32, i32) {
      %other, %valid = gpu.shuffle xor %s, %d, %width : f32
      %s2 = arith.addf %s, %other : f32
      %d2 = arith.shli %d, %one : i32
      scf.yield %s2, %d2 : f32, i32
    }
    %r = arith.divf %v, %sum : f32
    %r2 = arith.mulf %r, %r : f32
    %e = arith.addf %r2, %v : f32
    memref.store %e, %y[%i] : memref<?xf32>
    gpu.return
  }

  // A loop over rows with a vector of four, and a guard.
  gpu.func @columns(%x: memref<?x?xf32>, %y: memref<?xf32>) kernel attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %x, %c0 : memref<?x?xf32>
    %width = memref.dim %x, %c1 : memref<?x?xf32>
    %t = gpu.thread_id x
    %inside = arith.cmpi ult, %t, %width : index
    scf.if %inside {
      %zero = arith.constant 0.0 : f32
      %s = scf.for %r = %c0 to %rows step %c1 iter_args(%acc = %zero) -> (f32) {
        %v = memref.load %x[%r, %t] : memref<?x?xf32>
        %m = arith.maximumf %acc, %v : f32
        scf.yield %m : f32
      }
      memref.store %s, %y[%t] : memref<?xf32>
    }
    gpu.return
  }
}
}
