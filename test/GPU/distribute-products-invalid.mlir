// RUN: fa-opt %s --fa-distribute --split-input-file --verify-diagnostics

// Products of tiles in workgroup memory that fa-distribute refuses.

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @contract_shallow() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x8xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x8xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %k = fa.load_tile %t[%c0, %c0] : memref<16x8xf16, #wg> -> vector<16x8xf16>
    // expected-error @below {{expected m, n and k in multiples of 16, found 16, 16 and 8}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x8xf16>, vector<16x8xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @contract_narrow() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<8x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x8xf32>
    %k = fa.load_tile %t[%c0, %c0] : memref<8x16xf16, #wg> -> vector<8x16xf16>
    // expected-error @below {{expected m, n and k in multiples of 16, found 16, 8 and 16}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<8x16xf16> into vector<16x8xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @contract_maximum() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %k = fa.load_tile %t[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    // expected-error @below {{expected a sum of products over k, found kind maxnumf}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<maxnumf>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @contract_half_sums() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf16>
    %k = fa.load_tile %t[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    // expected-error @below {{expected products of f16, bf16 or f32 added up in f32, found 'f16', 'f16' and 'f16'}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf16>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @contract_integers() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xi16, #wg>
    %q = arith.constant dense<1> : vector<16x16xi16>
    %z = arith.constant dense<0> : vector<16x16xi32>
    %k = fa.load_tile %t[%c0, %c0] : memref<16x16xi16, #wg> -> vector<16x16xi16>
    // expected-error @below {{expected products of f16, bf16 or f32 added up in f32, found 'i16', 'i16' and 'i32'}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xi16>, vector<16x16xi16> into vector<16x16xi32>
    gpu.return
  }
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#km = affine_map<(m, n, k) -> (k, m)>

gpu.module @m {
  gpu.func @contract_maps(%h: f16, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %q = vector.broadcast %h : f16 to vector<16x16xf16>
    %z = vector.broadcast %f : f32 to vector<16x16xf32>
    // expected-error @below {{expected (m, k) x (n, k) or (m, k) x (k, n) to (m, n)}}
    %s = vector.contract {indexing_maps = [#km, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %q, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  gpu.func @contract_registers(%h: f16, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %q = vector.broadcast %h : f16 to vector<16x16xf16>
    %z = vector.broadcast %f : f32 to vector<16x16xf32>
    // expected-error @below {{the right operand must be a tile in workgroup memory, loaded in the same block}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %q, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_unswizzled() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{a product needs a swizzled tile}}
    %k = fa.load_tile %t[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_row() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<32x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{a tile of a product begins at column 0 and at a row that is a multiple of 8, as the swizzle does}}
    %k = fa.load_tile %t[%c4, %c0] : memref<32x16xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_column() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{a tile of a product begins at column 0 and at a row that is a multiple of 8, as the swizzle does}}
    %k = fa.load_tile %t[%c0, %c8] : memref<16x64xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_unknown_row(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<32x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{a tile of a product begins at column 0 and at a row that is a multiple of 8, as the swizzle does}}
    %k = fa.load_tile %t[%i, %c0] : memref<32x16xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_outside() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{is not known to lie inside 'memref<16x16xf16, #gpu.address_space<workgroup>>' in dimension 0}}
    %k = fa.load_tile %t[%c8, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_wide() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x32xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{is not known to lie inside 'memref<16x16xf16, #gpu.address_space<workgroup>>' in dimension 1}}
    %k = fa.load_tile %t[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x32xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x32xf16>, vector<16x32xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_unknown_stage(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<2x16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{is not known to lie inside 'memref<2x16x16xf16, #gpu.address_space<workgroup>>' in dimension 0}}
    %k = fa.load_tile %t[%i, %c0, %c0] : memref<2x16x16xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @matrix_pitch() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x48xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    // expected-error @below {{a product needs rows of a power of two of 16-byte chunks, found 'memref<16x48xf16, #gpu.address_space<workgroup>>'}}
    %k = fa.load_tile %t[%c0, %c0] : memref<16x48xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  // Scores of f32 have Q in workgroup memory.
  gpu.func @f32_scores_from_registers() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf32, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf32>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %k = fa.load_tile %t[%c0, %c0] : memref<16x16xf32, #wg> -> vector<16x16xf32>
    // expected-error @below {{of f32 expected (m, k) in workgroup memory x (n, k), or (m, k) in registers x (k, n)}}
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @f32_to_registers() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %t = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf32, #wg>
    // expected-error @below {{is read into registers by ldmatrix, which gives f16 and bf16, found 'f32'}}
    %q = fa.load_tile %t[%c0, %c0] : memref<16x16xf32, #wg> -> vector<16x16xf32>
    %r = arith.negf %q : vector<16x16xf32>
    gpu.return
  }
}
