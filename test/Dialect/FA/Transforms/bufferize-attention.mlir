// RUN: fa-opt %s --fa-bufferize-attention --split-input-file | FileCheck %s

// Results become trailing arguments in their order; nothing is allocated or
// copied; the text of the op is kept.
// CHECK-LABEL: func.func @results_to_arguments
// CHECK-SAME:    (%[[Q:[a-z0-9]+]]: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>, %[[K:[a-z0-9]+]]: memref<1x2x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>, %[[V:[a-z0-9]+]]: {{[^%]*}},
// CHECK-SAME:     %[[O:[a-z0-9]+]]: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>, %[[LSE:[a-z0-9]+]]: memref<1x8x?xf32, strided<[?, ?, ?], offset: ?>>) attributes {fa.source = "{{.*}}fa.attention {{.*}} tensor<1x8x?xf32>"}
// CHECK-NEXT:    fa.attention %[[Q]], %[[K]], %[[V]] scale(5.000000e-01) outs(%[[O]], %[[LSE]] :
// CHECK-NEXT:    return
func.func @results_to_arguments(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>) -> (tensor<1x8x?x64xf16>, tensor<1x8x?xf32>) {
  %o, %lse = fa.attention %q, %k, %v scale(0.5) : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
  return %o, %lse : tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
}

// -----

// The order is that of the function's results, not of the op's.
// CHECK-LABEL: func.func @swapped_results
// CHECK-SAME:    %[[LSE:[a-z0-9]+]]: memref<1x8x128xf32, {{[^%]*}}, %[[O:[a-z0-9]+]]: memref<1x8x128x64xf16, {{[^%]*}}) attributes
// CHECK:         outs(%[[O]], %[[LSE]] :
func.func @swapped_results(%q: tensor<1x8x128x64xf16>) -> (tensor<1x8x128xf32>, tensor<1x8x128x64xf16>) {
  %o, %lse = fa.attention %q, %q, %q : tensor<1x8x128x64xf16>, tensor<1x8x128x64xf16>, tensor<1x8x128x64xf16> -> tensor<1x8x128x64xf16>, tensor<1x8x128xf32>
  return %lse, %o : tensor<1x8x128xf32>, tensor<1x8x128x64xf16>
}

// -----

// Scalars stay; views of arguments stay views.
// CHECK-LABEL: func.func @views_and_scalars
// CHECK-SAME:    %[[S:[a-z0-9]+]]: f32
// CHECK:         %[[K:.*]] = memref.subview
// CHECK-NOT:     memref.copy
// CHECK:         fa.attention %{{.*}}, %[[K]], %[[K]] scale(%[[S]] : f32)
func.func @views_and_scalars(%q: tensor<1x8x128x64xf16>, %kv: tensor<1x8x256x64xf16>, %s: f32) -> tensor<1x8x128x64xf16> {
  %k = tensor.extract_slice %kv[0, 0, 0, 0] [1, 8, 100, 64] [1, 1, 1, 1] : tensor<1x8x256x64xf16> to tensor<1x8x100x64xf16>
  %o = fa.attention %q, %k, %k scale(%s : f32) : tensor<1x8x128x64xf16>, tensor<1x8x100x64xf16>, tensor<1x8x100x64xf16> -> tensor<1x8x128x64xf16>
  return %o : tensor<1x8x128x64xf16>
}

// -----

// Another function's tensors are its own business.
// CHECK-LABEL: func.func @negative_foreign(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func @negative_foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// A program that is on memrefs already keeps its types.
// CHECK-LABEL: func.func @negative_memrefs(%arg0: memref<1x1x16x16xf16>, %arg1: memref<1x1x16x16xf16>) attributes {fa.source = {{.*}}
// CHECK-NEXT:    fa.attention %arg0, %arg0, %arg0 outs(%arg1 : memref<1x1x16x16xf16>)
func.func @negative_memrefs(%q: memref<1x1x16x16xf16>, %o: memref<1x1x16x16xf16>) {
  fa.attention %q, %q, %q outs(%o : memref<1x1x16x16xf16>) : memref<1x1x16x16xf16>, memref<1x1x16x16xf16>, memref<1x1x16x16xf16>
  return
}

// -----

// No keys: a kernel for any number of them, and what the type said beside it.
// CHECK-LABEL: func.func @no_keys
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x8x128x64xf16, strided<[?, ?, ?, ?], offset: ?>>,
// CHECK-SAME:    %[[KV:[a-z0-9]+]]: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>> {fa.shape = array<i64: 1, 8, 0, 64>},
// CHECK:         fa.attention %[[Q]], %[[KV]], %[[KV]]
func.func @no_keys(%q: tensor<1x8x128x64xf16>, %kv: tensor<1x8x0x64xf16>) -> tensor<1x8x128x64xf16> {
  %o = fa.attention %q, %kv, %kv : tensor<1x8x128x64xf16>, tensor<1x8x0x64xf16>, tensor<1x8x0x64xf16> -> tensor<1x8x128x64xf16>
  return %o : tensor<1x8x128x64xf16>
}

// -----

// Strides that a type fixes are opened, those of a contiguous array stay.
// CHECK-LABEL: func.func @fixed_strides(
// CHECK-SAME: %{{.*}}: memref<1x1x8x16xf16>, %{{.*}}: memref<1x1x8x16xf16, strided<[?, ?, ?, ?], offset: ?>>, %{{.*}}: memref<1x1x8x16xf16, strided<[?, ?, ?, ?], offset: ?>>)
!c = memref<1x1x8x16xf16>
!t = memref<1x1x8x16xf16, strided<[128, 128, 1, 8]>>
func.func @fixed_strides(%q: !c, %k: !t, %o: memref<1x1x8x16xf16, strided<[?, 128, 16, 1], offset: 8>>) {
  fa.attention %q, %k, %q outs(%o : memref<1x1x8x16xf16, strided<[?, 128, 16, 1], offset: 8>>) : !c, !t, !c
  return
}

// -----

// A caller's types agree with the function's: nothing changes.
// CHECK-LABEL: func.func @called(
// CHECK-SAME: strided<[128, 128, 1, 8]>
!c = memref<1x1x8x16xf16>
!t = memref<1x1x8x16xf16, strided<[128, 128, 1, 8]>>
func.func @called(%q: !c, %k: !t, %o: !c) {
  fa.attention %q, %k, %q outs(%o : !c) : !c, !t, !c
  return
}
func.func @caller(%q: !c, %k: !t, %o: !c) {
  call @called(%q, %k, %o) : (!c, !t, !c) -> ()
  return
}

// -----

// What a region computes in vain goes, and what was computed for it; arguments
// that it read are noted as such, others of dead code are not.
// CHECK-LABEL: func.func @read_in_vain(
// CHECK-SAME:    %[[S:[a-z0-9]+]]: f32, %{{.*}}: memref<8xf32, {{[^%]*}}> {fa.read_in_vain}, %{{.*}}: index {fa.read_in_vain}, %{{[a-z0-9]+}}: index, %{{.*}}) attributes {{.*}}} {
// CHECK-NEXT:    fa.attention {{.*}} score {
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.addf %{{.*}}, %[[S]]
// CHECK-NEXT:      fa.yield
func.func @read_in_vain(%q: tensor<1x1x8x16xf16>, %s: f32, %t: tensor<8xf32>, %n: index, %m: index) -> tensor<1x1x8x16xf16> {
  %twice = arith.addi %n, %n : index
  %dead = arith.addi %m, %m : index
  %o = fa.attention %q, %q, %q score { ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %p = arith.addi %i, %twice : index
    %y = tensor.extract %t[%p] : tensor<8xf32>
    %z = math.erf %y : f32
    %r = arith.addf %x, %s : f32
    fa.yield %r : f32
  } : tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16> -> tensor<1x1x8x16xf16>
  return %o : tensor<1x1x8x16xf16>
}

// -----

// On memrefs too; what is needed elsewhere stays.
// CHECK-LABEL: func.func @read_in_vain_on_memrefs(
// CHECK-SAME:    %{{.*}}: memref<8xf32> {fa.read_in_vain}, %{{[a-z0-9]+}}: f32) attributes {{.*}}} {
// CHECK-NEXT:    fa.attention {{.*}} score {
// CHECK-NEXT:    ^bb0(%[[X:[a-z0-9]+]]: f32,
// CHECK-NEXT:      fa.yield %[[X]]
func.func @read_in_vain_on_memrefs(%q: memref<1x1x8x16xf16>, %o: memref<1x1x8x16xf16>, %t: memref<8xf32>, %s: f32) {
  fa.attention %q, %q, %q scale(%s : f32) score { ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %y = memref.load %t[%i] : memref<8xf32>
    %z = arith.mulf %y, %s : f32
    fa.yield %x : f32
  } outs(%o : memref<1x1x8x16xf16>) : memref<1x1x8x16xf16>, memref<1x1x8x16xf16>, memref<1x1x8x16xf16>
  return
}
