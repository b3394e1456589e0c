// RUN: fa-opt %s --split-input-file --verify-diagnostics --fa-verify-stage=stage=tile

// What the tile stage promises, and how a program that breaks it is told.
// expected-error @+1 {{after stage tile: the module has no string attribute 'fa.target'}}
module {
}

// -----

// expected-error @+1 {{after stage tile: target 'sm_10' is unknown; supported: sm_80}}
module attributes {fa.target = "sm_10"} {
}

// -----

module attributes {fa.target = "sm_80"} {
  func.func @kept(%q: memref<64x64xf16>, %n: index) attributes {fa.operands = []} {
    %m = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    scf.forall (%i) in (%n) {
      %c0 = arith.constant 0 : index
      %0 = fa.load_tile %q[%c0, %c0] : memref<64x64xf16> -> vector<64x64xf16>
    } {fa.schedule = "complete"}
    return
  }
  // Another function's tensors are its own business.
  func.func @negative_foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {fa.target = "sm_80"} {
  // expected-error @+1 {{after stage tile: function 'no_loops' holds no scf.forall with 'fa.schedule'}}
  func.func @no_loops() attributes {fa.operands = []} {
    return
  }
  // expected-error @+2 {{after stage tile: function 'on_tensors' holds no scf.forall}}
  // expected-error @+1 {{after stage tile: 'func.func' is on tensors}}
  func.func @on_tensors(%x: tensor<4xf32>) attributes {fa.operands = []} {
    return
  }
  // Buffers inside the loops are the kernel's, those around them the host's.
  func.func @buffers(%n: index) attributes {fa.operands = []} {
    %negative = memref.alloc() : memref<4xf32>
    scf.forall (%i) in (%n) {
      // expected-error @+1 {{a buffer of a tile program is 'memref<4xf32>', not workgroup memory}}
      %m = memref.alloc() : memref<4xf32>
    } {fa.schedule = "complete"}
    return
  }
}

// -----

module attributes {fa.target = "sm_80"} {
  func.func @left(%q: tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16> {
    // expected-error @+1 {{after stage tile: 'fa.attention' is left}}
    %o = fa.attention %q, %q, %q : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
    return %o : tensor<1x1x16x16xf16>
  }
}
