// RUN: fa-opt %s --fa-stage-tile="target=sm_90a schedule=tile_q=128,tile_kv=96" \
// RUN:   | fa-opt --pass-pipeline='builtin.module(func.func(fa-promote-state,fa-promote-tiles,fa-specialize-warps,fa-issue-products,fa-overlap-products))' \
// RUN:   | FileCheck %s
// REQUIRES: fa-opt
//
// The loops of the passes before, turned: block n up to its weights, block n - 1
// from there on.

// CHECK-LABEL: func @attention
// CHECK: fa.warp_roles
// Without a block nothing happens.
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[FIRST:.*]], %[[END:.*]] : index
// CHECK: %[[CHAIN:.*]]:4 = scf.if %[[ANY]]
// The first block, by the loop with masks: nothing runs beside its softmax.
// CHECK:   fa.issue_product {{.*}} depth 64 rhs_transposed
// CHECK:   fa.wait_products pending 0
// CHECK:   arith.cmpi slt
// CHECK:   %[[W0:.*]] = math.exp2 %{{.*}} : vector<128x96xf32>
// CHECK:   fa.arrive
// CHECK-NOT: fa.issue_product
// CHECK:   %[[P0:.*]] = arith.truncf %[[W0]]
// Two warpgroups of consumers take turns.
// CHECK:   fa.turn open of 2
// CHECK:   %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK:   %[[BEGIN:.*]] = arith.maxsi %{{.*}}, %[[SECOND]]
// CHECK:   %[[FROM:.*]] = arith.index_cast %[[BEGIN]] : index to i32
// CHECK:   %[[FULL:.*]]:5 = scf.for %[[N:.*]] = %[[FROM]] to %{{.*}} step %{{.*}} iter_args({{.*}}%[[U:.*]] = %{{[^,]*}}, %[[P:.*]] = %[[P0]])
// CHECK:     %[[JB:.*]] = arith.index_castui %[[N]] : i32 to index
// CHECK:     %[[BEFORE:.*]] = arith.subi %[[JB]], %c1
// CHECK:     fa.turn take of 2
// CHECK-NEXT: %[[S:.*]] = fa.issue_product {{.*}} depth 64 rhs_transposed
// V of the block before.
// CHECK:     arith.index_cast %[[BEFORE]]
// CHECK:     fa.wait_barrier
// CHECK-NEXT: %[[UP:.*]] = fa.issue_product %[[P]][], {{.*}}, %[[U]] depth 96
// CHECK-NEXT: fa.turn pass of 2
// CHECK-NEXT: %[[SW:.*]] = fa.wait_products pending 1 %[[S]]
// No mask in here; the weights and their sums under the product.
// CHECK-NOT: arith.cmpi
// CHECK:     %[[W:.*]] = math.exp2 %{{.*}} : vector<128x96xf32>
// CHECK:     %[[L:.*]] = fa.row_sum %[[W]]
// CHECK:     fa.arrive %{{.*}} after %[[L]]
// CHECK-NEXT: %[[BOTH:.*]]:2 = fa.wait_products pending 0 %[[UP]], %[[W]]
// CHECK-NEXT: fa.arrive
// Scaled and rounded only now.
// CHECK:     %[[NEXT:.*]] = arith.mulf %[[BOTH]]#0
// CHECK:     %[[PN:.*]] = arith.truncf %[[BOTH]]#1
// CHECK:     scf.yield {{.*}} %[[NEXT]], %[[PN]]
// CHECK:   } {fa.blocks = "full"}
// CHECK:   %[[PART:.*]]:5 = scf.for
// CHECK:     arith.cmpi slt
// CHECK:   } {fa.blocks = "partial"}
// CHECK:   fa.turn close of 2
// What is left of the last block.
// CHECK:   %[[LASTU:.*]] = fa.issue_product %[[PART]]#4[], {{.*}}, %[[PART]]#3 depth 96
// CHECK:   %[[UEND:.*]] = fa.wait_products pending 0 %[[LASTU]]
// CHECK:   scf.yield %[[PART]]#0, %[[PART]]#1, %[[PART]]#2, %[[UEND]]
// CHECK: } else {
// CHECK: fa.any_noted %[[CHAIN]]#0
// The loop for huge scores waits for each product at once.
// CHECK: scf.for
// CHECK-NOT: pending 1
// CHECK: } {fa.blocks = "exact"}
func.func @attention(%q: tensor<1x1x?x64xf16>, %k: tensor<1x1x?x64xf16>, %v: tensor<1x1x?x64xf16>) -> tensor<1x1x?x64xf16> {
  %o = fa.attention %q, %k, %v : tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x1x?x64xf16>
  return %o : tensor<1x1x?x64xf16>
}
