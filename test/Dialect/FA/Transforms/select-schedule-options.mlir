// RUN: not fa-opt %s --fa-select-schedule=target=sm_10 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fa-opt %s --fa-select-schedule="schedule=tile_q=x" 2>&1 | FileCheck %s --check-prefix=KEYS

// TARGET: error: target 'sm_10' is unknown; supported: sm_80
// KEYS: error: schedule 'tile_q=x' is not a list KEY=V,... of keys of #fa.schedule
module {
}
