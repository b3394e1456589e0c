// REQUIRES: plugin, fa-opt
// RUN: fa-opt %s --pass-pipeline='builtin.module(fa-select-schedule{target=sm_80},func.func(fa-tile-attention))' -o %t.ours
// RUN: mlir-opt %s --load-dialect-plugin=%fa_build/lib/FAPlugin.so --load-pass-plugin=%fa_build/lib/FAPlugin.so \
// RUN:   --pass-pipeline='builtin.module(fa-select-schedule{target=sm_80},func.func(fa-tile-attention))' -o %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: FileCheck %s --input-file=%t.theirs

// An unmodified mlir-opt with the plugin gives the IR that fa-opt gives.

!m = memref<1x2x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>

// CHECK-LABEL: @attention
// CHECK: vector.contract
func.func @attention(%q: !m, %k: !m, %v: !m, %o: !m) {
  fa.attention %q, %k, %v masks [#fa.causal<bottom_right>] outs(%o : !m) : !m, !m, !m
  return
}
