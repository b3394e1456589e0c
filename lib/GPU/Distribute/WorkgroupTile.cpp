//===- WorkgroupTile.cpp - addresses, and state in workgroup memory -*- C++
//-*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memrefs are read back to where they come from (a kernel parameter or the
// arena of workgroup memory) and become a pointer with strides, so that no
// descriptor is ever built. Offsets are 64-bit before the first multiply.
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "LaneEmitter.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"

using namespace mlir;
using namespace mlir::fa;

FailureOr<TileAddress> LaneEmitter::resolve(Operation *user, Value memref) {
  if (auto it = addresses.find(memref); it != addresses.end())
    return it->second;
  Operation *def = memref.getDefiningOp();
  TileAddress address;
  address.type = cast<MemRefType>(memref.getType());
  LogicalResult result = failure();
  {
    // Where the memref is defined, so that every use shares the address.
    OpBuilder::InsertionGuard guard(b);
    if (def)
      b.setInsertionPoint(def);
    if (auto view = dyn_cast_or_null<ViewOp>(def))
      result = resolveView(view, address);
    else if (auto view = dyn_cast_or_null<memref::SubViewOp>(def))
      result = resolveSubView(view, resolve(view, view.getSource()), address,
                              [](Value v) { return v; });
    else if (auto view = dyn_cast_or_null<memref::ViewOp>(def))
      result = resolveWorkgroup(view, address);
    else if (auto cast = dyn_cast_or_null<memref::CastOp>(def)) {
      FailureOr<TileAddress> source = resolve(user, cast.getSource());
      if (failed(source))
        return failure();
      MemRefType type = address.type;
      address = *source;
      address.type = type;
      result = success();
    }
  }
  if (failed(result))
    return user->emitOpError("cannot trace the memref of type ")
           << memref.getType() << " to fa.view or to workgroup memory";
  addresses[memref] = address;
  return address;
}

FailureOr<TileAddress> LaneEmitter::resolveAt(Operation *user, Value memref,
                                              IRMapping &mapping) {
  auto view = memref.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return resolve(user, memref);
  TileAddress address;
  address.type = cast<MemRefType>(memref.getType());
  if (failed(resolveSubView(
          view, resolveAt(user, view.getSource(), mapping), address,
          [&](Value value) { return computeAnew(value, mapping); })))
    return failure();
  return address;
}

LogicalResult LaneEmitter::resolveView(ViewOp op, TileAddress &address) {
  address.base = op.getBase();
  auto dynamic = op.getSizes().begin();
  for (int64_t extent : address.type.getShape())
    address.sizes.push_back(ShapedType::isDynamic(extent) ? toI64(*dynamic++)
                                                          : constant(extent));
  for (Value stride : op.getStrides())
    address.strides.push_back(toI64(stride));
  return success();
}

LogicalResult LaneEmitter::resolveSubView(memref::SubViewOp op,
                                          FailureOr<TileAddress> source,
                                          TileAddress &address,
                                          function_ref<Value(Value)> compute) {
  if (failed(source))
    return failure();
  auto value = [&](OpFoldResult ofr) -> Value {
    if (auto attr = dyn_cast<Attribute>(ofr))
      return constant(cast<IntegerAttr>(attr).getInt());
    return toI64(compute(cast<Value>(ofr)));
  };
  SmallVector<Value> offsets;
  for (OpFoldResult ofr : op.getMixedOffsets())
    offsets.push_back(value(ofr));
  address.base = element(*source, offsets);
  address.swizzled = source->swizzled;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [i, size, stride] :
       llvm::enumerate(op.getMixedSizes(), op.getMixedStrides())) {
    if (dropped.test(i))
      continue;
    address.sizes.push_back(value(size));
    address.strides.push_back(mul(source->strides[i], value(stride)));
  }
  return success();
}

LogicalResult LaneEmitter::resolveWorkgroup(memref::ViewOp op,
                                            TileAddress &address) {
  auto arena = op.getSource().getDefiningOp<memref::GetGlobalOp>();
  if (!arena || !address.type.hasStaticShape())
    return failure();
  Value &base = arenas[arena.getResult()];
  if (!base) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(arena);
    Value pointer =
        memref::ExtractAlignedPointerAsIndexOp::create(b, arena.getResult());
    base = LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), 3), toI64(pointer));
  }
  address.base = offset(base, toI64(op.getByteShift()));
  address.swizzled = op->hasAttr(kSwizzleAttr);
  int64_t stride = address.type.getNumElements();
  for (int64_t extent : address.type.getShape()) {
    stride /= extent;
    address.sizes.push_back(constant(extent));
    address.strides.push_back(constant(stride));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// m, l and u in workgroup memory
//===----------------------------------------------------------------------===//

LogicalResult LaneEmitter::emitTransferRead(vector::TransferReadOp op) {
  FailureOr<TileAddress> source = resolve(op, op.getBase());
  if (failed(source))
    return failure();
  LaneShare share = *layoutOf(op, op.getResult());
  SmallVector<Value> first;
  for (Value index : op.getIndices())
    first.push_back(toI64(index));
  auto load = [&](Type type, ArrayRef<Value> indices, int64_t bytes) -> Value {
    return LLVM::LoadOp::create(b, type, element(*source, indices), bytes);
  };
  Values values(share.size());
  auto pairType = VectorType::get({2}, share.type);
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      Value row = add(first[0], rowOf(m, half));
      if (share.kind == LaneShare::Kind::Row)
        values[LaneShare::row(m, half)] = load(share.type, {row}, 4);
      else if (share.kind == LaneShare::Kind::Partial)
        values[LaneShare::row(m, half)] =
            load(share.type, {row, add(first[1], me.quadLane)}, 4);
      else
        for (int64_t n = 0; n < share.colPieces; ++n) {
          Value pair = load(pairType, {row, add(first[1], columnOf(n, 0))}, 8);
          for (int64_t e : {0, 1})
            values[share.at(m, n, half, e)] =
                vector::ExtractOp::create(b, pair, e);
        }
    }
  replaceWithShare(op, std::move(values));
  return success();
}

LogicalResult LaneEmitter::emitTransferWrite(vector::TransferWriteOp op) {
  FailureOr<TileAddress> dest = resolve(op, op.getBase());
  if (failed(dest))
    return failure();
  LaneShare share = *layoutOf(op, op.getValueToStore());
  SmallVector<Value> first;
  for (Value index : op.getIndices())
    first.push_back(toI64(index));
  Values values = shareOf(op.getValueToStore());
  auto store = [&](Value value, ArrayRef<Value> indices, int64_t bytes) {
    LLVM::StoreOp::create(b, value, element(*dest, indices), bytes);
  };
  OpBuilder::InsertionGuard guard(b);
  if (share.kind == LaneShare::Kind::Row) {
    // All lanes of a quad hold the same value: one of them writes it, when all
    // of them have read the old one.
    createWarpBarrier(b, op.getLoc());
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          me.quadLane, constant(0));
    auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  auto pairType = VectorType::get({2}, share.type);
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t half : {0, 1}) {
      Value row = add(first[0], rowOf(m, half));
      if (share.kind == LaneShare::Kind::Row)
        store(values[LaneShare::row(m, half)], {row}, 4);
      else if (share.kind == LaneShare::Kind::Partial)
        store(values[LaneShare::row(m, half)],
              {row, add(first[1], me.quadLane)}, 4);
      else
        for (int64_t n = 0; n < share.colPieces; ++n) {
          Value pair = vector::FromElementsOp::create(
              b, pairType,
              ValueRange{values[share.at(m, n, half, 0)],
                         values[share.at(m, n, half, 1)]});
          store(pair, {row, add(first[1], columnOf(n, 0))}, 8);
        }
    }
  dead.push_back(op);
  return success();
}
