// RUN: fa-opt %s --pass-pipeline='builtin.module(func.func(fa-tile-attention{trace=true}))' | FileCheck %s

// Two more arguments, marked; the row counts b, h, i, and is -1 in the blocks
// of other heads. The state is stored after each block of keys, full or not.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<2x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @trace
// CHECK-SAME:    %[[T:[a-z0-9]+]]: memref<?x?xf32, strided<[?, ?], offset: ?>> {fa.trace}, %[[ROW:[a-z0-9]+]]: index {fa.trace})
// CHECK:       scf.forall (%[[B:.*]], %[[H:.*]], %{{.*}}) in
// CHECK:         %[[I0:.*]] = arith.muli
// CHECK:         scf.for %[[JB:[a-z0-9]+]] =
// CHECK:           %[[HEADS:.*]] = arith.muli %[[B]], %c8
// CHECK:           %[[PLANE:.*]] = arith.addi %[[HEADS]], %[[H]]
// CHECK:           %[[FIRST:.*]] = arith.muli %[[PLANE]], %dim
// CHECK:           %[[LOCAL:.*]] = arith.subi %[[ROW]], %[[FIRST]]
// CHECK:           %[[HERE:.*]] = arith.cmpi ult, %[[LOCAL]], %dim
// CHECK:           %[[TRACED:.*]] = arith.select %[[HERE]], %[[LOCAL]], %c-1
// CHECK:           fa.trace_state row %[[TRACED]] first %[[I0]] max %{{.*}} sum %{{.*}} acc %{{.*}} to %[[T]][%[[JB]]]
// CHECK:         } {fa.blocks = "full"}
// CHECK:           fa.trace_state
// CHECK:         } {fa.blocks = "partial"}
func.func @trace(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}
