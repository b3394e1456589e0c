// RUN: not fa-opt %s --fa-select-schedule=target=sm_10 2>&1 | FileCheck %s

// CHECK: error: target 'sm_10' is unknown; supported: sm_80
module {
}
