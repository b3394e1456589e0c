// RUN: fa-opt %s --fa-tile-attention | FileCheck %s
// REQUIRES: fa-opt
//
// An iteration is two blocks of rows in a row. Which blocks of keys are gone
// through follows from all their rows, what is hidden of them from a block's own.

!mem = memref<1x1x?x16xf16, strided<[?, ?, ?, ?], offset: ?>>
#schedule = #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = registers, producers = 4, cluster = 2>

module attributes {fa.target = "sm_90a"} {
// CHECK-LABEL: func.func @window
// CHECK: %[[SQ:.*]] = memref.dim
// CHECK: arith.divui %{{.*}}, %c128
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[IP:.*]]) in
// CHECK:   %[[FIRST:.*]] = arith.muli %[[IP]], %c128{{.*}} : index
// CHECK:   %[[RANK:.*]] = gpu.cluster_block_id x upper_bound 2
// CHECK:   %[[BEFORE:.*]] = arith.muli %[[RANK]], %c64{{.*}} : index
// CHECK:   %[[ROW:.*]] = arith.addi %[[FIRST]], %[[BEFORE]] : index
// CHECK:   %[[ROW32:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK:   %[[FIRST32:.*]] = arith.index_cast %[[FIRST]] : index to i32
// CHECK:   %[[LAST:.*]] = arith.addi %[[FIRST32]], %c127_i32 : i32
// CHECK-NOT: %[[ROW32]]
// CHECK:   fa.load_tile %{{.*}}[%[[ROW]],
// CHECK:   scf.for
// CHECK:     fa.tile_index %[[ROW32]] dim 0
// CHECK:   fa.store_tile %{{.*}}, %{{.*}}[%[[ROW]],
func.func @window(%q: !mem, %k: !mem, %o: !mem) {
  fa.attention %q, %k, %k masks [#fa.window<top_left, left = 90, right = 9>] outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}
