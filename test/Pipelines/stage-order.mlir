// RUN: fa-opt %s --fa-stage-tile > %t.tile.mlir
// RUN: fa-opt %t.tile.mlir --fa-stage-map > %t.map.mlir
// RUN: fa-opt %t.map.mlir --fa-stage-distribute > %t.distribute.mlir
// RUN: fa-opt %t.distribute.mlir --fa-stage-lower > %t.lower.mlir

// A stage on the file of another one ends with what is wrong, and not as if
// there were nothing to do.

// RUN: not fa-opt %s --fa-stage-distribute 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not fa-opt %s --fa-stage-lower 2>&1 | FileCheck %s --check-prefix=OP
// OP: error: after stage distribute: 'fa.attention' is outside any kernel
// RUN: not fa-opt %t.tile.mlir --fa-stage-distribute 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not fa-opt %t.tile.mlir --fa-stage-lower 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: after stage distribute: an scf.forall over blocks is outside any kernel
// RUN: not fa-opt %t.map.mlir --fa-stage-lower 2>&1 | FileCheck %s --check-prefix=MAP
// MAP: error: after stage distribute: '{{.*}}' is left
// MAP: note: gpu.module '{{.*}}' is of an earlier stage

func.func @attention(%q: tensor<1x1x16x16xf16>, %k: tensor<1x1x16x16xf16>) -> tensor<1x1x16x16xf16> {
  %o = fa.attention %q, %k, %k : tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16>, tensor<1x1x16x16xf16> -> tensor<1x1x16x16xf16>
  return %o : tensor<1x1x16x16xf16>
}
