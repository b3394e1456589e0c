// What becomes of each block, by the bounds of the loops that were written.
// RUN: split-file %s %t
// RUN: fa-opt %t/window.mlir -o /dev/null \
// RUN:   --fa-print-block-map="schedule=tile_q=64,tile_kv=32,warps=4" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WINDOW --match-full-lines
// A program that is tiled already is drawn as it is.
// RUN: fa-opt %t/window.mlir -o /dev/null \
// RUN:   --fa-stage-tile="schedule=tile_q=64,tile_kv=32,warps=4" \
// RUN:   --fa-print-block-map 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WINDOW --match-full-lines
// The file itself is not changed.
// RUN: fa-opt %t/window.mlir --fa-print-block-map 2>/dev/null \
// RUN:   | FileCheck %s --check-prefix=KEPT

// WINDOW:      @window batch 0 head 0: blocks of 64 queries and 32 keys
// WINDOW-NEXT:        0  ++......
// WINDOW-NEXT:       64  +#++....
// WINDOW-NEXT:      128  +++#++..
// WINDOW-NEXT:      192  ..+++#++
// WINDOW-NEXT: # full 3, + partial 15, . skipped 14
// KEPT: fa.attention
// The blocks of a cluster go through what any of them sees.
// RUN: fa-opt %t/window.mlir -o /dev/null \
// RUN:   --fa-print-block-map="target=sm_90a schedule=tile_q=64,tile_kv=32,cluster=2" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CLUSTER --match-full-lines
// CLUSTER:      @window batch 0 head 0: blocks of 128 queries and 32 keys
// CLUSTER-NEXT:        0  ++++....
// CLUSTER-NEXT:      128  ++++++++

// RUN: fa-opt %t/lengths.mlir -o /dev/null \
// RUN:   --fa-print-block-map="given=Sq=300,Sk=500 schedule=tile_q=128,tile_kv=64" \
// RUN:   2>&1 | FileCheck %s --check-prefix=WHOLE --match-full-lines
// RUN: fa-opt %t/lengths.mlir -o /dev/null \
// RUN:   --fa-print-block-map="given=Sq=300,Sk=500,kv_lengths=100,q_lengths=130 schedule=tile_q=128,tile_kv=64 batch=1" \
// RUN:   2>&1 | FileCheck %s --check-prefix=SHORT --match-full-lines

// Keys that no query sees are skipped; rows 130 and on are no queries.
// WHOLE:      @lengths batch 0 head 0: blocks of 128 queries and 64 keys
// WHOLE-NEXT:        0  ###+++..
// WHOLE-NEXT:      128  #####+++
// WHOLE-NEXT:      256  #######+
// SHORT:      @lengths batch 1 head 0: blocks of 128 queries and 64 keys
// SHORT-NEXT:        0  ++......
// SHORT-NEXT:      128  #+......
// SHORT-NEXT:      256  ........

// RUN: fa-opt %t/region.mlir -o /dev/null \
// RUN:   --fa-print-block-map="schedule=tile_q=64,tile_kv=32 head=1" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REGION --match-full-lines
// REGION:      @region batch 0 head 1: blocks of 64 queries and 32 keys
// REGION-NEXT:        0  ###.....
// REGION-NEXT:       64  ..###...
// REGION-NEXT:      128  ....###.
// REGION-NEXT:      192  ......##

// Hidden blocks between others are skipped too.
// RUN: fa-opt %t/sinks.mlir -o /dev/null \
// RUN:   --fa-print-block-map="schedule=tile_q=32,tile_kv=32" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SINKS --match-full-lines
// SINKS:      @sinks batch 0 head 0: blocks of 32 queries and 32 keys
// SINKS-NEXT:        0  +.......
// SINKS-NEXT:       32  ++......
// SINKS-NEXT:       64  +++.....
// SINKS-NEXT:       96  +.++....
// SINKS-NEXT:      128  +..++...
// SINKS-NEXT:      160  +...++..
// SINKS-NEXT:      192  +....++.
// SINKS-NEXT:      224  +.....++

// A distance without a sign is a window: what is negative is far away.
// RUN: fa-opt %t/unsigned.mlir -o /dev/null \
// RUN:   --fa-print-block-map="schedule=tile_q=32,tile_kv=32" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNSIGNED --match-full-lines
// UNSIGNED:      @unsigned batch 0 head 0: blocks of 32 queries and 32 keys
// UNSIGNED-NEXT:        0  +.......
// UNSIGNED-NEXT:       32  #+......
// UNSIGNED-NEXT:       64  +#+.....
// UNSIGNED-NEXT:       96  .+#+....
// UNSIGNED-NEXT:      128  ..+#+...
// UNSIGNED-NEXT:      160  ...+#+..
// UNSIGNED-NEXT:      192  ....+#+.
// UNSIGNED-NEXT:      224  .....+#+
// UNSIGNED:      @beyond batch 0 head 0: blocks of 32 queries and 32 keys
// UNSIGNED-NEXT:        0  +#######
// UNSIGNED-NEXT:       32  .+######
// UNSIGNED-NEXT:       64  +.+#####
// UNSIGNED-NEXT:       96  ++.+####
// UNSIGNED-NEXT:      128  +++.+###
// UNSIGNED-NEXT:      160  ###+.+++
// No block is full in which a dense mask, or a region that cannot be asked
// block by block, may hide keys.
// RUN: fa-opt %t/elements.mlir -o /dev/null \
// RUN:   --fa-print-block-map="schedule=tile_q=64,tile_kv=32" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ELEMENTS --match-full-lines
// ELEMENTS:      @mask batch 0 head 0: blocks of 64 queries and 32 keys
// ELEMENTS-NEXT:        0  ++..
// ELEMENTS-NEXT:       64  ++++
// ELEMENTS:      @bits batch 0 head 0: blocks of 64 queries and 32 keys
// ELEMENTS-NEXT:        0  ++..
// ELEMENTS-NEXT:       64  ++++
// Of segments and tables one number can be given.
// RUN: not fa-opt %t/segments.mlir --fa-print-block-map=given=region0=40 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: segments.mlir:2:{{[0-9]+}}: error: the block map depends on q_segments, which is not given
// RUN: fa-opt %t/segments.mlir -o /dev/null \
// RUN:   --fa-print-block-map="given=q_segments=3,kv_segments=3,region0=40 schedule=tile_q=64,tile_kv=32" \
// RUN:   2>&1 | FileCheck %s --check-prefix=SEGMENTS --match-full-lines
// SEGMENTS:      @segments batch 0 head 0: blocks of 64 queries and 32 keys
// SEGMENTS-NEXT:        0  #+..
// RUN: fa-opt %t/segments.mlir -o /dev/null \
// RUN:   --fa-print-block-map="given=q_segments=3,kv_segments=2,region0=40 schedule=tile_q=64,tile_kv=32" \
// RUN:   2>&1 | FileCheck %s --check-prefix=OTHERS --match-full-lines
// OTHERS:      @segments batch 0 head 0: blocks of 64 queries and 32 keys
// OTHERS-NEXT:        0  ....
// A number of one bit is 0 or -1.
// RUN: fa-opt %t/sign.mlir -o /dev/null \
// RUN:   --fa-print-block-map="schedule=tile_q=64,tile_kv=32 head=1" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SIGN --match-full-lines
// SIGN:      @sign batch 0 head 1: blocks of 64 queries and 32 keys
// SIGN-NEXT:        0  ++++

// RUN: not fa-opt %t/lengths.mlir --fa-print-block-map 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPEN
// OPEN: lengths.mlir:2:{{[0-9]+}}: error: the block map depends on Sq, which is not given
// RUN: not fa-opt %t/window.mlir --fa-print-block-map=head=2 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HEAD
// HEAD: window.mlir:2:{{[0-9]+}}: error: head is 2; there are 2
// RUN: not fa-opt %t/window.mlir --fa-print-block-map=batch=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BATCH
// BATCH: error: batch is -1; there are 1
// RUN: not fa-opt %t/window.mlir --fa-print-block-map=given=Sk 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GIVEN
// GIVEN: error: fa-print-block-map: given has 'Sk'; accepted is NAME=NUMBER, as in Sk=300 or kv_lengths=100
// RUN: not fa-opt %t/window.mlir --fa-print-block-map=given=SK=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// NAME: window.mlir:1:{{[0-9]+}}: error: a number is given for 'SK'; the function has B, Hq, Sq, D, query, Hkv, Sk, key, Dv, value, out
// RUN: not fa-opt %t/window.mlir --fa-print-block-map=target=sm_1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}sm_1
// RUN: not fa-opt %t/around.mlir --fa-print-block-map 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AROUND
// AROUND: error: the block map depends on what a program around attention computes

//--- window.mlir
func.func @window(%q: tensor<1x2x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.window<top_left, left = 100, right = 0>] : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}
//--- lengths.mlir
func.func @lengths(%q: tensor<2x2x?x64xf16>, %k: tensor<2x2x?x64xf16>, %v: tensor<2x2x?x64xf16>, %n: tensor<2xi32>, %m: tensor<2xi32>) -> tensor<2x2x?x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<bottom_right>] q_lengths(%m : tensor<2xi32>) kv_lengths(%n : tensor<2xi32>) : tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16> -> tensor<2x2x?x64xf16>
  return %o : tensor<2x2x?x64xf16>
}
//--- region.mlir
// Chunks of 64 that see themselves and, in head 1, the next half.
func.func @region(%q: tensor<1x2x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  %o = fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %half = arith.constant 32 : index
    %two = arith.constant 2 : index
    %zero = arith.constant 0 : index
    %x = arith.divui %i, %half : index
    %y = arith.divui %x, %two : index
    %first = arith.muli %y, %two : index
    %z = arith.divui %j, %half : index
    %d = arith.subi %z, %first : index
    %low = arith.cmpi sge, %d, %zero : index
    %one = arith.constant 1 : index
    %most = arith.addi %one, %h : index
    %high = arith.cmpi sle, %d, %most : index
    %c = arith.andi %low, %high : i1
    fa.yield %c : i1 }
    : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}
//--- sinks.mlir
func.func @sinks(%q: tensor<1x1x256x64xf16>, %k: tensor<1x1x256x64xf16>, %v: tensor<1x1x256x64xf16>) -> tensor<1x1x256x64xf16> {
  %o = fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %sinks = arith.constant 4 : index
    %length = arith.constant 20 : index
    %first = arith.cmpi slt, %j, %sinks : index
    %d = arith.subi %i, %j : index
    %near = arith.cmpi slt, %d, %length : index
    %past = arith.cmpi sle, %j, %i : index
    %window = arith.andi %near, %past : i1
    %c = arith.ori %first, %window : i1
    fa.yield %c : i1 }
    : tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16> -> tensor<1x1x256x64xf16>
  return %o : tensor<1x1x256x64xf16>
}
//--- unsigned.mlir
func.func @unsigned(%q: tensor<1x1x256x64xf16>, %k: tensor<1x1x256x64xf16>, %v: tensor<1x1x256x64xf16>) -> tensor<1x1x256x64xf16> {
  %o = fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = arith.constant 64 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi ult, %d, %length : index
    fa.yield %c : i1 }
    : tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16> -> tensor<1x1x256x64xf16>
  return %o : tensor<1x1x256x64xf16>
}
func.func @beyond(%q: tensor<1x1x256x64xf16>, %k: tensor<1x1x256x64xf16>, %v: tensor<1x1x256x64xf16>) -> tensor<1x1x256x64xf16> {
  %o = fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = arith.constant 64 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi uge, %d, %length : index
    fa.yield %c : i1 }
    : tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16> -> tensor<1x1x256x64xf16>
  return %o : tensor<1x1x256x64xf16>
}
//--- elements.mlir
func.func @mask(%q: tensor<1x1x128x64xf16>, %k: tensor<1x1x128x64xf16>, %v: tensor<1x1x128x64xf16>, %m: tensor<128x128xi1>) -> tensor<1x1x128x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] mask(%m : tensor<128x128xi1>)
    : tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16> -> tensor<1x1x128x64xf16>
  return %o : tensor<1x1x128x64xf16>
}
func.func @bits(%q: tensor<1x1x128x64xf16>, %k: tensor<1x1x128x64xf16>, %v: tensor<1x1x128x64xf16>) -> tensor<1x1x128x64xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %zero = arith.constant 0 : index
    %bits = arith.andi %i, %j : index
    %c = arith.cmpi eq, %bits, %zero : index
    fa.yield %c : i1 }
    : tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16> -> tensor<1x1x128x64xf16>
  return %o : tensor<1x1x128x64xf16>
}
//--- segments.mlir
func.func @segments(%q: tensor<1x1x64x64xf16>, %k: tensor<1x1x128x64xf16>, %v: tensor<1x1x128x64xf16>, %m: tensor<1x64xi32>, %n: tensor<1x128xi32>, %t: tensor<64xi32>) -> tensor<1x1x64x64xf16> {
  %o = fa.attention %q, %k, %v segments(%m, %n : tensor<1x64xi32>, tensor<1x128xi32>) visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %most = tensor.extract %t[%i] : tensor<64xi32>
    %key = arith.index_cast %j : index to i32
    %c = arith.cmpi slt, %key, %most : i32
    fa.yield %c : i1 }
    : tensor<1x1x64x64xf16>, tensor<1x1x128x64xf16>, tensor<1x1x128x64xf16> -> tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}
//--- sign.mlir
// In head 1 keys are divided by -1.
func.func @sign(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x128x64xf16>, %v: tensor<1x2x128x64xf16>) -> tensor<1x2x64x64xf16> {
  %o = fa.attention %q, %k, %v visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %head = arith.index_cast %h : index to i1
    %number = arith.extsi %head : i1 to i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %twice = arith.muli %number, %two : i32
    %divisor = arith.addi %twice, %one : i32
    %key = arith.index_cast %j : index to i32
    %x = arith.divsi %key, %divisor : i32
    %least = arith.constant -100 : i32
    %c = arith.cmpi sge, %x, %least : i32
    fa.yield %c : i1 }
    : tensor<1x2x64x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16> -> tensor<1x2x64x64xf16>
  return %o : tensor<1x2x64x64xf16>
}
//--- around.mlir
func.func @around(%q: memref<1x1x?x64xf16>, %k: memref<1x1x?x64xf16>, %v: memref<1x1x?x64xf16>, %o: memref<1x1x?x64xf16>, %n: index) {
  %zero = arith.constant 0 : index
  %s = memref.subview %k[0, 0, 0, 0] [1, 1, %n, 64] [1, 1, 1, 1] : memref<1x1x?x64xf16> to memref<1x1x?x64xf16, strided<[?, ?, 64, 1]>>
  fa.attention %q, %s, %v outs(%o : memref<1x1x?x64xf16>) : memref<1x1x?x64xf16>, memref<1x1x?x64xf16, strided<[?, ?, 64, 1]>>, memref<1x1x?x64xf16>
  return
}
