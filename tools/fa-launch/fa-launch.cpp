//===- fa-launch.cpp - run and check a compiled package -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fa-run without the compiler: no LLVM or MLIR library is linked, so it is a
// small program to copy beside a package.
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/CommandLine.h"
#include "fa/Runtime/RegisterDevices.h"

int main(int argc, char **argv) {
  farun::DeviceRegistry registry;
  farun::registerAllDevices(registry);
  return farun::runTool(argc, argv, registry, /*compile=*/nullptr);
}
