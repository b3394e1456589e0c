// Two functions in a file: --entry says which.
// REQUIRES: fa-run
// RUN: fa-run %s --entry=first --device=emulator | FileCheck %s --check-prefix=FIRST
// FIRST: run: first on emulator for sm_80, B=1 D=64 Dv=64 Hkv=2 Hq=2 Sk=8 Sq=8
// FIRST-NEXT: check: ok
// RUN: fa-run %s --entry=second --device=emulator | FileCheck %s --check-prefix=SECOND
// SECOND: run: second on emulator for sm_80, B=1 D=32 Dv=32 Hkv=4 Hq=4 Sk=40 Sq=40
// SECOND-NEXT: check: ok
// On sm_120 LLVM pairs some of the f32 arithmetic: the packed forms run too.
// RUN: fa-run %S/../../../examples/worked/attention.mlir --device=emulator --target=sm_120 | FileCheck %s --check-prefix=PAIRS
// PAIRS: run: worked on emulator for sm_120
// PAIRS-NEXT: check: ok
// One block of keys leaves no loop, so that Q stays in registers beside a barrier.
// RUN: fa-run %s --entry=second --device=emulator --schedule=query=registers,tile_kv=64 | FileCheck %s --check-prefix=ONEBLOCK
// ONEBLOCK: run: second on emulator
// ONEBLOCK-NEXT: check: ok
// RUN: not fa-run %s --device=emulator 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: error: the entry must be named: there are first, second
// RUN: not fa-run %s --device=emulator --entry=third 2>&1 | FileCheck %s --check-prefix=THIRD
// THIRD: entry.mlir: error: entry 'third' names no function that holds attention; there are first, second
!a = tensor<1x2x8x64xf16>
!b = tensor<1x4x40x32xbf16>
func.func @first(%q: !a, %k: !a, %v: !a) -> !a {
  %o = fa.attention %q, %k, %v : !a, !a, !a -> !a
  return %o : !a
}
func.func @second(%q: !b, %k: !b, %v: !b) -> !b {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] : !b, !b, !b -> !b
  return %o : !b
}
