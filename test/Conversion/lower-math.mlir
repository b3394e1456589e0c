// RUN: fa-opt %s --fa-lower-math --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: gpu.func @scalars
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
gpu.module @kernels {
  gpu.func @scalars(%x: f32, %y: f32) -> (f32, f32, f32, f32, f32, f32, f32) {
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[X]]) : (f32) -> f32
    %0 = math.exp2 %x : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%[[X]])
    %1 = math.log2 %x : f32
    // CHECK: llvm.call_intrinsic "llvm.fabs"(%[[X]])
    %2 = math.absf %x : f32
    // CHECK: llvm.intr.fma(%[[X]], %[[Y]], %[[X]]) : (f32, f32, f32) -> f32
    %3 = math.fma %x, %y, %x : f32
    // CHECK: llvm.intr.maxnum(%[[X]], %[[Y]])
    %4 = arith.maxnumf %x, %y : f32
    // CHECK: %[[C:.*]] = arith.constant 1.44269502 : f32
    // CHECK: %[[M:.*]] = arith.mulf %[[C]], %[[X]]
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[M]])
    %5 = math.exp %x : f32
    // CHECK: %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%[[X]])
    // CHECK: %[[C2:.*]] = arith.constant 0.693147182 : f32
    // CHECK: arith.mulf %[[C2]], %[[L]]
    %6 = math.log %x : f32
    gpu.return %0, %1, %2, %3, %4, %5, %6 : f32, f32, f32, f32, f32, f32, f32
  }
}

// -----

// tanh: one formula far from 0 and one near it, and the sign of x on either.
// CHECK-LABEL: gpu.func @tanh
// CHECK-SAME: (%[[X:.*]]: f32)
gpu.module @kernels {
  gpu.func @tanh(%x: f32) -> f32 {
    // CHECK: %[[SIZE:.*]] = llvm.call_intrinsic "llvm.fabs"(%[[X]])
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
    // CHECK: %[[INVERSE:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
    // CHECK: %[[FAR:.*]] = llvm.intr.fma(%[[INVERSE]],
    // CHECK: %[[NEAR:.*]] = llvm.intr.fma(%{{.*}}, %[[SIZE]], %[[SIZE]])
    // CHECK: %[[IS_NEAR:.*]] = arith.cmpf olt, %[[SIZE]]
    // CHECK: %[[R:.*]] = arith.select %[[IS_NEAR]], %[[NEAR]], %[[FAR]]
    // CHECK: llvm.call_intrinsic "llvm.copysign"(%[[R]], %[[X]])
    %0 = math.tanh %x : f32
    gpu.return %0 : f32
  }
}

// -----

// A quotient that may be approximate is a product with the reciprocal.
// CHECK-LABEL: gpu.func @quotients
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
gpu.module @kernels {
  gpu.func @quotients(%x: f32, %y: f32) -> (f32, f32, f32) {
    %one = arith.constant 1.0 : f32
    // CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[Y]])
    %0 = arith.divf %one, %y fastmath<afn> : f32
    // CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[Y]])
    // CHECK: %[[B:.*]] = arith.mulf %[[X]], %[[R]]
    %1 = arith.divf %x, %y fastmath<afn> : f32
    // CHECK: %[[C:.*]] = arith.divf %[[X]], %[[Y]] : f32
    %2 = arith.divf %x, %y : f32
    // CHECK: gpu.return %[[A]], %[[B]], %[[C]]
    gpu.return %0, %1, %2 : f32, f32, f32
  }
}

// -----

// A fragment is taken apart, an element at a time.
// CHECK-LABEL: gpu.func @fragment
gpu.module @kernels {
  gpu.func @fragment(%x: vector<2x2xf32>) -> vector<2x2xf32> {
    // CHECK: %[[X:.*]] = vector.extract %{{.*}}[0, 0] : f32 from vector<2x2xf32>
    // CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[X]])
    // CHECK: vector.insert %[[E]], %{{.*}} [0, 0] : f32 into vector<2x2xf32>
    // CHECK-COUNT-3: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
    // CHECK-NOT: math.
    %0 = math.exp2 %x : vector<2x2xf32>
    gpu.return %0 : vector<2x2xf32>
  }
  // CHECK-LABEL: gpu.func @pair
  gpu.func @pair(%x: vector<2xf32>) -> vector<2xf32> {
    // CHECK: llvm.intr.fma({{.*}}) : (vector<2xf32>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
    %0 = math.fma %x, %x, %x : vector<2xf32>
    gpu.return %0 : vector<2xf32>
  }
}

// -----

// The host is not ours to lower.
// CHECK-LABEL: func.func @negative_host
func.func @negative_host(%x: f32) -> f32 {
  // CHECK: math.exp2
  %0 = math.exp2 %x : f32
  return %0 : f32
}

// -----

// Functions of 16-bit numbers are computed in f32.
// CHECK-LABEL: gpu.func @short
// CHECK-SAME: (%[[H:.*]]: f16, %[[V:.*]]: vector<2xbf16>)
gpu.module @kernels {
  gpu.func @short(%h: f16, %v: vector<2xbf16>) -> (f16, vector<2xbf16>) {
    // CHECK-DAG: %[[X:.*]] = arith.extf %[[H]] {{.*}}: f16 to f32
    // CHECK-DAG: arith.extf %[[V]] {{.*}}: vector<2xbf16> to vector<2xf32>
    // CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[X]])
    // CHECK: arith.truncf %[[E]] {{.*}}: f32 to f16
    %0 = math.exp2 %h : f16
    // CHECK-COUNT-2: llvm.call_intrinsic "llvm.sqrt"
    // CHECK: arith.truncf {{.*}}: vector<2xf32> to vector<2xbf16>
    %1 = math.sqrt %v : vector<2xbf16>
    gpu.return %0, %1 : f16, vector<2xbf16>
  }
}

// -----

// Rounding down of a quotient that may be negative has no instruction.
// CHECK-LABEL: gpu.func @floor_division
gpu.module @kernels {
  gpu.func @floor_division(%x: i32, %y: i32) -> i32 {
    // CHECK-NOT: floordivsi
    // CHECK: arith.divsi
    %0 = arith.floordivsi %x, %y : i32
    gpu.return %0 : i32
  }
}

// -----

gpu.module @kernels {
  gpu.func @no_instruction(%x: f32, %d: f64) -> (f32, f64) {
    // expected-error @+1 {{'math.atan' on 'f32' has no lowering to PTX instructions}}
    %0 = math.atan %x : f32
    // expected-error @+1 {{'math.exp2' on 'f64' has no lowering to PTX instructions}}
    %1 = math.exp2 %d : f64
    gpu.return %0, %1 : f32, f64
  }
}
