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

/// A clause, a structural mask or a word, and whether it is compiled.
struct ClauseSupport {
  StringLiteral name;
  bool isSupported;
  bool (*isUsed)(AttentionOp op);
};

/// The table, in the order in which clauses are printed.
ArrayRef<ClauseSupport> getClauseSupport();

/// The largest head dim that is compiled; all from 1 on are.
inline constexpr int64_t kMaxHeadDim = 256;

/// Fails with a located error that names what `op` uses and the compiler lacks.
/// `op` has passed its verifier.
LogicalResult checkSupported(AttentionOp op);
LogicalResult checkSupported(MergeOp op);

/// Whether arrays have elements of this type that a region may read: f32, f16,
/// bf16, i1, i32 or i64.
bool isTableElement(Type type);

/// The ops of a region's one block that its result needs, in order. What the
/// others compute is computed in vain, and is erased before it is compiled.
SmallVector<Operation *> getNeededOps(Region &region);

/// The name of what `op` computes in a region (farun::kRegionOps); empty when
/// no region may hold it yet.
std::string getRegionOpName(Operation *op);

} // namespace mlir::fa

#endif // FA_DIALECT_FA_IR_ATTENTIONSUPPORT_H
