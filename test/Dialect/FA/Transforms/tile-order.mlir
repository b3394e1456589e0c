// RUN: fa-opt %s --pass-pipeline='builtin.module(func.func(fa-tile-attention))' --split-input-file | FileCheck %s

// In which order blocks of rows are begun (TileOrder.h): longest first where
// later rows see more keys, in sections of heads whose K and V half of the L2
// cache holds; heads of a group follow each other.

#schedule = #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!q = memref<2x12x640x64xf16>
!kv = memref<2x4x32768x64xf16>
module attributes {fa.target = "sm_80"} {
// Half of 40 MiB hold 81920 keys of 64 + 64 halves, so 2 heads of 32768, and
// of Q three times as many: 6 of 24. 10 blocks of rows each: 60 in a section.
// CHECK-LABEL: func.func @sections
// CHECK:       scf.forall (%[[X:.*]]) in (240) {
// CHECK:         %[[N:.*]] = arith.index_cast %[[X]] : index to i32
// CHECK:         %[[SECTION:.*]] = arith.divui %[[N]], %c60_i32
// CHECK:         %[[FIRST:.*]] = arith.muli %[[SECTION]], %c6_i32
// CHECK:         %[[REST:.*]] = arith.remui %[[N]], %c60_i32
// CHECK:         %[[LEFT:.*]] = arith.subi %c24_i32{{.*}}, %[[FIRST]]
// CHECK:         %[[HERE:.*]] = arith.minui %[[LEFT]], %c6_i32
// CHECK:         %[[OF_SECTION:.*]] = arith.remui %[[REST]], %[[HERE]]
// CHECK:         %[[HEAD:.*]] = arith.addi %[[FIRST]], %[[OF_SECTION]]
// CHECK:         %[[BACK:.*]] = arith.divui %[[REST]], %[[HERE]]
// CHECK:         %[[BLOCK:.*]] = arith.subi %c9_i32{{.*}}, %[[BACK]]
// CHECK:         %[[B:.*]] = arith.divui %[[HEAD]], %c12_i32
// CHECK:         %[[H:.*]] = arith.remui %[[HEAD]], %c12_i32
// CHECK:         %[[IB:.*]] = arith.index_cast %[[BLOCK]] {fa.place = 2 : i64} : i32 to index
// CHECK:         arith.muli %[[IB]], %c64
func.func @sections(%q: !q, %k: !kv, %o: !q) {
  fa.attention %q, %k, %k masks [#fa.causal<top_left>] outs(%o : !q) {schedule = #schedule} : !q, !kv, !kv
  return
}
}

// -----

// Another chip has 50 MiB. Open extents: nothing is divided by a number of keys
// or heads that may be 0, and a head whose K and V the cache does not hold is a
// section all the same.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<?x?x?x64xf16>
module attributes {fa.target = "sm_90a"} {
// CHECK-LABEL: func.func @open
// CHECK:       %[[BH:.*]] = arith.muli %[[B:.*]], %[[HQ:.*]] : index
// CHECK:       %[[TILES:.*]] = arith.muli %[[BH]], %[[NQ:.*]] : index
// CHECK:       scf.forall (%[[X:.*]]) in (%[[TILES]]) {
// CHECK:         %[[SK:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:         %[[GROUP:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK:         %[[KEYS:.*]] = arith.maxui %[[SK]], %c1_i32
// CHECK:         %[[HEADS:.*]] = arith.divui %c102400_i32, %[[KEYS]]
// CHECK:         %[[ONE:.*]] = arith.maxui %[[HEADS]], %c1_i32
// CHECK:         %[[HKV:.*]] = arith.divui %[[BH32:.*]], %[[GROUP]]
// CHECK:         %[[LESS:.*]] = arith.subi %[[HKV]], %c1_i32
// CHECK:         %[[BUT_ONE:.*]] = arith.divui %[[LESS]], %[[ONE]]
// CHECK:         %[[SECTIONS:.*]] = arith.addi %[[BUT_ONE]], %c1_i32
// CHECK:         %[[OTHERS:.*]] = arith.divui %{{.*}}, %[[SECTIONS]]
// CHECK:         %[[EACH:.*]] = arith.addi %[[OTHERS]], %c1_i32
// CHECK:         arith.muli %[[EACH]], %[[GROUP]]
func.func @open(%q: !mem, %k: !mem, %o: !mem) {
  fa.attention %q, %k, %k masks [#fa.causal<bottom_right>] outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// A bound from above alone decides, whichever mask it is of.
// CHECK-LABEL: func.func @window_open_to_the_left
// CHECK:       scf.forall (%{{[^,]*}}) in
func.func @window_open_to_the_left(%q: !mem, %k: !mem, %o: !mem) {
  fa.attention %q, %k, %k masks [#fa.window<top_left, left = -1, right = 9>] outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// As many keys for each row: heads follow each other, and their blocks.
// CHECK-LABEL: func.func @window
// CHECK:       scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in
func.func @window(%q: !mem, %k: !mem, %o: !mem) {
  fa.attention %q, %k, %k masks [#fa.window<top_left, left = 90, right = 9>] outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// CHECK-LABEL: func.func @lengths
// CHECK:       scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in
func.func @lengths(%q: !mem, %k: !mem, %n: memref<?xi32>, %o: !mem) {
  fa.attention %q, %k, %k q_lengths(%n : memref<?xi32>) kv_lengths(%n : memref<?xi32>) outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}
