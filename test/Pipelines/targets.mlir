// Every target has the same passes in the same order: not the chip, but the
// schedule that was chosen for it says which of them act.
//
// RUN: fa-opt %s --fa-pipeline="target=sm_80" --dump-pass-pipeline -o /dev/null 2> %t.sm_80
// RUN: fa-opt %s --fa-pipeline="target=sm_90a" --dump-pass-pipeline -o /dev/null 2> %t.sm_90a
// RUN: sed s/sm_90a/sm_80/ %t.sm_90a > %t.renamed
// RUN: diff %t.sm_80 %t.renamed
// RUN: FileCheck %s --input-file=%t.sm_90a
// REQUIRES: fa-opt

// CHECK: fa-select-schedule{{.*}}target=sm_90a
// CHECK: fa-pipeline-copies,
// CHECK-NEXT: fa-specialize-warps,
func.func @attention(%q: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = fa.attention %q, %q, %q : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16> -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}
