// RUN: fa-opt %s --fa-select-schedule=target=sm_80 -o /dev/null
// RUN: fa-opt %s --pass-pipeline='builtin.module(fa-select-schedule,func.func(fa-tile-attention))' | FileCheck %s
// RUN: fa-opt %s --fa-stage-tile | FileCheck %s

// What a region computes in vain is refused by no pass, alone or in the stage,
// and compiled by none.
// CHECK-LABEL: func.func @in_vain(
// CHECK-SAME:    memref<8xf32, 3> {fa.read_in_vain}, %{{[a-z0-9]+}}: f64 {fa.read_in_vain}, %{{[a-z0-9]+}}: f32)
// CHECK-NEXT:    memref.cast
// CHECK-NOT:     math.sin
// CHECK-NOT:     memref<8xf32, 3>
!m = memref<1x2x40x64xf16>
func.func @in_vain(%q: !m, %o: !m, %t: memref<8xf32, 3>, %x: f64, %f: f32) {
  fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %zero = arith.constant 0 : index
    %d = arith.divui %i, %zero : index
    %y = memref.load %t[%d] : memref<8xf32, 3>
    %z = math.sin %x : f64
    %c = arith.cmpi eq, %i, %j : index
    %p = scf.if %c -> f32 {
      %a = arith.addf %y, %s : f32
      scf.yield %a : f32
    } else {
      scf.yield %s : f32
    }
    %r = arith.addf %s, %f : f32
    fa.yield %r : f32 } outs(%o : !m) : !m, !m, !m
  return
}
