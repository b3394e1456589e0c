// RUN: fa-opt %s --fa-override-schedule=schedule=stages=3,state=shared | FileCheck %s
// RUN: not fa-opt %s --fa-override-schedule=schedule=stage=3 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not fa-opt %s --fa-override-schedule=schedule=stages 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not fa-opt %s "--fa-override-schedule=schedule=stages=3," 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not fa-opt %s --fa-override-schedule=schedule=state=disk 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not fa-opt %s --fa-override-schedule=schedule=tile_q=x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fa-opt %s --fa-override-schedule=schedule=warps=99999999999999999999 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not fa-opt %s --fa-override-schedule=schedule=tile_q=64.5 2>&1 | FileCheck %s --check-prefix=FRACTION
// RUN: not fa-opt %s --fa-override-schedule=schedule=warps=4,warps=8 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: fa-opt %s --fa-override-schedule=schedule=polynomial=8 | FileCheck %s --check-prefix=SHARE
// RUN: not fa-opt %s --fa-override-schedule=schedule=polynomial=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not fa-opt %s --fa-override-schedule=schedule=pingpong=maybe 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not fa-opt %s --fa-override-schedule=schedule=warps=- 2>&1 | FileCheck %s --check-prefix=DASH
// RUN: not fa-opt %s --fa-override-schedule=schedule=state=-,warps=4 2>&1 | FileCheck %s --check-prefix=DASHWORD
// RUN: not fa-opt %s --fa-override-schedule=schedule=state=. 2>&1 | FileCheck %s --check-prefix=DOT
// RUN: not fa-opt %s --fa-override-schedule=schedule=-=4 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fa-opt %s --fa-override-schedule=schedule=4=4 2>&1 | FileCheck %s --check-prefix=DIGIT

// The named keys are replaced, the others kept.
// CHECK: fa.attention
// CHECK-SAME: schedule = #fa.schedule<tile_q = 64, stages = 3, state = shared>
// KEY: error: schedule: 'stage=3': unknown schedule key 'stage', expected one of tile_q, tile_kv, warps, stages, state, splits, query, pingpong, producers, persistent, cluster, polynomial
// FORM: error: schedule: 'stages' is not of the form KEY=V
// EMPTY: error: schedule: '' is not of the form KEY=V
// NUMBER: error: schedule: 'tile_q=x': schedule key 'tile_q' must be a whole number between 1 and 65536, found x
// LARGE: error: schedule: 'warps=99999999999999999999': schedule key 'warps' must be between 1 and 65536, found 99999999999999999999
// FRACTION: error: schedule: 'tile_q=64.5': schedule key 'tile_q' must be a whole number between 1 and 65536, found 64.5
// TWICE: error: schedule: 'warps=4,warps=8': schedule key 'warps' is given twice
// SHARE: schedule = #fa.schedule<tile_q = 64, stages = 2, polynomial = 8>
// NEGATIVE: error: schedule: 'polynomial=-2': schedule key 'polynomial' must be between 0 and 65536, found -2
// FLAG: error: schedule: 'pingpong=maybe': schedule key 'pingpong' must be true or false, found maybe
// VALUE: error: schedule: 'state=disk': schedule key 'state' must be registers or shared, found disk
// DASH: error: schedule: 'warps=-': schedule key 'warps' must be a whole number between 1 and 65536, found -{{$}}
// DASHWORD: error: schedule: 'state=-,warps=4': schedule key 'state' must be registers or shared, found -{{$}}
// DOT: error: schedule: 'state=.': schedule key 'state' must be registers or shared, found "."{{$}}
// NAME: error: schedule: '-=4' is not of the form KEY=V
// DIGIT: error: schedule: '4=4' is not of the form KEY=V
func.func @f(%q: tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 64, stages = 2>} : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}
