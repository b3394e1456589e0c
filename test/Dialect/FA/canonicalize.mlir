// RUN: fa-opt %s --canonicalize | FileCheck %s
// RUN: fa-opt %s --fa-bufferize-attention | FileCheck %s --check-prefix=TILE

// A scale that is known becomes an attribute.
// CHECK-LABEL: func.func @scale
// CHECK: fa.attention %{{.*}} scale(2.500000e-01) masks
// TILE-LABEL: func.func @scale
// TILE: fa.attention %{{.*}} scale(2.500000e-01) masks
func.func @scale(%q: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %s = arith.constant 0.25 : f32
  %o = fa.attention %q, %q, %q scale(%s : f32) masks [#fa.causal<top_left>] : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>
  return %o : tensor<1x1x?x64xf16>
}

// One that is no number stays; an attribute would have to be finite.
// CHECK-LABEL: func.func @infinite_scale
// CHECK: fa.attention %{{.*}} scale(%{{.*}} : f32)
func.func @infinite_scale(%q: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %s = arith.constant 0x7F800000 : f32
  %o = fa.attention %q, %q, %q scale(%s : f32) : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>
  return %o : tensor<1x1x?x64xf16>
}

// A log-sum-exp that nobody reads is not computed; regions move along.
// CHECK-LABEL: func.func @unused_lse
// CHECK: %[[O:.*]] = fa.attention
// CHECK-SAME: scale(5.000000e-01) score {
// CHECK-NOT: tensor<1x1x?xf32>
// CHECK: return %[[O]]
func.func @unused_lse(%q: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o, %lse = fa.attention %q, %q, %q scale(0.5)
      score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index): fa.yield %s : f32 }
      : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return %o : tensor<1x1x?x64xf16>
}
// CHECK-LABEL: func.func @used_lse
// CHECK: %{{.*}}:2 = fa.attention
func.func @used_lse(%q: tensor<1x1x?x64xf16>) -> (tensor<1x1x?x64xf16>, tensor<1x1x?xf32>) {
  %o, %lse = fa.attention %q, %q, %q : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
  return %o, %lse : tensor<1x1x?x64xf16>, tensor<1x1x?xf32>
}
