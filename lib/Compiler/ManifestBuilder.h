//===- ManifestBuilder.h - a manifest from mapped IR ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_COMPILER_MANIFESTBUILDER_H
#define FA_LIB_COMPILER_MANIFESTBUILDER_H

#include "fa/Support/Manifest.h"
#include "mlir/Support/LLVM.h"

namespace mlir {
class ModuleOp;

namespace fa {

/// The manifest of a module as the map stage leaves it, from the attributes
/// that the tile and map stages noted on functions and kernels
/// (AttributeNames.h). Emits an error when one is missing or malformed.
FailureOr<farun::Manifest> buildManifest(ModuleOp module);

} // namespace fa
} // namespace mlir

#endif // FA_LIB_COMPILER_MANIFESTBUILDER_H
