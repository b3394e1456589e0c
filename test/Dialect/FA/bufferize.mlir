// REQUIRES: plugin
// RUN: mlir-opt %s --load-dialect-plugin=%fa_build/lib/FAPlugin.so --one-shot-bufferize=bufferize-function-boundaries=1 | FileCheck %s

// Upstream's bufferization, in an unmodified mlir-opt, works around our ops:
// inputs are read where they are, results become buffers in `outs`.

// CHECK-LABEL: @attention_between_other_ops
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>, %[[K:[a-z0-9]+]]: memref
func.func @attention_between_other_ops(%q: tensor<1x8x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %s: f32)
    -> (tensor<1x8x?x64xf16>, tensor<1x8x?xf32>) {
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[SQ:.*]] = memref.dim %[[Q]], %[[C2]]
  // CHECK-DAG: %[[O:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<1x8x?x64xf16>
  // CHECK-DAG: %[[LSE:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<1x8x?xf32>
  // CHECK: fa.attention %[[Q]], %[[K]], %{{.*}} scale(%{{.*}} : f32) masks [#fa.causal<bottom_right>] outs(%[[O]], %[[LSE]] : memref<1x8x?x64xf16>, memref<1x8x?xf32>) {my.note} : memref
  %o, %lse = fa.attention %q, %k, %v scale(%s : f32) masks [#fa.causal<bottom_right>] {my.note}
    : tensor<1x8x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
  // The result is a buffer like others: this write happens in place.
  // CHECK-NOT: memref.copy
  // CHECK: memref.store %{{.*}}, %[[O]]
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f16
  %o1 = tensor.insert %f0 into %o[%c0, %c0, %c0, %c0] : tensor<1x8x?x64xf16>
  // CHECK: return
  return %o1, %lse : tensor<1x8x?x64xf16>, tensor<1x8x?xf32>
}

// A region reads the buffer of a tensor from outside.
// CHECK-LABEL: @attention_region
// CHECK-SAME:    %[[T:[a-z0-9]+]]: memref<2xf32
func.func @attention_region(%q: tensor<1x2x8x16xf16>, %t: tensor<2xf32>) -> tensor<1x2x8x16xf16> {
  // CHECK: fa.attention {{.*}} score {
  // CHECK: memref.load %[[T]][%{{.*}}]
  // CHECK: } outs(
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %x = tensor.extract %t[%h] : tensor<2xf32>
    %y = arith.mulf %s, %x : f32
    fa.yield %y : f32 } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return %o : tensor<1x2x8x16xf16>
}

// An input that is written before is read after the write.
// CHECK-LABEL: @attention_after_write
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref
func.func @attention_after_write(%q: tensor<1x2x8x16xf16>, %x: f16) -> (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[Q]], %[[COPY]]
  // CHECK: memref.store %{{.*}}, %[[COPY]]
  %q1 = tensor.insert %x into %q[%c0, %c0, %c0, %c0] : tensor<1x2x8x16xf16>
  // CHECK: fa.attention %[[COPY]], %[[Q]], %[[Q]] outs
  %o = fa.attention %q1, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return %o, %q1 : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
}

// CHECK-LABEL: @merge
func.func @merge(%o: tensor<1x2x?x16xf16>, %l: tensor<1x2x?xf32>) -> tensor<1x2x?x16xf16> {
  // CHECK: fa.merge (%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}} : memref<1x2x?x16xf16>, memref<1x2x?xf32>) : memref
  %r, %s = fa.merge (%o, %l), (%o, %l) : tensor<1x2x?x16xf16>, tensor<1x2x?xf32>, tensor<1x2x?x16xf16>, tensor<1x2x?xf32> -> tensor<1x2x?x16xf16>, tensor<1x2x?xf32>
  return %r : tensor<1x2x?x16xf16>
}
