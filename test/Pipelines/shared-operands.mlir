// Attention of a tensor with itself, and K and V in one tensor.
// RUN: fa-opt %s --fa-stage-tile="target=sm_80 schedule=tile_q=64,tile_kv=64" --fa-stage-map | FileCheck %s
// RUN: fa-opt %s --fa-pipeline="target=sm_80 schedule=tile_q=64,tile_kv=64" | FileCheck %s --check-prefix=LOWER

// K and V are copied once; Q has a tile of its own, though it has the shape of
// K's and comes from the same tensor.
// CHECK-LABEL: gpu.func @self_kernel
// CHECK: fa.copy_tile {{.*}} to %[[Q:[a-z_0-9]+]][{{.*}} to memref<64x64xf16,
// CHECK: fa.copy_tile {{.*}} to %[[KV:[a-z_0-9]+]][{{.*}} to memref<2x64x64xf16,
// CHECK: scf.for
// CHECK: fa.copy_tile {{.*}} to %[[KV]][
// CHECK-NOT: fa.copy_tile
// CHECK: fa.load_tile %[[Q]][
// CHECK: fa.load_tile %[[KV]][
// CHECK: vector.contract
// CHECK: vector.contract
// CHECK: scf.yield
// LOWER-COUNT-2: nvvm.mma.sync
func.func @self(%x: tensor<1x2x80x64xf16>) -> tensor<1x2x80x64xf16> {
  %o = fa.attention %x, %x, %x : tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16>, tensor<1x2x80x64xf16> -> tensor<1x2x80x64xf16>
  return %o : tensor<1x2x80x64xf16>
}
