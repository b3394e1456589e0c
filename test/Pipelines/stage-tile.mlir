// RUN: fa-opt %s --fa-stage-tile="target=sm_86 schedule=tile_kv=16" | FileCheck %s
// RUN: fa-opt %s --fa-stage-tile="target=sm_86 trace=true" | FileCheck %s --check-prefix=TRACE
// RUN: not fa-opt %s --fa-stage-tile="target=sm_70" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fa-opt %s --fa-stage-map 2>&1 | FileCheck %s --check-prefix=ORDER

// One block of one head: the loop over blocks stays, the map stage makes a
// kernel of it. The options reach the passes.
// CHECK: module attributes {fa.target = "sm_86"}
// CHECK: func.func @attention(%{{.*}}: memref<1x1x16x32xf16, strided<[?, ?, ?, ?], offset: ?>>, %{{.*}}: memref<1x1x16x32xf16, strided<[?, ?, ?, ?], offset: ?>>, %{{.*}}: memref<{{.*}}>, %[[O:.*]]: memref<1x1x16x32xf16, strided<[?, ?, ?, ?], offset: ?>>)
// CHECK-NOT: tensor<1x1x16x32xf16> {
// CHECK: scf.forall ({{.*}}) in (1, 1, 1)
// CHECK: memref.alloc() : memref<{{.*}}, #gpu.address_space<workgroup>>
// CHECK: fa.schedule = #fa.schedule<{{.*}}tile_kv = 16,
// TRACE: fa.trace_state
// TARGET: error: {{.*}}target 'sm_70' is unknown; supported: sm_80,
// A stage that comes too early says what is missing.
// ORDER: error: after stage map: the module has no string attribute 'fa.target'
func.func @attention(%q: tensor<1x1x16x32xf16>, %k: tensor<1x1x16x32xf16>, %v: tensor<1x1x16x32xf16>) -> tensor<1x1x16x32xf16> {
  %o = fa.attention %q, %k, %v : tensor<1x1x16x32xf16>, tensor<1x1x16x32xf16>, tensor<1x1x16x32xf16> -> tensor<1x1x16x32xf16>
  return %o : tensor<1x1x16x32xf16>
}
