// REQUIRES: fa-opt
// RUN: fa-opt %s --split-input-file --verify-diagnostics

// What only the generic form can say: segments that the custom form never has.

!t = tensor<1x2x8x16xf16>
func.func @attention_c1_two_keys(%q: !t, %s: f32) {
  // expected-error @below {{expected one operand as key in operandSegmentSizes, found 2}}
  %o = "fa.attention"(%q, %q, %q, %s) <{operandSegmentSizes = array<i32: 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {}) : (!t, !t, !t, f32) -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c1_no_query(%q: !t) {
  // expected-error @below {{expected one operand as query in operandSegmentSizes, found 0}}
  %o = "fa.attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {}) : (!t, !t, !t) -> !t
  return
}
