// RUN: fa-opt %s --fa-tile-attention | FileCheck %s
// REQUIRES: fa-opt
//
// The walk over the blocks of keys also finds the longest stretch of hidden
// ones between others. Loops count without it, and each makes its block of its
// number. A conjunction of bounds on the key has no such stretch.

!mem = memref<1x1x?x16xf16, strided<[?, ?, ?, ?], offset: ?>>
#schedule = #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = registers>

module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @sinks
// CHECK: %[[WALK:.*]]:7 = scf.for
// CHECK:   scf.yield {{.*}} : i32, i32, i32, i32, i32, i32, i32
// CHECK: %[[LAST:.*]] = arith.maxui %[[WALK]]#0, %[[WALK]]#1 : i32
// CHECK: %[[FULL:.*]] = arith.maxui %[[WALK]]#0, %[[WALK]]#3 : i32
// CHECK: %[[FULL_END:.*]] = arith.maxui %[[FULL]], %[[WALK]]#4 : i32
// CHECK: %[[GAP_END:.*]] = arith.addi %[[WALK]]#5, %[[WALK]]#6 : i32
// CHECK: %[[IS_BEHIND:.*]] = arith.cmpi uge, %[[FULL]], %[[GAP_END]] : i32
// CHECK: %[[BEFORE:.*]] = arith.select %[[IS_BEHIND]], %[[WALK]]#6, %c0_i32
// CHECK: %[[FULL_NUMBER:.*]] = arith.subi %[[FULL]], %[[BEFORE]] : i32
// CHECK: %[[FULL_END_NUMBER:.*]] = arith.subi %[[FULL_END]], %[[BEFORE]] : i32
// CHECK: %[[LAST_NUMBER:.*]] = arith.subi %[[LAST]], %[[WALK]]#6 : i32
// CHECK: %[[B:.*]] = arith.index_castui %[[FULL_NUMBER]] : i32 to index
// CHECK: %[[C:.*]] = arith.index_castui %[[FULL_END_NUMBER]] : i32 to index
// CHECK: %[[D:.*]] = arith.index_castui %[[LAST_NUMBER]] : i32 to index
// CHECK: %[[A:.*]] = arith.index_castui %[[WALK]]#0 : i32 to index
// CHECK: scf.for %[[N:.*]] = %[[A]] to %[[B]]
// CHECK:   %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK:   %[[BEHIND:.*]] = arith.cmpi sge, %[[N32]], %[[WALK]]#5 : i32
// CHECK:   %[[SKIPPED:.*]] = arith.select %[[BEHIND]], %[[WALK]]#6, %c0_i32
// CHECK:   %[[BLOCK32:.*]] = arith.addi %[[N32]], %[[SKIPPED]] : i32
// CHECK:   %[[BLOCK:.*]] = arith.index_castui %[[BLOCK32]] : i32 to index
// CHECK:   %[[KEY:.*]] = arith.muli %[[BLOCK]], %c32
// CHECK:   fa.load_tile %{{.*}}[%[[KEY]], %c0]
// CHECK: scf.for %{{.*}} = %[[B]] to %[[C]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[D]]
func.func @sinks(%q: !mem, %k: !mem, %v: !mem, %o: !mem) {
  fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %four = arith.constant 4 : index
    %length = arith.constant 128 : index
    %first = arith.cmpi slt, %j, %four : index
    %d = arith.subi %i, %j : index
    %near = arith.cmpi slt, %d, %length : index
    %c = arith.ori %first, %near : i1
    fa.yield %c : i1 }
    outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// CHECK-LABEL: func.func @window
// CHECK: scf.yield {{.*}} : index, index, index, index, index
// CHECK-NOT: arith.index_castui
func.func @window(%q: !mem, %k: !mem, %v: !mem, %o: !mem) {
  fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = arith.constant 128 : index
    %zero = arith.constant 0 : index
    %d = arith.subi %i, %j : index
    %past = arith.cmpi sge, %d, %zero : index
    %near = arith.cmpi slt, %d, %length : index
    %c = arith.andi %past, %near : i1
    fa.yield %c : i1 }
    outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// CHECK-LABEL: func.func @unsigned_window
// CHECK: scf.yield {{.*}} : index, index, index, index, index
// CHECK-NOT: arith.index_castui
func.func @unsigned_window(%q: !mem, %k: !mem, %v: !mem, %o: !mem) {
  fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = arith.constant 128 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi ult, %d, %length : index
    fa.yield %c : i1 }
    outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// CHECK-LABEL: func.func @up_to_the_row
// CHECK: scf.yield {{.*}} : index, index, index, index, index
// CHECK-NOT: arith.index_castui
func.func @up_to_the_row(%q: !mem, %k: !mem, %v: !mem, %o: !mem) {
  fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c = arith.cmpi ule, %j, %i : index
    fa.yield %c : i1 }
    outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}

// What may be negative is a large number without signs.
// CHECK-LABEL: func.func @below_a_difference
// CHECK: scf.yield {{.*}} : i32, i32, i32, i32, i32, i32, i32
func.func @below_a_difference(%q: !mem, %k: !mem, %v: !mem, %o: !mem) {
  fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %d = arith.subi %i, %j : index
    %c = arith.cmpi ult, %j, %d : index
    fa.yield %c : i1 }
    outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}
