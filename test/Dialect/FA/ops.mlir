// REQUIRES: fa-opt
// RUN: fa-opt %s --verify-roundtrip | FileCheck %s
// RUN: fa-opt %s --mlir-print-op-generic | fa-opt | FileCheck %s
// RUN: fa-opt %s --emit-bytecode | fa-opt | FileCheck %s

// Every form of fa.attention and fa.merge, as text, generic text and bytecode.

!q = tensor<1x8x1024x64xf16>
!k = tensor<1x2x1024x64xf16>

// CHECK-LABEL: @attention_dense
func.func @attention_dense(%q: !q, %k: !k, %v: !k) -> !q {
  // CHECK: fa.attention %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x8x1024x64xf16>, tensor<1x2x1024x64xf16>, tensor<1x2x1024x64xf16> -> tensor<1x8x1024x64xf16>
  %o = fa.attention %q, %k, %v : !q, !k, !k -> !q
  return %o : !q
}

// CHECK-LABEL: @attention_lse_and_masks
func.func @attention_lse_and_masks(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) {
  // CHECK: scale(1.250000e-01) masks [#fa.causal<bottom_right>] : {{.*}} -> tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
  %o, %lse = fa.attention %q, %k, %v scale(0.125) masks [#fa.causal<bottom_right>]
     : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
  // CHECK: masks [#fa.causal<top_left, prefix = 64>, #fa.window<bottom_right, left = 127, right = 0>, #fa.window<top_left, left = -1, right = -1>, #fa.chunk<top_left, size = 128>]
  %p = fa.attention %q, %k, %v
     masks [#fa.causal<top_left, prefix = 64>, #fa.window<bottom_right, left = 127, right = 0>, #fa.window<top_left, left = -1, right = -1>, #fa.chunk<top_left, size = 128>]
     : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> (tensor<1x8x?x64xf16>)
  return
}

// A scale may be an operand; -0.5 and 0.0 are scales too.
// CHECK-LABEL: @attention_scales
func.func @attention_scales(%q: !q, %k: !k, %s: f32) {
  // CHECK: scale(%{{[a-z0-9]+}} : f32) :
  %o0 = fa.attention %q, %k, %k scale(%s : f32) : !q, !k, !k -> !q
  // CHECK: scale(-5.000000e-01)
  %o1 = fa.attention %q, %k, %k scale(-0.5) : !q, !k, !k -> !q
  // CHECK: scale(0.000000e+00)
  %o2 = fa.attention %q, %k, %k scale(0.0) : !q, !k, !k -> !q
  return
}

// The clauses are printed in one order, whatever the order written.
// CHECK-LABEL: @attention_clause_order
func.func @attention_clause_order(%q: !q, %k: !k, %b: tensor<1x8x1024x1024xf16>, %m: tensor<1x1x1024x1024xi1>, %slopes: tensor<8xf32>,
    %s: tensor<8xf32>, %n: tensor<1xi32>, %seg: tensor<1x1024xi32>, %seed: i64, %table: memref<8xf32>) {
  // CHECK: fa.attention %[[Q:.*]], %[[K:.*]], %{{[a-z0-9]+}} scale(1.000000e+00) masks [#fa.causal<top_left>] softcap(3.000000e+01)
  // CHECK-SAME: bias(%{{[a-z0-9]+}} : tensor<1x8x1024x1024xf16>) mask(%{{[a-z0-9]+}} : tensor<1x1x1024x1024xi1>) alibi(%{{[a-z0-9]+}} : tensor<8xf32>)
  // CHECK-SAME: sink(%{{[a-z0-9]+}} : tensor<8xf32>) q_lengths(%{{[a-z0-9]+}} : tensor<1xi32>) kv_lengths(%{{[a-z0-9]+}} : tensor<1xi32>)
  // CHECK-SAME: segments(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x1024xi32>, tensor<1x1024xi32>)
  // CHECK-SAME: dropout(1.000000e-01, seed = %{{[a-z0-9]+}} : i64) score {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: f32, %{{[a-z0-9]+}}: index, %[[H:.*]]: index, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index):
  // CHECK: } visible {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index):
  // CHECK: } {empty_row = "uniform", layout = "bhsd", my.note = 1 : i64, schedule = #fa.schedule<tile_q = 128, tile_kv = 64, warps = 4, stages = 2, state = registers, splits = 1>}
  %o = fa.attention %q, %k, %k
    visible { ^bb0(%bi: index, %h: index, %i: index, %j: index):
      %c = arith.cmpi sge, %i, %j : index
      fa.yield %c : i1 }
    dropout(0.1, seed = %seed : i64)
    score { ^bb0(%x: f32, %bi: index, %h: index, %i: index, %j: index):
      %t = memref.load %table[%h] : memref<8xf32>
      %y = arith.mulf %x, %t : f32
      fa.yield %y : f32 }
    segments(%seg, %seg : tensor<1x1024xi32>, tensor<1x1024xi32>) kv_lengths(%n : tensor<1xi32>) q_lengths(%n : tensor<1xi32>)
    sink(%s : tensor<8xf32>) alibi(%slopes : tensor<8xf32>) mask(%m : tensor<1x1x1024x1024xi1>) bias(%b : tensor<1x8x1024x1024xf16>)
    masks [#fa.causal<top_left>] softcap(30.0) scale(1.0)
    {schedule = #fa.schedule<splits = 1, state = registers, tile_q = 128, tile_kv = 64, stages = 2, warps = 4>, layout = "bhsd", empty_row = uniform, my.note = 1}
    : !q, !k, !k -> !q
  return
}

// CHECK-LABEL: @attention_schedule
// CHECK-SAME: #fa.schedule<tile_q = 64, state = shared, query = registers, pingpong = true, persistent = false, cluster = 2>
// CHECK-SAME: #fa.schedule<warps = 8, polynomial = 12>
// CHECK-SAME: #fa.schedule<stages = 3>
func.func private @attention_schedule() attributes {
  a = #fa.schedule<persistent = false, cluster = 2, pingpong = true, query = registers, state = shared, tile_q = 64>, b = #fa.schedule<polynomial = 12, warps = 8>,
  c = #fa.schedule<stages = 3// a comment ends a value
  >}

// bias and mask are broadcast from the right.
// CHECK-LABEL: @attention_broadcast
func.func @attention_broadcast(%q: tensor<2x3x5x16xf16>, %m0: tensor<5xi1>, %m1: tensor<3x1x1xi1>, %m2: tensor<2x1x?x1xi1>) {
  // CHECK: mask(%{{[a-z0-9]+}} : tensor<5xi1>)
  %o0 = fa.attention %q, %q, %q mask(%m0 : tensor<5xi1>) : tensor<2x3x5x16xf16>, tensor<2x3x5x16xf16>, tensor<2x3x5x16xf16> -> tensor<2x3x5x16xf16>
  // CHECK: mask(%{{[a-z0-9]+}} : tensor<3x1x1xi1>)
  %o1 = fa.attention %q, %q, %q mask(%m1 : tensor<3x1x1xi1>) : tensor<2x3x5x16xf16>, tensor<2x3x5x16xf16>, tensor<2x3x5x16xf16> -> tensor<2x3x5x16xf16>
  // CHECK: mask(%{{[a-z0-9]+}} : tensor<2x1x?x1xi1>)
  %o2 = fa.attention %q, %q, %q mask(%m2 : tensor<2x1x?x1xi1>) : tensor<2x3x5x16xf16>, tensor<2x3x5x16xf16>, tensor<2x3x5x16xf16> -> tensor<2x3x5x16xf16>
  return
}

// CHECK-LABEL: @attention_types
func.func @attention_types(%f: tensor<1x2x8x16xf32>, %e: tensor<1x2x8x16xf8E4M3FN>, %s: tensor<1x2xf32>) {
  // CHECK: {precision = "tf32x3"} : tensor<1x2x8x16xf32>
  %o0 = fa.attention %f, %f, %f {precision = "tf32x3"} : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf16>
  // CHECK: scales(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) : tensor<1x2x8x16xf8E4M3FN>
  %o1 = fa.attention %e, %e, %e scales(%s, %s, %s : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>)
    : tensor<1x2x8x16xf8E4M3FN>, tensor<1x2x8x16xf8E4M3FN>, tensor<1x2x8x16xf8E4M3FN> -> tensor<1x2x8x16xbf16>
  return
}

// An extent of 0 is one like others.
// CHECK-LABEL: @attention_layout_and_empty
func.func @attention_layout_and_empty(%q: tensor<1x7x4x64xf16>, %k: tensor<1x0x2x64xf16>, %v: tensor<1x0x2x32xf16>) {
  // CHECK: {layout = "bshd"} : {{.*}} -> tensor<1x7x4x32xf16>, tensor<1x4x7xf32>
  %o:2 = fa.attention %q, %k, %v {layout = "bshd"} : tensor<1x7x4x64xf16>, tensor<1x0x2x64xf16>, tensor<1x0x2x32xf16> -> tensor<1x7x4x32xf16>, tensor<1x4x7xf32>
  return
}

// CHECK-LABEL: @attention_packed_and_paged
func.func @attention_packed_and_paged(%q: tensor<?x8x64xf16>, %k: tensor<?x2x64xf16>, %c: tensor<5xi32>, %n: tensor<4xi32>,
    %d: tensor<4x8x1x64xf16>, %pk: tensor<99x2x16x64xf16>, %table: tensor<4x32xi32>) {
  // CHECK: q_offsets(%{{[a-z0-9]+}} : tensor<5xi32>) kv_offsets(%{{[a-z0-9]+}} : tensor<5xi32>) : {{.*}} -> tensor<?x8x64xf16>, tensor<8x?xf32>
  %o0:2 = fa.attention %q, %k, %k q_offsets(%c : tensor<5xi32>) kv_offsets(%c : tensor<5xi32>)
    : tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16> -> tensor<?x8x64xf16>, tensor<8x?xf32>
  // CHECK: kv_lengths(%{{[a-z0-9]+}} : tensor<4xi32>) pages(%{{[a-z0-9]+}} : tensor<4x32xi32>)
  %o1 = fa.attention %d, %pk, %pk kv_lengths(%n : tensor<4xi32>) pages(%table : tensor<4x32xi32>)
    : tensor<4x8x1x64xf16>, tensor<99x2x16x64xf16>, tensor<99x2x16x64xf16> -> tensor<4x8x1x64xf16>
  // CHECK: kv_lengths(%{{[a-z0-9]+}} : tensor<4xi32>) q_offsets(%{{[a-z0-9]+}} : tensor<5xi32>) pages(%{{[a-z0-9]+}} : tensor<4x32xi32>)
  %o2 = fa.attention %q, %pk, %pk q_offsets(%c : tensor<5xi32>) kv_lengths(%n : tensor<4xi32>) pages(%table : tensor<4x32xi32>)
    : tensor<?x8x64xf16>, tensor<99x2x16x64xf16>, tensor<99x2x16x64xf16> -> tensor<?x8x64xf16>
  return
}

!m = memref<1x2x?x16xbf16, strided<[?, ?, ?, 1], offset: ?>>

// CHECK-LABEL: @attention_memrefs
func.func @attention_memrefs(%q: !m, %k: !m, %v: !m, %o: !m, %lse: memref<1x2x?xf32>) {
  // CHECK: fa.attention %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} outs(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : memref<1x2x?x16xbf16, strided<[?, ?, ?, 1], offset: ?>>, memref<1x2x?xf32>) : memref
  fa.attention %q, %k, %v outs(%o, %lse : !m, memref<1x2x?xf32>) : !m, !m, !m
  // CHECK: outs(%{{[a-z0-9]+}} : memref<1x2x?x16xbf16, strided<[?, ?, ?, 1], offset: ?>>) : memref
  fa.attention %q, %k, %v outs(%o : !m) : !m, !m, !m
  return
}

!o = tensor<1x8x64x64xf16>
!l = tensor<1x8x64xf32>

// CHECK-LABEL: @merge
func.func @merge(%o0: !o, %lse0: !l, %o1: !o, %lse1: !l, %mo: memref<?x8x64xf32>, %ml: memref<8x?xf32>) -> (!o, !l) {
  // CHECK: %{{[a-z0-9]+}}:2 = fa.merge (%{{[a-z0-9]+}}, %{{[a-z0-9]+}}), (%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) : tensor<1x8x64x64xf16>, tensor<1x8x64xf32>, tensor<1x8x64x64xf16>, tensor<1x8x64xf32> -> tensor<1x8x64x64xf16>, tensor<1x8x64xf32>
  %o, %lse = fa.merge (%o0, %lse0), (%o1, %lse1) : !o, !l, !o, !l -> !o, !l
  // CHECK: fa.merge (%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) outs(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : memref<?x8x64xf32>, memref<8x?xf32>) {layout = "bshd"} : memref<?x8x64xf32>, memref<8x?xf32>
  fa.merge (%mo, %ml) outs(%mo, %ml : memref<?x8x64xf32>, memref<8x?xf32>) {layout = "bshd"} : memref<?x8x64xf32>, memref<8x?xf32>
  return %o, %lse : !o, !l
}

!v = tensor<1x2x8x16xf16>

// What is read in vain may be of any type.
// CHECK-LABEL: @read_in_vain
func.func @read_in_vain(%q: !v, %x: tensor<8xindex>, %d: tensor<8xf64>, %i8: memref<8xi8>) -> !v {
  // CHECK: tensor.extract %{{.*}} : tensor<8xindex>
  // CHECK: tensor.extract %{{.*}} : tensor<8xf64>
  // CHECK: memref.load %{{.*}} : memref<8xi8>
  %o = fa.attention %q, %q, %q visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %n = tensor.extract %x[%i] : tensor<8xindex>
    %e = tensor.extract %d[%n] : tensor<8xf64>
    %r = arith.cmpi sge, %i, %j : index
    %u = scf.if %r -> i8 {
      %y = memref.load %i8[%i] : memref<8xi8>
      scf.yield %y : i8
    } else {
      %y = arith.constant 0 : i8
      scf.yield %y : i8
    }
    fa.yield %r : i1
  } : !v, !v, !v -> !v
  return %o : !v
}
