// RUN: fa-opt %s --fa-select-schedule=target=sm_90a | FileCheck %s
// REQUIRES: fa-opt
//
// What clauses need beside the scores leaves room for fewer keys, beside masks
// for fewer than by themselves.

// CHECK-LABEL: func.func @slopes128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 176,
func.func @slopes128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v alibi(%x : tensor<?xf32>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @causal_slopes128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 112,
func.func @causal_slopes128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] alibi(%x : tensor<?xf32>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @window_slopes128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 112,
func.func @window_slopes128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.window<top_left, left = 127, right = 0>] alibi(%x : tensor<?xf32>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @causal_slopes64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 224,
func.func @causal_slopes64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] alibi(%x : tensor<?xf32>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @causal_slopes192(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 112,
func.func @causal_slopes192(%q: tensor<?x?x?x192xf16>, %k: tensor<?x?x?x192xf16>, %v: tensor<?x?x?x192xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x192xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] alibi(%x : tensor<?xf32>) : tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16> -> tensor<?x?x?x192xf16>
  return %o : tensor<?x?x?x192xf16>
}

// CHECK-LABEL: func.func @bias128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 96,
func.func @bias128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?x?x?x?xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v bias(%x : tensor<?x?x?x?xf16>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @causal_bias128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 80,
func.func @causal_bias128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?x?x?x?xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] bias(%x : tensor<?x?x?x?xf16>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @causal_bias64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 128,
func.func @causal_bias64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?x?x?x?xf16>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] bias(%x : tensor<?x?x?x?xf16>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}
