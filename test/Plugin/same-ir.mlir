// REQUIRES: plugin, fa-opt
// RUN: fa-opt %s --fa-stage-tile="target=sm_80" -o %t.ours
// RUN: mlir-opt %s --load-dialect-plugin=%fa_build/lib/FAPlugin.so --load-pass-plugin=%fa_build/lib/FAPlugin.so \
// RUN:   --pass-pipeline='builtin.module(fa-stage-tile{target=sm_80})' -o %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: FileCheck %s --input-file=%t.theirs

// RUN: fa-opt %s --fa-pipeline="target=sm_80" -o %t.ours
// RUN: mlir-opt %s --load-dialect-plugin=%fa_build/lib/FAPlugin.so --load-pass-plugin=%fa_build/lib/FAPlugin.so \
// RUN:   --pass-pipeline='builtin.module(fa-pipeline{target=sm_80})' -o %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: FileCheck %s --input-file=%t.theirs --check-prefix=KERNEL

// An unmodified mlir-opt with the plugin gives the IR that fa-opt gives.

!t = tensor<1x2x?x64xf16>

// CHECK: func.func @attention(
// CHECK: vector.contract
// KERNEL: gpu.launch_func @attention_kernels::@attention_kernel
// KERNEL: nvvm.mma.sync
func.func @attention(%q: !t, %k: !t, %v: !t) -> !t {
  %o = fa.attention %q, %k, %v masks [#fa.causal<bottom_right>] : !t, !t, !t -> !t
  return %o : !t
}
