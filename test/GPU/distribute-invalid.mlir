// RUN: fa-opt %s --fa-distribute --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @below {{needs a known block size that is a multiple of 32}}
  gpu.func @no_block_size(%n: i32) kernel {
    %j = fa.tile_index %n dim 1 : vector<16x8xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @odd_rows(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{no lane layout covers 'vector<12x8xf32>': rows must be a multiple of 16, columns 1, 4 or a multiple of 8}}
    %s = vector.broadcast %f : f32 to vector<12x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_rule(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = vector.broadcast %f : f32 to vector<16x16xf32>
    // expected-error @below {{has no distribution to lanes}}
    %t = vector.transpose %s, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unknown_memref(%m: memref<16xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{cannot trace the memref of type 'memref<16xf32>' to fa.view or to workgroup memory}}
    %s = fa.load_tile %m[%i] : memref<16xf32> -> vector<16xf32>
    gpu.return
  }
}
