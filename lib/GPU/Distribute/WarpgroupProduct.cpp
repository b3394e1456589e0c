//===- WarpgroupProduct.cpp - products of four warps ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fa.issue_product -> wgmma.mma_async, one for each 16 of k. A warp's 16 rows
// are its part of the warpgroup's 64: what a lane holds of them is the same as
// with mma.sync (MMALayout.h), so nothing else in the program knows the
// difference. Tiles in workgroup memory lie in panels and are told by
// descriptors; MMALayout.h has their order and the bits.
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "../MMA/Wgmma.h"
#include "KnownIndices.h"
#include "LaneEmitter.h"

using namespace mlir;
using namespace mlir::fa;

FailureOr<LaneEmitter::PanelTile>
LaneEmitter::panelTile(Operation *user, Value memref, ValueRange indices) {
  FailureOr<TileAddress> address = resolve(user, memref);
  if (failed(address))
    return failure();
  MemRefType type = address->type;
  Value row = *std::prev(indices.end(), 2);
  if (!address->inPanels || !matchPattern(indices.back(), m_Zero()))
    return user->emitOpError("a product of a warpgroup needs a tile in panels, "
                             "from column 0 on, found ")
           << type;
  Value base = sharedAddress(*address, indices.drop_back(2));
  if (!matchPattern(row, m_Zero())) {
    // The first row of the warpgroup, in which this warp has 16 rows. Lane 0's,
    // which says that it is the same in all lanes: descriptors then stay in
    // uniform registers.
    Value group =
        arith::AndIOp::create(b, toI32(row), constantI32(-kWarpgroupRows));
    group = createShuffleIndex(b, b.getLoc(), group, constantI32(0));
    Value bytes = arith::MulIOp::create(b, group, constantI32(kPanelBytes));
    base = arith::AddIOp::create(b, base, bytes);
  }
  int64_t rows = *std::prev(type.getShape().end(), 2);
  return PanelTile{base, rows * kPanelBytes, type.getElementType()};
}

/// The descriptor of an operand at `address`, an i32.
static Value emitDescriptor(ImplicitLocOpBuilder &b, Value address,
                            const PanelOperand &operand) {
  Value shift = arith::ConstantOp::create(
      b, b.getI32IntegerAttr(llvm::Log2_64(kDescriptorUnit)));
  Value start = arith::ShRUIOp::create(b, address, shift);
  start = arith::ExtUIOp::create(b, b.getI64Type(), start);
  Value rest = arith::ConstantOp::create(
      b, b.getI64IntegerAttr(operand.getDescriptorBits()));
  return arith::OrIOp::create(b, start, rest);
}

/// Steps of a product whose descriptors of a left operand that stays are worth
/// the registers that hold them over a loop, two for each. With 16 steps they
/// spilled where 12 cost more moves than additions.
static constexpr int64_t kHeldSteps = 8;

/// What one instruction multiplies, some times over.
static LogicalResult verifyShape(IssueProductOp op) {
  auto acc = cast<VectorType>(op.getAcc().getType());
  int64_t n = acc.getDimSize(1);
  if (acc.getDimSize(0) != kProductRows || n % 8 != 0 || n > 256 ||
      op.getDepth() % kPieceK != 0)
    return op.emitOpError("expected 16 rows for each warp, up to 256 columns "
                          "in multiples of 8 and a depth in multiples of 16, "
                          "found ")
           << acc << " of depth " << op.getDepth();
  return success();
}

/// The lane's accumulators; none where they begin with 0, since fresh ones take
/// no registers in.
LaneEmitter::Values LaneEmitter::accumulatorsOf(IssueProductOp op) {
  auto isZero = [](Value value) {
    return matchPattern(value, m_AnyZeroFloat());
  };
  Values acc = shareOf(op.getAcc());
  if (isZero(op.getAcc()) || llvm::all_of(acc, isZero))
    acc.clear();
  return acc;
}

/// Leads what a product has in registers through the fence before it. Weights
/// are i32 from there on.
void LaneEmitter::fenceRegisters(Location loc, Values &acc, Values &weights) {
  Values registers = acc;
  for (Value value : weights)
    registers.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), value));
  registers = createWgmmaFence(b, loc, registers);
  std::copy_n(registers.begin(), acc.size(), acc.begin());
  std::copy_n(registers.begin() + acc.size(), weights.size(), weights.begin());
}

LogicalResult LaneEmitter::emitIssueProduct(IssueProductOp op) {
  if (failed(require(&TargetInfo::hasWarpgroupProducts, op, "wgmma")) ||
      failed(verifyShape(op)))
    return failure();
  FailureOr<PanelTile> right = panelTile(op, op.getRhs(), op.getRhsIndices());
  if (failed(right))
    return failure();
  if (!right->element.isF16() && !right->element.isBF16())
    return op.emitOpError("expected f16 or bf16, found ") << right->element;
  PanelOperand ofRight{right->panelBytes, op.getRhsTransposed()};
  Value rhs = emitDescriptor(b, right->address, ofRight);
  Value lhs;
  PanelOperand ofLeft{/*panelBytes=*/0, /*isKMajor=*/true};
  if (!isa<VectorType>(op.getLhs().getType())) {
    FailureOr<PanelTile> left = panelTile(op, op.getLhs(), op.getLhsIndices());
    if (failed(left))
      return failure();
    ofLeft.panelBytes = left->panelBytes;
    lhs = emitDescriptor(b, left->address, ofLeft);
  }
  Values weights = lhs ? Values() : shareOf(op.getLhs());
  Values acc = accumulatorsOf(op);
  fenceRegisters(op.getLoc(), acc, weights);
  auto at = [&](Value descriptor, int64_t bytes) {
    return add(descriptor, constant(bytes / kDescriptorUnit));
  };
  int64_t steps = static_cast<int64_t>(op.getDepth()) / kPieceK;
  for (int64_t k = 0; k < steps; ++k) {
    Values left;
    int64_t bytes = ofLeft.getStepBytes(k);
    if (lhs)
      left = {steps > kHeldSteps
                  ? createDescriptorAnew(b, op.getLoc(), lhs, bytes)
                  : at(lhs, bytes)};
    else
      left = Values(ArrayRef<Value>(weights).slice(4 * k, 4));
    WgmmaStep step;
    step.a = left;
    step.rhs = at(rhs, ofRight.getStepBytes(k));
    step.isRhsKMajor = ofRight.isKMajor;
    step.acc = acc;
    step.n = cast<VectorType>(op.getAcc().getType()).getDimSize(1);
    step.element = right->element;
    acc = createWgmma(b, op.getLoc(), step);
  }
  createWgmmaCommit(b, op.getLoc());
  replaceWithShare(op, std::move(acc));
  return success();
}

LogicalResult LaneEmitter::emitWaitProducts(WaitProductsOp op) {
  Values values;
  for (Value value : op.getValues())
    llvm::append_range(values, shareOf(value));
  Values led = createWgmmaWait(b, op.getLoc(), op.getPending(), values);
  ValueRange rest = led;
  for (Value result : op.getResults()) {
    size_t size = layoutOf(op, result)->size();
    shares[result] = Values(rest.take_front(size));
    rest = rest.drop_front(size);
  }
  dead.push_back(op);
  return success();
}

/// stmatrix, 16 columns at a time: lane l gives the address of row l mod 8 of
/// matrix l / 8; the matrices are rows 0-7 and 8-15 of eight columns, then of
/// the next eight.
LogicalResult LaneEmitter::emitPanelStore(StoreTileOp op) {
  FailureOr<TileAddress> dest = resolve(op, op.getDest());
  if (failed(dest) || failed(require(&TargetInfo::hasClusters, op, "stmatrix")))
    return failure();
  auto tile = cast<VectorType>(op.getValue().getType());
  LaneShare share = *layoutOf(op, op.getValue());
  if (!dest->inPanels || !share.packed || share.rowPieces != 1 ||
      share.colPieces % 2 != 0 ||
      !matchPattern(op.getIndices().back(), m_Zero()))
    return op.emitOpError("stores 16 rows of 16-bit elements to a tile in "
                          "panels, from column 0 on, found ")
           << tile << " to " << dest->type;
  if (failed(verifyInside(op, dest->type, op.getIndices(), tile.getShape())))
    return failure();
  Values values = shareOf(op.getValue());
  Value lane = arith::TruncIOp::create(b, b.getI32Type(), me.lane);
  auto bits = [&](int64_t shift, int64_t mask) -> Value {
    Value high = arith::ShRUIOp::create(b, lane, constantI32(shift));
    return arith::AndIOp::create(b, high, constantI32(mask));
  };
  auto times = [&](Value a, int64_t c) -> Value {
    return arith::MulIOp::create(b, a, constantI32(c));
  };
  auto plus = [&](Value a, Value c) -> Value {
    return arith::AddIOp::create(b, a, c);
  };
  Value inner = bits(0, 7), lower = bits(3, 1), right = bits(4, 1);
  Value row =
      plus(toI32(op.getIndices().front()), plus(inner, times(lower, 8)));
  Value base = plus(sharedAddress(*dest, {}), times(row, kPanelBytes));
  int64_t panelBytes = dest->type.getDimSize(0) * kPanelBytes;
  constexpr int64_t chunksPerPanel = kPanelBytes / kChunkBytes;
  for (int64_t n = 0; n < share.colPieces; n += 2) {
    // The row's number modulo 8 is `inner`: warps begin at multiples of 16.
    Value chunk = plus(right, constantI32(n % chunksPerPanel));
    Value place = times(arith::XOrIOp::create(b, chunk, inner), kChunkBytes);
    Value address =
        plus(plus(base, place), constantI32(n / chunksPerPanel * panelBytes));
    createStmatrix(b, op.getLoc(), address,
                   {values[share.at(0, n, 0)], values[share.at(0, n, 1)],
                    values[share.at(0, n + 1, 0)],
                    values[share.at(0, n + 1, 1)]});
  }
  dead.push_back(op);
  return success();
}
