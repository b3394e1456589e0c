// RUN: fa-opt %s --fa-select-schedule=target=sm_90a | FileCheck %s

// Tiles of warpgroups begin at multiples of 1024 bytes: with m, l and u before
// them, the barriers behind 64 keys would end 256 bytes beyond what there is.
// CHECK-LABEL: @gaps
// CHECK: schedule = #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = shared, splits = 1, query = shared, pingpong = false, producers = 4>
func.func @gaps(%q: tensor<1x1x40x256xf16>, %k: tensor<1x1x40x256xf16>, %v: tensor<1x1x40x256xf16>) -> tensor<1x1x40x256xf16> {
  %o = fa.attention %q, %k, %v {schedule = #fa.schedule<state = shared>} : tensor<1x1x40x256xf16>, tensor<1x1x40x256xf16>, tensor<1x1x40x256xf16> -> tensor<1x1x40x256xf16>
  return %o : tensor<1x1x40x256xf16>
}
