//===- fa-opt.cpp - the optimiser driver ------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers our dialect, passes and pipelines, the upstream dialects that the
// stages produce, and the few upstream passes that tests name.
//===----------------------------------------------------------------------===//

#include "fa/Pipelines/Pipelines.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::fa::registerAllPasses();
  mlir::fa::registerAllPipelines();
  mlir::DialectRegistry registry;
  mlir::fa::registerAllDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "FA-MLIR optimiser driver\n", registry));
}
