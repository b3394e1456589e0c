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
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 128,
func.func @causal_slopes128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?xf32>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] alibi(%x : tensor<?xf32>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @window_slopes128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 128,
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

// CHECK-LABEL: func.func @mask128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @mask128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?x?x?x?xi1>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v mask(%x : tensor<?x?x?x?xi1>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @segments128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 80,
func.func @segments128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: tensor<?x?xi32>, %y: tensor<?x?xi32>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v segments(%x, %y : tensor<?x?xi32>, tensor<?x?xi32>) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @dropout128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 32,
func.func @dropout128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %x: i64) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v dropout(0.1, seed = %x : i64) : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @score128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 128,
func.func @score128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index): %r = arith.addf %s, %s : f32 fa.yield %r : f32 } : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @region128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 160,
func.func @region128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index): %c = arith.cmpi sge, %i, %j : index fa.yield %c : i1 } : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// Beside wide values they are asked for less, since tiles are small there.
// CHECK-LABEL: func.func @causal_segments256(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @causal_segments256(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>, %v: tensor<?x?x?x256xf16>, %x: tensor<?x?xi32>, %y: tensor<?x?xi32>) -> tensor<?x?x?x256xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] segments(%x, %y : tensor<?x?xi32>, tensor<?x?xi32>) : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16> -> tensor<?x?x?x256xf16>
  return %o : tensor<?x?x?x256xf16>
}

// CHECK-LABEL: func.func @mask192(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @mask192(%q: tensor<?x?x?x192xf16>, %k: tensor<?x?x?x192xf16>, %v: tensor<?x?x?x192xf16>, %x: tensor<?x?x?x?xi1>) -> tensor<?x?x?x192xf16> {
  %o = fa.attention %q, %k, %v mask(%x : tensor<?x?x?x?xi1>) : tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16> -> tensor<?x?x?x192xf16>
  return %o : tensor<?x?x?x192xf16>
}

// One warpgroup of consumers has 16 registers more.
// CHECK-LABEL: func.func @mask256(
// CHECK: #fa.schedule<tile_q = 64, tile_kv = 16,
func.func @mask256(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>, %v: tensor<?x?x?x256xf16>, %x: tensor<?x?x?x?xi1>) -> tensor<?x?x?x256xf16> {
  %o = fa.attention %q, %k, %v mask(%x : tensor<?x?x?x?xi1>) : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16> -> tensor<?x?x?x256xf16>
  return %o : tensor<?x?x?x256xf16>
}

// CHECK-LABEL: func.func @dropout192(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 48,
func.func @dropout192(%q: tensor<?x?x?x192xf16>, %k: tensor<?x?x?x192xf16>, %v: tensor<?x?x?x192xf16>, %x: i64) -> tensor<?x?x?x192xf16> {
  %o = fa.attention %q, %k, %v dropout(0.1, seed = %x : i64) : tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16> -> tensor<?x?x?x192xf16>
  return %o : tensor<?x?x?x192xf16>
}

// CHECK-LABEL: func.func @bias192(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 80,
func.func @bias192(%q: tensor<?x?x?x192xf16>, %k: tensor<?x?x?x192xf16>, %v: tensor<?x?x?x192xf16>, %x: tensor<?x?x?x?xf16>) -> tensor<?x?x?x192xf16> {
  %o = fa.attention %q, %k, %v bias(%x : tensor<?x?x?x?xf16>) : tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16> -> tensor<?x?x?x192xf16>
  return %o : tensor<?x?x?x192xf16>
}

// CHECK-LABEL: func.func @score192(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 96,
func.func @score192(%q: tensor<?x?x?x192xf16>, %k: tensor<?x?x?x192xf16>, %v: tensor<?x?x?x192xf16>) -> tensor<?x?x?x192xf16> {
  %o = fa.attention %q, %k, %v score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index): %r = arith.addf %s, %s : f32 fa.yield %r : f32 } : tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16> -> tensor<?x?x?x192xf16>
  return %o : tensor<?x?x?x192xf16>
}

// The wider u, the more is taken beside the bounds of a row's keys.
// CHECK-LABEL: func.func @causal_region64(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 192,
func.func @causal_region64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] visible { ^bb0(%b: index, %h: index, %i: index, %j: index): %c = arith.cmpi sge, %i, %j : index fa.yield %c : i1 } : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}

// CHECK-LABEL: func.func @causal_region128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 96,
func.func @causal_region128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] visible { ^bb0(%b: index, %h: index, %i: index, %j: index): %c = arith.cmpi sge, %i, %j : index fa.yield %c : i1 } : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// Addresses of another block's barriers lie beside the bounds of a row's keys.
// CHECK-LABEL: func.func @cluster128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 176,
func.func @cluster128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v {schedule = #fa.schedule<cluster = 2>} : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @causal_cluster128(
// CHECK: #fa.schedule<tile_q = 128, tile_kv = 160,
func.func @causal_cluster128(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] {schedule = #fa.schedule<cluster = 2>} : tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16> -> tensor<?x?x?x128xf16>
  return %o : tensor<?x?x?x128xf16>
}
