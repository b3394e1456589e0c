// RUN: fa-opt %s --fa-select-schedule=target=sm_90a | FileCheck %s
// RUN: fa-opt %s --fa-select-schedule=target=sm_90a --fa-select-schedule=target=sm_90a | FileCheck %s

// Tiles of warpgroups begin at multiples of 1024 bytes: with m, l and u before
// them, the barriers behind 64 keys would end 256 bytes beyond what there is.
// CHECK-LABEL: @gaps
// CHECK: schedule = #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = shared, splits = 1, query = shared, pingpong = false, producers = 4>
func.func @gaps(%q: tensor<1x1x40x256xf16>, %k: tensor<1x1x40x256xf16>, %v: tensor<1x1x40x256xf16>) -> tensor<1x1x40x256xf16> {
  %o = fa.attention %q, %k, %v {schedule = #fa.schedule<state = shared>} : tensor<1x1x40x256xf16>, tensor<1x1x40x256xf16>, tensor<1x1x40x256xf16> -> tensor<1x1x40x256xf16>
  return %o : tensor<1x1x40x256xf16>
}

// What is given stays in a schedule that is complete, so that a second choice
// is the first.
// CHECK-LABEL: @given
// CHECK: schedule = #fa.schedule<tile_q = 64, {{.*}}, producers = 0, persistent = false, cluster = 1>
func.func @given(%q: tensor<1x1x40x200xf16>) -> tensor<1x1x40x200xf16> {
  %o = fa.attention %q, %q, %q masks [#fa.causal<top_left>] {schedule = #fa.schedule<producers = 0, persistent = false, cluster = 1>} : tensor<1x1x40x200xf16>, tensor<1x1x40x200xf16>, tensor<1x1x40x200xf16> -> tensor<1x1x40x200xf16>
  return %o : tensor<1x1x40x200xf16>
}
