// RUN: fa-opt %s --pass-pipeline='builtin.module(gpu.module(fa-pass-tensor-maps))' | FileCheck %s
// REQUIRES: fa-opt

// CHECK: llvm.func @kernel(%{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
gpu.module @kernels {
  llvm.func @kernel(%n: i64, %map: !llvm.ptr) attributes {fa.parameters = [
      {kind = "scalar", operand = 0, type = "i64"},
      {kind = "tensormap", operand = 1, box = array<i64: 64, 64>, swizzle = "128B", type = "tensormap"}],
      gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
