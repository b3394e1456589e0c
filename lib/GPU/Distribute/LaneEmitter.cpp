//===- LaneEmitter.cpp - the walk over a kernel -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneEmitter.h"
#include "../MMA/MmaSync.h"
#include "../MMA/Wgmma.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fa;

LaneEmitter::LaneEmitter(gpu::GPUFuncOp func, const TargetInfo *target)
    : func(func), target(target), b(func.getLoc(), func.getContext()) {}

LogicalResult LaneEmitter::require(bool TargetInfo::*promise, Operation *user,
                                   StringRef instruction) {
  if (!target || target->*promise)
    return success();
  return user->emitOpError("needs ")
         << instruction << ", which " << target->name << " does not have";
}

//===----------------------------------------------------------------------===//
// Small arithmetic
//===----------------------------------------------------------------------===//

Value LaneEmitter::constant(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value LaneEmitter::constantI32(int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

Value LaneEmitter::zero(Type type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

static std::optional<int64_t> constantOf(Value v) {
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return value.getSExtValue();
  return std::nullopt;
}

Value LaneEmitter::add(Value a, Value c) {
  auto ca = constantOf(a), cc = constantOf(c);
  if (ca && cc)
    return constant(*ca + *cc);
  if (cc == 0)
    return a;
  if (ca == 0)
    return c;
  return arith::AddIOp::create(b, a, c);
}

Value LaneEmitter::mul(Value a, Value c) {
  auto ca = constantOf(a), cc = constantOf(c);
  if (ca && cc)
    return constant(*ca * *cc);
  if (ca == 0 || cc == 0)
    return constant(0);
  if (cc == 1)
    return a;
  if (ca == 1)
    return c;
  return arith::MulIOp::create(b, a, c);
}

Value LaneEmitter::less(Value a, Value c) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, a, c);
}

Value LaneEmitter::toI64(Value index) {
  if (auto c = constantOf(index))
    return constant(*c);
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

Value LaneEmitter::offset(Value base, Value bytes) {
  if (auto c = constantOf(bytes))
    return offset(base, *c);
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value LaneEmitter::offset(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(
      b, base.getType(), b.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

/// Bytes of an element in memory: an i1 takes one.
static int64_t elementBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

Value LaneEmitter::element(const TileAddress &address, ValueRange indices) {
  Value elements = constant(0);
  for (auto [index, stride] : llvm::zip_equal(indices, address.strides))
    elements = add(elements, mul(index, stride));
  if (matchPattern(elements, m_Zero()))
    return address.base;
  // In elements, not bytes: a doubled stride would be one value more to keep.
  Type unit = b.getIntegerType(8 * elementBytes(address.type));
  return LLVM::GEPOp::create(b, address.base.getType(), unit, address.base,
                             ArrayRef<LLVM::GEPArg>{elements});
}

Value LaneEmitter::rowOf(int64_t m, int64_t half) {
  return add(me.quad, constant(m * kPieceRows + half * 8));
}

Value LaneEmitter::columnOf(int64_t n, int64_t e) {
  return add(mul(me.quadLane, constant(2)), constant(n * kPieceCols + e));
}

Value LaneEmitter::flipOf(const ChunkSwizzle &swizzle, Value row) {
  Value line = row;
  if (swizzle.rowsPerLine() > 1)
    line = arith::ShRUIOp::create(
        b, row, constant(llvm::Log2_64(swizzle.rowsPerLine())));
  return arith::AndIOp::create(b, line, constant(swizzle.span() - 1));
}

Value LaneEmitter::placeOf(Value chunk, Value flip) {
  Value place = arith::XOrIOp::create(b, chunk, flip);
  return mul(place, constant(kChunkBytes));
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

LaneEmitter::Values LaneEmitter::shareOf(Value value) {
  if (!isa<VectorType>(value.getType()))
    return {value};
  return shares.lookup(value);
}

FailureOr<LaneShare> LaneEmitter::layoutOf(Operation *op, Value value) {
  auto type = cast<VectorType>(value.getType());
  FailureOr<LaneShare> share = LaneShare::get(type);
  if (failed(share))
    return op->emitOpError("no lane layout covers ")
           << type << ": rows must be a multiple of 16, columns 1, 4 or a "
           << "multiple of 8, elements integers or floats";
  return share;
}

void LaneEmitter::expandTypes(TypeRange types,
                              SmallVectorImpl<Type> &expanded) {
  for (Type type : types) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector) {
      expanded.push_back(type);
      continue;
    }
    FailureOr<LaneShare> share = LaneShare::get(vector);
    if (succeeded(share))
      expanded.append(share->size(), share->type);
  }
}

void LaneEmitter::expandValues(ValueRange values,
                               SmallVectorImpl<Value> &expanded) {
  for (Value value : values)
    llvm::append_range(expanded, shareOf(value));
}

void LaneEmitter::collectValues(ValueRange originals, ValueRange expanded) {
  for (Value original : originals) {
    auto vector = dyn_cast<VectorType>(original.getType());
    if (!vector) {
      original.replaceAllUsesWith(expanded.front());
      expanded = expanded.drop_front();
      continue;
    }
    int64_t size = LaneShare::get(vector)->size();
    shares[original] = Values(expanded.take_front(size));
    expanded = expanded.drop_front(size);
  }
}

void LaneEmitter::replaceWithShare(Operation *op, Values share) {
  shares[op->getResult(0)] = std::move(share);
  dead.push_back(op);
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

static bool touchesVectors(Operation *op) {
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isVector) ||
         llvm::any_of(op->getResultTypes(), isVector);
}

LaneEmitter::ThreadNumbers LaneEmitter::numbersOf(Value thread) {
  ThreadNumbers result;
  result.thread = thread;
  result.lane = arith::AndIOp::create(b, thread, constant(kWarpSize - 1));
  result.quad = arith::ShRUIOp::create(b, result.lane, constant(2));
  result.quadLane =
      arith::AndIOp::create(b, result.lane, constant(kLanesPerRow - 1));
  return result;
}

Value LaneEmitter::readThread() {
  Value thread = createOpaqueRead(b, b.getLoc(), "%tid.x");
  thread = arith::ExtUIOp::create(b, b.getI64Type(), thread);
  return add(thread, constant(-firstThread));
}

/// The register with a block's or a cluster's number, or with a block's rank in
/// its cluster; empty for other ops.
static StringRef getRegisterOf(Operation *op) {
  auto inX = [](auto id, StringRef name) {
    return id.getDimension() == gpu::Dimension::x ? name : "";
  };
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([&](gpu::BlockIdOp id) { return inX(id, "%ctaid.x"); })
      .Case([&](gpu::ClusterIdOp id) { return inX(id, "%clusterid.x"); })
      .Case(
          [&](gpu::ClusterBlockIdOp id) { return inX(id, "%cluster_ctaid.x"); })
      .Default([](Operation *) { return ""; });
}

/// A division is kept: it takes twenty instructions, and what it divides by
/// would stay in a register for it.
static bool isCheapArithmetic(Operation *op) {
  return op->getNumRegions() == 0 && isPure(op) &&
         isa<arith::ArithDialect>(op->getDialect()) &&
         !isa<arith::DivUIOp, arith::RemUIOp>(op) && !touchesVectors(op);
}

Value LaneEmitter::computeAnew(Value value, IRMapping &mapping) {
  if (Value done = mapping.lookupOrNull(value))
    return done;
  Operation *op = value.getDefiningOp();
  if (StringRef name = op ? getRegisterOf(op) : ""; !name.empty()) {
    Value number = createOpaqueRead(b, b.getLoc(), name);
    Value index = arith::IndexCastUIOp::create(b, b.getIndexType(), number);
    mapping.map(value, index);
    return index;
  }
  if (auto id = dyn_cast_or_null<gpu::ThreadIdOp>(op);
      id && id.getDimension() == gpu::Dimension::x) {
    Value index =
        arith::IndexCastUIOp::create(b, b.getIndexType(), readThread());
    mapping.map(value, index);
    return index;
  }
  if (!op || !isCheapArithmetic(op))
    return value;
  for (Value operand : op->getOperands())
    mapping.map(operand, computeAnew(operand, mapping));
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

/// A warp is 32 neighbours in x.
LogicalResult LaneEmitter::verifyBlockSize() {
  std::optional<ArrayRef<int32_t>> size = func.getKnownBlockSize();
  if (!size || size->size() != 3 || (*size)[0] <= 0 ||
      (*size)[0] % kWarpSize != 0 || (*size)[1] != 1 || (*size)[2] != 1)
    return func.emitOpError("needs a known block size that is a multiple of 32 "
                            "in x, and 1 in y and z");
  numThreads = (*size)[0];
  meetingWarps = numThreads / kWarpSize;
  return success();
}

LogicalResult LaneEmitter::run() {
  if (failed(verifyBlockSize()))
    return failure();
  b.setInsertionPointToStart(&func.getBody().front());
  me = atTop = numbersOf(toI64(gpu::ThreadIdOp::create(b, gpu::Dimension::x)));
  for (Block &block : func.getBody())
    if (failed(emitBlock(block)))
      return failure();
  for (Operation *op : llvm::reverse(dead)) {
    op->dropAllUses();
    op->erase();
  }
  for (auto [body, count] : staleArguments)
    body->eraseArguments(1, count);
  return success();
}

LogicalResult LaneEmitter::emitBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    b.setInsertionPoint(&op);
    b.setLoc(op.getLoc());
    if (failed(emitOp(&op)))
      return failure();
  }
  // What nobody has asked for until here is not asked for outside.
  late.remove_if(
      [&](auto &entry) { return entry.second.op->getBlock() == &block; });
  return success();
}

/// A memref that is read back to where it comes from, and goes.
static bool isView(Value memref) {
  return isa_and_nonnull<ViewOp, memref::SubViewOp, memref::ViewOp,
                         memref::CastOp>(memref.getDefiningOp());
}

static bool takesViews(Operation *op) {
  return isa<LoadTileOp, GatherOp, MinMaxOp, StoreTileOp,
             vector::TransferReadOp, vector::TransferWriteOp, TraceStateOp,
             CopyTileOp, CopyAlignedOp, PairsAlignedOp, memref::LoadOp,
             memref::SubViewOp, memref::CastOp, InitBarriersOp, ArriveOp,
             WaitBarrierOp, BulkCopyOp, BulkStoreOp, IssueProductOp>(op);
}

/// Whether what an op works on can be in lanes' hands by now, and its results.
LogicalResult LaneEmitter::verifyOp(Operation *op) {
  for (Value operand : op->getOperands())
    if (isView(operand) && !takesViews(op))
      return op->emitOpError("has no distribution to lanes of its operand of "
                             "type ")
             << operand.getType();
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()) && !shares.contains(operand) &&
        !late.contains(operand) &&
        !isa_and_nonnull<LoadTileOp>(operand.getDefiningOp()))
      return op->emitOpError("operand of type ")
             << operand.getType() << " was not distributed";
  for (Value result : op->getResults())
    if (isa<VectorType>(result.getType()) && !isa<LoadTileOp>(op) &&
        failed(layoutOf(op, result)))
      return failure();
  return success();
}

LogicalResult LaneEmitter::emitOp(Operation *op) {
  if (failed(verifyOp(op)))
    return failure();
  if (mayBeLate(op))
    return postpone(op);
  settleBefore(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp op) { return emitFor(op); })
      .Case([&](scf::IfOp op) { return emitIf(op); })
      .Case([&](scf::YieldOp op) { return emitYield(op); })
      .Case([&](vector::BroadcastOp op) { return emitBroadcast(op); })
      .Case([&](vector::ShapeCastOp op) { return emitShapeCast(op); })
      .Case([&](vector::MultiDimReductionOp op) { return emitReduction(op); })
      .Case([&](vector::ContractionOp op) { return emitContraction(op); })
      .Case([&](vector::TransferReadOp op) { return emitTransferRead(op); })
      .Case([&](vector::TransferWriteOp op) { return emitTransferWrite(op); })
      .Case([&](LoadTileOp op) { return emitLoadTile(op); })
      .Case([&](GatherOp op) { return emitGather(op); })
      .Case([&](MinMaxOp op) { return emitMinMax(op); })
      .Case([&](StoreTileOp op) { return emitStoreTile(op); })
      .Case([&](TileIndexOp op) { return emitTileIndex(op); })
      .Case([&](RowSumOp op) { return emitRowSum(op); })
      .Case([&](Exp2Op op) { return emitExp2(op); })
      .Case([&](NoteRowsOp op) { return emitNoteRows(op); })
      .Case([&](AnyNotedOp op) { return emitAnyNoted(op); })
      .Case([&](WarpRolesOp op) { return emitWarpRoles(op); })
      .Case([&](InitBarriersOp op) { return emitInitBarriers(op); })
      .Case([&](ArriveOp op) { return emitArrive(op); })
      .Case([&](WaitBarrierOp op) { return emitWaitBarrier(op); })
      .Case([&](HasTensorMapOp op) { return emitHasTensorMap(op); })
      .Case([&](BulkCopyOp op) { return emitBulkCopy(op); })
      .Case([&](BulkStoreOp op) { return emitBulkStore(op); })
      .Case([&](TurnOp op) { return emitTurn(op); })
      .Case([&](WarpgroupBarrierOp op) { return emitWarpgroupBarrier(op); })
      .Case([&](FenceAsyncOp op) {
        createFenceAsync(b, op.getLoc());
        dead.push_back(op);
        return success();
      })
      .Case([&](ClusterBarrierOp op) { return emitClusterBarrier(op); })
      .Case([&](IssueProductOp op) { return emitIssueProduct(op); })
      .Case([&](WaitProductsOp op) { return emitWaitProducts(op); })
      .Case([&](TraceStateOp op) { return emitTraceState(op); })
      .Case([&](CopyTileOp op) { return emitCopyTile(op); })
      .Case([&](CopyAlignedOp op) { return emitCopyAligned(op); })
      .Case([&](PairsAlignedOp op) { return emitPairsAligned(op); })
      .Case([&](memref::LoadOp op) { return emitScalarLoad(op); })
      .Case([&](CommitCopiesOp op) {
        createCommitGroup(b, op.getLoc());
        dead.push_back(op);
        return success();
      })
      .Case([&](WaitCopiesOp op) {
        createWaitGroup(b, op.getLoc(), op.getPending());
        dead.push_back(op);
        return success();
      })
      .Case<ViewOp, memref::SubViewOp, memref::ViewOp, memref::CastOp>(
          [&](Operation *op) {
            dead.push_back(op);
            return success();
          })
      .Case([&](arith::ConstantOp op) {
        return touchesVectors(op) ? emitConstant(op) : success();
      })
      .Default([&](Operation *op) { return emitOther(op); });
}

/// An op without a rule of its own.
LogicalResult LaneEmitter::emitOther(Operation *op) {
  if (!touchesVectors(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(emitBlock(block)))
          return failure();
    return success();
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
    return emitElementwise(op);
  return op->emitOpError("has no distribution to lanes");
}

LogicalResult LaneEmitter::emitFor(scf::ForOp op) {
  if (!touchesVectors(op))
    return emitBlock(*op.getBody());
  Values inits;
  expandValues(op.getInitArgs(), inits);
  auto loop = scf::ForOp::create(b, op.getLowerBound(), op.getUpperBound(),
                                 op.getStep(), inits, /*bodyBuilder=*/nullptr,
                                 op.getUnsignedCmp());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  loop.getRegion().takeBody(op.getRegion());
  Block *body = loop.getBody();
  // New arguments behind the old ones, which go once nothing uses them.
  unsigned numOld = body->getNumArguments() - 1;
  Values expanded;
  for (Value init : inits)
    expanded.push_back(body->addArgument(init.getType(), op.getLoc()));
  collectValues(body->getArguments().slice(1, numOld), expanded);
  staleArguments.emplace_back(body, numOld);
  if (failed(emitBlock(*body)))
    return failure();
  collectValues(op.getResults(), loop.getResults());
  dead.push_back(op);
  return success();
}

LogicalResult LaneEmitter::emitIf(scf::IfOp op) {
  auto emitRegions = [&](scf::IfOp branch) {
    for (Region &region : branch->getRegions())
      for (Block &block : region)
        if (failed(emitBlock(block)))
          return failure();
    return success();
  };
  if (!touchesVectors(op))
    return emitRegions(op);
  SmallVector<Type> types;
  expandTypes(op.getResultTypes(), types);
  auto branch = scf::IfOp::create(b, types, op.getCondition(),
                                  /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  branch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  branch.getThenRegion().takeBody(op.getThenRegion());
  branch.getElseRegion().takeBody(op.getElseRegion());
  if (failed(emitRegions(branch)))
    return failure();
  collectValues(op.getResults(), branch.getResults());
  dead.push_back(op);
  return success();
}

LogicalResult LaneEmitter::emitYield(scf::YieldOp op) {
  if (!touchesVectors(op))
    return success();
  Values values;
  expandValues(op.getOperands(), values);
  op->setOperands(values);
  return success();
}
