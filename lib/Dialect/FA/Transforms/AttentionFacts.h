//===- AttentionFacts.h - what the tile stage takes and notes -*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Around the transforms of the tile stage: what they accept, the target that
// the module names, and the facts that a function keeps for the manifest after
// its fa.attention is gone.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_ATTENTIONFACTS_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_ATTENTIONFACTS_H

#include "fa/Dialect/FA/Transforms/Transforms.h"
#include "mlir/IR/Builders.h"

namespace mlir::fa {

/// Refuses, with a located message, what no tile program is written for yet.
LogicalResult checkTileable(AttentionOp op);

/// The target that the module around `op` names (fa.target). Null after an
/// error at `op` when it names none, or an unknown one.
const TargetInfo *lookupModuleTarget(Operation *op);

/// strided<[?, ..., ?], offset: ?>
StridedLayoutAttr getDynamicStrides(MLIRContext *context, int64_t rank);

/// The memref with strides and offset that are not known, by a cast where its
/// type says more. An error at `op` when the layout has no strides.
FailureOr<Value> emitDynamicStrides(OpBuilder &builder, AttentionOp op,
                                    Value memref);

/// Erases what regions compute in vain, and with it what was computed for them.
/// An argument that nothing reads then is still one that the caller passes.
void eraseDeadCodeOfRegions(func::FuncOp func);

/// Notes the text of the op on the function that holds it (fa.source).
void recordSource(func::FuncOp func, AttentionOp op);

/// Why who launches the kernel of `op` would need more of the function than
/// its arguments: the operand that is none. Empty when there is no such one.
std::string whyNotOnArguments(func::FuncOp func, AttentionOp op);

/// Notes on the function, if there is a reason, why it is no kernel's entry
/// (fa.no_entry). One that was noted of the same op on tensors stays.
void recordWhyNoEntry(func::FuncOp func, AttentionOp op);

/// Notes what each argument is to `op` and what the op means (fa.operands,
/// fa.attention).
void recordAttention(func::FuncOp func, AttentionOp op);

/// Adds the trace buffer and the traced row as trailing arguments, marked
/// fa.trace.
TraceArguments addTraceArguments(func::FuncOp func);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_ATTENTIONFACTS_H
