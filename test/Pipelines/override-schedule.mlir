// RUN: fa-opt %s --fa-override-schedule=schedule=stages=3,state=shared | FileCheck %s
// RUN: not fa-opt %s --fa-override-schedule=schedule=stage=3 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not fa-opt %s --fa-override-schedule=schedule=stages 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not fa-opt %s "--fa-override-schedule=schedule=stages=3," 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not fa-opt %s --fa-override-schedule=schedule=state=disk 2>&1 | FileCheck %s --check-prefix=VALUE

// The named keys are replaced, the others kept.
// CHECK: fa.attention
// CHECK-SAME: schedule = #fa.schedule<tile_q = 64, stages = 3, state = shared>
// KEY: error: schedule: 'stage=3' sets no key; accepted: tile_q, tile_kv, warps, stages, state, splits, query, pingpong
// FORM: error: schedule: 'stages' is not of the form KEY=V
// EMPTY: error: schedule: '' sets no key
// VALUE: error: schedule: 'state=disk': {{.*}}registers
func.func @f(%q: tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 64, stages = 2>} : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}
