//===- ClauseRegisters.h - what clauses take of a lane ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of a clause that is computed where the scores are (addresses, bounds,
// what is loaded ahead) lie in registers beside the scores and u. They leave
// room for fewer keys a block.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_CLAUSEREGISTERS_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_CLAUSEREGISTERS_H

#include "fa/Dialect/FA/IR/FADialect.h"

namespace mlir::fa {

/// Whose instruction a product is. One of a warpgroup with more columns than
/// 128 is wide: u takes most registers there, and tiles are so small that less
/// is loaded for them at once.
enum class ProductKind { Warp, Warpgroup, WideWarpgroup };

/// What a lane has of a block: parts of so many rows, and numbers of S and u.
struct LaneShare {
  ProductKind kind;
  int64_t rows, scores, accumulators;
  bool isInCluster;
};

/// Registers of a lane for the clauses of `op`: what the greediest takes, since
/// one is done before the next begins.
int64_t getClauseRegisters(AttentionOp op, const LaneShare &share);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_CLAUSEREGISTERS_H
