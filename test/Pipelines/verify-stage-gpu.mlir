// RUN: split-file %s %t
// RUN: fa-opt %t/map.mlir --split-input-file --verify-diagnostics --fa-verify-stage=stage=map
// RUN: fa-opt %t/distribute.mlir --split-input-file --verify-diagnostics --fa-verify-stage=stage=distribute
// RUN: fa-opt %t/lower.mlir --split-input-file --verify-diagnostics --fa-verify-stage=stage=lower
// RUN: not fa-opt %t/lower.mlir --fa-verify-stage=stage=raised 2>&1 | FileCheck %s
// CHECK: error: fa-verify-stage: stage is 'raised'; accepted: tile, map, distribute, lower

//--- map.mlir
module attributes {fa.target = "sm_86"} {
  gpu.module @kernels {
    gpu.func @kept(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>,
        fa.parameters = [{kind = "pointer"}], fa.grid = ["1", "1", "1"], fa.shared_bytes = 4096 : i64} {
      gpu.return
    }
    // expected-error @+2 {{kernel 'greedy' has 1 arguments and 0 'fa.parameters'}}
    // expected-error @+1 {{kernel 'greedy' takes 163840 bytes of shared memory; sm_86 has 101376 for a block}}
    gpu.func @greedy(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>,
        fa.parameters = [], fa.grid = ["1", "1", "1"], fa.shared_bytes = 163840 : i64} {
      gpu.return
    }
    // expected-error @+4 {{kernel 'bare' has no array of three expressions 'fa.grid'}}
    // expected-error @+3 {{kernel 'bare' has no integer 'fa.shared_bytes'}}
    // expected-error @+2 {{kernel 'bare' has no known block size}}
    // expected-error @+1 {{after stage map: 'gpu.func' has 'memref<4xf32>', which has no memory space}}
    gpu.func @bare(%p: memref<4xf32>) kernel attributes {fa.parameters = [{kind = "pointer"}]} {
      gpu.return
    }
  }
}

// -----

// expected-error @+1 {{after stage map: no kernel with 'fa.parameters' in any gpu.module}}
module attributes {fa.target = "sm_80"} {
  func.func @left(%n: index) {
    // expected-error @+1 {{after stage map: an scf.forall over blocks is outside any kernel}}
    scf.forall (%i) in (%n) {
    } {fa.schedule = "complete"}
    return
  }
}

//--- distribute.mlir
#wg = #gpu.address_space<workgroup>
module {
  // expected-note @+1 {{gpu.module 'kernels' is of an earlier stage}}
  gpu.module @kernels {
    gpu.func @left(%s: memref<64x64xf16, #wg>, %x: vector<2x2xf32>) {
      %c0 = arith.constant 0 : index
      // expected-error @+2 {{after stage distribute: 'fa.load_tile' is left}}
      // expected-error @+1 {{'fa.load_tile' has 'vector<16x16xf16>', which is wider than a lane's share of 16 bytes}}
      %0 = fa.load_tile %s[%c0, %c0] : memref<64x64xf16, #wg> -> vector<16x16xf16>
      // A fragment is a lane's share.
      %1 = arith.addf %x, %x : vector<2x2xf32>
      // Views have no conversion in the lower stage, nor have other dialects.
      // expected-error @+1 {{after stage distribute: 'memref.subview' is left}}
      %2 = memref.subview %s[0, 0] [16, 64] [1, 1] : memref<64x64xf16, #wg> to memref<16x64xf16, strided<[64, 1]>, #wg>
      // expected-error @+1 {{after stage distribute: 'affine.apply' is left}}
      %3 = affine.apply affine_map<(i) -> (i)>(%c0)
      gpu.return
    }
  }
}

// -----

func.func @untouched(%q: memref<1x1x4x16xf16>, %o: memref<1x1x4x16xf16>, %n: index) {
  // expected-error @+1 {{after stage distribute: 'fa.attention' is outside any kernel}}
  fa.attention %q, %q, %q outs(%o : memref<1x1x4x16xf16>) : memref<1x1x4x16xf16>, memref<1x1x4x16xf16>, memref<1x1x4x16xf16>
  // expected-error @+1 {{after stage distribute: an scf.forall over blocks is outside any kernel}}
  scf.forall (%i) in (%n) {
  } {fa.schedule = "complete"}
  // Other people's loops are their own.
  scf.forall (%i) in (%n) {
  }
  return
}

//--- lower.mlir
func.func @untouched(%q: memref<1x1x4x16xf16>, %o: memref<1x1x4x16xf16>, %n: index) {
  // expected-error @+1 {{after stage lower: 'fa.attention' is outside any kernel}}
  fa.attention %q, %q, %q outs(%o : memref<1x1x4x16xf16>) : memref<1x1x4x16xf16>, memref<1x1x4x16xf16>, memref<1x1x4x16xf16>
  // expected-error @+1 {{after stage lower: an scf.forall over blocks is outside any kernel}}
  scf.forall (%i) in (%n) {
  } {fa.schedule = "complete"}
  return
}

// -----

module {
  gpu.module @kernels {
    llvm.func @left(%x: i32) attributes {nvvm.kernel} {
      // expected-error @+1 {{after stage lower: 'arith.addi' is left}}
      %0 = arith.addi %x, %x : i32
      llvm.return
    }
  }
}
