// RUN: fa-opt %s --fa-distribute --split-input-file | FileCheck %s

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

// A maximum over a row: in the lane, then two shuffles inside the quad.
// CHECK-LABEL: gpu.func @row_maximum
gpu.module @m {
  gpu.func @row_maximum(%p: !llvm.ptr<1>, %n: i64, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = arith.index_cast %n : i64 to index
    %O = fa.view %p sizes [%size] strides [%c1] : !llvm.ptr<1> to memref<?xf32, #gl>
    %c3 = arith.constant 3 : i32
    %j = fa.tile_index %c3 dim 1 : vector<16x8xi32>
    %s = arith.sitofp %j : vector<16x8xi32> to vector<16x8xf32>
    %ninf = arith.constant dense<0xFF800000> : vector<16xf32>
    // CHECK: %[[A:.*]] = arith.maxnumf
    // CHECK: %[[B:.*]], %{{.*}} = gpu.shuffle xor %[[A]], %c1_i32
    // CHECK: %[[C:.*]] = arith.maxnumf %[[A]], %[[B]]
    // CHECK: %[[D:.*]], %{{.*}} = gpu.shuffle xor %[[C]], %c2_i32
    // CHECK: %[[E:.*]] = arith.maxnumf %[[C]], %[[D]]
    // CHECK: arith.maxnumf
    %m = vector.multi_reduction <maxnumf>, %s, %ninf [1] : vector<16x8xf32> to vector<16xf32>
    // One lane of the quad stores, and only rows inside.
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq
    // CHECK: %[[IN:.*]] = arith.cmpi slt
    // CHECK: %[[BOTH:.*]] = arith.andi %[[IN]], %[[FIRST]]
    // CHECK: scf.if %[[BOTH]]
    // CHECK: llvm.getelementptr
    // CHECK-NEXT: llvm.store %[[E]]
    fa.store_tile %m, %O[%c0] : vector<16xf32>, memref<?xf32, #gl>
    gpu.return
  }
}

// -----

// The least and the greatest: each lane takes every 32nd, then the warp agrees.
#gl = #gpu.address_space<global>
// CHECK-LABEL: gpu.func @extremes
gpu.module @m {
  gpu.func @extremes(%p: !llvm.ptr<1>, %n: i64, %first: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = arith.index_cast %n : i64 to index
    %line = fa.view %p sizes [%size] strides [%c1] : !llvm.ptr<1> to memref<?xi32, #gl>
    // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
    // CHECK-NOT: llvm.load
    // CHECK-DAG: nvvm.redux.sync min
    // CHECK-DAG: nvvm.redux.sync max
    %least, %greatest = fa.minmax %line[%first] count 48 : memref<?xi32, #gl>
    %sum = arith.addi %least, %greatest : i32
    %i = fa.tile_index %sum dim 0 : vector<16xi32>
    %o = fa.view %p sizes [%size] strides [%c1] : !llvm.ptr<1> to memref<?xi32, #gl>
    fa.store_tile %i, %o[%c0] : vector<16xi32>, memref<?xi32, #gl>
    gpu.return
  }
}

// -----

// One element for each place of the lane's share.
#gl = #gpu.address_space<global>
// CHECK-LABEL: gpu.func @elements
gpu.module @m {
  gpu.func @elements(%p: !llvm.ptr<1>, %n: i64, %first: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = arith.index_cast %n : i64 to index
    %line = fa.view %p sizes [%size] strides [%c1] : !llvm.ptr<1> to memref<?xf32, #gl>
    %i = fa.tile_index %first dim 0 : vector<16xi32>
    // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
    // CHECK-NOT: llvm.load
    %x = fa.gather %line[%i] : memref<?xf32, #gl>, vector<16xi32> -> vector<16xf32>
    fa.store_tile %x, %line[%c0] : vector<16xf32>, memref<?xf32, #gl>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Two products in a row: P goes from the accumulators of the first into the
// left registers of the second without a shuffle or a trip through memory.
// CHECK-LABEL: gpu.func @two_products
gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @two_products() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sK = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %k = fa.load_tile %sK[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    // CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4
    // CHECK-COUNT-2: nvvm.mma.sync
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
         %q, %k, %zero : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    // CHECK-NOT: gpu.shuffle
    // CHECK-COUNT-4: arith.truncf {{.*}} : vector<2xf32> to vector<2xf16>
    %p = arith.truncf %s : vector<16x16xf32> to vector<16x16xf16>
    %v = fa.load_tile %sK[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    // CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4
    // CHECK-COUNT-2: nvvm.mma.sync
    %o = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
         %p, %v, %zero : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// f32: multiply-adds, no tensor cores. Four columns of Q and K at a time; then
// the lanes of a quad give each other their weights, and keep them in f32.
// CHECK-LABEL: gpu.func @two_products_of_f32
gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @two_products_of_f32() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sK = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf32, #wg>
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = fa.load_tile %sK[%c0, %c0] : memref<16x16xf32, #wg> -> vector<16x16xf32>
    %k = fa.load_tile %sK[%c0, %c0] : memref<16x16xf32, #wg> -> vector<16x16xf32>
    // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
    // CHECK-COUNT-6: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    // CHECK-NOT: llvm.load
    // CHECK: scf.yield
    %s = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
         %q, %k, %zero : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    %v = fa.load_tile %sK[%c0, %c0] : memref<16x16xf32, #wg> -> vector<16x16xf32>
    // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
    // CHECK: gpu.shuffle idx
    // CHECK: gpu.shuffle idx
    // CHECK: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
    // CHECK-COUNT-4: math.fma
    // CHECK-NOT: nvvm
    // CHECK: gpu.return
    %o = vector.contract {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
         %s, %v, %zero : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

// Inside the source and aligned: a chunk a thread and pass, nothing else.
// CHECK-LABEL: gpu.func @copies
gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copies(%p: !llvm.ptr<1>, %n: i64, %s: i64) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.index_cast %n : i64 to index
    %stride = arith.index_cast %s : i64 to index
    %K = fa.view %p sizes [%rows] strides [%stride, %c1] : !llvm.ptr<1> to memref<?x64xf16, strided<[?, ?]>, #gl>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sK = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    fa.copy_tile %K[%c0, %c0] to %sK[%c1, %c0, %c0] in_bounds : memref<?x64xf16, strided<[?, ?]>, #gl> to memref<2x32x64xf16, #wg>
    // CHECK: nvvm.cp.async.commit.group
    fa.commit_copies
    // With bounds: rows outside are zero-filled by a size of 0, rows that are
    // not aligned are read element by element.
    // CHECK: scf.for
    // CHECK: %[[SIZE:.*]] = arith.select %{{.*}}, %c16_i32, %c0_i32
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
    // CHECK: } else {
    // CHECK: scf.for
    // CHECK: llvm.load {{.*}} -> f16
    // CHECK: llvm.store {{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<3>
    // CHECK: } {llvm.loop_annotation = #loop_annotation}
    fa.copy_tile %K[%c0, %c0] to %sK[%c0, %c0, %c0] : memref<?x64xf16, strided<[?, ?]>, #gl> to memref<2x32x64xf16, #wg>
    // CHECK: nvvm.cp.async.wait.group 1
    fa.wait_copies pending 1
    gpu.return
  }
}

// -----

// Values carried by a loop and through a branch become the lane's values.
// CHECK-LABEL: gpu.func @control_flow
gpu.module @m {
  gpu.func @control_flow(%c: i1, %n: index, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = vector.broadcast %f : f32 to vector<16xf32>
    %l = vector.broadcast %f : f32 to vector<16x4xf32>
    // CHECK: scf.for {{.*}} -> (f32, f32, f32, f32)
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %m, %b = %l) -> (vector<16xf32>, vector<16x4xf32>) {
      // CHECK: scf.if {{.*}} -> (f32, f32)
      %x = scf.if %c -> vector<16xf32> {
        %y = arith.addf %a, %a : vector<16xf32>
        scf.yield %y : vector<16xf32>
      } else {
        scf.yield %a : vector<16xf32>
      }
      scf.yield %x, %b : vector<16xf32>, vector<16x4xf32>
    }
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// A length is read through its own address, offsets in 64 bits.
// CHECK-LABEL: gpu.func @scalar_load
gpu.module @m {
  gpu.func @scalar_load(%p: !llvm.ptr<1>, %s: i64, %b: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %stride = arith.index_cast %s : i64 to index
    %N = fa.view %p sizes [] strides [%stride] : !llvm.ptr<1> to memref<4xi32, strided<[?]>, #gl>
    // CHECK: %[[I:.*]] = arith.index_cast %arg2 : index to i64
    // CHECK: arith.muli %[[I]], %{{.*}} : i64
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %n = memref.load %N[%b] : memref<4xi32, strided<[?]>, #gl>
    gpu.return
  }
}

// -----

// A note is each thread's own; asked for, it is a barrier of the whole block.
// CHECK-LABEL: gpu.func @notes
gpu.module @m {
  gpu.func @notes(%f: f32, %n: i1, %p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %i = fa.tile_index %c1 dim 0 : vector<16xi32>
    %x = arith.constant dense<7> : vector<16xi32>
    %c = arith.cmpi sgt, %i, %x : vector<16xi32>
    // CHECK: %[[A:.*]] = arith.ori %arg1, %{{.*}} : i1
    // CHECK: %[[B:.*]] = arith.ori %[[A]], %{{.*}} : i1
    // CHECK-NOT: nvvm.vote
    %noted = fa.note_rows %c, %n : vector<16xi1>
    // CHECK: %[[WORD:.*]] = arith.extui %[[B]]
    // CHECK: nvvm.barrier #nvvm.reduction<or> %[[WORD]] -> i32
    %any = fa.any_noted %noted
    gpu.return
  }
}

// -----

// Columns that are compared are constants; 2t is taken from the bound once.
// CHECK-LABEL: gpu.func @columns
gpu.module @m {
  gpu.func @columns(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %j = fa.tile_index %c0 dim 1 : vector<16x8xi32>
    %hi = vector.broadcast %n : i32 to vector<16x8xi32>
    // CHECK: %[[BOUND:.*]] = arith.subi %arg0, %{{.*}} : i32
    // CHECK: arith.cmpi slt, %c0_i32{{.*}}, %[[BOUND]]
    // CHECK: arith.cmpi slt, %c1_i32{{.*}}, %[[BOUND]]
    %v = arith.cmpi slt, %j, %hi : vector<16x8xi32>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// each_row: a lane's two columns of each eight are loaded once, whatever the
// number of rows it has; behind the last column nothing is read.
// CHECK-LABEL: gpu.func @each_row
gpu.module @m {
  gpu.func @each_row(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %row = fa.view %p sizes [%n] strides [%c1] : !llvm.ptr<1> to memref<?xf32, #gl>
    %O = fa.view %o sizes [%n] strides [%n, %c1] : !llvm.ptr<1> to memref<?x8xf32, #gl>
    // CHECK-COUNT-2: llvm.load
    // CHECK-NOT: llvm.load
    %v = fa.load_tile %row[%c0] each_row : memref<?xf32, #gl> -> vector<32x8xf32>
    fa.store_tile %v, %O[%c0, %c0] : vector<32x8xf32>, memref<?x8xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// Of more than 128 columns eight elements are read, then what is made of them is
// done, then the next eight are read: their stride is there only behind the
// results.
// CHECK-LABEL: gpu.func @long_each_row
gpu.module @m {
  gpu.func @long_each_row(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: index, %s: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %row = fa.view %p sizes [%n] strides [%s] : !llvm.ptr<1> to memref<?xf16, #gl>
    %O = fa.view %o sizes [%n] strides [%n, %c1] : !llvm.ptr<1> to memref<?x136xf32, #gl>
    // CHECK: %[[S:.*]] = arith.index_cast %arg3 : index to i64
    // CHECK: arith.muli %{{.*}}, %[[S]] : i64
    // CHECK-COUNT-8: llvm.load {{.*}} -> f16
    // CHECK-NOT: llvm.load
    // CHECK: %[[ZERO:.*]] = llvm.inline_asm {{.*}}max.f32
    // CHECK: %[[STAMP:.*]] = arith.extsi %[[ZERO]]
    // CHECK: %[[BEHIND:.*]] = arith.addi %[[S]], %[[STAMP]] : i64
    // CHECK: arith.muli %{{.*}}, %[[BEHIND]] : i64
    // CHECK-COUNT-8: llvm.load {{.*}} -> f16
    // CHECK-NOT: llvm.load
    // CHECK: llvm.inline_asm {{.*}}max.f32
    %v = fa.load_tile %row[%c0] each_row : memref<?xf16, #gl> -> vector<16x136xf16>
    %f = arith.extf %v : vector<16x136xf16> to vector<16x136xf32>
    fa.store_tile %f, %O[%c0, %c0] : vector<16x136xf32>, memref<?x136xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// nearest: rows and columns are moved inside, and nothing is put in the place of
// what is outside. Eight numbers of two row pieces.
// CHECK-LABEL: gpu.func @nearest
gpu.module @m {
  gpu.func @nearest(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: index, %s: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = fa.view %p sizes [%n, %n] strides [%s, %c1] : !llvm.ptr<1> to memref<?x?xf32, #gl>
    %O = fa.view %o sizes [%n] strides [%n, %c1] : !llvm.ptr<1> to memref<?x8xf32, #gl>
    // Four rows, then column by column.
    // CHECK-COUNT-4: arith.minsi
    // CHECK-NOT: arith.select
    // CHECK: arith.minsi
    // CHECK-NOT: arith.minsi
    // CHECK: llvm.load {{.*}} -> f32
    // CHECK-COUNT-7: llvm.load {{.*}} -> f32
    // CHECK-NOT: arith.select
    // CHECK: scf.if
    %v = fa.load_tile %b[%c0, %c0] nearest : memref<?x?xf32, #gl> -> vector<32x8xf32>
    fa.store_tile %v, %O[%c0, %c0] : vector<32x8xf32>, memref<?x8xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// paired: two columns are one load, and a lane's columns lie at distances that
// are constants.
// CHECK-LABEL: gpu.func @paired
gpu.module @m {
  gpu.func @paired(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: index, %s: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = fa.view %p sizes [%n, %n] strides [%s, %c1] : !llvm.ptr<1> to memref<?x?xf16, #gl>
    %O = fa.view %o sizes [%n] strides [%n, %c1] : !llvm.ptr<1> to memref<?x16xf16, #gl>
    // Rows are moved inside, columns are there.
    // CHECK-COUNT-2: arith.minsi
    // CHECK-NOT: arith.minsi
    // CHECK: llvm.load %[[ROW0:[0-9]+]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    // CHECK: llvm.load %[[ROW1:[0-9]+]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[ROW0]][16]
    // CHECK: llvm.load %[[NEXT]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    %v = fa.load_tile %b[%c0, %c0] nearest paired : memref<?x?xf16, #gl> -> vector<16x16xf16>
    fa.store_tile %v, %O[%c0, %c0] : vector<16x16xf16>, memref<?x16xf16, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// Two bytes of a mask are one load and two tests of its bits.
// CHECK-LABEL: gpu.func @paired_bits
gpu.module @m {
  gpu.func @paired_bits(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: index, %s: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %b = fa.view %p sizes [%n, %n] strides [%s, %c1] : !llvm.ptr<1> to memref<?x?xi1, #gl>
    %O = fa.view %o sizes [%n] strides [%n, %c1] : !llvm.ptr<1> to memref<?x8xf32, #gl>
    // CHECK: %[[ALIGNED:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
    %a = fa.pairs_aligned %b : memref<?x?xi1, #gl>
    // CHECK: %[[WORD:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
    // CHECK: %[[WIDE:.*]] = arith.extui %[[WORD]] : i16 to i32
    // CHECK: arith.andi %[[WIDE]], %c255_i32
    // CHECK: arith.andi %[[WIDE]], %c65280_i32
    %v = fa.load_tile %b[%c0, %c0] nearest paired : memref<?x?xi1, #gl> -> vector<16x8xi1>
    %t = arith.uitofp %v : vector<16x8xi1> to vector<16x8xf32>
    // CHECK: scf.if %[[ALIGNED]]
    scf.if %a {
      fa.store_tile %t, %O[%c0, %c0] : vector<16x8xf32>, memref<?x8xf32, #gl>
    }
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// Rows less columns: a lane's first row less its first column, and a constant for
// each of the diagonals that its 4 rows and 4 columns lie on.
// CHECK-LABEL: gpu.func @position_differences
gpu.module @m {
  gpu.func @position_differences(%row: i32, %o: !llvm.ptr<1>, %n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %O = fa.view %o sizes [%n] strides [%n, %c1] : !llvm.ptr<1> to memref<?x16xf32, #gl>
    %i = fa.tile_index %row dim 0 : vector<32xi32>
    %r = arith.sitofp %i : vector<32xi32> to vector<32xf32>
    %s = vector.shape_cast %r : vector<32xf32> to vector<32x1xf32>
    %b = vector.broadcast %s : vector<32x1xf32> to vector<32x16xf32>
    %j = fa.tile_index %zero dim 1 : vector<32x16xi32>
    %c = arith.sitofp %j : vector<32x16xi32> to vector<32x16xf32>
    // CHECK: %[[LANE:.*]] = arith.subi
    // CHECK-NEXT: %[[NARROW:.*]] = arith.trunci %[[LANE]] : i64 to i32
    // CHECK-NEXT: %[[PLACE:.*]] = arith.addi %arg0, %[[NARROW]] : i32
    // CHECK-NEXT: %[[FIRST:.*]] = arith.sitofp %[[PLACE]] : i32 to f32
    // CHECK-COUNT-10: arith.addf %[[FIRST]], %cst
    // CHECK-NOT: arith.addf
    // CHECK: gpu.return
    %d = arith.subf %b, %c : vector<32x16xf32>
    fa.store_tile %d, %O[%c0, %c0] : vector<32x16xf32>, memref<?x16xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// A chain of integers is emitted for one element after the other, at its end:
// a product is followed by what is made of it, not by the next product.
// CHECK-LABEL: gpu.func @late
gpu.module @m {
  gpu.func @late(%f: i32, %o: !llvm.ptr<1>, %n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %O = fa.view %o sizes [%n] strides [%c1] : !llvm.ptr<1> to memref<?xf32, #gl>
    %j = fa.tile_index %f dim 1 : vector<16x8xi32>
    %a = arith.muli %j, %j : vector<16x8xi32>
    %b = arith.xori %a, %j : vector<16x8xi32>
    %c = arith.sitofp %b : vector<16x8xi32> to vector<16x8xf32>
    // CHECK: %[[P0:.*]] = arith.muli %[[J0:.*]], %[[J0]] : i32
    // CHECK-NEXT: %[[X0:.*]] = arith.xori %[[P0]], %[[J0]]
    // CHECK-NEXT: %[[F0:.*]] = arith.sitofp %[[X0]]
    // CHECK-NEXT: %[[P1:.*]] = arith.muli
    // CHECK-NEXT: %[[X1:.*]] = arith.xori %[[P1]]
    // CHECK-NEXT: %[[F1:.*]] = arith.sitofp %[[X1]]
    // CHECK: arith.maxnumf %[[F0]], %[[F1]]
    %m = vector.multi_reduction <maxnumf>, %c, %zero [1] : vector<16x8xf32> to vector<16xf32>
    fa.store_tile %m, %O[%c0] : vector<16xf32>, memref<?xf32, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// The parts of a row sum are one column a lane, and a column has position 0.
// CHECK-LABEL: gpu.func @columns_of_parts
gpu.module @m {
  gpu.func @columns_of_parts(%j: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i64
    // CHECK: %[[T:.*]] = arith.andi %[[LANE]], %c3_i64
    // CHECK: %[[T32:.*]] = arith.trunci %[[T]]
    // CHECK: arith.addi %arg0, %[[T32]]
    %x = fa.tile_index %j dim 1 : vector<16x4xi32>
    // CHECK: %[[ZERO:.*]] = arith.trunci %c0_i64{{.*}}
    // CHECK: arith.addi %arg0, %[[ZERO]]
    %y = fa.tile_index %j dim 1 : vector<16x1xi32>
    gpu.return
  }
}

// -----

// An unsigned comparison would wrap if 2t were taken from the bound.
// CHECK-LABEL: gpu.func @unsigned_columns
gpu.module @m {
  gpu.func @unsigned_columns(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %j = fa.tile_index %c0 dim 1 : vector<16x8xi32>
    %hi = vector.broadcast %n : i32 to vector<16x8xi32>
    // CHECK-NOT: arith.subi
    // CHECK: arith.cmpi ult, %{{.*}}, %arg0 : i32
    %v = arith.cmpi ult, %j, %hi : vector<16x8xi32>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// Ops without vectors are entered; an i1 is a byte in memory.
// CHECK-LABEL: gpu.func @nested
gpu.module @m {
  gpu.func @nested(%p: !llvm.ptr<1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %M = fa.view %p sizes [] strides [%i] : !llvm.ptr<1> to memref<4xi1, #gl>
    // CHECK: scf.while
    scf.while : () -> () {
      // CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
      // CHECK: %[[BIT:.*]] = arith.cmpi ne, %[[BYTE]], %c0_i8
      // CHECK: scf.condition(%[[BIT]])
      %b = memref.load %M[%i] : memref<4xi1, #gl>
      scf.condition(%b)
    } do {
      scf.yield
    }
    gpu.return
  }
}

// -----

// A loop that counts without sign goes on doing so.
// CHECK-LABEL: gpu.func @unsigned_loop
gpu.module @m {
  gpu.func @unsigned_loop(%n: index, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m = vector.broadcast %f : f32 to vector<16xf32>
    // CHECK: scf.for unsigned {{.*}} -> (f32, f32)
    %r = scf.for unsigned %i = %n to %n step %n iter_args(%a = %m) -> (vector<16xf32>) {
      scf.yield %a : vector<16xf32>
    }
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>

// What a load reads behind the source's columns is zero too: all 8 chunks of a
// row are written.
// CHECK-LABEL: gpu.func @columns_behind
gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @columns_behind(%p: !llvm.ptr<1>, %s: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %K = fa.view %p sizes [%s] strides [%s, %c1] : !llvm.ptr<1> to memref<?x40xf16, strided<[?, ?]>, #gl>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sK = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x64xf16, #wg>
    // CHECK-NOT: scf.if
    // CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %c40_i64
    // CHECK: arith.select %[[INSIDE]], %c16_i32, %c0_i32
    // CHECK: nvvm.cp.async.shared.global
    fa.copy_tile %K[%c0, %c0] to %sK[%c0, %c0] in_bounds : memref<?x40xf16, strided<[?, ?]>, #gl> to memref<16x64xf16, #wg>
    %k = fa.load_tile %sK[%c0, %c0] : memref<16x64xf16, #wg> -> vector<16x64xf16>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Another load between a tile's and its product becomes instructions that read
// memory; the product reads the tile all the same.
// CHECK-LABEL: gpu.func @load_between
gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @load_between(%p: !llvm.ptr<1>, %s: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %M = fa.view %p sizes [%s] strides [%s, %s] : !llvm.ptr<1> to memref<?x16xf32, strided<[?, ?]>, #gl>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sQ = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<32x16xf16, #wg>
    %tid = gpu.thread_id x
    %warp = arith.divui %tid, %c32 : index
    %row = arith.muli %warp, %c16 : index
    %q = fa.load_tile %sQ[%row, %c0] : memref<32x16xf16, #wg> -> vector<16x16xf16>
    %k = fa.load_tile %sQ[%c0, %c0] : memref<32x16xf16, #wg> -> vector<16x16xf16>
    %m = fa.load_tile %M[%c0, %c0] : memref<?x16xf32, strided<[?, ?]>, #gl> -> vector<16x16xf32>
    // CHECK: llvm.load
    // CHECK: nvvm.ldmatrix
    // CHECK: nvvm.ldmatrix
    // CHECK-COUNT-2: nvvm.mma.sync
    %o = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
         %q, %k, %m : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// So it does where anything else is read between.
// CHECK-LABEL: gpu.func @gather_between
gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @gather_between(%p: !llvm.ptr<1>, %s: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c0_i32 = arith.constant 0 : i32
    %T = fa.view %p sizes [%s] strides [%c1] : !llvm.ptr<1> to memref<?xf32, strided<[?]>, #gl>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sQ = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<32x16xf16, #wg>
    %tid = gpu.thread_id x
    %warp = arith.divui %tid, %c32 : index
    %row = arith.muli %warp, %c16 : index
    %q = fa.load_tile %sQ[%row, %c0] : memref<32x16xf16, #wg> -> vector<16x16xf16>
    %k = fa.load_tile %sQ[%c0, %c0] : memref<32x16xf16, #wg> -> vector<16x16xf16>
    %j = fa.tile_index %c0_i32 dim 1 : vector<16x16xi32>
    %t = fa.gather %T[%j] : memref<?xf32, strided<[?]>, #gl>, vector<16x16xi32> -> vector<16x16xf32>
    // CHECK: llvm.load
    // CHECK: nvvm.ldmatrix
    // CHECK: nvvm.ldmatrix
    // CHECK-COUNT-2: nvvm.mma.sync
    %o = vector.contract {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
         %q, %k, %t : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}

// -----

// Of the four columns that a lane holds of a row, the first and the last are
// polynomials; the two rows alike.
#gl = #gpu.address_space<global>
// CHECK-LABEL: gpu.func @exponentials
gpu.module @m {
  gpu.func @exponentials(%p: !llvm.ptr<1>, %n: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %size = arith.index_cast %n : i64 to index
    %X = fa.view %p sizes [%size] strides [%c16, %c1] : !llvm.ptr<1> to memref<?x16xf32, strided<[?, ?]>, #gl>
    %x = fa.load_tile %X[%c0, %c0] : memref<?x16xf32, strided<[?, ?]>, #gl> -> vector<16x16xf32>
    // CHECK: %[[Y:.*]] = arith.maximumf %{{.*}}, %[[LEAST:.*]] : f32
    // CHECK: %[[T:.*]] = arith.addf %[[Y]], %[[SHIFT:.*]] : f32
    // CHECK: %[[WHOLE:.*]] = arith.subf %[[T]], %[[SHIFT]]
    // CHECK: %[[F:.*]] = arith.subf %[[Y]], %[[WHOLE]]
    // CHECK: %[[P1:.*]] = math.fma %{{.*}}, %[[F]], %{{.*}} : f32
    // CHECK: %[[P2:.*]] = math.fma %[[P1]], %[[F]], %{{.*}} : f32
    // CHECK: %[[P3:.*]] = math.fma %[[P2]], %[[F]], %{{.*}} : f32
    // CHECK: %[[P4:.*]] = math.fma %[[P3]], %[[F]], %{{.*}} : f32
    // CHECK: %[[BITS:.*]] = arith.bitcast %[[T]] : f32 to i32
    // CHECK: %[[MOVED:.*]] = arith.shli %[[BITS]], %c23_i32
    // CHECK: %[[POWER:.*]] = arith.bitcast %[[MOVED]] : i32 to f32
    // CHECK: arith.mulf %[[P4]], %[[POWER]]
    // CHECK: math.exp2
    // CHECK: arith.mulf
    // CHECK: math.exp2
    // CHECK-NOT: arith.mulf
    // CHECK: math.exp2
    // CHECK: arith.mulf
    // CHECK: math.exp2
    // CHECK: arith.mulf
    // CHECK-NOT: math.exp2
    // CHECK: llvm.store
    %y = fa.exp2 %x polynomial 3 : vector<16x16xf32>
    fa.store_tile %y, %X[%c0, %c0] : vector<16x16xf32>, memref<?x16xf32, strided<[?, ?]>, #gl>
    gpu.return
  }
}

// -----

#gl = #gpu.address_space<global>

// Where a tile is stored is computed anew behind the loops, from the number of the
// block as it is read there; but nothing is divided again.
// CHECK-LABEL: gpu.func @place
gpu.module @m {
  gpu.func @place(%o: !llvm.ptr<1>, %n: index, %blocks: i32, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %O = fa.view %o sizes [%n] strides [%c1] : !llvm.ptr<1> to memref<?xf32, #gl>
    %id = gpu.block_id x
    %number = arith.index_cast %id : index to i32
    // CHECK: %[[REST:.*]] = arith.remui
    %rest = arith.remui %number, %blocks : i32
    %block = arith.index_cast %rest : i32 to index
    %row = arith.muli %block, %c16 : index
    %first = arith.addi %row, %id : index
    %v = vector.broadcast %x : f32 to vector<16xf32>
    // CHECK: %tid.x
    // CHECK-NOT: arith.remui
    // CHECK: %[[BLOCK:.*]] = arith.index_cast %[[REST]] : i32 to index
    // CHECK: %[[ROW:.*]] = arith.muli %[[BLOCK]], %{{.*}} : index
    // CHECK: %[[ID:.*]] = llvm.inline_asm {{.*}}"mov.u32 $0, %ctaid.x;"
    // CHECK: %[[NUMBER:.*]] = arith.index_castui %[[ID]] : i32 to index
    // CHECK: arith.addi %[[ROW]], %[[NUMBER]] : index
    fa.store_tile %v, %O[%first] : vector<16xf32>, memref<?xf32, #gl>
    gpu.return
  }
}
