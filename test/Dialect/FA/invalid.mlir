// REQUIRES: fa-opt
// RUN: fa-opt %s --split-input-file --verify-diagnostics

// One function for each constraint of docs/AttentionConstraints.md.

func.func @attention_c1_mixed(%q: tensor<1x2x8x16xf16>, %k: memref<1x2x8x16xf16>, %v: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected tensors alone, as the first operand is, found 'memref<1x2x8x16xf16>'}}
  %o = fa.attention %q, %k, %v : tensor<1x2x8x16xf16>, memref<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c1_tensors_with_outs(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{on tensors expected results alone, found 1 outs}}
  %o = fa.attention %q, %q, %q outs(%q : tensor<1x2x8x16xf16>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c1_memrefs_with_results(%q: memref<1x2x8x16xf16>) {
  // expected-error @below {{on memrefs expected outs alone, found 1 results}}
  %o = fa.attention %q, %q, %q outs(%q : memref<1x2x8x16xf16>) : memref<1x2x8x16xf16>, memref<1x2x8x16xf16>, memref<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c1_no_results(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected O and at most LSE as results, found 0}}
  fa.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c1_no_outs(%q: memref<1x2x8x16xf16>) {
  // expected-error @below {{expected O and at most LSE as outs, found 0}}
  fa.attention %q, %q, %q : memref<1x2x8x16xf16>, memref<1x2x8x16xf16>, memref<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c2_query_rank(%q: tensor<2x8x16xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected query of rank 4 (B, Hq, Sq, D), found rank 3}}
  %o = fa.attention %q, %k, %k : tensor<2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c2_packed_key_rank(%q: tensor<8x2x16xf16>, %k: tensor<1x2x8x16xf16>, %c: tensor<3xi32>) {
  // expected-error @below {{expected key of rank 3 (Tk, Hkv, D), found rank 4}}
  %o = fa.attention %q, %k, %k q_offsets(%c : tensor<3xi32>) kv_offsets(%c : tensor<3xi32>)
    : tensor<8x2x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<8x2x16xf16>
  return
}

// -----

func.func @attention_c2_lse_rank(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected lse of rank 3 (B, Hq, Sq), found rank 4}}
  %o, %l = fa.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>, tensor<1x2x8x1xf32>
  return
}

// -----

func.func @attention_c2_mask_rank(%q: tensor<1x2x8x16xf16>, %m: tensor<1x1x1x8x8xi1>) {
  // expected-error @below {{expected mask of rank 1 to 4, found rank 5}}
  %o = fa.attention %q, %q, %q mask(%m : tensor<1x1x1x8x8xi1>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c3_query_type(%q: tensor<1x2x8x16xf64>) {
  // expected-error @below {{expected query with elements of type f32, f16, bf16, f8E4M3FN or f8E5M2, found 'f64'}}
  %o = fa.attention %q, %q, %q : tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64> -> tensor<1x2x8x16xf64>
  return
}

// -----

func.func @attention_c3_value_type(%q: tensor<1x2x8x16xf16>, %v: tensor<1x2x8x16xbf16>) {
  // expected-error @below {{expected value with elements of type f16, as query has, found 'bf16'}}
  %o = fa.attention %q, %q, %v : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xbf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c3_out_type(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected out with elements of type f32, f16 or bf16, found 'i32'}}
  %o = fa.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xi32>
  return
}

// -----

func.func @attention_c4_mask_type(%q: tensor<1x2x8x16xf16>, %m: tensor<8x8xi8>) {
  // expected-error @below {{expected mask with elements of type i1, found 'i8'}}
  %o = fa.attention %q, %q, %q mask(%m : tensor<8x8xi8>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c4_lengths_type(%q: tensor<1x2x8x16xf16>, %n: tensor<1xi64>) {
  // expected-error @below {{expected kv_lengths with elements of type i32, found 'i64'}}
  %o = fa.attention %q, %q, %q kv_lengths(%n : tensor<1xi64>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c4_lse_type(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected lse with elements of type f32, found 'f16'}}
  %o, %l = fa.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>, tensor<1x2x8xf16>
  return
}

// -----

func.func @attention_c5_batch(%q: tensor<2x2x8x16xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{key has B = 1 in dimension 0, but query has B = 2}}
  %o = fa.attention %q, %k, %k : tensor<2x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<2x2x8x16xf16>
  return
}

// -----

func.func @attention_c5_head_dim(%q: tensor<1x2x8x64xf16>, %k: tensor<1x2x8x32xf16>) {
  // expected-error @below {{key has D = 32 in dimension 3, but query has D = 64}}
  %o = fa.attention %q, %k, %k : tensor<1x2x8x64xf16>, tensor<1x2x8x32xf16>, tensor<1x2x8x32xf16> -> tensor<1x2x8x32xf16>
  return
}

// -----

// The same extents are right in one layout and wrong in the other.
func.func @attention_c5_layout(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x6x16xf16>) {
  %o = fa.attention %q, %k, %k : tensor<1x2x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x16xf16> -> tensor<1x2x8x16xf16>
  // expected-error @below {{expected the number of query heads to be a positive multiple of the number of key and value heads, found Hq = 8 and Hkv = 6}}
  %p = fa.attention %q, %k, %k {layout = "bshd"} : tensor<1x2x8x16xf16>, tensor<1x2x6x16xf16>, tensor<1x2x6x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c5_keys(%q: tensor<1x2x8x16xf16>, %v: tensor<1x2x9x16xf16>) {
  // expected-error @below {{value has Sk = 9 in dimension 2, but key has Sk = 8}}
  %o = fa.attention %q, %q, %v : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x9x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c5_lengths(%q: tensor<2x2x8x16xf16>, %n: tensor<3xi32>) {
  // expected-error @below {{kv_lengths has B = 3 in dimension 0, but query has B = 2}}
  %o = fa.attention %q, %q, %q kv_lengths(%n : tensor<3xi32>) : tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16> -> tensor<2x2x8x16xf16>
  return
}

// -----

func.func @attention_c5_out(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{out has Sq = 9 in dimension 2, but query has Sq = 8}}
  %o = fa.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x9x16xf16>
  return
}

// -----

func.func @attention_c5_outs(%q: memref<1x2x8x16xf16>, %l: memref<1x3x8xf32>) {
  // expected-error @below {{lse has Hq = 3 in dimension 1, but query has Hq = 2}}
  fa.attention %q, %q, %q outs(%q, %l : memref<1x2x8x16xf16>, memref<1x3x8xf32>) : memref<1x2x8x16xf16>, memref<1x2x8x16xf16>, memref<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c5_offsets(%q: tensor<8x2x16xf16>, %c: tensor<3xi32>, %n: tensor<3xi32>) {
  // expected-error @below {{q_offsets has B = 2 in dimension 0, but kv_lengths has B = 3}}
  %o = fa.attention %q, %q, %q kv_lengths(%n : tensor<3xi32>) q_offsets(%c : tensor<3xi32>) kv_offsets(%c : tensor<3xi32>)
    : tensor<8x2x16xf16>, tensor<8x2x16xf16>, tensor<8x2x16xf16> -> tensor<8x2x16xf16>
  return
}

// -----

func.func @attention_c6_heads(%q: tensor<1x6x8x16xf16>, %k: tensor<1x4x8x16xf16>) {
  // expected-error @below {{expected the number of query heads to be a positive multiple of the number of key and value heads, found Hq = 6 and Hkv = 4}}
  %o = fa.attention %q, %k, %k : tensor<1x6x8x16xf16>, tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16> -> tensor<1x6x8x16xf16>
  return
}

// -----

func.func @attention_c6_no_heads(%q: tensor<1x?x8x16xf16>, %k: tensor<1x0x8x16xf16>) {
  // expected-error @below {{found Hq = ? and Hkv = 0}}
  %o = fa.attention %q, %k, %k : tensor<1x?x8x16xf16>, tensor<1x0x8x16xf16>, tensor<1x0x8x16xf16> -> tensor<1x?x8x16xf16>
  return
}

// -----

func.func @attention_c7_head_dim(%q: tensor<1x2x8x0xf16>, %v: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expected head dims of at least 1, found D = 0 of query and key}}
  %o = fa.attention %q, %q, %v : tensor<1x2x8x0xf16>, tensor<1x2x8x0xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c7_value_dim(%q: tensor<1x2x8x16xf16>, %v: tensor<1x2x8x0xf16>) {
  // expected-error @below {{expected head dims of at least 1, found Dv = 0 of value}}
  %o = fa.attention %q, %q, %v : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x0xf16> -> tensor<1x2x8x0xf16>
  return
}

// -----

func.func @attention_c7_page_size(%q: tensor<1x2x8x16xf16>, %k: tensor<9x2x0x16xf16>, %n: tensor<1xi32>, %t: tensor<1x4xi32>) {
  // expected-error @below {{expected pages of at least 1 key, found 0}}
  %o = fa.attention %q, %k, %k kv_lengths(%n : tensor<1xi32>) pages(%t : tensor<1x4xi32>)
    : tensor<1x2x8x16xf16>, tensor<9x2x0x16xf16>, tensor<9x2x0x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c7_offsets(%q: tensor<8x2x16xf16>, %c: tensor<0xi32>) {
  // expected-error @below {{expected q_offsets with B + 1 elements, found 0}}
  %o = fa.attention %q, %q, %q q_offsets(%c : tensor<0xi32>) kv_offsets(%c : tensor<0xi32>)
    : tensor<8x2x16xf16>, tensor<8x2x16xf16>, tensor<8x2x16xf16> -> tensor<8x2x16xf16>
  return
}

// -----

func.func @attention_c8_mask_shorter(%q: tensor<1x2x8x16xf16>, %m: tensor<8x5xi1>) {
  // expected-error @below {{mask has Sk = 5 in dimension 1, but key has Sk = 8, and a mask has the whole extent or 1 in each dimension}}
  %o = fa.attention %q, %q, %q mask(%m : tensor<8x5xi1>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

// Rank 3 is (heads, queries, keys), never (batch, queries, keys).
func.func @attention_c8_bias_rank_3(%q: tensor<3x2x8x16xf16>, %b: tensor<3x8x8xf32>) {
  // expected-error @below {{bias has Hq = 3 in dimension 0, but query has Hq = 2, and a bias has the whole extent or 1 in each dimension}}
  %o = fa.attention %q, %q, %q bias(%b : tensor<3x8x8xf32>) : tensor<3x2x8x16xf16>, tensor<3x2x8x16xf16>, tensor<3x2x8x16xf16> -> tensor<3x2x8x16xf16>
  return
}

// -----

func.func @attention_c2_mask_rank_0(%q: tensor<1x2x8x16xf16>, %m: tensor<i1>) {
  // expected-error @below {{expected mask of rank 1 to 4, found rank 0}}
  %o = fa.attention %q, %q, %q mask(%m : tensor<i1>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c2_bias_rank_0(%q: tensor<1x2x8x16xf16>, %b: tensor<f32>) {
  // expected-error @below {{expected bias of rank 1 to 4, found rank 0}}
  %o = fa.attention %q, %q, %q bias(%b : tensor<f32>) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return
}
