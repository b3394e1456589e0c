//===- RegionFacts.h - regions as plain data --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is noted of a region for the manifest: {values = [...], result = n}, in
// the words of fa/Support/RegionProgram.h.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_REGIONFACTS_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_REGIONFACTS_H

#include "fa/Dialect/FA/IR/FADialect.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fa {

/// The values from outside, constants left aside, that the regions use.
SetVector<Value> getRegionInputs(AttentionOp op);

/// The region as data. `findArgument` gives the function's argument that a
/// value is; each of the region's inputs is one.
DictionaryAttr describeRegion(Region &region,
                              function_ref<BlockArgument(Value)> findArgument);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_REGIONFACTS_H
