// REQUIRES: fa-opt
// RUN: fa-opt %s --split-input-file --verify-diagnostics

// What the parser refuses, and what attributes refuse of their numbers.

!t = tensor<1x2x8x16xf16>
func.func @clause_twice(%q: !t) {
  // expected-error @below {{clause 'scale' is given twice}}
  %o = fa.attention %q, %q, %q scale(1.0) softcap(3.0) scale(2.0) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @clause_twice_as_attribute(%q: !t) {
  // expected-error @below {{attribute 'scale' is given twice}}
  %o = fa.attention %q, %q, %q scale(1.0) {scale = 2.0} : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @clause_unknown(%q: !t) {
  // expected-error @below {{unknown clause 'causal', expected one of scale, masks, softcap, bias, mask, alibi, sink, q_lengths, kv_lengths, segments, scales, q_offsets, kv_offsets, pages, dropout, score, visible, outs}}
  %o = fa.attention %q, %q, %q causal : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @clause_operands(%q: !t, %s: tensor<1x8xi32>) {
  // expected-error @below {{clause 'segments' takes 2 operands, found 1}}
  %o = fa.attention %q, %q, %q segments(%s : tensor<1x8xi32>) : !t, !t, !t -> !t
  return
}

// -----

!m = memref<1x2x8x16xf16>
func.func @clause_outs(%q: !m) {
  // expected-error @below {{clause 'outs' takes 1 or 2 operands, found 3}}
  fa.attention %q, %q, %q outs(%q, %q, %q : !m, !m, !m) : !m, !m, !m
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @clause_types(%q: !t, %s: tensor<1x8xi32>) {
  // expected-error @below {{clause 'segments' has 2 operands and 1 types}}
  %o = fa.attention %q, %q, %q segments(%s, %s : tensor<1x8xi32>) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @scale_integer(%q: !t) {
  // expected-error @below {{unexpected decimal integer literal for a floating point value}}
  // expected-note @below {{add a trailing dot to make the literal a float}}
  %o = fa.attention %q, %q, %q scale(1) : !t, !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @types_missing(%q: !t) {
  // expected-error @below {{expected the 3 types of query, key and value, found 2}}
  %o = fa.attention %q, %q, %q : !t, !t -> !t
  return
}

// -----

!t = tensor<1x2x8x16xf16>
func.func @masks_other_attribute(%q: !t) {
  // expected-error @below {{expected a structural mask such as #fa.causal<top_left>, found "causal"}}
  %o = fa.attention %q, %q, %q masks ["causal"] : !t, !t, !t -> !t
  return
}

// -----

// expected-error @below {{expected one of [top_left, bottom_right] for the alignment of queries with keys, got: left}}
// expected-error @below {{failed to parse FA_CausalAttr parameter 'alignment'}}
#m = #fa.causal<left>

// -----

// expected-error @below {{causal prefix must be between 0 and 2147483647, found -1}}
#mask_c1_prefix = #fa.causal<top_left, prefix = -1>

// -----

// expected-error @below {{window bound 'right' must be -1 (unbounded) or between 0 and 2147483647, found -3}}
#mask_c2_window = #fa.window<top_left, left = -1, right = -3>

// -----

// expected-error @below {{chunk size must be between 1 and 1073741824, found 0}}
#mask_c3_chunk = #fa.chunk<top_left, size = 0>

// -----

// expected-error @below {{schedule key 'stages' must be between 1 and 65536, found 0}}
#schedule_c1_zero = #fa.schedule<warps = 4, stages = 0>

// -----

// Sizes computed from it would overflow.
// expected-error @below {{schedule key 'tile_kv' must be between 1 and 65536, found 1152921504606846976}}
#schedule_c1_huge = #fa.schedule<tile_kv = 1152921504606846976>

// -----

// expected-error @below {{schedule key 'polynomial' must be between 0 and 65536, found -1}}
#schedule_c1_polynomial = #fa.schedule<polynomial = -1>

// -----

// expected-error @below {{schedule key 'polynomial' must be a whole number between 0 and 65536, found x}}
#schedule_c1_word = #fa.schedule<tile_q = 64, polynomial = x>

// -----

// expected-error @below {{schedule key 'warps' must be a whole number between 1 and 65536, found true}}
#schedule_c1_truth = #fa.schedule<warps = true>

// -----

// expected-error @below {{schedule key 'tile_q' must be a whole number between 1 and 65536, found 64.0}}
#schedule_c1_fraction = #fa.schedule<tile_q = 64.0>

// -----

// expected-error @below {{schedule key 'splits' must be a whole number between 1 and 65536, found "2"}}
#schedule_c1_string = #fa.schedule<splits = "2">

// -----

// expected-error @below {{schedule key 'cluster' must be 1 or 2, found two}}
#schedule_c1_cluster = #fa.schedule<cluster = two, producers = 4>

// -----

// No 64 bits hold it.
// expected-error @below {{schedule key 'polynomial' must be between 0 and 65536, found 99999999999999999999}}
#schedule_c1_digits = #fa.schedule<polynomial = 99999999999999999999>

// -----

// expected-error @below {{schedule key 'producers' must be 0 or 4, found -99999999999999999999}}
#schedule_c1_negative_digits = #fa.schedule<producers = -99999999999999999999>

// -----

// expected-error @below {{schedule key 'pingpong' must be true or false, found 2}}
#schedule_flag = #fa.schedule<pingpong = 2>

// -----

// expected-error @below {{schedule key 'state' must be registers or shared, found global}}
#schedule_state = #fa.schedule<state = global>

// -----

// expected-error @below {{schedule key 'query' must be shared or registers, found 1}}
#schedule_query = #fa.schedule<query = 1>

// -----

// expected-error @below {{schedule key 'stages' must be a whole number between 1 and 65536, found >}}
#schedule_nothing = #fa.schedule<stages = >

// -----

// expected-error @below {{schedule key 'pingpong' must be true or false, found ,}}
#schedule_no_flag = #fa.schedule<pingpong = , warps = 4>

// -----

// A string or a list as a whole.
// expected-error @below {{schedule key 'state' must be registers or shared, found "a>b \"c"}}
#schedule_quoted = #fa.schedule<state = "a>b \"c", warps = 4>

// -----

// expected-error @below {{schedule key 'warps' must be a whole number between 1 and 65536, found [1, 2]}}
#schedule_list = #fa.schedule<warps = [1, 2]>

// -----

// expected-error @below {{schedule key 'warps' must be a whole number between 1 and 65536, found -}}
#schedule_dash = #fa.schedule<warps = - >

// -----

// expected-error @below {{schedule key 'warps' must be between 1 and 65536, found 1000000000000000000000000000000000000...}}
#schedule_long = #fa.schedule<warps = 10000000000000000000000000000000000000000>

// -----

// expected-error @below {{schedule key 'warps' is given twice}}
#schedule_twice = #fa.schedule<warps = 4, stages = 2, warps = 4>

// -----

// expected-error @below {{unknown schedule key 'tiles', expected one of tile_q, tile_kv, warps, stages, state, splits, query, pingpong, producers, persistent, cluster, polynomial}}
#schedule_unknown = #fa.schedule<tiles = 64>

// -----

func.func @merge_c1_one_result(%o: tensor<1x2x8x16xf16>, %l: tensor<1x2x8xf32>) {
  // expected-error @below {{expected O and LSE as results, found 1}}
  %r = fa.merge (%o, %l) : tensor<1x2x8x16xf16>, tensor<1x2x8xf32> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @merge_c1_pairs(%o: tensor<1x2x8x16xf16>, %l: tensor<1x2x8xf32>) {
  // expected-error @below {{expected pairs of O and LSE, found 2 O and 1 LSE}}
  %r:2 = "fa.merge"(%o, %o, %l) <{operandSegmentSizes = array<i32: 2, 1, 0>}> : (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8xf32>) -> (tensor<1x2x8x16xf16>, tensor<1x2x8xf32>)
  return
}

// -----

func.func @merge_types(%o: tensor<1x2x8x16xf16>, %l: tensor<1x2x8xf32>) {
  // expected-error @below {{expected 4 types, two for each partial result, found 2}}
  %r:2 = fa.merge (%o, %l), (%o, %l) : tensor<1x2x8x16xf16>, tensor<1x2x8xf32> -> tensor<1x2x8x16xf16>, tensor<1x2x8xf32>
  return
}

// -----

func.func @merge_c2_rank(%o: tensor<1x2x8x16xf16>, %l: tensor<1x2x8x1xf32>) {
  // expected-error @below {{expected partial lse of rank 3 (B, Hq, Sq), found rank 4}}
  %r:2 = fa.merge (%o, %l) : tensor<1x2x8x16xf16>, tensor<1x2x8x1xf32> -> tensor<1x2x8x16xf16>, tensor<1x2x8xf32>
  return
}

// -----

func.func @merge_c3_lse_type(%o: tensor<1x2x8x16xf16>, %l: tensor<1x2x8xf16>) {
  // expected-error @below {{expected partial lse with elements of type f32, found 'f16'}}
  %r:2 = fa.merge (%o, %l) : tensor<1x2x8x16xf16>, tensor<1x2x8xf16> -> tensor<1x2x8x16xf16>, tensor<1x2x8xf32>
  return
}

// -----

func.func @merge_c4_extents(%o: tensor<1x2x8x16xf16>, %p: tensor<1x2x9x16xf16>, %l: tensor<1x2x8xf32>) {
  // expected-error @below {{partial has Sq = 9 in dimension 2, but partial has Sq = 8}}
  %r:2 = fa.merge (%o, %l), (%p, %l) : tensor<1x2x8x16xf16>, tensor<1x2x8xf32>, tensor<1x2x9x16xf16>, tensor<1x2x8xf32> -> tensor<1x2x8x16xf16>, tensor<1x2x8xf32>
  return
}

// -----

func.func @merge_c5_layout(%o: tensor<1x2x8x16xf16>, %l: tensor<1x2x8xf32>) {
  // expected-error @below {{expected layout to be bhsd or bshd, found 'sbhd'}}
  %r:2 = fa.merge (%o, %l) {layout = "sbhd"} : tensor<1x2x8x16xf16>, tensor<1x2x8xf32> -> tensor<1x2x8x16xf16>, tensor<1x2x8xf32>
  return
}

// -----

func.func @empty_score(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{clause 'score' expected a block, found none}}
  %o = fa.attention %q, %q, %q score {} : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @empty_visible(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{clause 'visible' expected a block, found none}}
  %o = fa.attention %q, %q, %q visible {
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @segments_written(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{attribute 'operandSegmentSizes' is not written: the operands say it}}
  %o = fa.attention %q, %q, %q {operandSegmentSizes = array<i32: 1, 1, 1>} : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @merge_segments_written(%o: tensor<1x2x8x16xf16>, %l: tensor<1x2x8xf32>) {
  // expected-error @below {{attribute 'operandSegmentSizes' is not written: the operands say it}}
  %r:2 = fa.merge (%o, %l) {operandSegmentSizes = array<i32: 1, 1, 0>} : tensor<1x2x8x16xf16>, tensor<1x2x8xf32> -> tensor<1x2x8x16xf16>, tensor<1x2x8xf32>
  return
}
