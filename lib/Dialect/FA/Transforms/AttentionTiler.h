//===- AttentionTiler.h - writes the tile program ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fa-tile-attention is made of (TileAttention.cpp has the plan of the
// program). The class is one; its functions are in two files:
// AttentionTiler.cpp has what surrounds the loops over keys, AttentionSteps.cpp
// what is in them.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_ATTENTIONTILER_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_ATTENTIONTILER_H

#include "AttentionFacts.h"
#include "Dropout.h"
#include "OnlineSoftmax.h"
#include "Scores.h"
#include "TileBuilder.h"
#include "TileOrder.h"
#include "Visibility.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fa {

/// An extent of the attention: a number, or a value computed before the loops.
struct Extent {
  int64_t number;
  Value value;
};

/// Operands as [B, H, S, D] (LSE: [B, H, S]; the dense mask and the bias:
/// [B, Hq, Sq, Sk]); null where the op has none.
struct OperandViews {
  Value query, key, value, output, lse, mask, bias;
  Value querySegments, keySegments; ///< [B, Sq] and [B, Sk]
  Extent batch, queryHeads, kvHeads, queries, keys;
};

/// What the loops of one block of query rows share.
struct BlockContext {
  Value batch, head;
  Value firstRow;             ///< index
  OpFoldResult queries;       ///< rows of Q that are read
  Value queryTile;            ///< vector<tile_q x D>
  Value keyPlane, valuePlane; ///< of this head, [keys, D]
  Value biasPlane;            ///< [Sq, keys]; null without bias
  Value max, sum, acc;        ///< m, l, u in workgroup memory
  BlockVisibility visibility;
  ScoreClauses clauses;
  Dropout dropout;
  Value sink;    ///< f32, natural units, or null
  Value noQuery; ///< rows that belong to no query: vector of i1, or null
};

/// m, l and u as values. In the rows of `isMean` u is divided by l already.
struct RowState {
  Value max, sum, acc, isMean;
};

/// Writes the tile program of one fa.attention in front of it.
class AttentionTiler {
public:
  AttentionTiler(AttentionOp op, const TargetInfo &target, TraceArguments trace)
      : op(op), target(target), trace(trace), b(op.getLoc(), op),
        schedule(op.getScheduleAttr()), dims(op.getDims()),
        tileQ(*schedule.getTileQ()), tileKV(*schedule.getTileKv()),
        cluster(schedule.getCluster().value_or(1)),
        paddedD(llvm::alignTo(dims.D, kProductDepth)),
        paddedDv(llvm::alignTo(dims.Dv, kProductDepth)) {}

  FailureOr<scf::ForallOp> run();

private:
  // Before the loops.
  LogicalResult emitViews();
  FailureOr<Value> emitHeadMajorView(Value memref, const DimPositions &order);
  Extent emitExtent(int64_t number, Value memref, int64_t dim);
  FailureOr<Value> emitScorePlanes(Value operand);
  Value emitBroadcast(Value memref);

  HeadSection emitSection();
  Value emitGroup();

  // One block of query rows.
  Value emitFirstRow(Value firstOfAll);
  BlockVisibility emitBlock(Value batch, Value head, Value block);
  SequenceLengths emitLengths(Value batch);
  Value emitLength(Value lengths, Value batch, const Extent &extent);
  Value emitKVHead(Value head);
  ScoreClauses emitClauses(const BlockContext &block,
                           const SequenceLengths &lengths);
  RegionClause getRegion(Region &region, const BlockContext &block);
  ElementMasks emitElementMasks(const BlockContext &block,
                                const SequenceLengths &lengths);
  Value emitPlane(Value memref, Value batch, Value head, OpFoldResult rows,
                  OpFoldResult columns);
  Value emitLine(Value memref, Value batch, OpFoldResult length);
  void emitKeyPlanes(BlockContext &block, const SequenceLengths &lengths,
                     OpFoldResult seen);
  void emitPlanes(BlockContext &block, const SequenceLengths &lengths);
  void restrictToPairs(BlockContext &block);
  Value emitQueryTile(const BlockContext &block, Value column, int64_t columns);
  Value emitWholeReference(const BlockContext &block, Value max);
  void emitState(BlockContext &block);
  void emitEnd(const BlockContext &block, const RowState &state);

  // The loops over keys.
  RowState emitLoops(const BlockContext &block);
  Value emitNotingLoop(const BlockContext &block, Value begin,
                       const KeyBlockRange &range, Value noted);
  void emitExactLoop(const BlockContext &block, Value begin, Value end,
                     StringRef blocks);
  Value noteUnseen(const BlockContext &block, Value noted, Value end);
  Value emitRestart(const BlockContext &block, Value noted);
  Value emitStep(const BlockContext &block, Value keyBlock, bool isFull,
                 bool hasColdPath);
  void emitTrace(const BlockContext &block, Value keyBlock, Value max,
                 Value sum, Value acc);

  // Pieces of a step.
  Value emitTileScores(const BlockContext &block, const ScoreSite &site);
  Value emitHidden(const BlockContext &block, Value scores,
                   const ScoreSite &site, bool isFull);
  Value emitWeightedValues(const BlockContext &block, Value weights,
                           const ScoreSite &site, Value acc);

  // Key by key.
  RowState emitKeyByKey(const BlockContext &block);
  RowState emitKeyStep(const BlockContext &block, Value key,
                       const RowState &old);
  Value emitUniformRows(const BlockContext &block, Value isEmpty, Value acc);
  Value emitKeyProducts(const BlockContext &block, Value key);
  Value emitEachRow(Value plane, Value key, Value column, VectorType tile);

  Value get(const Extent &extent) {
    return extent.value ? extent.value : b.index(extent.number);
  }
  OpFoldResult fold(const Extent &extent) {
    return extent.value ? OpFoldResult(extent.value)
                        : OpFoldResult(b.getIndexAttr(extent.number));
  }
  Value emitContract(Value lhs, Value rhs, Value acc, bool isRhsTransposed);
  Value readState(Value memref);
  void writeState(Value value, Value memref);

  AttentionOp op;
  const TargetInfo &target;
  TraceArguments trace;
  TileBuilder b;
  ScheduleAttr schedule;
  AttentionDims dims;
  int64_t tileQ, tileKV;
  int64_t cluster; ///< blocks of rows that are done together
  int64_t paddedD, paddedDv;
  OperandViews views;
};

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_ATTENTIONTILER_H
