// RUN: fa-opt %s --fa-bufferize-attention --split-input-file --verify-diagnostics

// expected-error @+1 {{is called in this module, and its results would become arguments; bufferize the module by one-shot-bufferize}}
func.func @called(%q: tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}
func.func @caller(%q: tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16> {
  %o = call @called(%q) : (tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}

// -----

// expected-error @+1 {{result 1 is not a result of attention of its own; it would have to be copied}}
func.func @returned_argument(%q: tensor<1x1x16x16xf16>) -> (tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>) {
  %o = fa.attention %q, %q, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>
}

// -----

// expected-error @+1 {{result 1 is not a result of attention of its own; it would have to be copied}}
func.func @returned_twice(%q: tensor<1x1x16x16xf16>) -> (tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>) {
  %o = fa.attention %q, %q, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o, %o : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>
}

// -----

// expected-error @+1 {{returns 'f32' as result 1; only what attention computes can be returned}}
func.func @returned_scalar(%q: tensor<1x1x16x16xf16>, %s: f32) -> (tensor<1x1x16x16xf16>, f32) {
  %o = fa.attention %q, %q, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o, %s : tensor<1x1x16x16xf16>, f32
}

// -----

func.func @constant_tensor(%q: tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16> {
  // expected-error @+1 {{a constant tensor is not an operand that a kernel can take; pass it as an argument}}
  %n = arith.constant dense<7> : tensor<1xi32>
  %o = fa.attention %q, %q, %q kv_lengths(%n : tensor<1xi32>) : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}
