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

// -----

func.func @in_if(%q: tensor<1x1x16x16xf16>, %c: i1) -> tensor<1x1x16x16xf16> {
  // expected-error @+1 {{'scf.if' op on tensors cannot be bufferized beside attention; bufferize the module by one-shot-bufferize}}
  %r = scf.if %c -> tensor<1x1x16x16xf16> {
    %o = fa.attention %q, %q, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
    scf.yield %o : tensor<1x1x16x16xf16>
  } else {
    scf.yield %q : tensor<1x1x16x16xf16>
  }
  return %r : tensor<1x1x16x16xf16>
}

// -----

func.func @in_for(%q: tensor<1x1x16x16xf16>, %n: index) -> tensor<1x1x16x16xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op on tensors cannot be bufferized beside attention; bufferize the module by one-shot-bufferize}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q) -> (tensor<1x1x16x16xf16>) {
    %o = fa.attention %x, %q, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
    scf.yield %o : tensor<1x1x16x16xf16>
  }
  return %r : tensor<1x1x16x16xf16>
}

// -----

func.func @extent_in_a_region(%q: tensor<1x1x16x16xf16>, %t: tensor<?xi1>) -> tensor<1x1x16x16xf16> {
  %c0 = arith.constant 0 : index
  %o = fa.attention %q, %q, %q visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'tensor.dim' op in a region of fa.attention is not supported yet; of tensors supported is tensor.extract}}
    %n = tensor.dim %t, %c0 : tensor<?xi1>
    %r = arith.cmpi slt, %j, %n : index
    fa.yield %r : i1
  } : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}

// -----

func.func @made_of_elements(%q: tensor<1x1x16x16xf16>, %m: f32) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'tensor.from_elements' op in a region of fa.attention is not supported yet; of tensors supported is tensor.extract}}
    %t = tensor.from_elements %m, %m : tensor<2xf32>
    %x = tensor.extract %t[%h] : tensor<2xf32>
    %r = arith.addf %s, %x : f32
    fa.yield %r : f32
  } : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}

// -----

func.func @made_of_one(%q: tensor<1x1x16x16xf16>, %m: f32) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'tensor.splat' op in a region of fa.attention is not supported yet; of tensors supported is tensor.extract}}
    %t = tensor.splat %s : tensor<2xf32>
    %x = tensor.extract %t[%h] : tensor<2xf32>
    %r = arith.addf %s, %x : f32
    fa.yield %r : f32
  } : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}

// -----

func.func @made_of_nothing(%q: tensor<1x1x16x16xf16>, %m: f32) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'tensor.empty' op in a region of fa.attention is not supported yet; of tensors supported is tensor.extract}}
    %t = tensor.empty() : tensor<2xf32>
    %x = tensor.extract %t[%h] : tensor<2xf32>
    %r = arith.addf %s, %x : f32
    fa.yield %r : f32
  } : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}

// -----

func.func @made_by_a_body(%q: tensor<1x1x16x16xf16>, %m: f32) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'tensor.generate' op in a region of fa.attention is not supported yet; of tensors supported is tensor.extract}}
    %t = tensor.generate { ^bb0(%n: index): tensor.yield %s : f32 } : tensor<2xf32>
    %x = tensor.extract %t[%h] : tensor<2xf32>
    %r = arith.addf %s, %x : f32
    fa.yield %r : f32
  } : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}

// -----

func.func @made_of_a_memref(%q: tensor<1x1x16x16xf16>, %m: memref<2xf32>) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %q, %q score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error @+1 {{'bufferization.to_tensor' op in a region of fa.attention is not supported yet; of tensors supported is tensor.extract}}
    %t = bufferization.to_tensor %m : memref<2xf32> to tensor<2xf32>
    %x = tensor.extract %t[%h] : tensor<2xf32>
    %r = arith.addf %s, %x : f32
    fa.yield %r : f32
  } : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}
