// RUN: fa-opt %s --fa-stage-lower | FileCheck %s

// A lane's program with everything that the distribute stage may leave: an
// arena in shared memory, cp.async, ldmatrix, mma, a loop, shuffles, math.
#wg = #gpu.address_space<workgroup>
module attributes {gpu.container_module, fa.target = "sm_80"} {
// The host keeps its launch.
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@kernel
func.func @host(%p: !llvm.ptr<1>, %n: i64, %bytes: i32) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1)
      threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes
      args(%p : !llvm.ptr<1>, %n : i64)
  return
}
// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK: llvm.mlir.global external @arena() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  memref.global @arena : memref<0xi8, #wg> {alignment = 128}
  // CHECK: llvm.func @kernel(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64)
  // CHECK-SAME: fa.shared_bytes = 4096 : i64
  // CHECK-SAME: nvvm.kernel
  // CHECK-SAME: nvvm.maxntid = array<i32: 128, 1, 1>
  // CHECK-NOT: {{(arith|scf|vector|memref|math|gpu)\.}}
  gpu.func @kernel(%p: !llvm.ptr<1>, %n: i64) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, fa.shared_bytes = 4096 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %s = memref.get_global @arena : memref<0xi8, #wg>
    %tile = memref.view %s[%c0][] : memref<0xi8, #wg> to memref<32x64xf16, #wg>
    %shared = memref.extract_aligned_pointer_as_index %tile : memref<32x64xf16, #wg> -> index
    %shared64 = arith.index_cast %shared : index to i64
    %to = llvm.inttoptr %shared64 : i64 to !llvm.ptr<3>
    // CHECK: nvvm.cp.async.shared.global
    nvvm.cp.async.shared.global %to, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    // CHECK: nvvm.cp.async.commit.group
    nvvm.cp.async.commit.group
    // CHECK: nvvm.cp.async.wait.group 0
    nvvm.cp.async.wait.group 0
    // CHECK: nvvm.barrier
    gpu.barrier
    %end = arith.index_cast %n : i64 to index
    // CHECK: llvm.cond_br
    %sum = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %zero) -> vector<2x2xf32> {
      // CHECK: nvvm.ldmatrix
      %row = arith.index_cast %i : index to i64
      %from = llvm.getelementptr %to[%row] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f16
      %q = nvvm.ldmatrix %from {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
         : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
      %w0 = llvm.extractvalue %q[0] : !llvm.struct<(i32, i32, i32, i32)>
      %a = llvm.bitcast %w0 : i32 to vector<2xf16>
      %x0 = vector.extract %acc[0, 0] : f32 from vector<2x2xf32>
      // CHECK: nvvm.mma.sync
      %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%x0, %x0, %x0, %x0] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
         : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
      %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
      %d2 = vector.insert %d0, %acc[0, 0] : f32 into vector<2x2xf32>
      %d3 = vector.insert %d1, %d2[0, 1] : f32 into vector<2x2xf32>
      scf.yield %d3 : vector<2x2xf32>
    }
    %x = vector.extract %sum[0, 0] : f32 from vector<2x2xf32>
    %o = arith.constant 1 : i32
    %w = arith.constant 32 : i32
    // CHECK: nvvm.shfl.sync
    %y, %ok = gpu.shuffle xor %x, %o, %w : f32
    // CHECK: llvm.intr.maxnum
    %m = arith.maxnumf %x, %y : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
    %e = math.exp2 %m : f32
    %at = llvm.getelementptr %p[%n] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %e, %at : f32, !llvm.ptr<1>
    gpu.return
  }
}
}
