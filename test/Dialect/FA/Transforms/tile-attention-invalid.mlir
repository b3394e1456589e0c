// RUN: fa-opt %s --pass-pipeline='builtin.module(func.func(fa-tile-attention))' --split-input-file --verify-diagnostics

#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<1x1x16x16xf16>
// expected-error @+1 {{the module names no target (fa.target); fa-select-schedule sets it}}
func.func @no_target(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// -----

!mem = memref<1x1x16x16xf16>
module attributes {fa.target = "sm_80"} {
func.func @no_schedule(%q: !mem, %o: !mem) {
  // expected-error @+1 {{has no complete schedule; fa-select-schedule completes it}}
  fa.attention %q, %q, %q outs(%o : !mem) {schedule = #fa.schedule<tile_q = 64>} : !mem, !mem, !mem
  return
}
}

// -----

#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!t = tensor<1x1x16x16xf16>
module attributes {fa.target = "sm_80"} {
func.func @tensors(%q: !t) -> !t {
  // expected-error @+1 {{is on tensors; bufferize it before it is tiled}}
  %o = fa.attention %q, %q, %q {schedule = #schedule} : !t, !t, !t -> !t
  return %o : !t
}
}

// -----

#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<1x1x16x16xf16>
module attributes {fa.target = "sm_80"} {
func.func @clause(%q: !mem, %o: !mem) {
  // expected-error @+1 {{'math.erf' op in the score region is not supported yet}}
  fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index): %e = math.erf %s : f32 fa.yield %e : f32 } outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 2, query = shared>
!mem = memref<1x1x16x16xf16>
module attributes {fa.target = "sm_80"} {
func.func @splits(%q: !mem, %o: !mem) {
  // expected-error @+1 {{'schedule with splits above 1' is not supported yet}}
  fa.attention %q, %q, %q outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<1x1x16x16xf8E5M2>
module attributes {fa.target = "sm_80"} {
func.func @element_type(%q: !mem, %o: memref<1x1x16x16xf32>) {
  // expected-error @+1 {{element type 'f8E5M2' is not supported yet, supported are f16, bf16 and f32}}
  fa.attention %q, %q, %q outs(%o : memref<1x1x16x16xf32>) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<1x1x16x16xf16>
!odd = memref<1x1x16x16xf16, affine_map<(b, h, s, d) -> (b + h, s mod 4, d)>>
module attributes {fa.target = "sm_80"} {
func.func @layout_without_strides(%q: !odd, %o: !mem) {
  // expected-error @+1 {{has no strides; only strided layouts are accepted}}
  fa.attention %q, %q, %q outs(%o : !mem) {schedule = #schedule} : !odd, !odd, !odd
  return
}
}
