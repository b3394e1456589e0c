// RUN: fa-opt %s --fa-distribute --split-input-file --verify-diagnostics
// REQUIRES: fa-opt
//
// Roles, barriers, boxes and products of warpgroups that cannot be made
// instructions.

module attributes {fa.target = "sm_80"} {
  gpu.module @m {
    gpu.func @roles_without_setmaxnreg() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{needs setmaxnreg, which sm_80 does not have}}
      fa.warp_roles [4, 4] {
      }, {
      }
      gpu.return
    }
  }
}

// -----

// Of the warpgroup's instructions sm_90 has none, of the cluster's all.

module attributes {fa.target = "sm_90"} {
  gpu.module @m {
    gpu.func @roles_without_the_letter() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      fa.cluster_barrier
      // expected-error @below {{needs setmaxnreg, which sm_90 does not have}}
      fa.warp_roles [4, 4] {
      }, {
      }
      gpu.return
    }
  }
}

// -----

module attributes {fa.target = "sm_89"} {
  gpu.module @m {
    gpu.func @cluster_without_clusters() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{needs barrier.cluster, which sm_89 does not have}}
      fa.cluster_barrier
      gpu.return
    }
  }
}

// -----

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    gpu.func @other_warps() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{divides 12 warps, the block has 8}}
      fa.warp_roles [8, 4] {
      }, {
      }
      gpu.return
    }
  }
}

// -----

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    gpu.func @roles_in_a_role() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      fa.warp_roles [4, 4] {
      }, {
        // expected-error @below {{divides 4 warps, the block has 4}}
        fa.warp_roles [2, 2] {
        }, {
        }
      }
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_80"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @barrier_without_mbarrier() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %b = memref.view %base[%c0][] : memref<0xi8, #wg> to memref<2xi64, #wg>
      // expected-error @below {{needs mbarrier, which sm_80 does not have}}
      fa.init_barriers %b count 1 : memref<2xi64, #wg>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_89"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @wait_without_mbarrier(%p: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %b = memref.view %base[%c0][] : memref<0xi8, #wg> to memref<2xi64, #wg>
      // expected-error @below {{needs mbarrier, which sm_89 does not have}}
      fa.wait_barrier %b[%c0] parity %p : memref<2xi64, #wg>
      gpu.return
    }
  }
}

// -----

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    gpu.func @foreign_barrier(%b: memref<2xi64, #gpu.address_space<workgroup>>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{cannot trace the memref of type 'memref<2xi64, #gpu.address_space<workgroup>>' to fa.view or to workgroup memory}}
      fa.arrive %b[%i] : memref<2xi64, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}

// -----

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    gpu.func @map_by_number(%m: i64) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // expected-error @below {{expected a map by an !llvm.ptr, found 'i64'}}
      %h = fa.has_tensor_map %m : i64
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @box_without_panels(%m: !llvm.ptr) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %t = memref.view %base[%c0][] : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
      %b = memref.view %base[%c0][] : memref<0xi8, #wg> to memref<2xi64, #wg>
      // expected-error @below {{the destination needs panels, found 'memref<2x32x64xf16, #gpu.address_space<workgroup>>'}}
      fa.bulk_copy %m[%c0, %c0] to %t[%c0, %c0, %c0] signals %b[%c0] : !llvm.ptr, memref<2x32x64xf16, #wg>, memref<2xi64, #wg>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @box_outside(%m: !llvm.ptr, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
      %b = memref.view %base[%c0][] : memref<0xi8, #wg> to memref<2xi64, #wg>
      // expected-error @below {{is not known to lie inside 'memref<2x32x64xf16, #gpu.address_space<workgroup>>' in dimension 0}}
      fa.bulk_copy %m[%c0, %c0] to %t[%i, %c0, %c0] signals %b[%c0] : !llvm.ptr, memref<2x32x64xf16, #wg>, memref<2xi64, #wg>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @product_without_wgmma(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %q = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x64xf16, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
      %z = vector.broadcast %f : f32 to vector<16x32xf32>
      // expected-error @below {{needs wgmma, which sm_90 does not have}}
      %s = fa.issue_product %q[%c0, %c0], %t[%c0, %c0, %c0], %z depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<2x32x64xf16, #wg>, vector<16x32xf32>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @rows(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %q = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x64xf16, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
      %z = vector.broadcast %f : f32 to vector<32x32xf32>
      // expected-error @below {{expected 16 rows for each warp, up to 256 columns in multiples of 8 and a depth in multiples of 16, found 'vector<32x32xf32>' of depth 64}}
      %s = fa.issue_product %q[%c0, %c0], %t[%c0, %c0, %c0], %z depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<2x32x64xf16, #wg>, vector<32x32xf32>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @depth(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %q = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x64xf16, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
      %z = vector.broadcast %f : f32 to vector<16x32xf32>
      // expected-error @below {{found 'vector<16x32xf32>' of depth 24}}
      %s = fa.issue_product %q[%c0, %c0], %t[%c0, %c0, %c0], %z depth 24 rhs_transposed : memref<64x64xf16, #wg>, memref<2x32x64xf16, #wg>, vector<16x32xf32>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @columns(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %q = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x64xf16, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<264x64xf16, #wg>
      %z = vector.broadcast %f : f32 to vector<16x264xf32>
      // expected-error @below {{found 'vector<16x264xf32>' of depth 64}}
      %s = fa.issue_product %q[%c0, %c0], %t[%c0, %c0], %z depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<264x64xf16, #wg>, vector<16x264xf32>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @right_without_panels(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %q = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x64xf16, #wg>
      %t = memref.view %base[%c0][] : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
      %z = vector.broadcast %f : f32 to vector<16x32xf32>
      // expected-error @below {{a product of a warpgroup needs a tile in panels, from column 0 on, found 'memref<2x32x64xf16, #gpu.address_space<workgroup>>'}}
      %s = fa.issue_product %q[%c0, %c0], %t[%c0, %c0, %c0], %z depth 64 rhs_transposed : memref<64x64xf16, #wg>, memref<2x32x64xf16, #wg>, vector<16x32xf32>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @left_from_a_column(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %q = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x64xf16, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<2x32x64xf16, #wg>
      %c16 = arith.constant 16 : index
      %z = vector.broadcast %f : f32 to vector<16x32xf32>
      // expected-error @below {{a product of a warpgroup needs a tile in panels, from column 0 on, found 'memref<64x64xf16, #gpu.address_space<workgroup>>'}}
      %s = fa.issue_product %q[%c0, %c16], %t[%c0, %c0, %c0], %z depth 32 rhs_transposed : memref<64x64xf16, #wg>, memref<2x32x64xf16, #wg>, vector<16x32xf32>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @elements(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %q = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x32xf32, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<32x32xf32, #wg>
      %z = vector.broadcast %f : f32 to vector<16x32xf32>
      // expected-error @below {{expected f16 or bf16, found 'f32'}}
      %s = fa.issue_product %q[%c0, %c0], %t[%c0, %c0], %z depth 32 rhs_transposed : memref<64x32xf32, #wg>, memref<32x32xf32, #wg>, vector<16x32xf32>
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_89"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @store_on_sm_89(%m: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x128xf16, #wg>
      // expected-error @below {{needs cp.async.bulk.tensor, which sm_89 does not have}}
      fa.bulk_store %t[%c0, %c0] columns 64 to %m[%c0, %c0] row_dim 0 : memref<64x128xf16, #wg>, !llvm.ptr
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @store_without_panels(%m: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %t = memref.view %base[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<64x128xf16, #wg>
      // expected-error @below {{the source needs panels, from column 0 on, found 'memref<64x128xf16, #gpu.address_space<workgroup>>'}}
      fa.bulk_store %t[%c0, %c0] columns 64 to %m[%c0, %c0] row_dim 0 : memref<64x128xf16, #wg>, !llvm.ptr
      gpu.return
    }
  }
}

// -----

#wg = #gpu.address_space<workgroup>

module attributes {fa.target = "sm_90a"} {
  gpu.module @m {
    memref.global @smem : memref<0xi8, #wg> {alignment = 1024 : i64}
    gpu.func @store_from_the_second_panel(%m: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %base = memref.get_global @smem : memref<0xi8, #wg>
      %t = memref.view %base[%c0][] {fa.panels} : memref<0xi8, #wg> to memref<64x128xf16, #wg>
      // expected-error @below {{the source needs panels, from column 0 on, found 'memref<64x128xf16, #gpu.address_space<workgroup>>'}}
      fa.bulk_store %t[%c0, %c64] columns 64 to %m[%c0, %c0] row_dim 0 : memref<64x128xf16, #wg>, !llvm.ptr
      gpu.return
    }
  }
}
