//===- GlobalTile.cpp - tiles to and from global memory ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies outside a memref is neither read nor written: a load reads the
// nearest element inside and then selects zero, a store is guarded.
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "KnownIndices.h"
#include "LaneEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::fa;

static int64_t elementBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

static Value minSigned(ImplicitLocOpBuilder &b, Value a, Value c) {
  return arith::MinSIOp::create(b, a, c);
}

/// Of one row for all rows of a tile a lane reads two elements of so many
/// pieces of eight columns at once; longer ones are late.
static constexpr int64_t kPiecesAtOnce = 16;

LogicalResult LaneEmitter::emitLoadTile(LoadTileOp op) {
  auto memref = cast<MemRefType>(op.getSource().getType());
  if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(memref)) {
    if (!isReadByContraction(op))
      return emitMatrixLoad(op);
    fusedLoads.insert(op);
    dead.push_back(op);
    return success();
  }
  // A view made right here is a seldom one: it moves with an inner loop.
  IRMapping anew;
  llvm::SaveAndRestore outer(me);
  Operation *view = op.getSource().getDefiningOp();
  bool isSeldom = view && view->getBlock() == op->getBlock() &&
                  op->getParentOfType<scf::ForOp>();
  if (isSeldom)
    me = numbersOf(readThread());
  FailureOr<TileAddress> source = isSeldom ? resolveAt(op, op.getSource(), anew)
                                           : resolve(op, op.getSource());
  FailureOr<LaneShare> share = layoutOf(op, op.getResult());
  if (failed(source) || failed(share))
    return failure();
  SmallVector<Value> first;
  for (Value index : op.getIndices())
    first.push_back(toI64(index));
  if (share->kind == LaneShare::Kind::Partial ||
      (share->kind == LaneShare::Kind::Row &&
       cast<VectorType>(op.getResult().getType()).getRank() != 1))
    return op.emitOpError("only rows and tiles are loaded from global memory");

  LaneShare scalars = *share;
  scalars.packed = false;
  scalars.type = memref.getElementType();
  if (op.getNearest() && share->kind == LaneShare::Kind::Tile) {
    Values rows = nearestRows(op, *source, scalars, first);
    postpone(op, {op, scalars, *source, std::move(rows), {}, me});
    return success();
  }
  if (op.getEachRow() && scalars.colPieces > kPiecesAtOnce) {
    postpone(op, {op, scalars, *source, {}, {}, me});
    return success();
  }
  if (op.getEachRow())
    return emitEachRow(op, *source, scalars, first);
  Values values = loadShare(*source, scalars, first);
  replaceWithShare(op, repack(scalars, *share, std::move(values)));
  return success();
}

/// Each element of a lane's share by itself.
LaneEmitter::Values LaneEmitter::loadShare(const TileAddress &source,
                                           const LaneShare &scalars,
                                           ValueRange first) {
  Values values(scalars.size());
  for (int64_t m = 0; m < scalars.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      SmallVector<Value> indices(first);
      if (scalars.kind == LaneShare::Kind::Row) {
        indices.back() = add(indices.back(), rowOf(m, half));
        values[LaneShare::row(m, half)] = loadClamped(source, indices);
        continue;
      }
      Value &row = indices[indices.size() - 2];
      row = add(row, rowOf(m, half));
      for (int64_t n = 0; n < scalars.colPieces; ++n)
        for (int64_t e : {0, 1}) {
          indices.back() = add(first.back(), columnOf(n, e));
          values[scalars.at(m, n, half, e)] = loadClamped(source, indices);
        }
    }
  return values;
}

/// A lane has the same columns in each of its rows: they are loaded once.
LogicalResult LaneEmitter::emitEachRow(LoadTileOp op, const TileAddress &source,
                                       const LaneShare &scalars,
                                       SmallVector<Value> indices) {
  Value first = indices.back();
  Values values(scalars.size());
  for (int64_t n = 0; n < scalars.colPieces; ++n)
    for (int64_t e : {0, 1}) {
      indices.back() = add(first, columnOf(n, e));
      Value value = loadClamped(source, indices);
      for (int64_t m = 0; m < scalars.rowPieces; ++m)
        for (int64_t half : {0, 1})
          values[scalars.at(m, n, half, e)] = value;
    }
  LaneShare share = *layoutOf(op, op.getResult());
  replaceWithShare(op, repack(scalars, share, std::move(values)));
  return success();
}

LogicalResult LaneEmitter::emitGather(GatherOp op) {
  FailureOr<TileAddress> source = resolvePlain(op, op.getSource());
  FailureOr<LaneShare> share = layoutOf(op, op.getResult());
  if (failed(source) || failed(share))
    return failure();
  LaneShare scalars = *share;
  scalars.packed = false;
  scalars.type = source->type.getElementType();
  Values values(scalars.size());
  for (auto [i, value] : llvm::enumerate(values))
    value = emitGathered(op, *source, i);
  replaceWithShare(op, repack(scalars, *share, std::move(values)));
  return success();
}

/// Lane n takes the elements n, n + 32, ...; the warp agrees by redux.sync.
LogicalResult LaneEmitter::emitMinMax(MinMaxOp op) {
  FailureOr<TileAddress> source = resolvePlain(op, op.getSource());
  if (failed(source))
    return failure();
  Value least = constantI32(std::numeric_limits<int32_t>::max());
  Value greatest = constantI32(std::numeric_limits<int32_t>::min());
  Value first = add(toI64(op.getFirst()), me.lane);
  Value size = source->sizes.front(), last = add(size, constant(-1));
  // Without a branch, so that the loads of several blocks go out together.
  for (int64_t n = 0, count = op.getCount(); n < count; n += kWarpSize) {
    Value place = add(first, constant(n));
    Value isInside = less(place, size);
    if (n + kWarpSize > count)
      isInside = arith::AndIOp::create(b, isInside,
                                       less(me.lane, constant(count - n)));
    Value number = loadElement(b.getI32Type(),
                               element(*source, {minSigned(b, place, last)}));
    least = arith::SelectOp::create(
        b, isInside, arith::MinSIOp::create(b, least, number), least);
    greatest = arith::SelectOp::create(
        b, isInside, arith::MaxSIOp::create(b, greatest, number), greatest);
  }
  auto agree = [&](NVVM::ReduxKind kind, Value number) -> Value {
    return NVVM::ReduxOp::create(b, number.getType(), number, kind,
                                 constantI32(-1), /*abs=*/false, /*nan=*/false);
  };
  op.getLeast().replaceAllUsesWith(agree(NVVM::ReduxKind::MIN, least));
  op.getGreatest().replaceAllUsesWith(agree(NVVM::ReduxKind::MAX, greatest));
  dead.push_back(op);
  return success();
}

Value LaneEmitter::emitGathered(GatherOp op, const TileAddress &source,
                                int64_t i) {
  SmallVector<Value> place;
  for (Value index : op.getIndices()) {
    Value wide = elementOf(index, i);
    if (!wide.getType().isInteger(64))
      wide = arith::ExtSIOp::create(b, b.getI64Type(), wide);
    place.push_back(wide);
  }
  return loadElement(source.type.getElementType(), element(source, place));
}

/// What the elements of a lane's rows are found from: the address of column 0,
/// or of the lane's first column where columns come in pairs.
LaneEmitter::Values LaneEmitter::nearestRows(LoadTileOp op,
                                             const TileAddress &source,
                                             const LaneShare &scalars,
                                             ValueRange first) {
  TileAddress place = source;
  Value column = constant(0);
  if (op.getPaired()) {
    place.strides.back() = constant(1);
    column = add(first.back(), columnOf(0, 0));
  }
  Values rows;
  for (int64_t m = 0; m < scalars.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      SmallVector<Value> indices(first.drop_back());
      if (!op.getEachRow())
        indices.back() = add(indices.back(), rowOf(m, half));
      for (auto [index, size] : llvm::zip(indices, source.sizes))
        index = minSigned(b, index, add(size, constant(-1)));
      indices.push_back(column);
      rows.push_back(element(place, indices));
    }
  return rows;
}

/// Element i of a lane's share, or it and its neighbour. Of one row for all, a
/// lane has the same columns in each of its rows: they are loaded once.
void LaneEmitter::emitLateElement(LoadTileOp op, LateTile &tile, int64_t i) {
  llvm::SaveAndRestore asThere(me, tile.me);
  const LaneShare &scalars = tile.scalars;
  int64_t e = i % 2, half = i / 2 % 2, piece = i / 4;
  int64_t n = piece % scalars.colPieces, m = piece / scalars.colPieces;
  int64_t same = op.getEachRow() ? scalars.at(0, n, 0, e) : i;
  if (same != i) {
    tile.elements[i] = elementOf(op.getResult(), same);
    return;
  }
  auto column = [&] {
    return add(toI64(op.getIndices().back()), columnOf(n, e));
  };
  if (!op.getNearest()) {
    SmallVector<Value> indices;
    for (Value index : op.getIndices().drop_back())
      indices.push_back(toI64(index));
    indices.push_back(column());
    tile.elements[i] = loadClamped(tile.source, indices);
    return;
  }
  Value row = tile.rows[LaneShare::row(m, half)];
  int64_t bytes = elementBytes(cast<MemRefType>(op.getSource().getType()));
  if (op.getPaired()) {
    std::tie(tile.elements[i - e], tile.elements[i - e + 1]) =
        loadPair(scalars.type, offset(row, n * kPieceCols * bytes));
    return;
  }
  const TileAddress &source = tile.source;
  Value inside = minSigned(b, column(), add(source.sizes.back(), constant(-1)));
  Value distance = mul(mul(inside, source.strides.back()), constant(bytes));
  tile.elements[i] = loadElement(scalars.type, offset(row, distance));
}

LogicalResult LaneEmitter::emitScalarLoad(memref::LoadOp op) {
  FailureOr<TileAddress> source = resolvePlain(op, op.getMemRef());
  if (failed(source))
    return failure();
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(toI64(index));
  op.getResult().replaceAllUsesWith(
      loadElement(op.getType(), element(*source, indices)));
  dead.push_back(op);
  return success();
}

Value LaneEmitter::loadElement(Type type, Value address) {
  if (!type.isInteger(1))
    return LLVM::LoadOp::create(b, type, address,
                                type.getIntOrFloatBitWidth() / 8);
  // One byte an element.
  Value byte = LLVM::LoadOp::create(b, b.getI8Type(), address, 1);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, byte,
                               zero(b.getI8Type()));
}

std::pair<Value, Value> LaneEmitter::loadPair(Type type, Value address) {
  if (type.isInteger(1)) {
    Value word = LLVM::LoadOp::create(b, b.getI16Type(), address, 2);
    word = arith::ExtUIOp::create(b, b.getI32Type(), word);
    auto test = [&](int64_t bits) -> Value {
      Value some = arith::AndIOp::create(b, word, constantI32(bits));
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, some,
                                   constantI32(0));
    };
    return {test(0x00ff), test(0xff00)};
  }
  Value pair = LLVM::LoadOp::create(b, VectorType::get({2}, type), address,
                                    type.getIntOrFloatBitWidth() / 4);
  return {vector::ExtractOp::create(b, pair, 0),
          vector::ExtractOp::create(b, pair, 1)};
}

Value LaneEmitter::loadClamped(const TileAddress &source, ValueRange indices) {
  Value inside;
  SmallVector<Value> clamped;
  for (auto [index, size] : llvm::zip_equal(indices, source.sizes)) {
    Value isInside = less(index, size);
    inside = inside ? arith::AndIOp::create(b, inside, isInside) : isInside;
    clamped.push_back(minSigned(b, index, add(size, constant(-1))));
  }
  Type type = source.type.getElementType();
  Value value = loadElement(type, element(source, clamped));
  if (type.isInteger(1))
    return arith::AndIOp::create(b, inside, value);
  return arith::SelectOp::create(b, inside, value, zero(type));
}

LogicalResult LaneEmitter::emitPairsAligned(PairsAlignedOp op) {
  FailureOr<TileAddress> source = resolvePlain(op, op.getSource());
  if (failed(source))
    return failure();
  op.getResult().replaceAllUsesWith(pairAligned(*source));
  dead.push_back(op);
  return success();
}

Value LaneEmitter::pairAligned(const TileAddress &address) {
  int64_t bytes = elementBytes(address.type);
  Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), address.base);
  for (Value stride : ArrayRef<Value>(address.strides).drop_back())
    bits = arith::OrIOp::create(b, bits, mul(stride, constant(bytes)));
  bits = arith::AndIOp::create(b, bits, constant(2 * bytes - 1));
  Value aligned =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bits, constant(0));
  Value dense = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      address.strides.back(), constant(1));
  return arith::AndIOp::create(b, aligned, dense);
}

/// Whether a tile lies in a plane that is there, since leading indices are not
/// the tile's; null where there are none.
Value LaneEmitter::isPlaneInside(const TileAddress &dest, ValueRange indices) {
  Value plane;
  for (size_t i = 0; i + 2 < indices.size(); ++i) {
    Value inside = less(indices[i], dest.sizes[i]);
    plane = plane ? arith::AndIOp::create(b, plane, inside) : inside;
  }
  return plane;
}

LogicalResult LaneEmitter::emitStoreTile(StoreTileOp op) {
  if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
          cast<MemRefType>(op.getDest().getType())))
    return emitPanelStore(op);
  IRMapping anew;
  FailureOr<TileAddress> dest = resolveAt(op, op.getDest(), anew);
  FailureOr<LaneShare> share = layoutOf(op, op.getValue());
  if (failed(dest) || failed(share))
    return failure();
  if (dest->swizzled || dest->type.getElementType().isInteger(1))
    return op.emitOpError("cannot store to ")
           << (dest->swizzled ? "a swizzled tile" : "a memref of i1");
  dead.push_back(op);
  llvm::SaveAndRestore outer(me, numbersOf(readThread()));
  auto type = cast<VectorType>(op.getValue().getType());
  SmallVector<Value> first;
  for (Value index : op.getIndices())
    first.push_back(toI64(computeAnew(index, anew)));
  if (share->kind == LaneShare::Kind::Row && type.getRank() == 1)
    return storeRows(op, *dest, first);
  if (share->kind != LaneShare::Kind::Tile)
    return op.emitOpError("only rows and tiles are stored");
  Values values = repack(*share,
                         {share->kind, share->rowPieces, share->colPieces,
                          type.getElementType(), false},
                         shareOf(op.getValue()));
  LaneShare scalars = *share;
  scalars.packed = false;
  Value plane = isPlaneInside(*dest, first);
  Value pairs = pairAligned(*dest);
  bool isPaired = isMultipleOf(op.getIndices().back(), 2);
  for (int64_t m = 0; m < scalars.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      OpBuilder::InsertionGuard guard(b);
      SmallVector<Value> indices = first;
      Value &row = indices[indices.size() - 2];
      row = add(row, rowOf(m, half));
      Value inside = less(row, dest->sizes[dest->sizes.size() - 2]);
      if (plane)
        inside = arith::AndIOp::create(b, inside, plane);
      auto guardOp = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
      b.setInsertionPointToStart(guardOp.thenBlock());
      indices.back() = constant(0);
      Value rowBase = element(*dest, indices);
      Values pieces;
      for (int64_t n = 0; n < scalars.colPieces; ++n)
        for (int64_t e : {0, 1})
          pieces.push_back(values[scalars.at(m, n, half, e)]);
      auto branch = scf::IfOp::create(b, pairs, /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.thenBlock());
      storeTileRow(*dest, rowBase, first.back(), pieces, isPaired);
      b.setInsertionPointToStart(branch.elseBlock());
      storeTileRow(*dest, rowBase, first.back(), pieces, /*paired=*/false);
    }
  return success();
}

void LaneEmitter::storeTileRow(const TileAddress &dest, Value rowBase,
                               Value firstCol, ValueRange pieces, bool paired) {
  int64_t bytes = dest.type.getElementTypeBitWidth() / 8;
  int64_t extent = dest.type.getShape().back();
  Value size = dest.sizes.back();
  auto place = [&](Value column) {
    Value elements = mul(column, dest.strides.back());
    return offset(rowBase, mul(elements, constant(bytes)));
  };
  // A column piece that a static extent covers needs no guard.
  auto guarded = [&](int64_t lastColumn, Value column, auto store) {
    bool covered = !ShapedType::isDynamic(extent) &&
                   matchPattern(firstCol, m_Zero()) && lastColumn < extent;
    if (covered)
      return store();
    OpBuilder::InsertionGuard guard(b);
    auto branch = scf::IfOp::create(b, less(column, size), false);
    b.setInsertionPointToStart(branch.thenBlock());
    store();
  };
  bool odd = ShapedType::isDynamic(extent) || extent % 2 != 0;
  for (int64_t i = 0, e = pieces.size(); i < e; i += 2) {
    int64_t n = i / 2, lastColumn = n * kPieceCols + kPieceCols - 1;
    if (!ShapedType::isDynamic(extent) && n * kPieceCols >= extent)
      break;
    Value column = add(firstCol, columnOf(n, 0));
    if (paired && !odd) {
      guarded(lastColumn, column, [&] {
        Value pair = vector::FromElementsOp::create(
            b, VectorType::get({2}, pieces[i].getType()),
            ValueRange{pieces[i], pieces[i + 1]});
        Value address = offset(rowBase, mul(column, constant(bytes)));
        LLVM::StoreOp::create(b, pair, address, 2 * bytes);
      });
      continue;
    }
    for (int64_t k : {0, 1}) {
      Value single = add(column, constant(k));
      guarded(lastColumn, single, [&] {
        LLVM::StoreOp::create(b, pieces[i + k], place(single), bytes);
      });
    }
  }
}

LogicalResult LaneEmitter::storeRows(StoreTileOp op, const TileAddress &dest,
                                     ValueRange firstIndices) {
  LaneShare share = *layoutOf(op, op.getValue());
  Values values = shareOf(op.getValue());
  SmallVector<Value> indices(firstIndices);
  Value first = indices.back();
  // All lanes of a quad hold the same value: one of them writes it.
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        me.quadLane, constant(0));
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      OpBuilder::InsertionGuard guard(b);
      indices.back() = add(first, rowOf(m, half));
      Value inside = less(indices.back(), dest.sizes.back());
      for (size_t i = 0; i + 1 < indices.size(); ++i)
        inside =
            arith::AndIOp::create(b, inside, less(indices[i], dest.sizes[i]));
      inside = arith::AndIOp::create(b, inside, isFirst);
      auto branch = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
      LLVM::StoreOp::create(b, values[LaneShare::row(m, half)],
                            element(dest, indices),
                            share.type.getIntOrFloatBitWidth() / 8);
    }
  return success();
}

LogicalResult LaneEmitter::emitTraceState(TraceStateOp op) {
  FailureOr<TileAddress> dest = resolvePlain(op, op.getDest());
  if (failed(dest))
    return failure();
  LaneShare acc = *layoutOf(op, op.getAcc());
  if (acc.kind != LaneShare::Kind::Tile ||
      layoutOf(op, op.getSum())->kind != LaneShare::Kind::Partial)
    return op.emitOpError("expected acc with columns in multiples of 8 and sum "
                          "with ")
           << kLanesPerRow << ", found " << op.getAcc().getType() << " and "
           << op.getSum().getType();
  Values max = shareOf(op.getMax()), sum = shareOf(op.getSum());
  Values values = shareOf(op.getAcc());
  for (Value &part : sum)
    part = reduceQuad(vector::CombiningKind::ADD, part);
  Value row = toI64(op.getRow()), first = toI64(op.getFirst());
  Value block = toI64(op.getBlock());
  Value ln2 =
      arith::ConstantOp::create(b, b.getF32FloatAttr(0.693147180559945309));
  auto store = [&](Value value, Value column) {
    LLVM::StoreOp::create(b, value, element(*dest, {block, column}), 4);
  };
  for (int64_t m = 0; m < acc.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      OpBuilder::InsertionGuard guard(b);
      Value isRow = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, row,
                                          add(first, rowOf(m, half)));
      auto branch = scf::IfOp::create(b, isRow, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
      for (int64_t n = 0; n < acc.colPieces; ++n)
        for (int64_t e : {0, 1}) {
          OpBuilder::InsertionGuard columnGuard(b);
          Value column = add(columnOf(n, e), constant(2));
          auto inside =
              scf::IfOp::create(b, less(column, dest->sizes.back()), false);
          b.setInsertionPointToStart(inside.thenBlock());
          store(values[acc.at(m, n, half, e)], column);
        }
      Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                            me.quadLane, constant(0));
      auto rowBranch = scf::IfOp::create(b, isFirst, false);
      b.setInsertionPointToStart(rowBranch.thenBlock());
      int64_t at = LaneShare::row(m, half);
      store(arith::MulFOp::create(b, max[at], ln2), constant(0));
      store(sum[at], constant(1));
    }
  dead.push_back(op);
  return success();
}
