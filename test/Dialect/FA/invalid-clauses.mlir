// REQUIRES: fa-opt
// RUN: fa-opt %s --split-input-file --verify-diagnostics

// Constraints on numbers, words, groups of clauses and regions, by the labels
// of docs/AttentionConstraints.md.

!t = tensor<1x2x8x16xf16>
func.func @attention_c9_scale_infinite(%q: !t) {
  // expected-error @below {{expected a finite scale, found}}
  %o = fa.attention %q, %q, %q scale(0x7FF0000000000000) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c9_scale_twice(%q: !t, %s: f32) {
  // expected-error @below {{expected a scale as attribute or as operand, found both}}
  %o = fa.attention %q, %q, %q scale(%s : f32) {scale = 0.5} : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c10_softcap(%q: !t) {
  // expected-error @below {{expected a finite softcap above 0, found 0.0}}
  %o = fa.attention %q, %q, %q softcap(0.0) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c11_dropout(%q: !t, %s: i64) {
  // expected-error @below {{expected dropout between 0 and 1, found 1.5}}
  %o = fa.attention %q, %q, %q dropout(1.5, seed = %s : i64) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c11_seed(%q: !t) {
  // expected-error @below {{expected dropout and its seed together, found dropout alone}}
  %o = fa.attention %q, %q, %q {dropout = 0.5} : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c12_layout(%q: !t) {
  // expected-error @below {{expected layout to be bhsd or bshd, found 'sbhd'}}
  %o = fa.attention %q, %q, %q {layout = "sbhd"} : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c12_empty_row(%q: !t) {
  // expected-error @below {{expected empty_row to be zero, nan or uniform, found 'one'}}
  %o = fa.attention %q, %q, %q {empty_row = "one"} : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c12_precision(%q: !t) {
  // expected-error @below {{expected precision to be ieee, tf32x3 or tf32, found 'fast'}}
  %o = fa.attention %q, %q, %q {precision = "fast"} : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c12_precision_of_f16(%q: !t) {
  // expected-error @below {{expected precision tf32 with operands of f32, found 'f16'}}
  %o = fa.attention %q, %q, %q {precision = "tf32"} : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c12_not_a_word(%q: !t) {
  // expected-error @below {{attribute 'layout' failed to satisfy constraint: string attribute}}
  %o = fa.attention %q, %q, %q {layout = 3} : !t, !t, !t -> !t
  return
}

// -----

// The generic form can hold one operand of a pair.
func.func @attention_c13_segments(%q: tensor<1x2x8x16xf16>, %s: tensor<1x8xi32>) {
  // expected-error @below {{expected segments of query and key together, found those of query alone}}
  %o = "fa.attention"(%q, %q, %q, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {})
    : (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x8xi32>) -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c13_scales_alone(%q: tensor<1x2x8x16xf8E4M3FN>, %s: tensor<1x2xf32>) {
  // expected-error @below {{expected scales of query, key and value together, found 1 of 3}}
  %o = "fa.attention"(%q, %q, %q, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0>}> ({}, {})
    : (tensor<1x2x8x16xf8E4M3FN>, tensor<1x2x8x16xf8E4M3FN>, tensor<1x2x8x16xf8E4M3FN>, tensor<1x2xf32>) -> tensor<1x2x8x16xf16>
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c13_scales_of_f16(%q: !t, %s: tensor<1x2xf32>) {
  // expected-error @below {{expected scales with fp8 operands, found 'f16'}}
  %o = fa.attention %q, %q, %q scales(%s, %s, %s : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<8x2x16xf16>
func.func @attention_c14_q_offsets_alone(%q: !t, %c: tensor<3xi32>) {
  // expected-error @below {{expected kv_offsets or pages with q_offsets, found q_offsets alone}}
  %o = fa.attention %q, %q, %q q_offsets(%c : tensor<3xi32>) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c14_kv_offsets_alone(%q: !t, %c: tensor<3xi32>) {
  // expected-error @below {{expected q_offsets with kv_offsets, found kv_offsets alone}}
  %o = fa.attention %q, %q, %q kv_offsets(%c : tensor<3xi32>) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<8x2x16xf16>
func.func @attention_c14_mask(%q: !t, %c: tensor<3xi32>, %m: tensor<8x8xi1>) {
  // expected-error @below {{expected no mask with packed sequences, where a region says the same}}
  %o = fa.attention %q, %q, %q mask(%m : tensor<8x8xi1>) q_offsets(%c : tensor<3xi32>) kv_offsets(%c : tensor<3xi32>) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<2x2x8x16xf16>
func.func @attention_c15_pages_without_lengths(%q: !t, %t: tensor<2x4xi32>) {
  // expected-error @below {{expected kv_lengths with pages, found none}}
  %o = fa.attention %q, %q, %q pages(%t : tensor<2x4xi32>) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<8x2x16xf16>
func.func @attention_c15_pages_and_offsets(%q: !t, %c: tensor<3xi32>, %t: tensor<2x4xi32>) {
  // expected-error @below {{expected kv_offsets or pages, found both}}
  %o = fa.attention %q, %q, %q q_offsets(%c : tensor<3xi32>) kv_offsets(%c : tensor<3xi32>) pages(%t : tensor<2x4xi32>) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c16_arguments(%q: !t) {
  // expected-error @below {{expected the arguments ('f32', 'index', 'index', 'index', 'index') of the score region, found ('f32', 'index')}}
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index): fa.yield %s : f32 } : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c16_yield(%q: !t, %f: f32) {
  %o = fa.attention %q, %q, %q visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    // expected-error @below {{expected the visible region to yield 'i1', found 'f32'}}
    fa.yield %f : f32
  } : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c16_no_yield(%q: !t) {
  // expected-error @below {{expected the visible region to end with fa.yield}}
  %o = fa.attention %q, %q, %q visible { ^bb0(%b: index, %h: index, %i: index, %j: index): llvm.unreachable } : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c16_blocks(%q: !t, %c: i1) {
  // expected-error @below {{expected one block in the visible region, found 2}}
  %o = fa.attention %q, %q, %q visible {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    llvm.br ^bb1
  ^bb1:
    fa.yield %c : i1
  } : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c17_store(%q: !t, %m: memref<4xf32>) {
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @below {{expected no effect but reads in the score region of fa.attention}}
    memref.store %s, %m[%h] : memref<4xf32>
    fa.yield %s : f32
  } : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func private @log(index)
func.func @attention_c17_call(%q: !t) {
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @below {{expected no effect but reads in the score region of fa.attention}}
    func.call @log(%b) : (index) -> ()
    fa.yield %s : f32
  } : !t, !t, !t -> !t
  return
}

// -----

!m = memref<1x2x8x16xf32>
func.func @attention_c17_outs(%q: !m, %o: !m) {
  // expected-error @below {{expected the score region not to use the outs, found a use of 'memref<1x2x8x16xf32>'}}
  fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %x = memref.load %o[%b, %h, %i, %j] : !m
    fa.yield %x : f32
  } outs(%o : !m) : !m, !m, !m
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @attention_c18_tensor_of_index(%q: !t, %t: tensor<8xindex>) {
  %o = fa.attention %q, %q, %q visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    // expected-error @below {{'tensor.extract' op expected a table of f32, f16, bf16, i1, i32 or i64 in the visible region, found 'index'}}
    %x = tensor.extract %t[%i] : tensor<8xindex>
    %r = arith.cmpi sge, %x, %j : index
    fa.yield %r : i1
  } : !t, !t, !t -> !t
  return
}

// -----

!m = memref<1x2x8x16xf32>
func.func @attention_c18_memref_of_f64(%q: !m, %o: !m, %t: memref<8xf64>) {
  fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @below {{'memref.load' op expected a table of f32, f16, bf16, i1, i32 or i64 in the score region, found 'f64'}}
    %x = memref.load %t[%i] : memref<8xf64>
    %r = arith.truncf %x : f64 to f32
    fa.yield %r : f32
  } outs(%o : !m) : !m, !m, !m
  return
}

// -----

// Anywhere else fa.yield has no meaning.
func.func @yield_elsewhere(%f: f32) {
  // expected-error @below {{expects parent op 'fa.attention'}}
  fa.yield %f : f32
}
