// RUN: fa-opt %s --allow-unregistered-dialect --fa-map-to-gpu --split-input-file --verify-diagnostics | FileCheck %s
// REQUIRES: fa-opt
//
// A tile program becomes a kernel, its launch, and the manifest's rows.

#wg = #gpu.address_space<workgroup>

// CHECK: module attributes {gpu.container_module}
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[Q:.*]]: memref<1x8x?x64xf16,
// CHECK-NOT: scf.forall
// CHECK: %[[GRID:.*]] = arith.muli
// CHECK: %[[HAS:.*]] = arith.cmpi ne, %[[GRID]], %c0
// CHECK: scf.if %[[HAS]]
// CHECK:   %[[BASE:.*]], %[[OFF:.*]], %{{.*}}:4, %[[ST:.*]]:4 = memref.extract_strided_metadata %[[Q]]
// CHECK:   %[[ADDR:.*]] = memref.extract_aligned_pointer_as_index %[[Q]]
// CHECK:   %[[BYTES:.*]] = arith.muli %[[OFF]], %c2
// CHECK:   %[[SUM:.*]] = arith.addi %[[ADDR]], %[[BYTES]]
// CHECK:   %[[I64:.*]] = arith.index_cast %[[SUM]] : index to i64
// CHECK:   %[[P:.*]] = llvm.inttoptr %[[I64]] : i64 to !llvm.ptr<1>
// CHECK:   gpu.launch_func @f_kernels::@f_kernel blocks in (%[[GRID]], %c1{{.*}}, %c1{{.*}}) threads in (%c64{{.*}}, %c1{{.*}}, %c1{{.*}}) dynamic_shared_memory_size %c8320_i32
// CHECK-SAME: args(%[[P]] : !llvm.ptr<1>, %{{.*}} : i64, %{{.*}} : i64, %{{.*}} : i64, %{{.*}} : i64, %{{.*}} : !llvm.ptr<1>, %{{.*}} : f32)

// CHECK: gpu.module @f_kernels
// CHECK: memref.global @f_kernel_smem : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 128 : i64}
// Strides of dimensions of extent 1 do not exist for the kernel.
// CHECK: gpu.func @f_kernel(%[[P:.*]]: !llvm.ptr<1>, %[[S1:.*]]: i64, %[[S2:.*]]: i64, %[[S3:.*]]: i64, %[[SQ:.*]]: i64, %{{.*}}: !llvm.ptr<1>, %[[X:.*]]: f32) kernel attributes
// CHECK-SAME: fa.grid = ["ceildiv(Sq, 32) * 8", "1", "1"]
// CHECK-SAME: fa.parameters = [{kind = "pointer", operand = 0 : i64, type = "ptr"}, {dim = 1 : i64, kind = "stride", operand = 0 : i64, type = "i64"}, {dim = 2 : i64, kind = "stride", operand = 0 : i64, type = "i64"}, {dim = 3 : i64, kind = "stride", operand = 0 : i64, type = "i64"}, {dim = 2 : i64, kind = "extent", operand = 0 : i64, type = "i64"}, {kind = "pointer", operand = 1 : i64, type = "ptr"}, {kind = "scalar", operand = 2 : i64, type = "f32"}]
// CHECK-SAME: fa.shared_bytes = 8320 : i64
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK: %[[ARENA:.*]] = memref.get_global @f_kernel_smem
// CHECK: memref.view %[[ARENA]][%c0{{.*}}][] {fa.swizzle} : {{.*}} to memref<2x32x64xf16,
// CHECK: memref.view %[[ARENA]][%c8192{{.*}}][] : {{.*}} to memref<5xf32,
// CHECK: %[[VIEW:.*]] = fa.view %[[P]] sizes[%{{.*}}] strides[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : !llvm.ptr<1> to memref<1x8x?x64xf16, strided<[?, ?, ?, ?]>, #gpu.address_space<global>>
// The last dimension of the forall is the fastest.
// CHECK: %[[N:.*]] = arith.ceildivui
// CHECK: %[[ID:.*]] = gpu.block_id x
// CHECK: %[[ID32:.*]] = arith.index_cast %[[ID]] : index to i32
// CHECK: %[[N32:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK: %[[IB32:.*]] = arith.remui %[[ID32]], %[[N32]] : i32
// CHECK: %[[IB:.*]] = arith.index_castui %[[IB32]] : i32 to index
// CHECK: %[[REST:.*]] = arith.divui %[[ID32]], %[[N32]] : i32
// CHECK: %[[H32:.*]] = arith.remui %[[REST]], %c8_i32 : i32
// CHECK: %[[H:.*]] = arith.index_castui %[[H32]] : i32 to index
// CHECK: %[[QB:.*]] = memref.subview %[[VIEW]][0, %[[H]], 0, 0] {{.*}} to memref<?x64xf16, strided<[?, ?], offset: ?>, #gpu.address_space<global>>
// CHECK: fa.copy_tile %[[QB]][%[[IB]],
// CHECK: gpu.return
func.func @f(%Q: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>, %L: memref<1xi32>, %scale: f32) attributes {
    fa.operands = [{role = "query", kind = "input", type = "f16", dims = ["B", "Hq", "Sq", "D"]},
                   {role = "kv_lengths", kind = "input", type = "i32", dims = ["B"]}, {role = "scale", kind = "scalar", type = "f32", dims = []}]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %Sq = memref.dim %Q, %c2 : memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
  %n = arith.ceildivui %Sq, %c32 : index
  scf.forall (%b, %h, %ib) in (1, 8, %n) {
    %s = memref.alloc() {fa.swizzle} : memref<2x32x64xf16, #wg>
    %t = memref.alloc() : memref<5xf32, #wg>
    %Qb = memref.subview %Q[0, %h, 0, 0] [1, 1, %Sq, 64] [1, 1, 1, 1] : memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>> to memref<?x64xf16, strided<[?, ?], offset: ?>>
    fa.copy_tile %Qb[%ib, %c0] to %s[%c0, %c0, %c0] : memref<?x64xf16, strided<[?, ?], offset: ?>> to memref<2x32x64xf16, #wg>
    %len = memref.load %L[%b] : memref<1xi32>
    "test.use"(%t, %len, %scale) : (memref<5xf32, #wg>, i32, f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// Views of arguments need no arguments of their own: a transposed layout takes
// the argument's strides in another order, a broadcast has stride 0. Extents
// of the same name are one argument, but for those of a mask: it may broadcast.
// CHECK-LABEL: func.func @views
// CHECK: gpu.func @views_kernel(%[[P:.*]]: !llvm.ptr<1>, %[[A:.*]]: i64, %[[B:.*]]: i64, %[[S:.*]]: i64, %[[M:.*]]: !llvm.ptr<1>, %[[C:.*]]: i64, %[[E:.*]]: i64)
// CHECK-SAME: fa.grid = ["Sq", "1", "1"]
// CHECK-SAME: {dim = 2 : i64, kind = "stride", operand = 0 : i64, type = "i64"}, {dim = 1 : i64, kind = "stride", operand = 0 : i64, type = "i64"}, {dim = 1 : i64, kind = "extent", operand = 0 : i64, type = "i64"}, {kind = "pointer", operand = 1 : i64, type = "ptr"}, {dim = 1 : i64, kind = "stride", operand = 1 : i64, type = "i64"}, {dim = 1 : i64, kind = "extent", operand = 1 : i64, type = "i64"}
// CHECK-DAG: %[[AI:.*]] = arith.index_cast %[[A]]
// CHECK-DAG: %[[BI:.*]] = arith.index_cast %[[B]]
// CHECK-DAG: %[[SI:.*]] = arith.index_cast %[[S]]
// CHECK: fa.view %[[P]] sizes[%[[SI]]] strides[%{{.*}}, %[[AI]], %[[BI]], %{{.*}}] : {{.*}} to memref<1x4x?x16xf16,
// CHECK-DAG: %[[CI:.*]] = arith.index_cast %[[C]]
// CHECK-DAG: %[[EI:.*]] = arith.index_cast %[[E]]
// CHECK: fa.view %[[M]] sizes[%[[EI]]] strides[%[[ZERO:.*]], %[[CI]]]
func.func @views(%Q: memref<1x?x4x16xf16, strided<[?, ?, ?, 1], offset: ?>>, %M: memref<1x?xi1, strided<[?, ?], offset: ?>>) attributes {
    fa.operands = [{role = "query", kind = "input", type = "f16", dims = ["B", "Sq", "Hq", "D"]},
                   {role = "mask", kind = "input", type = "i1", dims = ["1", "Sq"], broadcasts}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %T = memref.transpose %Q (b, s, h, d) -> (b, h, s, d) : memref<1x?x4x16xf16, strided<[?, ?, ?, 1], offset: ?>> to memref<1x4x?x16xf16, strided<[?, ?, ?, 1], offset: ?>>
  %c2 = arith.constant 2 : index
  %Sq = memref.dim %T, %c2 : memref<1x4x?x16xf16, strided<[?, ?, ?, 1], offset: ?>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %M : memref<1x?xi1, strided<[?, ?], offset: ?>> -> memref<i1>, index, index, index, index, index
  %W = memref.reinterpret_cast %base to offset: [%offset], sizes: [4, %sizes#1], strides: [0, %strides#1] : memref<i1> to memref<4x?xi1, strided<[0, ?], offset: ?>>
  scf.forall (%i) in (%Sq) {
    %x = memref.load %T[%c0, %c0, %i, %c0] : memref<1x4x?x16xf16, strided<[?, ?, ?, 1], offset: ?>>
    %y = memref.load %W[%c1, %i] : memref<4x?xi1, strided<[0, ?], offset: ?>>
    "test.use"(%x, %y) : (f16, i1) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// Two functions, two modules; and two programs in one function.
// CHECK: gpu.launch_func @a_kernels::@a_kernel
// CHECK: gpu.launch_func @a_kernels_0::@a_kernel_0
// CHECK: gpu.module @a_kernels
// CHECK: gpu.module @b_kernels
// Without fa.operands any buffer will do, but only the host code can launch.
func.func @a(%n: index) {
  %m = memref.alloc(%n) : memref<?xf32>
  scf.forall (%i) in (%n) {
    %x = memref.load %m[%i] : memref<?xf32>
    "test.use"(%x) : (f32) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  scf.forall (%i) in (3) {
    "test.use"(%i) : (index) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}
func.func @b() {
  scf.forall (%i) in (3) {
    "test.use"(%i) : (index) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

#wg = #gpu.address_space<workgroup>

// An i1 is a byte: the second buffer begins behind the first.
// CHECK-LABEL: gpu.func @bits_kernel
// CHECK-DAG: %[[SECOND:.*]] = arith.constant 256 : index
// CHECK-DAG: memref.view %{{.*}}[%[[SECOND]]][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<4xf32
func.func @bits() {
  scf.forall (%i) in (3) {
    %m = memref.alloc() : memref<200xi1, #wg>
    %n = memref.alloc() : memref<4xf32, #wg>
    "test.use"(%m, %n) : (memref<200xi1, #wg>, memref<4xf32, #wg>) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// A dimension that there is not is an ordinary, undefined, value.
// CHECK-LABEL: gpu.func @no_such_dimension_kernel
func.func @no_such_dimension(%m: memref<?xf32>) {
  %c5 = arith.constant 5 : index
  %n = memref.dim %m, %c5 : memref<?xf32>
  scf.forall (%i) in (3) {
    "test.use"(%n) : (index) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 32, tile_kv = 32, warps = 2, stages = 2, state = registers>}
  return
}

// -----

// An iteration is a cluster of two blocks, where the schedule says so.
// CHECK-LABEL: func.func @pairs(
// CHECK: %[[GRID:.*]] = arith.muli %{{.*}}, %[[SIZE:c2.*]] : index
// CHECK: gpu.launch_func @pairs_kernels::@pairs_kernel clusters in (%[[SIZE]], %{{.*}}, %{{.*}}) blocks in (%[[GRID]], %{{.*}}, %{{.*}})
// CHECK: gpu.func @pairs_kernel(
// CHECK-SAME: fa.cluster = array<i64: 2, 1, 1>
// CHECK-SAME: fa.grid = ["ceildiv(Sq, 32) * 8 * 2", "1", "1"]
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK: %[[ID:.*]] = gpu.cluster_id x
// CHECK: arith.index_cast %[[ID]] : index to i32
// CHECK-NOT: gpu.block_id
// CHECK: gpu.return
func.func @pairs(%Q: memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>) attributes {
    fa.operands = [{role = "query", kind = "input", type = "f16", dims = ["B", "Hq", "Sq", "D"]}]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %Sq = memref.dim %Q, %c2 : memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
  %n = arith.ceildivui %Sq, %c32 : index
  scf.forall (%h, %ip) in (8, %n) {
    %x = memref.load %Q[%c0, %h, %ip, %c0] : memref<1x8x?x64xf16, strided<[?, ?, ?, ?], offset: ?>>
    "test.use"(%x) : (f16) -> ()
  } {fa.schedule = #fa.schedule<tile_q = 16, tile_kv = 32, warps = 1, stages = 2, state = registers, cluster = 2>}
  return
}
