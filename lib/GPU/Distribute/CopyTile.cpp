//===- CopyTile.cpp - a block's threads fill a workgroup tile ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fa.copy_tile -> cp.async of 16-byte chunks. Thread T takes chunk T mod C of
// row T / C, where C is the number of chunks in a row, and then the same chunk
// of every following group of rows:
//
//       pass 0   thread 0: row 0 chunk 0 | thread 1: row 0 chunk 1 | ...
//       pass 1   the rows after those, and so on
//
// so that neighbouring threads read neighbouring addresses and, under the
// swizzle, eight of them write all 32 banks. A source whose rows are not
// aligned to 16 bytes is copied element by element instead.
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "KnownIndices.h"
#include "LaneEmitter.h"

using namespace mlir;
using namespace mlir::fa;

static constexpr int64_t kChunkBits = 8 * kChunkBytes;

/// What one thread does in a copy.
struct LaneEmitter::CopyPlan {
  TileAddress source, dest;
  Value memref;     ///< the source
  int64_t bytes;    ///< of an element
  int64_t perChunk; ///< elements of a chunk
  int64_t rows;     ///< of the tile
  int64_t chunks;   ///< of a row that are written
  int64_t rowsPerPass;
  Value firstRow;    ///< of the tile in the source
  Value firstColumn; ///< of the panel in the source; null: the first of all
  int64_t chunksPerRow;
  Value threadRow, threadChunk; ///< filled by placeThread
  Value origin;                 ///< of the tile in workgroup memory
  int64_t pitchBytes;
  ChunkSwizzle swizzle;

  int64_t passes() const { return llvm::divideCeil(rows, rowsPerPass); }
  /// The extent of a source row, which is static: a head dimension.
  int64_t columns() const { return source.type.getShape().back(); }
  bool alignable() const { return columns() % perChunk == 0; }
  /// Whether a chunk may lie behind the last column of the source.
  bool mayEndInside() const {
    return firstColumn || columns() < chunks * perChunk;
  }
};

static Value udivPow2(ImplicitLocOpBuilder &b, Value v, int64_t by) {
  if (by == 1)
    return v;
  Value shift =
      arith::ConstantOp::create(b, b.getI64IntegerAttr(llvm::Log2_64(by)));
  return arith::ShRUIOp::create(b, v, shift);
}

Value LaneEmitter::copyAligned(Value memref, const TileAddress &address) {
  if (Value flag = alignedFlags.lookup(memref))
    return flag;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(memref.getDefiningOp());
  int64_t bytes = llvm::divideCeil(address.type.getElementTypeBitWidth(), 8);
  Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), address.base);
  for (Value stride : ArrayRef<Value>(address.strides).drop_back())
    bits = arith::OrIOp::create(b, bits, mul(stride, constant(bytes)));
  bits = arith::AndIOp::create(b, bits, constant(kChunkBytes - 1));
  Value aligned =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bits, constant(0));
  Value dense = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      address.strides.back(), constant(1));
  return alignedFlags[memref] = arith::AndIOp::create(b, aligned, dense);
}

LogicalResult LaneEmitter::emitCopyAligned(CopyAlignedOp op) {
  FailureOr<TileAddress> source = resolvePlain(op, op.getSource());
  if (failed(source))
    return failure();
  auto type = cast<MemRefType>(op.getSource().getType());
  if (type.getRank() == 0)
    return op.emitOpError("source of type ") << type << " has no rows";
  bool possible =
      !type.isDynamicDim(type.getRank() - 1) &&
      type.getShape().back() * type.getElementTypeBitWidth() % kChunkBits == 0;
  Value flag =
      possible ? copyAligned(op.getSource(), *source) : zero(b.getI1Type());
  op.getResult().replaceAllUsesWith(flag);
  dead.push_back(op);
  return success();
}

/// Columns of a tile that are read, beside those that are copied to it: they
/// are zero.
static int64_t findColumnsRead(Value tile) {
  int64_t columns = 0;
  for (Operation *user : tile.getUsers()) {
    auto type = cast<MemRefType>(tile.getType());
    auto load = dyn_cast<LoadTileOp>(user);
    if (!load && !isa<CopyTileOp>(user))
      return type.getShape().back();
    if (load)
      columns = std::max(
          columns,
          cast<VectorType>(load.getResult().getType()).getShape().back());
  }
  return columns;
}

LogicalResult LaneEmitter::verifyCopy(CopyTileOp op, const TileAddress &source,
                                      const TileAddress &dest) {
  if (source.type.getRank() != 2 || source.type.isDynamicDim(1) ||
      gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(source.type))
    return op.emitOpError("the source must be a matrix in global memory with "
                          "static columns");
  int64_t bits = dest.type.getElementTypeBitWidth();
  if (bits != 16 && bits != 32)
    return op.emitOpError("copies elements of 16 or 32 bits, found ")
           << dest.type.getElementType();
  int64_t rowBits = dest.type.getShape().back() * bits;
  if (dest.inPanels && rowBits % (8 * kPanelBytes) == 0 && numThreads % 8 == 0)
    rowBits = 8 * kPanelBytes;
  if (!dest.swizzled || rowBits % kChunkBits != 0 ||
      !llvm::isPowerOf2_64(rowBits / kChunkBits) ||
      numThreads % (rowBits / kChunkBits) != 0)
    return op.emitOpError("the destination needs swizzled rows of a power of "
                          "two of 16-byte chunks that divides the block");
  if (!matchPattern(op.getSourceIndices()[1], m_Zero()))
    return op.emitOpError("the tile must start at the first column");
  if (llvm::any_of(op.getDestIndices().take_back(2),
                   [](Value index) { return !matchPattern(index, m_Zero()); }))
    return op.emitOpError("must fill its tile from the first element");
  if (failed(verifyInside(op, dest.type, op.getDestIndices(),
                          dest.type.getShape().take_back(2))))
    return failure();
  return require(&TargetInfo::hasAsyncCopy, op, "cp.async");
}

LogicalResult LaneEmitter::emitCopyTile(CopyTileOp op) {
  FailureOr<TileAddress> source = resolvePlain(op, op.getSource());
  if (failed(source))
    return failure();
  FailureOr<TileAddress> dest = resolve(op, op.getDest());
  if (failed(dest) || failed(verifyCopy(op, *source, *dest)))
    return failure();
  ArrayRef<int64_t> shape = dest->type.getShape();
  CopyPlan plan;
  plan.source = *source;
  plan.dest = *dest;
  plan.memref = op.getSource();
  plan.bytes = dest->type.getElementTypeBitWidth() / 8;
  plan.perChunk = kChunkBytes / plan.bytes;
  plan.rows = shape[shape.size() - 2];
  int64_t chunksPerRow =
      dest->inPanels ? kPanelBytes / kChunkBytes : shape.back() / plan.perChunk;
  // The pitch may exceed what is read.
  int64_t columns = std::max(std::min(plan.columns(), shape.back()),
                             findColumnsRead(op.getDest()));
  if (dest->inPanels)
    columns = shape.back();
  plan.chunks =
      std::min<int64_t>(chunksPerRow, llvm::divideCeil(columns, plan.perChunk));
  plan.rowsPerPass = numThreads / chunksPerRow;
  plan.firstRow = toI64(op.getSourceIndices()[0]);
  plan.chunksPerRow = chunksPerRow;
  SmallVector<Value> indices;
  for (Value index : op.getDestIndices())
    indices.push_back(toI64(index));
  plan.origin = element(*dest, indices);
  plan.pitchBytes = chunksPerRow * kChunkBytes;
  plan.swizzle = ChunkSwizzle{chunksPerRow};

  dead.push_back(op);
  if (dest->inPanels) {
    emitPanelCopy(plan, shape.back() * plan.bytes / kPanelBytes);
    createWarpBarrier(b, op.getLoc());
    return success();
  }
  if (op.getInBounds() && plan.alignable() &&
      plan.rows % plan.rowsPerPass == 0 && plan.rowsPerPass % 8 == 0)
    emitInBoundsCopy(plan);
  else
    emitBoundedCopy(plan);
  // Lanes that had no chunk or no row were elsewhere meanwhile; what follows,
  // ldmatrix first of all, wants the whole warp.
  if (plan.chunks != plan.chunksPerRow || plan.rows % plan.rowsPerPass != 0)
    createWarpBarrier(b, op.getLoc());
  return success();
}

/// Which chunk of which rows is this thread's; threads beyond the last chunk
/// that is written have none, and what follows is not for them.
void LaneEmitter::placeThread(CopyPlan &plan, Value thread) {
  plan.threadRow = udivPow2(b, thread, plan.chunksPerRow);
  plan.threadChunk =
      arith::AndIOp::create(b, thread, constant(plan.chunksPerRow - 1));
  if (plan.chunks == plan.chunksPerRow)
    return;
  Value hasChunk = less(plan.threadChunk, constant(plan.chunks));
  auto branch = scf::IfOp::create(b, hasChunk, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

void LaneEmitter::emitInBoundsCopy(CopyPlan plan) {
  OpBuilder::InsertionGuard guard(b);
  placeThread(plan, atTop.thread);
  // Groups of rows are a multiple of 8 apart, so f(row) is the same in each.
  Value column = mul(plan.threadChunk, constant(plan.perChunk));
  Value row = add(plan.firstRow, plan.threadRow);
  Value elements = add(mul(row, plan.source.strides[0]), column);
  Value source = offset(plan.source.base, mul(elements, constant(plan.bytes)));
  Value dest = offset(
      plan.origin,
      add(mul(plan.threadRow, constant(plan.pitchBytes)),
          placeOf(plan.threadChunk, flipOf(plan.swizzle, plan.threadRow))));
  Value step =
      mul(plan.source.strides[0], constant(plan.rowsPerPass * plan.bytes));
  Value sourceBytes;
  if (plan.columns() < plan.chunks * plan.perChunk) {
    Value inside = less(column, constant(plan.columns()));
    sourceBytes = arith::SelectOp::create(b, inside, constantI32(kChunkBytes),
                                          constantI32(0));
  }
  for (int64_t pass = 0; pass < plan.passes(); ++pass) {
    if (pass != 0)
      source = offset(source, step);
    createCopyAsync(b, b.getLoc(),
                    offset(dest, pass * plan.rowsPerPass * plan.pitchBytes),
                    source, sourceBytes);
  }
}

/// Code that runs seldom should be short: LLVM would unroll the loop.
static void keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true),
                                          {}, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", annotation);
}

/// One panel after the other.
void LaneEmitter::emitPanelCopy(CopyPlan plan, int64_t panels) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                                 arith::ConstantIndexOp::create(b, panels),
                                 arith::ConstantIndexOp::create(b, 1));
  keepRolled(loop);
  b.setInsertionPointToStart(loop.getBody());
  Value panel = toI64(loop.getInductionVar());
  plan.firstColumn = mul(panel, constant(kPanelBytes / plan.bytes));
  plan.origin =
      offset(plan.origin, mul(panel, constant(plan.rows * kPanelBytes)));
  emitBoundedCopy(plan);
}

void LaneEmitter::emitBoundedCopy(CopyPlan plan) {
  OpBuilder::InsertionGuard guard(b);
  placeThread(plan, readThread());
  auto loop =
      scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                         arith::ConstantIndexOp::create(b, plan.passes()),
                         arith::ConstantIndexOp::create(b, 1));
  keepRolled(loop);
  b.setInsertionPointToStart(loop.getBody());
  Value row = add(plan.threadRow, mul(toI64(loop.getInductionVar()),
                                      constant(plan.rowsPerPass)));
  if (plan.rows % plan.rowsPerPass != 0) {
    auto branch = scf::IfOp::create(b, less(row, constant(plan.rows)), false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  emitRow(plan, row);
}

/// Column `i` of this thread's chunk, in the source.
Value LaneEmitter::columnOf(const CopyPlan &plan, Value i) {
  Value column = add(mul(plan.threadChunk, constant(plan.perChunk)), i);
  return plan.firstColumn ? add(column, plan.firstColumn) : column;
}

/// This thread's chunk of row `row` of the tile.
void LaneEmitter::emitRow(const CopyPlan &plan, Value row) {
  Value dest = offset(
      plan.origin, add(mul(row, constant(plan.pitchBytes)),
                       placeOf(plan.threadChunk, flipOf(plan.swizzle, row))));
  Value sourceRow = add(plan.firstRow, row);
  Value inside = less(sourceRow, plan.source.sizes[0]);
  if (!plan.alignable())
    return emitElementCopy(plan, sourceRow, inside, dest);

  auto branch = scf::IfOp::create(b, copyAligned(plan.memref, plan.source),
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  emitElementCopy(plan, sourceRow, inside, dest);
  b.setInsertionPointToStart(branch.thenBlock());
  Value column = columnOf(plan, constant(0));
  if (plan.mayEndInside())
    inside = arith::AndIOp::create(b, inside,
                                   less(column, constant(plan.columns())));
  // Where the size is 0 nothing is read, whatever the address.
  Value elements = add(mul(sourceRow, plan.source.strides[0]), column);
  Value size = arith::SelectOp::create(b, inside, constantI32(kChunkBytes),
                                       constantI32(0));
  createCopyAsync(b, b.getLoc(), dest,
                  offset(plan.source.base, mul(elements, constant(plan.bytes))),
                  size);
}

/// A chunk whose elements need not be neighbours in the source.
void LaneEmitter::emitElementCopy(const CopyPlan &plan, Value row, Value inside,
                                  Value dest) {
  OpBuilder::InsertionGuard guard(b);
  Type type = plan.dest.type.getElementType();
  auto loop =
      scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                         arith::ConstantIndexOp::create(b, plan.perChunk),
                         arith::ConstantIndexOp::create(b, 1));
  keepRolled(loop);
  b.setInsertionPointToStart(loop.getBody());
  Value i = toI64(loop.getInductionVar());
  Value column = columnOf(plan, i);
  if (plan.mayEndInside())
    inside = arith::AndIOp::create(b, inside,
                                   less(column, constant(plan.columns())));
  auto branch = scf::IfOp::create(b, TypeRange{type}, inside, true);
  b.setInsertionPointToStart(branch.thenBlock());
  Value value = LLVM::LoadOp::create(
      b, type, element(plan.source, {row, column}), plan.bytes);
  scf::YieldOp::create(b, value);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, zero(type));
  b.setInsertionPointAfter(branch);
  LLVM::StoreOp::create(b, branch.getResult(0),
                        offset(dest, mul(i, constant(plan.bytes))), plan.bytes);
}
