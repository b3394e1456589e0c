// RUN: fa-opt %s --fa-stage-tile --fa-stage-map | FileCheck %s
// RUN: fa-opt %s --fa-pipeline | FileCheck %s --check-prefix=LOWER
// RUN: not fa-compile %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=COMPILE

// Attention between buffers that its function makes itself: the launch takes
// them, and no words describe it to others.
// CHECK: func.func @around(
// CHECK-NOT: fa.operands
// CHECK: %[[Q:.*]] = memref.alloc
// CHECK: %[[O:.*]] = memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index %[[Q]]
// CHECK: memref.extract_aligned_pointer_as_index %[[O]]
// CHECK: gpu.launch_func @around_kernels::@around_kernel
// CHECK: memref.copy %[[O]]
// CHECK: gpu.func @around_kernel
// CHECK-NOT: fa.grid
// CHECK-SAME: fa.parameters = [
// LOWER: gpu.launch_func @around_kernels::@around_kernel
// LOWER: nvvm.mma.sync
// COMPILE: error: 'around' must hold one fa.attention with arguments for operands to be launched from outside, and its query is no argument, but made by 'memref.alloc'; what computes around attention is compiled by fa-opt
!t = memref<1x2x?x64xf16>
func.func @around(%x: !t, %k: !t, %v: !t, %n: index) {
  %q = memref.alloc(%n) : !t
  memref.copy %x, %q : !t to !t
  %o = memref.alloc(%n) : !t
  fa.attention %q, %k, %v outs(%o : !t) : !t, !t, !t
  memref.copy %o, %x : !t to !t
  return
}
