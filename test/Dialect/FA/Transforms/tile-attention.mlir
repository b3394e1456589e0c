// RUN: fa-opt %s --pass-pipeline='builtin.module(func.func(fa-tile-attention))' --split-input-file | FileCheck %s

// The whole program once: dynamic lengths, no mask, LSE. One iteration for
// each (b, h, block of rows), m, l, u in workgroup memory, a mask-free loop and
// a loop for the tail.

#schedule = #fa.schedule<tile_q = 128, tile_kv = 32, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<2x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
!lse = memref<2x8x?xf32, strided<[?, ?, ?], offset: ?>>

module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @dense_dynamic
// CHECK-SAME:    %[[Q:arg[0-9]+]]: memref<2x8x?x64xf16, {{.*}}, %[[K:arg[0-9]+]]: {{.*}}, %[[V:arg[0-9]+]]: {{.*}}, %[[O:arg[0-9]+]]: {{.*}}, %[[LSE:arg[0-9]+]]: memref<2x8x?xf32
// CHECK-SAME:    fa.attention = {empty_row = "zero", layout = "bhsd", masks = [], scale = 1.250000e-01 : f64, schedule = #fa.schedule<tile_q = 128
// CHECK-SAME:    fa.operands = [{dims = ["B", "Hq", "Sq", "D"], kind = "input", role = "query", type = "f16"}
// CHECK-SAME:      {dims = ["B", "Hq", "Sq", "Dv"], kind = "output", role = "out", type = "f16"}, {dims = ["B", "Hq", "Sq"], kind = "output", role = "lse", type = "f32"}]
// CHECK-SAME:    fa.source = "fa.attention
// CHECK-NOT:   fa.attention %
// CHECK-DAG:   %[[SQ:.*]] = memref.dim %[[Q]]
// CHECK-DAG:   %[[SK:.*]] = memref.dim %[[K]]
// CHECK:       %[[NQ:.*]] = arith.divui
// CHECK:       scf.forall (%[[B:.*]], %[[H:.*]], %[[IB:.*]]) in (2, 8, %[[NQ]]) {
// CHECK:         %[[I0:.*]] = arith.muli %[[IB]], %c128
// CHECK:         %[[KEYS:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:         %[[FULL_END:.*]] = arith.divui %[[KEYS]], %c32
// CHECK:         %[[END:.*]] = arith.divui
// CHECK:         %[[KB:.*]] = memref.subview %[[K]][%[[B]], %[[H]], 0, 0] [1, 1, %[[KEYS]], 64]
// CHECK:         %[[VB:.*]] = memref.subview %[[V]][%[[B]], %[[H]], 0, 0] [1, 1, %[[KEYS]], 64]
// CHECK:         %[[QB:.*]] = memref.subview %[[Q]][%[[B]], %[[H]], 0, 0] [1, 1, %[[SQ]], 64]
// CHECK:         %[[QT:.*]] = fa.load_tile %[[QB]][%[[I0]], %c0{{.*}}] : {{.*}} -> vector<128x64xf16>
// CHECK:         %[[M:.*]] = memref.alloc() : memref<128xf32, #gpu.address_space<workgroup>>
// CHECK:         vector.transfer_write %{{.*}}, %[[M]][%c0{{.*}}] {in_bounds = [true]}
// CHECK:         %[[L:.*]] = memref.alloc() : memref<128x4xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[U:.*]] = memref.alloc() : memref<128x64xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for %[[JB:.*]] = %c0{{.*}} to %[[FULL_END]] step
// CHECK:           %[[J0:.*]] = arith.muli %[[JB]], %c32
// CHECK:           %[[KT:.*]] = fa.load_tile %[[KB]][%[[J0]], %c0{{.*}}] : {{.*}} -> vector<32x64xf16>
// CHECK:           %[[S:.*]] = vector.contract {{.*}} %[[QT]], %[[KT]]
// CHECK-NOT:       fa.tile_index
// CHECK:           %[[R0:.*]] = vector.transfer_read %[[M]]
// CHECK:           %[[BM:.*]] = vector.multi_reduction <maxnumf>, %[[S]], %{{.*}} [1]
// CHECK:           %[[RB:.*]] = arith.mulf %[[BM]]
// CHECK:           %[[R1:.*]] = arith.maxnumf %[[R0]], %[[RB]]
// CHECK:           %[[SEEN:.*]] = arith.cmpf une, %[[R1]]
// CHECK:           %[[R:.*]] = arith.select %[[SEEN]], %[[R1]]
// CHECK:           %[[HUGE:.*]] = vector.multi_reduction <or>
// CHECK:           %[[X:.*]]:2 = scf.if %[[HUGE]] -> (vector<128x32xf32>, f32)
// CHECK:           %[[E:.*]] = math.fma %[[X]]#0
// CHECK:           %[[P:.*]] = math.exp2 %[[E]] : vector<128x32xf32>
// CHECK:           %[[D:.*]] = arith.subf %[[R0]], %[[R]]
// CHECK:           %[[A:.*]] = math.exp2 %[[D]] : vector<128xf32>
// CHECK:           vector.transfer_write %[[R1]], %[[M]]
// CHECK:           %[[L1:.*]] = fa.row_sum %[[P]]
// CHECK:           vector.transfer_write %[[L1]], %[[L]]
// CHECK:           %[[PH:.*]] = arith.truncf %[[P]] : vector<128x32xf32> to vector<128x32xf16>
// CHECK:           %[[VT:.*]] = fa.load_tile %[[VB]][%[[J0]], %c0{{.*}}]
// CHECK:           %[[U1:.*]] = vector.contract {{.*}} %[[PH]], %[[VT]]
// CHECK:           vector.transfer_write %[[U1]], %[[U]]
// CHECK:         } {fa.blocks = "full"}
// CHECK:         scf.for %{{.*}} = %[[FULL_END]] to %[[END]] step
// CHECK:           fa.tile_index %{{.*}} dim 1 : vector<128x32xi32>
// CHECK:           arith.select %{{.*}} : vector<128x32xi1>, vector<128x32xf32>
// CHECK:         } {fa.blocks = "partial"}
// CHECK:         %[[LT:.*]] = vector.multi_reduction <add>, %{{.*}} [1] : vector<128x4xf32> to vector<128xf32>
// CHECK:         arith.cmpf oeq, %[[LT]]
// CHECK:         arith.divf %{{.*}}, %[[LT]] : vector<128xf32>
// CHECK:         %[[OT:.*]] = arith.truncf
// CHECK:         fa.store_tile %[[OT]]
// CHECK:         math.log2 %[[LT]]
// CHECK:         fa.store_tile %{{.*}} : vector<128xf32>, memref<?xf32
// CHECK:       } {fa.schedule = #fa.schedule<tile_q = 128, tile_kv = 32
func.func @dense_dynamic(%q: !mem, %k: !mem, %v: !mem, %o: !mem, %lse: !lse) {
  fa.attention %q, %k, %v outs(%o, %lse : !mem, !lse) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}
