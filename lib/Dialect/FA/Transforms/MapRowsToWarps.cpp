//===- MapRowsToWarps.cpp - each warp its rows of the tile ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage. Until here a vector holds the rows of a whole block
// of threads; from here on the program is what one warp does, and a vector
// holds the warp's rows: dimension 0 shrinks from tile_q to tile_q / warps.
//
// Not every vector has query rows in dimension 0: the right-hand side of a
// contraction is a whole tile of K or V, and a vector along the keys (one
// number a column) is whole too, though it may well have tile_q elements. What
// a vector is follows from its uses, so values that must have rows of the same
// kind are put into one class, and each class is told by one contraction,
// reduction or broadcast in it. Types then change in place; only constants and
// what names a row by number need new operands.
//===----------------------------------------------------------------------===//

#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAMAPROWSTOWARPS
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

enum class Rows { Query, Whole };

bool isVector(Value value) { return isa<VectorType>(value.getType()); }

/// Constants fit every use: they belong to no class and are copied where a
/// use needs other rows.
bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// Sorts the vectors of a program into those with query rows and whole ones.
class RowAnalysis {
public:
  explicit RowAnalysis(scf::ForallOp program) : program(program) {}

  LogicalResult run();
  bool hasQueryRows(Value value) const;
  /// Whether a use by this operand asks for query rows; for constants.
  bool usesQueryRows(OpOperand &use) const;

private:
  LogicalResult visit(Operation *op);
  LogicalResult verifyOperands(Operation *op);
  LogicalResult visitContraction(vector::ContractionOp op);
  LogicalResult visitBroadcast(vector::BroadcastOp op);
  LogicalResult visitReduction(vector::MultiDimReductionOp op);
  LogicalResult visitShapeCast(vector::ShapeCastOp op);
  LogicalResult visitSameRows(Operation *op);

  void tie(Value a, Value b) {
    if (!isVector(a) || !isVector(b) || isConstant(a) || isConstant(b))
      return;
    classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  void mark(Value value, Rows rows, Operation *reason) {
    if (isVector(value) && !isConstant(value))
      marks.push_back({value, rows, reason});
  }
  void *getClass(Value value) const {
    auto it = classes.findLeader(value.getAsOpaquePointer());
    return it == classes.member_end() ? value.getAsOpaquePointer() : *it;
  }

  struct Mark {
    Value value;
    Rows rows;
    Operation *reason;
  };
  scf::ForallOp program;
  llvm::EquivalenceClasses<void *> classes;
  SmallVector<Mark> marks;
  DenseMap<void *, Rows> kinds;
};

LogicalResult RowAnalysis::run() {
  WalkResult walk = program->walk([&](Operation *op) {
    return op == program || succeeded(visit(op)) ? WalkResult::advance()
                                                 : WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  for (const Mark &mark : marks) {
    auto [it, isNew] = kinds.try_emplace(getClass(mark.value), mark.rows);
    if (!isNew && it->second != mark.rows)
      return mark.reason->emitOpError(
          "uses a vector both by query rows and as a whole");
  }
  return success();
}

/// A class that nothing decides only meets state and stores: query rows.
bool RowAnalysis::hasQueryRows(Value value) const {
  auto it = kinds.find(getClass(value));
  return isVector(value) && !isConstant(value) &&
         (it == kinds.end() || it->second == Rows::Query);
}

/// A constant gets its rows from what it is used with.
bool RowAnalysis::usesQueryRows(OpOperand &use) const {
  Operation *op = use.getOwner();
  if (auto contract = dyn_cast<vector::ContractionOp>(op))
    return use.getOperandNumber() != 1;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return cast<VectorType>(use.get().getType()).getRank() ==
               broadcast.getResultVectorType().getRank() &&
           hasQueryRows(broadcast.getVector());
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return hasQueryRows(loop.getTiedLoopRegionIterArg(&use));
  if (isa<scf::YieldOp>(op))
    return hasQueryRows(op->getParentOp()->getResult(use.getOperandNumber()));
  if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op))
    return hasQueryRows(reduction.getSource());
  for (Value value : op->getOperands())
    if (isVector(value) && !isConstant(value))
      return hasQueryRows(value);
  for (Value value : op->getResults())
    if (isVector(value))
      return hasQueryRows(value);
  return true;
}

LogicalResult RowAnalysis::visitBroadcast(vector::BroadcastOp op) {
  auto source = dyn_cast<VectorType>(op.getSourceType());
  if (!source)
    return success();
  VectorType result = op.getResultVectorType();
  // A vector of lower rank, or one with a single row, runs along the columns.
  if (source.getRank() < result.getRank() ||
      (source.getDimSize(0) == 1 && result.getDimSize(0) != 1))
    mark(op.getSource(), Rows::Whole, op);
  else
    tie(op.getSource(), op.getVector());
  return success();
}

LogicalResult RowAnalysis::visitReduction(vector::MultiDimReductionOp op) {
  bool reducesRows = op.isReducedDim(0);
  if (reducesRows && isa<VectorType>(op.getDest().getType()))
    return op.emitOpError("reduces over query rows of several warps");
  if (!reducesRows) {
    tie(op.getSource(), op.getDest());
    tie(op.getDest(), op.getAcc());
    return success();
  }
  // A reduction to a scalar becomes one over the warp's rows. That is meant
  // for a decision, which each warp may take by itself; not for a number.
  if (!op.getDest().getType().isInteger(1))
    return op.emitOpError("reduces over query rows of several warps");
  return success();
}

LogicalResult RowAnalysis::visitShapeCast(vector::ShapeCastOp op) {
  VectorType source = op.getSourceVectorType(),
             result = op.getResultVectorType();
  if (source.getDimSize(0) == result.getDimSize(0))
    tie(op.getSource(), op.getResult());
  else
    mark(op.getSource(), Rows::Whole, op),
        mark(op.getResult(), Rows::Whole, op);
  return success();
}

LogicalResult RowAnalysis::visitContraction(vector::ContractionOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[2].getNumResults() == 0 || maps[0].getNumResults() == 0 ||
      maps[0].getResult(0) != maps[2].getResult(0) ||
      llvm::is_contained(maps[1].getResults(), maps[0].getResult(0)))
    return op.emitOpError("must have the query rows in dimension 0 of its "
                          "left operand and of its result, and nowhere else");
  mark(op.getLhs(), Rows::Query, op);
  mark(op.getRhs(), Rows::Whole, op);
  mark(op.getAcc(), Rows::Query, op);
  mark(op.getResult(), Rows::Query, op);
  return success();
}

/// A transfer moves rows of the memref as they lie: its vector's dimension 0
/// is placed by the index that is shifted.
static LogicalResult verifyTransfer(VectorTransferOpInterface op) {
  if (op.getMask() || !op.getPermutationMap().isMinorIdentity())
    return op->emitOpError("must move rows as they lie, without a mask or a "
                           "permutation, to be divided among warps");
  return success();
}

LogicalResult RowAnalysis::verifyOperands(Operation *op) {
  auto isRankless = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && (vector.getRank() == 0 || vector.isScalable());
  };
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector_of<Type>(op->getOperandTypes()),
                                llvm::to_vector_of<Type>(op->getResultTypes())))
    if (isRankless(type))
      return op->emitOpError("has ")
             << type << ", which has no rows to divide among warps";
  for (Value operand : op->getOperands())
    if (isVector(operand) && !isConstant(operand) &&
        !program.getRegion().isAncestor(operand.getParentRegion()))
      return op->emitOpError("uses a vector from outside the tile program; "
                             "only constants are accepted");
  return success();
}

LogicalResult RowAnalysis::visit(Operation *op) {
  if (failed(verifyOperands(op)))
    return failure();
  if (auto contract = dyn_cast<vector::ContractionOp>(op))
    return visitContraction(contract);
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    if (failed(verifyTransfer(transfer)))
      return failure();
  if (auto product = dyn_cast<IssueProductOp>(op)) {
    mark(product.getLhs(), Rows::Query, op);
    mark(product.getAcc(), Rows::Query, op);
    mark(product.getResult(), Rows::Query, op);
    return success();
  }
  if (auto wait = dyn_cast<WaitProductsOp>(op)) {
    for (auto [value, result] :
         llvm::zip_equal(wait.getValues(), wait.getResults()))
      tie(value, result);
    return success();
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return visitBroadcast(broadcast);
  if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op))
    return visitReduction(reduction);
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    return visitShapeCast(cast);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults())) {
      tie(argument, result);
      tie(argument, init);
      tie(argument, yielded);
    }
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : branch.getRegions())
      if (!region->empty())
        for (auto [yielded, result] :
             llvm::zip(region->front().getTerminator()->getOperands(),
                       branch.getResults()))
          tie(result, yielded);
    return success();
  }
  return visitSameRows(op);
}

/// Elementwise ops, row sums and what reads or writes tiles: the same rows all
/// over.
LogicalResult RowAnalysis::visitSameRows(Operation *op) {
  bool isTileOp =
      isa<LoadTileOp, GatherOp, StoreTileOp, TileIndexOp, RowSumOp, NoteRowsOp,
          TraceStateOp, ArriveOp, vector::TransferReadOp,
          vector::TransferWriteOp, scf::YieldOp>(op);
  bool hasVectors = llvm::any_of(op->getOperands(), isVector) ||
                    llvm::any_of(op->getResults(), isVector);
  if (hasVectors && !isTileOp && !op->hasTrait<OpTrait::ConstantLike>() &&
      !OpTrait::hasElementwiseMappableTraits(op))
    return op->emitOpError("cannot be divided among warps");
  if (isa<scf::YieldOp>(op))
    return success();
  SmallVector<Value> vectors;
  for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                         llvm::to_vector(op->getResults())))
    if (isVector(value))
      vectors.push_back(value);
  for (Value value : vectors)
    tie(vectors.front(), value);
  if (isa<TraceStateOp>(op))
    for (Value value : vectors)
      mark(value, Rows::Query, op);
  return success();
}

/// Gives the vectors with query rows the rows of one warp.
class RowMapper {
public:
  RowMapper(scf::ForallOp program, const CompleteSchedule &schedule)
      : program(program), tileRows(schedule.tileQ),
        warpRows(schedule.tileQ / schedule.warps), analysis(program),
        builder(program) {}

  LogicalResult run();

private:
  void emitFirstRow();
  LogicalResult remapConstants();
  LogicalResult collect(Value value);
  /// Adds the warp's first row to the index of a vector's dimension 0.
  void shiftIndex(MutableOperandRange indices, Value vector);
  void shiftRows(Operation *op);
  VectorType getWarpType(VectorType type) const {
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = warpRows;
    return VectorType::get(shape, type.getElementType());
  }

  scf::ForallOp program;
  int64_t tileRows, warpRows;
  RowAnalysis analysis;
  OpBuilder builder;
  Value firstRow;
  SmallVector<Value> changing;
};

void RowMapper::emitFirstRow() {
  Location loc = program.getLoc();
  builder.setInsertionPointToStart(program.getBody());
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value lanes = arith::ConstantIndexOp::create(builder, loc, kWarpSize);
  Value warp = arith::DivUIOp::create(builder, loc, thread, lanes);
  Value rows = arith::ConstantIndexOp::create(builder, loc, warpRows);
  firstRow = arith::MulIOp::create(builder, loc, warp, rows);
}

LogicalResult RowMapper::collect(Value value) {
  if (!isVector(value) || !analysis.hasQueryRows(value))
    return success();
  auto type = cast<VectorType>(value.getType());
  if (type.getDimSize(0) != tileRows)
    return emitError(value.getLoc())
           << "a vector of " << type << " should have " << tileRows
           << " query rows in dimension 0";
  changing.push_back(value);
  return success();
}

/// Constants outside the program are cloned too: others may use them.
LogicalResult RowMapper::remapConstants() {
  llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
  program->walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (isVector(use.get()) && isConstant(use.get()) &&
          analysis.usesQueryRows(use))
        uses[use.get()].push_back(&use);
  });
  for (auto &[value, operands] : uses) {
    DenseElementsAttr elements;
    auto type = cast<VectorType>(value.getType());
    if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
        type.getDimSize(0) != tileRows)
      return value.getDefiningOp()->emitOpError(
          "differs between query rows; only equal elements are supported");
    builder.setInsertionPointAfterValue(firstRow);
    auto constant = arith::ConstantOp::create(
        builder, value.getLoc(), elements.resizeSplat(getWarpType(type)));
    for (OpOperand *operand : operands)
      operand->set(constant);
    if (value.use_empty())
      value.getDefiningOp()->erase();
  }
  return success();
}

void RowMapper::shiftIndex(MutableOperandRange indices, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  OpOperand &index = indices[indices.size() - type.getRank()];
  index.set(builder.createOrFold<arith::AddIOp>(vector.getLoc(), index.get(),
                                                firstRow));
}

void RowMapper::shiftRows(Operation *op) {
  builder.setInsertionPoint(op);
  auto shift = [&](auto access, Value vector) {
    if (analysis.hasQueryRows(vector) || isConstant(vector))
      shiftIndex(access.getIndicesMutable(), vector);
  };
  if (auto load = dyn_cast<LoadTileOp>(op))
    return load.getEachRow() ? void() : shift(load, load.getResult());
  if (auto store = dyn_cast<StoreTileOp>(op))
    return shift(store, store.getValue());
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    return shift(read, read.getVector());
  if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    return shift(write, write.getVector());
  if (auto box = dyn_cast<BulkStoreOp>(op)) {
    auto shiftOne = [&](OpOperand &index) {
      index.set(builder.createOrFold<arith::AddIOp>(op->getLoc(), index.get(),
                                                    firstRow));
    };
    shiftOne(box.getSourceIndicesMutable()[0]);
    return shiftOne(box.getCoordinatesMutable()[box.getRowDim()]);
  }
  // A left operand in workgroup memory has rows as a vector has.
  if (auto product = dyn_cast<IssueProductOp>(op);
      product && !isVector(product.getLhs()))
    return shiftIndex(product.getLhsIndicesMutable(), product.getResult());
  if (auto trace = dyn_cast<TraceStateOp>(op)) {
    Value first = arith::AddIOp::create(builder, op->getLoc(), trace.getFirst(),
                                        firstRow);
    return trace.getFirstMutable().assign(first);
  }
  auto index = dyn_cast<TileIndexOp>(op);
  if (!index || index.getDim() != 0 ||
      !analysis.hasQueryRows(index.getResult()))
    return;
  Value row = arith::IndexCastOp::create(builder, op->getLoc(),
                                         builder.getI32Type(), firstRow);
  Value base =
      arith::AddIOp::create(builder, op->getLoc(), index.getBase(), row);
  index.getBaseMutable().assign(base);
}

LogicalResult RowMapper::run() {
  if (failed(analysis.run()))
    return failure();
  WalkResult walk = program->walk([&](Operation *op) {
    if (op == program)
      return WalkResult::advance();
    for (Value result : op->getResults())
      if (failed(collect(result)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (failed(collect(argument)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  emitFirstRow();
  program->walk([&](Operation *op) { shiftRows(op); });
  if (failed(remapConstants()))
    return failure();
  for (Value value : changing)
    value.setType(getWarpType(cast<VectorType>(value.getType())));
  return success();
}

LogicalResult mapRowsToWarps(scf::ForallOp program,
                             const CompleteSchedule &schedule) {
  int64_t rows = schedule.tileQ / schedule.warps;
  if (schedule.tileQ % schedule.warps != 0 || rows % kProductRows != 0)
    return program.emitOpError("tile_q = ")
           << schedule.tileQ
           << " cannot be divided among warps = " << schedule.warps
           << "; each warp needs a multiple of " << kProductRows << " rows";
  return RowMapper(program, schedule).run();
}

struct FAMapRowsToWarps
    : public fa::impl::FAMapRowsToWarpsBase<FAMapRowsToWarps> {
  void runOnOperation() override {
    if (failed(forEachTileProgram(getOperation(), mapRowsToWarps)))
      signalPassFailure();
  }
};

} // namespace
