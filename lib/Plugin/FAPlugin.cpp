//===- FAPlugin.cpp - dialect and passes for other tools --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads into an unmodified mlir-opt by --load-dialect-plugin and
// --load-pass-plugin. Registering a name twice ends an MLIR process, so each
// entry point looks first and leaves a tool that has the names alone.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Pipelines/Pipelines.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr char kVersion[] = "0.1.0";

static void refuse(const char *what) {
  llvm::errs() << "FAPlugin: " << what
               << " of fa are already in this tool, and are not loaded again\n";
}

static void registerDialect(DialectRegistry *registry) {
  if (registry->getDialectAllocator(fa::FADialect::getDialectNamespace()))
    return refuse("the dialect and ops");
  fa::registerAllDialects(*registry);
}

static void registerPasses() {
  if (PassInfo::lookup("fa-tile-attention"))
    return refuse("the passes");
  fa::registerAllPasses();
  fa::registerAllPipelines();
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "FA", kVersion, registerDialect};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "FA", kVersion, registerPasses};
}
