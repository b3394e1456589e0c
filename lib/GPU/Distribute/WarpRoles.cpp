//===- WarpRoles.cpp - roles, barriers, copies of boxes ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A role is a branch on the warp's number, inside one for each warpgroup with
// several, whose registers are those that they ask for. Inside a role the lanes
// count from its first thread.
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "../MMA/Wgmma.h"
#include "LaneEmitter.h"
#include "fa/Support/TensorMap.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::fa;

/// Those that each thread of a kernel is launched with.
static int64_t getFirstRegisters(gpu::GPUFuncOp kernel) {
  int64_t most = getLaunchRegisters(kernel.getKnownBlockSize()->front());
  auto fewer = kernel->getAttrOfType<IntegerAttr>(
      NVVM::NVVMDialect::getMaxnregAttrName());
  return fewer ? std::min(most, fewer.getInt()) : most;
}

LogicalResult LaneEmitter::emitWarpRoles(WarpRolesOp op) {
  if (failed(require(&TargetInfo::hasWarpgroupProducts, op, "setmaxnreg")))
    return failure();
  if (op.getNumWarps() * kWarpSize != numThreads || firstThread != 0)
    return op.emitOpError("divides ")
           << op.getNumWarps() << " warps, the block has "
           << numThreads / kWarpSize;
  llvm::SaveAndRestore saveMeeting(meetingWarps, int64_t(0));
  for (auto [role, region] : llvm::enumerate(op.getRoles()))
    if (region.walk([](AnyNotedOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      meetingWarps += op.getWarps()[role];
  unsigned numRoles = op.getRoles().size();
  for (unsigned role = 0, next; role < numRoles; role = next) {
    next = role + 1;
    while (next < numRoles && op.getFirstWarp(next) % kWarpsPerWarpgroup != 0)
      ++next;
    b.setInsertionPoint(op);
    if (failed(emitRolesTogether(op, role, next)))
      return failure();
  }
  dead.push_back(op);
  return success();
}

/// Roles [begin, end), which have warpgroups together. All warps of one must
/// come to the same setmaxnreg, so it stands before they part.
LogicalResult LaneEmitter::emitRolesTogether(WarpRolesOp op, unsigned begin,
                                             unsigned end) {
  int64_t first = op.getFirstWarp(begin);
  Block *all =
      branchForWarps(atTop.thread, kWarpSize, first, op.getFirstWarp(end));
  b.setInsertionPoint(all->getTerminator());
  if (op.getRegisters()) {
    int64_t number = (*op.getRegisters())[begin];
    createSetMaxRegisters(b, op.getLoc(), number,
                          number > getFirstRegisters(func));
  }
  if (end - begin == 1)
    return emitRole(op, begin, *all);
  // From lane 0: ptxas sees that a warp stays together, and keeps the registers
  // of others apart from it (else it spills at head dim 256). Read anew, since
  // consumers would share a quotient that is there already.
  Value warp = arith::DivUIOp::create(b, readThread(), constant(kWarpSize));
  warp = arith::TruncIOp::create(b, b.getI32Type(), warp);
  warp = createShuffleIndex(b, op.getLoc(), warp, constantI32(0));
  warp = arith::ExtUIOp::create(b, b.getI64Type(), warp);
  for (unsigned role = begin; role < end; ++role) {
    if (op.getRoles()[role].front().empty())
      continue;
    b.setInsertionPoint(all->getTerminator());
    Block *body = branchForWarps(warp, /*unit=*/1, op.getFirstWarp(role),
                                 op.getFirstWarp(role + 1));
    if (failed(emitRole(op, role, *body)))
      return failure();
  }
  return success();
}

/// Where warps [first, end) go; `number` counts a warp as `unit`.
Block *LaneEmitter::branchForWarps(Value number, int64_t unit, int64_t first,
                                   int64_t end) {
  Value condition = less(number, constant(end * unit));
  if (first != 0) {
    Value isAbove = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number,
                                          constant(first * unit));
    condition = arith::AndIOp::create(b, isAbove, condition);
  }
  return scf::IfOp::create(b, condition, /*withElseRegion=*/false).thenBlock();
}

/// At the end of `body`, where the role's warps are by themselves.
LogicalResult LaneEmitter::emitRole(WarpRolesOp op, unsigned role,
                                    Block &body) {
  int64_t first = op.getFirstWarp(role) * kWarpSize;
  int64_t count = op.getWarps()[role] * kWarpSize;
  llvm::SaveAndRestore saveThreads(numThreads, count);
  llvm::SaveAndRestore saveFirst(firstThread, first);
  llvm::SaveAndRestore saveMe(me);
  b.setInsertionPoint(body.getTerminator());
  if (first != 0)
    me = numbersOf(add(atTop.thread, constant(-first)));
  body.getOperations().splice(std::prev(body.end()),
                              op.getRoles()[role].front().getOperations());
  return emitBlock(body);
}

LogicalResult LaneEmitter::emitAnyNoted(AnyNotedOp op) {
  int64_t all = func.getKnownBlockSize()->front() / kWarpSize;
  Value any = meetingWarps == all
                  ? createBarrierAny(b, op.getLoc(), op.getNoted())
                  : createBarrierAnyOf(b, op.getLoc(), op.getNoted(),
                                       meetingWarps * kWarpSize);
  // What follows from it is carried on, stages of rings and so descriptors. To
  // ptxas a vote is the same for all lanes, where a barrier's answer is not.
  if (isa<scf::ForOp>(op->getParentOp()))
    any = NVVM::VoteSyncOp::create(b, b.getI1Type(), constantI32(-1), any,
                                   NVVM::VoteSyncKind::any);
  op.getResult().replaceAllUsesWith(any);
  dead.push_back(op);
  return success();
}

Value LaneEmitter::toI32(Value index) {
  if (index.getType().isInteger(32))
    return index;
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return constantI32(number.getSExtValue());
  if (auto cast = index.getDefiningOp<arith::IndexCastUIOp>();
      cast && cast.getIn().getType().isInteger(32))
    return cast.getIn();
  return arith::IndexCastOp::create(b, b.getI32Type(), index);
}

Value LaneEmitter::sharedAddress(const TileAddress &address,
                                 ValueRange leading) {
  Value result = LLVM::PtrToIntOp::create(b, b.getI32Type(), address.base);
  int64_t bytes = llvm::divideCeil(address.type.getElementTypeBitWidth(), 8);
  for (auto [index, stride] : llvm::zip(leading, address.strides)) {
    APInt elements;
    if (matchPattern(index, m_Zero()) ||
        !matchPattern(stride, m_ConstantInt(&elements)))
      continue;
    Value offset = arith::MulIOp::create(
        b, toI32(index), constantI32(elements.getSExtValue() * bytes));
    result = arith::AddIOp::create(b, result, offset);
  }
  return result;
}

FailureOr<Value> LaneEmitter::barrierAt(Operation *user, Value barriers,
                                        Value index) {
  FailureOr<TileAddress> address = resolvePlain(user, barriers);
  if (failed(address) ||
      failed(require(&TargetInfo::hasClusters, user, "mbarrier")))
    return failure();
  return sharedAddress(*address, index);
}

Value LaneEmitter::isFirstLane() {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, me.lane,
                               constant(0));
}

/// By thread 0, with what shows the barriers to copies that run by themselves.
LogicalResult LaneEmitter::emitInitBarriers(InitBarriersOp op) {
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, me.thread,
                                        constant(0));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  auto type = cast<MemRefType>(op.getBarriers().getType());
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    Value index = arith::ConstantIndexOp::create(b, i);
    FailureOr<Value> barrier = barrierAt(op, op.getBarriers(), index);
    if (failed(barrier))
      return failure();
    createBarrierInit(b, op.getLoc(), *barrier, op.getCount());
  }
  createBarrierInitFence(b, op.getLoc());
  dead.push_back(op);
  return success();
}

LogicalResult LaneEmitter::emitArrive(ArriveOp op) {
  FailureOr<Value> barrier = barrierAt(op, op.getBarriers(), op.getIndex());
  if (failed(barrier))
    return failure();
  // A warp's lanes are done when all of them are here.
  createWarpBarrier(b, op.getLoc());
  if (op.getAfter()) {
    Value sum;
    for (Value value : shareOf(op.getAfter()))
      sum = sum ? arith::AddFOp::create(b, sum, value) : value;
    barrier = createAddressAfter(b, op.getLoc(), *barrier, sum);
  }
  // As many lanes as there are barriers to arrive at.
  int64_t blocks = op.getBlocks();
  Value arrives = blocks == 1 ? isFirstLane() : less(me.lane, constant(blocks));
  auto branch = scf::IfOp::create(b, arrives, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (blocks == 1)
    createBarrierArrive(b, op.getLoc(), *barrier);
  else
    createBarrierArriveAt(b, op.getLoc(), *barrier,
                          arith::TruncIOp::create(b, b.getI32Type(), me.lane));
  dead.push_back(op);
  return success();
}

LogicalResult LaneEmitter::emitWaitBarrier(WaitBarrierOp op) {
  FailureOr<Value> barrier = barrierAt(op, op.getBarriers(), op.getIndex());
  if (failed(barrier))
    return failure();
  createBarrierWait(b, op.getLoc(), *barrier, op.getParity());
  dead.push_back(op);
  return success();
}

/// A map of zeros is none.
LogicalResult LaneEmitter::emitHasTensorMap(HasTensorMapOp op) {
  if (!isa<LLVM::LLVMPointerType>(op.getMap().getType()))
    return op.emitOpError("expected a map by an !llvm.ptr, found ")
           << op.getMap().getType();
  Value bits;
  for (size_t byte = 0; byte < farun::kTensorMapBytes; byte += 8) {
    Value value = LLVM::LoadOp::create(
        b, b.getI64Type(), offset(op.getMap(), static_cast<int64_t>(byte)), 8);
    bits = bits ? arith::OrIOp::create(b, bits, value) : value;
  }
  Value has =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, constant(0));
  op.getResult().replaceAllUsesWith(has);
  dead.push_back(op);
  return success();
}

/// Calls `emit` with the address of each panel of a tile of `type` that begins
/// at `address`, and with `coordinates` (innermost first) moved to its columns.
void LaneEmitter::forEachPanel(MemRefType type, int64_t panels, Value address,
                               MutableArrayRef<Value> coordinates,
                               function_ref<void(Value)> emit) {
  int64_t columns = kPanelBytes * 8 / type.getElementTypeBitWidth();
  int64_t rows = *std::prev(type.getShape().end(), 2);
  Value column = coordinates.front();
  auto plus = [&](Value a, int64_t c) -> Value {
    return c == 0 ? a : arith::AddIOp::create(b, a, constantI32(c)).getResult();
  };
  for (int64_t panel = 0; panel < panels; ++panel) {
    coordinates.front() = plus(column, panel * columns);
    emit(plus(address, panel * rows * kPanelBytes));
  }
}

LogicalResult LaneEmitter::emitBulkCopy(BulkCopyOp op) {
  FailureOr<TileAddress> dest = resolve(op, op.getDest());
  FailureOr<Value> barrier = barrierAt(op, op.getBarriers(), op.getIndex());
  if (failed(dest) || failed(barrier))
    return failure();
  MemRefType type = dest->type;
  if (!dest->inPanels)
    return op.emitOpError("the destination needs panels, found ") << type;
  int64_t bytes = type.getElementTypeBitWidth() / 8, blocks = op.getBlocks();
  int64_t rows = *std::prev(type.getShape().end(), 2);
  int64_t panels = type.getShape().back() * bytes / kPanelBytes;
  if (failed(verifyInside(op, type, op.getDestIndices(),
                          {rows / blocks, type.getShape().back()})))
    return failure();
  Value address = sharedAddress(*dest, op.getDestIndices().drop_back(2));
  if (Value row = *std::prev(op.getDestIndices().end(), 2);
      !matchPattern(row, m_Zero()))
    address = arith::AddIOp::create(
        b, address,
        arith::MulIOp::create(b, toI32(row), constantI32(kPanelBytes)));
  SmallVector<Value> coordinates;
  for (Value index : llvm::reverse(op.getCoordinates()))
    coordinates.push_back(toI32(index));
  auto branch = scf::IfOp::create(b, isFirstLane(), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  createBarrierExpect(b, op.getLoc(), *barrier, panels * rows * kPanelBytes);
  for (int64_t other = 1; other < blocks; ++other)
    createBarrierArrive(b, op.getLoc(), *barrier);
  forEachPanel(type, panels, address, coordinates, [&](Value panel) {
    createTensorCopy(b, op.getLoc(), panel, op.getMap(), coordinates, *barrier,
                     blocks);
  });
  dead.push_back(op);
  return success();
}

LogicalResult LaneEmitter::emitBulkStore(BulkStoreOp op) {
  FailureOr<TileAddress> source = resolve(op, op.getSource());
  if (failed(source) ||
      failed(require(&TargetInfo::hasClusters, op, "cp.async.bulk.tensor")))
    return failure();
  MemRefType type = source->type;
  if (!source->inPanels ||
      !matchPattern(op.getSourceIndices().back(), m_Zero()))
    return op.emitOpError("the source needs panels, from column 0 on, found ")
           << type;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t panels = llvm::divideCeil(
      static_cast<int64_t>(op.getColumns()) * bytes, kPanelBytes);
  Value rows = arith::MulIOp::create(b, toI32(op.getSourceIndices().front()),
                                     constantI32(kPanelBytes));
  Value address = arith::AddIOp::create(b, sharedAddress(*source, {}), rows);
  SmallVector<Value> coordinates;
  for (Value index : llvm::reverse(op.getCoordinates()))
    coordinates.push_back(toI32(index));
  // What the lanes wrote, one of them sends.
  createFenceAsync(b, op.getLoc());
  createWarpBarrier(b, op.getLoc());
  auto branch = scf::IfOp::create(b, isFirstLane(), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  forEachPanel(type, panels, address, coordinates, [&](Value panel) {
    createTensorStore(b, op.getLoc(), panel, op.getMap(), coordinates);
  });
  createTensorStoreWait(b, op.getLoc());
  dead.push_back(op);
  return success();
}

/// Not by a shuffle: numbers of barriers are wanted in registers of lanes.
Value LaneEmitter::warpgroup() {
  Value thread = arith::TruncIOp::create(b, b.getI32Type(), me.thread);
  return arith::ShRUIOp::create(
      b, thread, constantI32(llvm::Log2_64(kWarpSize * kWarpsPerWarpgroup)));
}

/// Barriers by number: 0 is the block's, then one for each warpgroup's turn,
/// then one for each warpgroup by itself.
static constexpr int64_t kFirstTurnBarrier = 1, kFirstGroupBarrier = 4;
static constexpr int64_t kGroupThreads = kWarpSize * kWarpsPerWarpgroup;

/// Those who wait for their turn and those who pass it meet at a barrier.
LogicalResult LaneEmitter::emitTurn(TurnOp op) {
  int64_t groups = op.getGroups();
  Value group = warpgroup();
  Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, group,
                                     constantI32(groups - 1));
  auto meet = [&](Value number, bool waits) {
    Value id = arith::AddIOp::create(b, number, constantI32(kFirstTurnBarrier));
    createNamedBarrier(b, op.getLoc(), id, 2 * kGroupThreads, waits);
  };
  dead.push_back(op);
  OpBuilder::InsertionGuard guard(b);
  auto onlyIf = [&](Value condition) {
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  };
  switch (op.getKind()) {
  case TurnKind::Open:
    onlyIf(last);
    meet(constantI32(0), /*waits=*/false);
    break;
  case TurnKind::Take:
    meet(group, /*waits=*/true);
    break;
  case TurnKind::Pass: {
    Value next = arith::AddIOp::create(b, group, constantI32(1));
    meet(arith::SelectOp::create(b, last, constantI32(0), next),
         /*waits=*/false);
    break;
  }
  case TurnKind::Close:
    onlyIf(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, group,
                                 constantI32(0)));
    meet(constantI32(0), /*waits=*/true);
    break;
  }
  return success();
}

LogicalResult LaneEmitter::emitClusterBarrier(ClusterBarrierOp op) {
  if (failed(require(&TargetInfo::hasClusters, op, "barrier.cluster")))
    return failure();
  createClusterBarrier(b, op.getLoc());
  dead.push_back(op);
  return success();
}

LogicalResult LaneEmitter::emitWarpgroupBarrier(WarpgroupBarrierOp op) {
  Value id =
      arith::AddIOp::create(b, warpgroup(), constantI32(kFirstGroupBarrier));
  createNamedBarrier(b, op.getLoc(), id, kGroupThreads, /*waits=*/true);
  dead.push_back(op);
  return success();
}
