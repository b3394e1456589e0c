//===- AttentionSupport.h - what the compiler can do now --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect says all that attention can mean; the compiler may do less. The
// difference is one table, asked before anything is lowered, so that no clause
// is ever ignored.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_ATTENTIONSUPPORT_H
#define FA_DIALECT_FA_IR_ATTENTIONSUPPORT_H

#include "fa/Dialect/FA/IR/FADialect.h"

namespace mlir::fa {

/// Registers of a lane that a clause takes in the loops beside the scores: for
/// itself, and for each row that the lane has a part of. Measured: tiles that
/// leave room for them are the largest that ptxas did not spill in, at head
/// dims 64 and 128. `wide` is all that it takes beside a product of a warpgroup
/// with more than 128 columns, measured at 192 and 256: u takes most registers
/// there, and tiles are so small that less is loaded for them at once.
struct ClauseRegisters {
  int64_t fixed = 0, perRow = 0, wide = 0;
};

/// A clause, a structural mask or a word, and whether it is compiled.
struct ClauseSupport {
  StringLiteral name;
  bool isSupported;
  bool (*isUsed)(AttentionOp op);
  ClauseRegisters registers = {};
};

/// The table, in the order in which clauses are printed.
ArrayRef<ClauseSupport> getClauseSupport();

/// Registers of a lane with parts of so many rows for the clauses of `op`: what
/// the greediest takes, since one is done before the next begins.
int64_t getClauseRegisters(AttentionOp op, int64_t rows, bool isWide);

/// The largest head dim that is compiled; all from 1 on are.
inline constexpr int64_t kMaxHeadDim = 256;

/// Fails with a located error that names what `op` uses and the compiler lacks.
/// `op` has passed its verifier.
LogicalResult checkSupported(AttentionOp op);
LogicalResult checkSupported(MergeOp op);

/// The name of what `op` computes in a region (farun::kRegionOps); empty when
/// no region may hold it yet.
std::string getRegionOpName(Operation *op);

} // namespace mlir::fa

#endif // FA_DIALECT_FA_IR_ATTENTIONSUPPORT_H
