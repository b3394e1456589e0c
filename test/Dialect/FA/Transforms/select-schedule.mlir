// RUN: fa-opt %s --fa-select-schedule=target=sm_80 --split-input-file | FileCheck %s
// RUN: fa-opt %s --fa-override-schedule="schedule=tile_q=32,warps=1,stages=3" --fa-select-schedule=target=sm_80 --split-input-file | FileCheck %s --check-prefix=OPTION
// RUN: fa-opt %s --fa-select-schedule=target=sm_86 --split-input-file | FileCheck %s --check-prefix=SM86

// CHECK: module attributes {fa.target = "sm_80"}
// CHECK-LABEL: func.func @d64
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 96, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
// OPTION-LABEL: func.func @d64
// OPTION: #fa.schedule<tile_q = 32, tile_kv = 96, warps = 1, stages = 3, state = registers, splits = 1, query = shared>
// SM86: module attributes {fa.target = "sm_86"}
func.func @d64(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>) -> tensor<1x8x?x64xf16> {
  %o = fa.attention %q, %k, %k : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

// CHECK-LABEL: func.func @d128
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 32, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
func.func @d128(%q: tensor<1x8x?x128xbf16>) -> tensor<1x8x?x128xbf16> {
  %o = fa.attention %q, %q, %q : tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16> -> tensor<1x8x?x128xbf16>
  return %o : tensor<1x8x?x128xbf16>
}

// -----

// The wider of the two head dims decides.
// CHECK-LABEL: func.func @wide_values
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 32,
func.func @wide_values(%q: tensor<1x8x?x40xf16>, %v: tensor<1x8x?x96xf16>) -> tensor<1x8x?x96xf16> {
  %o = fa.attention %q, %q, %v : tensor<1x8x?x40xf16>, tensor<1x8x?x40xf16>, tensor<1x8x?x96xf16> -> tensor<1x8x?x96xf16>
  return %o : tensor<1x8x?x96xf16>
}

// -----

// With the state in shared memory 128 rows fit sm_80, and 64 fit sm_86.
// CHECK-LABEL: func.func @shared_state
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 32, warps = 4, stages = 2, state = shared,
// SM86-LABEL: func.func @shared_state
// SM86: #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = shared,
func.func @shared_state(%q: tensor<1x8x?x128xf16>) -> tensor<1x8x?x128xf16> {
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<state = shared>} : tensor<1x8x?x128xf16>, tensor<1x8x?x128xf16>, tensor<1x8x?x128xf16> -> tensor<1x8x?x128xf16>
  return %o : tensor<1x8x?x128xf16>
}

// -----

// Given keys are kept, the others follow them: 48 rows are three warps.
// CHECK-LABEL: func.func @given_keys
// CHECK: #fa.schedule<tile_q = 48, tile_kv = 16, warps = 3, stages = 4, state = registers, splits = 1, query = registers>
func.func @given_keys(%q: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<tile_q = 48, tile_kv = 16, stages = 4, query = registers>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// -----

// Where the state does not fit into registers it stays in shared memory.
// CHECK-LABEL: func.func @state_beyond_registers
// CHECK: #fa.schedule<tile_q = 32, tile_kv = 96, warps = 1, stages = 2, state = shared, splits = 1, query = shared>
func.func @state_beyond_registers(%q: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x128xf16>) -> tensor<1x1x?x128xf16> {
  %o = fa.attention %q, %q, %v {schedule = #fa.schedule<tile_q = 32, tile_kv = 96, warps = 1>} : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x128xf16> -> tensor<1x1x?x128xf16>
  return %o : tensor<1x1x?x128xf16>
}

// -----

// A dense mask takes registers.
// CHECK-LABEL: func.func @dense_mask
// CHECK: #fa.schedule<tile_q = 64, tile_kv = 96, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
func.func @dense_mask(%q: tensor<1x1x?x64xf16>, %m: tensor<?xi1>) -> tensor<1x1x?x64xf16> {
  %o = fa.attention %q, %q, %q mask(%m : tensor<?xi1>) : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>
  return %o : tensor<1x1x?x64xf16>
}

// -----

// Exponentials are polynomials where the key says so.
// CHECK-LABEL: func.func @polynomials
// CHECK: query = shared, polynomial = 24>
// CHECK: query = shared>
func.func @polynomials(%q: tensor<1x8x?x64xf16>) -> (tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>) {
  %o = fa.attention %q, %q, %q {schedule = #fa.schedule<polynomial = 24>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  %none = fa.attention %q, %q, %q {schedule = #fa.schedule<polynomial = 0>} : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x?x64xf16>
  return %o, %none : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>
}
