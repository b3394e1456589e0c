// REQUIRES: fa-opt
// RUN: fa-opt %s --fa-pipeline="target=sm_80" | FileCheck %s --check-prefix=UPSTREAM --implicit-check-not="{{^ *%[^ ]+ = fa[.]}}"
// RUN: fa-opt %s --fa-pipeline="target=sm_90a schedule=producers=0" | FileCheck %s --check-prefix=UPSTREAM --implicit-check-not="{{^ *%[^ ]+ = fa[.]}}"
// RUN: fa-opt %s --fa-pipeline="target=sm_90a" | FileCheck %s --check-prefix=MAPS
// RUN: fa-opt %s --fa-pipeline="target=sm_90a schedule=persistent=true" | FileCheck %s --check-prefix=PERSISTENT

// What the host code of a kernel is made of (docs/CAPI.md): upstream's ops
// alone, or also what only our launchers know.

// UPSTREAM: func.func @attention
// UPSTREAM: gpu.launch_func{{ +}}@attention_kernels::@attention_kernel

// MAPS: func.func @attention
// MAPS-COUNT-4: fa.tensor_map
// MAPS-NOT: fa.
// MAPS: gpu.launch_func{{ +}}@attention_kernels::@attention_kernel

// PERSISTENT: func.func @attention
// PERSISTENT: fa.multiprocessors
// PERSISTENT: fa.tensor_map
// PERSISTENT: gpu.launch_func{{ +}}@attention_kernels::@attention_kernel

!q = tensor<1x8x?x64xf16>
!k = tensor<1x2x?x64xf16>
func.func @attention(%q: !q, %k: !k, %v: !k) -> !q {
  %o = fa.attention %q, %k, %v : !q, !k, !k -> !q
  return %o : !q
}
