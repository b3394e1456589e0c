//===- Program.cpp - compiled kernels, from memory or a package -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Program.h"

#include "fa/Support/Package.h"

namespace farun {

Expected<Program> loadPackage(const std::string &folder) {
  Expected<Package> package = readPackage(folder);
  if (!package)
    return package.takeError();
  Program program;
  program.manifest = std::move(package->manifest);
  program.ptx = std::move(package->ptx);
  program.ptxName = std::move(package->ptxPath);
  return program;
}

} // namespace farun
