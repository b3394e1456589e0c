// RUN: fa-opt %s --fa-stage-tile=target=sm_80 --fa-stage-map | FileCheck %s
// RUN: fa-opt %s --fa-stage-tile=target=sm_80 --fa-stage-map > %t.once
// RUN: fa-opt %s --fa-stage-tile=target=sm_80 --fa-stage-map | cmp - %t.once
// REQUIRES: fa-opt
//
// From attention to kernels: every vector is one warp's, every memref in a
// kernel has its memory, and each function gets a module of its own.

// CHECK: gpu.launch_func @causal_kernels::@causal_kernel
// CHECK: gpu.func @causal_kernel
// CHECK-SAME: fa.grid = ["(((Sq + 127) / 128) * 8)", "1", "1"]
// CHECK-NOT: vector<128x
// CHECK: fa.copy_aligned
// CHECK: scf.for
// CHECK: in_bounds
// CHECK-NOT: fa.tile_index
// CHECK: fa.blocks = "full"
// CHECK: scf.for
// CHECK: fa.tile_index
// CHECK: fa.blocks = "partial"
func.func @causal(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> (tensor<1x8x?x64xf16>, tensor<1x8x?xf32>) {
  %o, %lse = fa.attention %q, %k, %v scale(0.125) masks [#fa.causal<bottom_right>] : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
  return %o, %lse : tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
}

// A length comes from memory; a mask takes its strides from the operand, 0
// where it broadcasts; state stays in workgroup memory.
// CHECK: gpu.func @masked_kernel
// CHECK-SAME: fa.grid = ["((Sq + 127) / 128) * Hq * B", "1", "1"]
// CHECK: memref.view {{.*}} to memref<128xf32,
// CHECK: fa.view {{.*}} to memref<?x?x?x?xi1, strided<[?, ?, ?, ?]>
// CHECK: memref.load {{.*}} : memref<?xi32,
// CHECK: gpu.barrier
// CHECK: vector.transfer_read
func.func @masked(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x32xf16>, %m: tensor<?x1x?x?xi1>, %n: tensor<?xi32>) -> tensor<?x?x?x32xf16> {
  %o = fa.attention %q, %k, %v mask(%m : tensor<?x1x?x?xi1>) kv_lengths(%n : tensor<?xi32>) {schedule = #fa.schedule<state = shared>} : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x32xf16> -> tensor<?x?x?x32xf16>
  return %o : tensor<?x?x?x32xf16>
}

// One block of queries and one of keys is a kernel too.
// CHECK: gpu.func @one_block_kernel
// CHECK-SAME: fa.grid = ["1", "1", "1"]
// CHECK: fa.load_tile {{.*}} #gpu.address_space<workgroup>>
// CHECK: vector.contract
func.func @one_block(%q: tensor<1x100x1x16xf16>, %k: tensor<1x7x1x16xf16>, %v: tensor<1x7x1x16xf16>) -> tensor<1x100x1x16xf16> {
  %o = fa.attention %q, %k, %v {layout = "bshd"} : tensor<1x100x1x16xf16>, tensor<1x7x1x16xf16>, tensor<1x7x1x16xf16> -> tensor<1x100x1x16xf16>
  return %o : tensor<1x100x1x16xf16>
}
