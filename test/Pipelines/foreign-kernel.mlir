// RUN: fa-opt %s --fa-pipeline | FileCheck %s

// A kernel of the user's own stands beside ours, in a module of the name that
// ours would have.
// CHECK: gpu.module @attention_kernels
// CHECK: llvm.func @attention_kernel
// CHECK-NOT: mma
// CHECK: gpu.module @attention_kernels_0
// CHECK: nvvm.mma.sync
module attributes {gpu.container_module} {
  gpu.module @attention_kernels {
    gpu.func @attention_kernel(%n: i32) kernel {
      %c = arith.addi %n, %n : i32
      gpu.return
    }
  }
  func.func @attention(%q: tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16> {
    %o = fa.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
    return %o : tensor<1x2x8x16xf16>
  }
}
