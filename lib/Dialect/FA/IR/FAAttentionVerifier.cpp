//===- FAAttentionVerifier.cpp - what is a legal attention ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"

using namespace mlir;
using namespace mlir::fa;

LogicalResult AttentionOp::verify() {
  size_t numOutputs = isMemRefForm() ? getOuts().size() : getNumResults();
  if (numOutputs < 1 || numOutputs > 2)
    return emitOpError("expected O and at most LSE, found ")
           << numOutputs << (isMemRefForm() ? " outs" : " results");
  return success();
}

LogicalResult AttentionOp::verifyRegions() { return success(); }

LogicalResult MergeOp::verify() { return success(); }
