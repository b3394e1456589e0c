// RUN: fa-opt %s --fa-select-schedule=target=sm_80 | FileCheck %s
// REQUIRES: fa-opt
//
// What clauses need beside the scores where products are a warp's: numbers of each
// score or row, so that they leave room for fewer keys or, where these are few, for
// fewer rows.

// Masks alone take nothing, nor slopes alone.
// CHECK-LABEL: func.func @causal64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 96,
func.func @causal64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @slopes64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 96,
func.func @slopes64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v alibi(%x : tensor<?xf32>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @causal_slopes64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @causal_slopes64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] alibi(%x : tensor<?xf32>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// A lane has a third of the scores here, and as many rows.
// CHECK-LABEL: func.func @causal_slopes128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 32,
func.func @causal_slopes128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] alibi(%x : tensor<?xf32>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @segments64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 64,
func.func @segments64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?x?xi32>, %y: tensor<?x?xi32>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v segments(%x, %y : tensor<?x?xi32>, tensor<?x?xi32>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @causal_segments64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @causal_segments64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?x?xi32>, %y: tensor<?x?xi32>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] segments(%x, %y : tensor<?x?xi32>, tensor<?x?xi32>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @dropout64(
// CHECK: #fa.schedule<tile_q = 64, tile_kv = 96,
func.func @dropout64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: i64) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v dropout(0.1, seed = %x : i64) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @causal_dropout64(
// CHECK: #fa.schedule<tile_q = 64, tile_kv = 64,
func.func @causal_dropout64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: i64) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] dropout(0.1, seed = %x : i64) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @bias64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @bias64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?x?x?x?xf16>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v bias(%x : tensor<?x?x?x?xf16>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @causal_bias64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @causal_bias64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?x?x?x?xf16>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] bias(%x : tensor<?x?x?x?xf16>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @mask64(
// CHECK: #fa.schedule<tile_q = 64, tile_kv = 96,
func.func @mask64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %x: tensor<?x?x?x?xi1>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v mask(%x : tensor<?x?x?x?xi1>) : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @score64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 64,
func.func @score64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index): %r = arith.addf %s, %s : f32 fa.yield %r : f32 } : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @score128(
// CHECK: #fa.schedule<tile_q = 64, tile_kv = 64,
func.func @score128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index): %r = arith.addf %s, %s : f32 fa.yield %r : f32 } : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// No tile has room for them: the one with most.
// CHECK-LABEL: func.func @dropout256(
// CHECK: #fa.schedule<tile_q = 64, tile_kv = 16,
func.func @dropout256(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>, %v: tensor<?x?x?x256xf16>, %x: i64) -> tensor<?x?x?x256xf16> {
  %o = fa.attention %q, %k, %v dropout(0.1, seed = %x : i64) : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16> -> tensor<?x?x?x256xf16>
  return %o : tensor<?x?x?x256xf16>
}
