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
// CHECK:         %[[NOTED:.*]] = scf.for %[[JB:.*]] = %c0{{.*}} to %[[FULL_END]] step %{{.*}} iter_args(%[[NOTE:.*]] = %false)
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
// CHECK:           %[[HUGE:.*]] = arith.cmpf uge
// CHECK-NOT:       scf.if
// CHECK:           %[[E:.*]] = math.fma %[[S]]
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
// CHECK:           fa.note_rows %[[HUGE]], %[[NOTE]]
// CHECK:         } {fa.blocks = "full"}
// A huge score anywhere in the block: forget the state, start again.
// CHECK:         %[[RESTART:.*]] = fa.any_noted %[[NOTED]]
// CHECK:         arith.select %[[RESTART]], %{{.*}} : vector<128xf32>
// CHECK:         arith.select %[[RESTART]], %{{.*}} : vector<128x4xf32>
// CHECK:         arith.select %[[RESTART]], %{{.*}} : vector<128x64xf32>
// CHECK:         %[[BEGIN:.*]] = arith.select %[[RESTART]], %c0{{.*}}, %[[FULL_END]] : index
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
// CHECK:           fa.tile_index %{{.*}} dim 1 : vector<128x32xi32>
// CHECK:           arith.select %{{.*}} : vector<128x32xi1>, vector<128x32xf32>
// CHECK:           vector.multi_reduction <or>
// CHECK:           scf.if %{{.*}} -> (vector<128x32xf32>, f32)
// CHECK:         } {fa.blocks = "partial"}
// CHECK:         %[[AGAIN:.*]]:3 = scf.for
// CHECK:         %[[LT:.*]] = vector.multi_reduction <add>, %[[AGAIN]]#1, %{{.*}} [1] : vector<128x4xf32> to vector<128xf32>
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

// -----

// Causal, bottom_right: the bound of each row, of the first and of the last
// one. Keys behind the last row's bound are not even in the planes of K and V;
// in the partial loop one compare and one select.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!q = memref<1x12x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
!kv = memref<1x4x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @causal_bottom_right
// CHECK-SAME:    masks = [{alignment = "bottom_right", kind = "causal", prefix = 0 : i64}]
// One number for all blocks of rows (below, tile-order.mlir).
// CHECK:       scf.forall (%{{.*}}) in (%{{.*}}) {
// CHECK:         %[[SK:.*]] = arith.index_cast %dim{{_.*}} : index to i32
// CHECK:         %[[H32:.*]] = arith.remui %{{.*}}, %c12_i32 : i32
// CHECK:         %[[H:.*]] = arith.index_cast %[[H32]] {fa.place = 1 : i64} : i32 to index
// CHECK:         %[[SQ:.*]] = arith.index_cast %dim : index to i32
// CHECK:         %[[OFFSET:.*]] = arith.subi %[[SK]], %[[SQ]] : i32
// CHECK:         %[[SHIFT:.*]] = arith.addi %[[OFFSET]], %c1_i32 : i32
// CHECK:         %[[HI_FIRST_RAW:.*]] = arith.addi %{{.*}}, %[[SHIFT]] : i32
// CHECK:         %[[HI_FIRST:.*]] = arith.minsi %[[SK]], %[[HI_FIRST_RAW]] : i32
// CHECK:         %[[HI_LAST:.*]] = arith.minsi %[[SK]], %{{.*}} : i32
// CHECK:         %[[CLAMPED:.*]] = arith.maxsi %[[HI_LAST]], %c0_i32 : i32
// CHECK:         %[[KEYS:.*]] = arith.index_cast %[[CLAMPED]] : i32 to index
// CHECK:         %[[GROUP:.*]] = arith.divui %[[H]], %c3 : index
// The keys that some row sees are the first ones of the sequence.
// CHECK:         %[[SEQUENCE:.*]] = memref.subview %{{.*}}[%{{.*}}, %[[GROUP]], 0, 0] [1, 1, %dim_{{[0-9]+}}, 64]
// CHECK:         memref.subview %[[SEQUENCE]][0, 0] [%[[KEYS]], 64]
// CHECK:         scf.for
// CHECK-NOT:       fa.tile_index
// CHECK:         } {fa.blocks = "full"}
// CHECK:         scf.for
// CHECK:           %[[S:.*]] = vector.contract
// CHECK:           fa.tile_index %{{.*}} dim 0 : vector<64xi32>
// CHECK:           %[[HI:.*]] = arith.minsi %{{.*}} : vector<64xi32>
// CHECK:           %[[J:.*]] = fa.tile_index %c0_i32 dim 1 : vector<64x16xi32>
// CHECK:           %[[HI_REL:.*]] = arith.subi %[[HI]], %{{.*}} : vector<64xi32>
// CHECK:           %[[COLUMN:.*]] = vector.shape_cast %[[HI_REL]] : vector<64xi32> to vector<64x1xi32>
// CHECK:           %[[TILE:.*]] = vector.broadcast %[[COLUMN]]
// CHECK:           %[[VISIBLE:.*]] = arith.cmpi slt, %[[J]], %[[TILE]]
// CHECK:           arith.select %[[VISIBLE]], %[[S]], %{{.*}} : vector<64x16xi1>
// CHECK:         } {fa.blocks = "partial"}
// Rows whose u is NaN or infinite again from nothing, key by key, without
// products of tiles: Q a few columns at a time, then one step of the softmax.
// CHECK:         %[[U:.*]] = vector.transfer_read %{{.*}} : memref<64x64xf32,
// CHECK:         %[[ZEROS:.*]] = arith.mulf %[[U]]
// CHECK:         %[[SUM:.*]] = vector.multi_reduction <add>, %[[ZEROS]], %{{.*}} [1]
// CHECK:         %[[AGAIN:.*]] = arith.cmpf une, %[[SUM]]
// CHECK:         %[[ANY:.*]] = vector.multi_reduction <or>, %[[AGAIN]], %false [0] : vector<64xi1> to i1
// CHECK:         %[[LAST:.*]] = arith.select %[[ANY]], %[[KEYS]], %c0{{.*}} : index
// CHECK:         arith.select %[[AGAIN]], %{{.*}} : vector<64xi1>, vector<64xf32>
// CHECK:         arith.select %{{.*}} : vector<64x4xi1>, vector<64x4xf32>
// CHECK:         arith.select %{{.*}} : vector<64x64xi1>, vector<64x64xf32>
// CHECK:         scf.for %[[KEY:.*]] = %c0{{.*}} to %[[LAST]] step %c1{{[_0-9]*}} iter_args
// CHECK:           scf.for %[[D:.*]] = %c0{{.*}} to %c64{{.*}} step %c16{{.*}} iter_args
// CHECK:             fa.load_tile %{{.*}}[%{{.*}}, %[[D]]] : {{.*}} -> vector<64x16xf16>
// CHECK:             memref.subview %{{.*}}[%[[KEY]], 0] [1, 64]
// CHECK:             fa.load_tile %{{.*}}[%[[D]]] each_row : {{.*}} -> vector<64x16xf16>
// CHECK:             fa.row_sum
// CHECK:           fa.tile_index %{{.*}} dim 0 : vector<64xi32>
// CHECK:           %[[SEEN:.*]] = arith.cmpi slt
// CHECK:           %[[TAKEN:.*]] = arith.andi %[[SEEN]], %[[AGAIN]]
// CHECK:           %[[X:.*]] = arith.select %[[TAKEN]], %{{.*}} : vector<64xi1>, vector<64xf32>
// CHECK:           arith.maxnumf %{{.*}}, %[[X]]
// CHECK:           math.exp2 %{{.*}} : vector<64xf32>
// CHECK:           fa.load_tile %{{.*}} each_row : {{.*}} -> vector<64x64xf16>
// CHECK:           arith.select %{{.*}} : vector<64x64xi1>, vector<64x64xf32>
// CHECK:         }
// Those rows hold u / l then.
// CHECK:         %[[INVERSE:.*]] = arith.divf
// CHECK:         arith.select %[[AGAIN]], %{{.*}}, %[[INVERSE]]
// CHECK-NOT:     math.log2
func.func @causal_bottom_right(%q: !q, %k: !kv, %v: !kv, %o: !q) {
  fa.attention %q, %k, %v masks [#fa.causal<bottom_right>] outs(%o : !q) {schedule = #schedule} : !q, !kv, !kv
  return
}
}

// -----

// A left bound gives a partial loop before the full one. Every block is in one
// of the three.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<1x1x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @left_edge
// CHECK:         %[[FULL_END:.*]] = arith.divui %{{.*}}, %c16 : index
// CHECK:         %[[END:.*]] = arith.divui
// CHECK:         %[[BEGIN:.*]] = arith.divui
// CHECK:         %[[FULL_BEGIN:.*]] = arith.divui
// CHECK:         %[[LEFT_END:.*]] = arith.minui %[[FULL_BEGIN]], %[[END]] : index
// CHECK:         %[[RIGHT_BEGIN:.*]] = arith.maxui %[[LEFT_END]], %[[FULL_END]] : index
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[LEFT_END]]
// CHECK:           arith.cmpi slt
// CHECK:           arith.cmpi sge
// CHECK:           arith.andi
// CHECK:         } {fa.blocks = "partial"}
// CHECK:         scf.for %{{.*}} = %[[LEFT_END]] to %[[RIGHT_BEGIN]]
// CHECK:         } {fa.blocks = "full"}
// CHECK:         %[[LAST_BEGIN:.*]] = arith.select %{{.*}}, %[[BEGIN]], %[[RIGHT_BEGIN]] : index
// CHECK:         scf.for %{{.*}} = %[[LAST_BEGIN]] to %[[END]]
// CHECK:         } {fa.blocks = "partial"}
func.func @left_edge(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q masks [#fa.window<top_left, left = 100, right = 0>] outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

// Lengths are clamped to the extent. A dense mask is broadcast by strides of 0,
// where an extent is 1 at run time too, and asked in full blocks as well. The
// layout is turned by views. Head dims are padded to 48 and 80.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!q = memref<2x?x12x40xbf16, strided<[?, ?, ?, ?], offset: ?>>
!k = memref<2x?x4x40xbf16, strided<[?, ?, ?, ?], offset: ?>>
!v = memref<2x?x4x80xbf16, strided<[?, ?, ?, ?], offset: ?>>
!o = memref<2x?x12x80xbf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @lengths_mask_layout
// CHECK-SAME:    %[[N:[a-z0-9]+]]: memref<2xi32
// CHECK-SAME:    {broadcasts, dims = ["Hq", "1", "Sk"], kind = "input", role = "mask", type = "i1"}
// CHECK:         memref.transpose %{{.*}} (d0, d1, d2, d3) -> (d0, d2, d1, d3) {{.*}} to memref<2x12x?x40xbf16
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata
// CHECK:         %[[ONE_HEAD:.*]] = arith.cmpi eq, %[[SIZES]]#0, %c1
// CHECK:         %[[HEAD_STRIDE:.*]] = arith.select %[[ONE_HEAD]], %[[ZERO:.*]], %[[STRIDES]]#0
// CHECK:         %[[KEY_STRIDE:.*]] = arith.select %{{.*}}, %[[ZERO]], %[[STRIDES]]#2
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [%[[OFFSET]]], sizes: [2, 12, %{{.*}}, %{{.*}}], strides: [%[[ZERO]], %[[HEAD_STRIDE]], %[[ZERO]], %[[KEY_STRIDE]]]
// CHECK:         scf.forall (%[[B:.*]], %{{.*}}, %{{.*}}) in (2, 12, %{{.*}})
// CHECK:           %[[LENGTH:.*]] = memref.load %[[N]][%[[B]]]
// CHECK:           %[[LOW:.*]] = arith.maxsi %[[LENGTH]], %c0_i32
// CHECK:           arith.minsi %[[LOW]], %{{.*}} : i32
// CHECK:           fa.load_tile {{.*}} -> vector<64x48xbf16>
// CHECK:           scf.for
// CHECK:             %[[M:.*]] = fa.load_tile {{.*}} -> vector<64x16xi1>
// CHECK:             arith.select %[[M]], %{{.*}} : vector<64x16xi1>, vector<64x16xf32>
// CHECK:             vector.contract {{.*}} vector<64x16xbf16>, vector<16x80xbf16> into vector<64x80xf32>
// CHECK:           } {fa.blocks = "full", fa.hiding}
// CHECK:           scf.for
// CHECK:             %[[STRUCTURAL:.*]] = arith.cmpi slt
// CHECK:             %[[DENSE:.*]] = fa.load_tile
// CHECK:             arith.andi %[[STRUCTURAL]], %[[DENSE]]
// CHECK:           } {fa.blocks = "partial"}
func.func @lengths_mask_layout(%q: !q, %k: !k, %v: !v, %m: memref<?x1x?xi1>, %n: memref<2xi32>, %o: !o) {
  fa.attention %q, %k, %v mask(%m : memref<?x1x?xi1>) kv_lengths(%n : memref<2xi32>) outs(%o : !o) {schedule = #schedule, layout = "bshd"} : !q, !k, !v
  return
}
}

// -----

// Before the loops each block's least and greatest number is compared with the
// rows'; the walk over the blocks takes four at a time, and one at a time in the
// end. Blocks shown whole compare nothing.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<2x1x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @segments
// CHECK:         %[[ROWS:.*]] = fa.load_tile %{{.*}} : memref<?xi32, {{.*}}> -> vector<64xi32>
// CHECK:         %[[LEAST:.*]], %[[GREATEST:.*]] = fa.minmax %{{.*}} count 64
// CHECK-NOT:     fa.minmax %{{.*}} count 64
// CHECK:         scf.for
// CHECK-COUNT-4:   fa.minmax %{{.*}} count 16
// CHECK:         scf.for
// CHECK:           %[[FIRST:.*]], %[[LAST:.*]] = fa.minmax %{{.*}} count 16
// CHECK-DAG:       arith.cmpi sle, %[[LEAST]], %[[LAST]]
// CHECK-DAG:       arith.cmpi sle, %[[FIRST]], %[[GREATEST]]
// CHECK-DAG:       arith.cmpi eq, %[[LEAST]], %[[LAST]]
// CHECK-DAG:       arith.cmpi eq, %[[FIRST]], %[[GREATEST]]
// CHECK:         scf.for
// CHECK:           %[[KEYS:.*]] = fa.load_tile %{{.*}} each_row nearest : memref<?xi32, {{.*}}> -> vector<64x16xi32>
// CHECK:           %[[OF_ROWS:.*]] = vector.broadcast %{{.*}} : vector<64x1xi32> to vector<64x16xi32>
// CHECK:           %[[SAME:.*]] = arith.cmpi eq, %[[KEYS]], %[[OF_ROWS]]
// CHECK:           %[[VISIBLE:.*]] = arith.andi %{{.*}}, %[[SAME]]
// CHECK:           arith.select %[[VISIBLE]]
// CHECK:         } {fa.blocks = "partial"}
// CHECK:         scf.for
// CHECK-NOT:       each_row
// CHECK:         } {fa.blocks = "full"}
func.func @segments(%q: !mem, %s: memref<2x?xi32>, %o: !mem) {
  fa.attention %q, %q, %q segments(%s, %s : memref<2x?xi32>, memref<2x?xi32>) outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

// Full blocks read a bias two keys at once; where that cannot be none is full.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<2x1x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @bias
// CHECK:         %[[PAIRS:.*]] = fa.pairs_aligned %[[PLANE:.*]] : memref<?x?xf16, {{.*}}>
// CHECK:         %[[FULL_END:.*]] = arith.select %[[PAIRS]], %{{.*}}, %c0{{.*}} : index
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %[[FULL_END]]
// CHECK:           fa.load_tile %[[PLANE]][%{{.*}}] nearest paired : memref<?x?xf16, {{.*}}> -> vector<64x16xf16>
// CHECK:         } {fa.blocks = "full"}
// CHECK:           fa.load_tile %[[PLANE]][%{{.*}}] nearest : memref<?x?xf16, {{.*}}> -> vector<64x16xf16>
// CHECK:         } {fa.blocks = "partial"}
func.func @bias(%q: !mem, %bias: memref<2x1x?x?xf16>, %o: !mem) {
  fa.attention %q, %q, %q bias(%bias : memref<2x1x?x?xf16>) outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

// Regions are arithmetic on coordinates, in 32 bits where they fit. What depends on
// the head alone is read once; a table is read at clamped places.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<2x1x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @regions
// CHECK-SAME:    fa.attention = {
// CHECK-SAME:      score = {result = 8 : i64, values = [{arguments = [2], op = "load", operand = 1 : i64, type = "f32"}
// CHECK:         scf.for
// CHECK:           %[[S:.*]] = vector.contract
// CHECK:           memref.load %arg1[%{{.*}}] : memref<1xf32>
// CHECK:           %[[I:.*]] = fa.tile_index %{{.*}} dim 0 : vector<64x16xi32>
// CHECK:           %[[ROW:.*]] = arith.minsi %[[I]], %{{.*}} : vector<64x16xi32>
// CHECK:           fa.gather %arg2[%[[ROW]], %{{.*}}] : memref<?x?xf32>, vector<64x16xi32>, vector<64x16xi32> -> vector<64x16xf32>
func.func @regions(%q: !mem, %gain: memref<1xf32>, %table: memref<?x?xf32>, %o: !mem) {
  fa.attention %q, %q, %q
    score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
      %g = memref.load %gain[%h] : memref<1xf32>
      %x = arith.mulf %s, %g : f32
      %t = memref.load %table[%i, %j] : memref<?x?xf32>
      %r = arith.addf %x, %t : f32
      fa.yield %r : f32 }
    outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

// Rows behind a query length are not read, and are stored as 0 and -inf.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<2x1x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
!lse = memref<2x1x?xf32>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @query_lengths
// CHECK:           %[[QUERIES:.*]] = arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK:           %[[HAS_ROWS:.*]] = arith.cmpi slt, %{{.*}}, %[[QUERIES]]
// CHECK:           arith.select %[[HAS_ROWS]], %{{.*}}, %c0
// CHECK:           %[[NO_QUERY:.*]] = arith.cmpi sge, %{{.*}} : vector<64xi32>
// CHECK:           %[[ROWS:.*]] = arith.index_cast %[[QUERIES]]
// CHECK:           memref.subview %arg0[%{{.*}}] [1, 1, %[[ROWS]], 64]
// CHECK:         } {fa.blocks = "partial"}
// CHECK:         arith.select %[[NO_QUERY]], %{{.*}} : vector<64xi1>, vector<64xf32>
func.func @query_lengths(%q: !mem, %n: memref<2xi32>, %o: !mem, %lse: !lse) {
  fa.attention %q, %q, %q q_lengths(%n : memref<2xi32>) outs(%o, %lse : !mem, !lse) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

// The factor of the exponent is positive: a negative scale changes the sign of
// the scores, scale 0 makes them 0, an operand decides at run time.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<1x1x16x16xf16>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @negative_scale
// CHECK-SAME:    scale = -1.000000e+00 : f64
// CHECK:         %[[C:.*]] = arith.constant 1.44269502 : f32
// CHECK:         %[[S:.*]] = vector.contract
// CHECK-NEXT:    arith.negf %[[S]] : vector<64x16xf32>
func.func @negative_scale(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q scale(-1.0) outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
// CHECK-LABEL: func.func @zero_scale
// CHECK-DAG:     arith.constant 1.44269502 : f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[S:.*]] = vector.contract
// CHECK-NEXT:    %[[SIGN:.*]] = vector.broadcast %[[ZERO]] : f32
// CHECK-NEXT:    arith.mulf %[[S]], %[[SIGN]]
func.func @zero_scale(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q scale(0.0) outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
// CHECK-LABEL: func.func @scale_operand
// CHECK-SAME:    %[[SCALE:[a-z0-9]+]]: f32
// CHECK-SAME:    {dims = [], kind = "scalar", role = "scale", type = "f32"}
// CHECK:         %[[MAGNITUDE:.*]] = math.absf %[[SCALE]]
// CHECK:         %[[FACTOR:.*]] = arith.mulf %[[MAGNITUDE]]
// CHECK:         %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[SCALE]]
// CHECK:         %[[IS_TINY:.*]] = arith.cmpf olt, %[[FACTOR]]
// CHECK:         %[[IS_NEGATIVE:.*]] = arith.cmpf olt, %[[SCALE]]
// CHECK:         %[[LIFTED:.*]] = arith.mulf
// CHECK:         arith.select %[[IS_TINY]], %{{.*}}, %[[FACTOR]]
// CHECK:         %[[SIGN:.*]] = arith.select %[[IS_NEGATIVE]]
// CHECK:         arith.select %[[IS_ZERO]], %{{.*}}, %[[SIGN]]
func.func @scale_operand(%q: !mem, %s: f32, %o: !mem) {
  fa.attention %q, %q, %q scale(%s : f32) outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

// Extents of heads that are not static: kv(h) = h * Hkv / Hq, so that nothing
// is divided by a count of K/V heads that may be 0.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 16, warps = 4, stages = 2, state = registers, splits = 1, query = shared>
!mem = memref<?x?x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @dynamic_heads
// CHECK-DAG:     %[[HQ:.*]] = memref.dim %arg0, %c1
// CHECK-DAG:     %[[HKV:.*]] = memref.dim %arg1, %c1
// CHECK:         scf.forall (%{{.*}}, %[[H:.*]], %{{.*}}) in (%{{.*}}, %[[HQ]], %{{.*}})
// CHECK:           %[[PRODUCT:.*]] = arith.muli %[[H]], %[[HKV]]
// CHECK:           arith.divui %[[PRODUCT]], %[[HQ]]
func.func @dynamic_heads(%q: !mem, %k: !mem, %o: !mem) {
  fa.attention %q, %k, %k outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}

// -----

// Some exponentials of P by polynomial, in either loop; those of rows never.
#schedule = #fa.schedule<tile_q = 64, tile_kv = 32, warps = 4, stages = 2, state = registers, polynomial = 8>
!mem = memref<1x1x?x16xf16, strided<[?, ?, ?, ?], offset: ?>>
module attributes {fa.target = "sm_80"} {
// CHECK-LABEL: func.func @polynomials
// CHECK:       scf.for
// CHECK-NOT:     math.exp2 %{{.*}} : vector<64x32xf32>
// CHECK:         fa.exp2 %{{.*}} polynomial 8 : vector<64x32xf32>
// CHECK:         math.exp2 %{{.*}} : vector<64xf32>
// CHECK:       scf.for
// CHECK-NOT:     math.exp2 %{{.*}} : vector<64x32xf32>
// CHECK:         fa.exp2 %{{.*}} polynomial 8 : vector<64x32xf32>
// CHECK:         math.exp2 %{{.*}} : vector<64xf32>
func.func @polynomials(%q: !mem, %o: !mem) {
  fa.attention %q, %q, %q outs(%o : !mem) {schedule = #schedule} : !mem, !mem, !mem
  return
}
}
