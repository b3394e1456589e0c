//===- Regions.h - regions of the op, written out ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A score or visibility region says what is done to one score at (b, h, i, j).
// Here it is written for all scores of a site: what depends on b and h alone
// stays a scalar, the rest becomes vector arithmetic, and a read at a place
// that differs within the site becomes fa.gather. Indices have 64 bits by their
// type; where an interval shows that 32 hold a value, 32 are used.
//
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_REGIONS_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_REGIONS_H

#include "ScoreSite.h"
#include "fa/Dialect/FA/IR/FADialect.h"

namespace mlir::fa {

/// The region of a clause as one block of query rows sees it.
struct RegionClause {
  Region *region = nullptr; ///< null without the clause
  AttentionDims dims = {};
  Value batch, head; ///< index
  /// The last row and key there are, i32: rows and keys behind them are
  /// computed with a tile, and read as these.
  Value lastRow, lastKey;

  explicit operator bool() const { return region != nullptr; }
};

/// Emits what the region yields for each score at `site`. `scores` is its first
/// argument, of a score region.
Value emitRegion(TileBuilder &b, const RegionClause &clause,
                 const ScoreSite &site, Value scores = Value());

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_REGIONS_H
