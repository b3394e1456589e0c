//===- Transforms.h - the passes as functions -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass is a thin shell over one of these, so that another compiler can call
// them from a pipeline of its own. Each reports its own errors, at the op.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_TRANSFORMS_H
#define FA_DIALECT_FA_TRANSFORMS_TRANSFORMS_H

#include "fa/Dialect/FA/IR/FADialect.h"

namespace mlir {
class RewriterBase;
namespace func {
class FuncOp;
} // namespace func
namespace scf {
class ForallOp;
} // namespace scf
} // namespace mlir

namespace mlir::fa {

struct TargetInfo;

/// Turns a function that holds attention on tensors into one on memrefs with
/// dynamic strides and offset: results become trailing arguments, in order,
/// that are written in place. A function without tensors is left alone.
LogicalResult bufferizeAttention(func::FuncOp func);

/// The complete schedule for `op` on the target: keys that the op has are kept,
/// the others chosen. An error when none fits.
FailureOr<ScheduleAttr> selectSchedule(AttentionOp op,
                                       const TargetInfo &target);

/// For a compiler that stores the state of one row after each block of keys:
/// a memref<?x?xf32> of [blocks, 2 + Dv], and the row as an index that counts
/// b, h, i. Both null: no trace.
struct TraceArguments {
  Value buffer;
  Value row;
};

/// Replaces an fa.attention on memrefs, with a complete schedule, by its tile
/// program.
FailureOr<scf::ForallOp> tileAttention(RewriterBase &rewriter, AttentionOp op,
                                       TraceArguments trace);

} // namespace mlir::fa

#endif // FA_DIALECT_FA_TRANSFORMS_TRANSFORMS_H
