//===- WorkgroupTile.cpp - addresses, and state in memory -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memrefs are read back to where they come from (a kernel parameter or the
// arena of workgroup memory) and become a pointer with strides, so that no
// descriptor is ever built. Offsets are 64-bit before the first multiply.
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "KnownIndices.h"
#include "LaneEmitter.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"

using namespace mlir;
using namespace mlir::fa;

/// Elements that an instruction loads and stores.
static bool hasLaneElements(MemRefType type) {
  Type element = type.getElementType();
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
         llvm::any_of(ArrayRef<unsigned>{1, 8, 16, 32, 64},
                      [&](unsigned n) { return element.isSignlessInteger(n); });
}

FailureOr<TileAddress> LaneEmitter::resolve(Operation *user, Value memref) {
  if (auto it = addresses.find(memref); it != addresses.end())
    return it->second;
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || !hasLaneElements(type))
    return user->emitOpError("cannot address ")
           << memref.getType()
           << "; elements are i1, i8, i16, i32, i64, f16, bf16, f32 or f64";
  Operation *def = memref.getDefiningOp();
  Value viewed;
  if (auto view = dyn_cast_or_null<memref::SubViewOp>(def))
    viewed = view.getSource();
  else if (auto view = dyn_cast_or_null<memref::CastOp>(def))
    viewed = view.getSource();
  FailureOr<TileAddress> source = failure();
  if (viewed && failed(source = resolve(user, viewed)))
    return failure();

  // Where the memref is defined, so that every use shares the address.
  OpBuilder::InsertionGuard guard(b);
  if (def)
    b.setInsertionPoint(def);
  TileAddress address;
  address.type = type;
  LogicalResult result = failure();
  if (auto view = dyn_cast_or_null<ViewOp>(def)) {
    result = resolveView(view, address);
  } else if (auto view = dyn_cast_or_null<memref::SubViewOp>(def)) {
    result = resolveSubView(view, *source, address, [](Value v) { return v; });
  } else if (auto view = dyn_cast_or_null<memref::ViewOp>(def)) {
    result = resolveWorkgroup(view, address);
  } else if (viewed) {
    address = *source;
    address.type = type;
    result = success();
  } else {
    user->emitOpError("cannot trace the memref of type ")
        << memref.getType() << " to fa.view or to workgroup memory";
  }
  if (failed(result))
    return failure();
  addresses[memref] = address;
  return address;
}

FailureOr<TileAddress> LaneEmitter::resolvePlain(Operation *user,
                                                 Value memref) {
  FailureOr<TileAddress> address = resolve(user, memref);
  if (succeeded(address) && address->swizzled)
    return user->emitOpError("does not know the order of a swizzled tile; "
                             "fa.load_tile and fa.copy_tile do");
  return address;
}

LogicalResult LaneEmitter::verifyInside(Operation *user, MemRefType memref,
                                        ValueRange indices,
                                        ArrayRef<int64_t> tile) {
  if (!memref.hasStaticShape() || !memref.getLayout().isIdentity())
    return user->emitOpError("a tile in workgroup memory must be contiguous, "
                             "with static extents, found ")
           << memref;
  int64_t leading = memref.getRank() - tile.size();
  for (auto [i, index] : llvm::enumerate(indices)) {
    int64_t dim = i, length = dim < leading ? 1 : tile[dim - leading];
    std::optional<int64_t> last = findMaximum(index, numThreads);
    if (!last || *last > memref.getDimSize(dim) - length)
      return user->emitOpError("is not known to lie inside ")
             << memref << " in dimension " << dim;
  }
  return success();
}

FailureOr<TileAddress> LaneEmitter::resolveAt(Operation *user, Value memref,
                                              IRMapping &mapping) {
  auto view = memref.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return resolve(user, memref);
  FailureOr<TileAddress> source = resolveAt(user, view.getSource(), mapping);
  TileAddress address;
  address.type = cast<MemRefType>(memref.getType());
  if (failed(source) ||
      failed(resolveSubView(view, *source, address, [&](Value value) {
        return computeAnew(value, mapping);
      })))
    return failure();
  return address;
}

LogicalResult LaneEmitter::resolveView(ViewOp op, TileAddress &address) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(op.getBase().getType());
  if (!pointer || pointer.getAddressSpace() != 1 ||
      gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(address.type))
    return op.emitOpError("expected global memory by an !llvm.ptr<1>, found ")
           << address.type << " by " << op.getBase().getType();
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
                                          const TileAddress &source,
                                          TileAddress &address,
                                          function_ref<Value(Value)> compute) {
  if (source.swizzled)
    return op.emitOpError("of a swizzled tile has no order of its own");
  auto value = [&](OpFoldResult ofr) -> Value {
    if (auto attr = dyn_cast<Attribute>(ofr))
      return constant(cast<IntegerAttr>(attr).getInt());
    return toI64(compute(cast<Value>(ofr)));
  };
  SmallVector<Value> offsets;
  for (OpFoldResult ofr : op.getMixedOffsets())
    offsets.push_back(value(ofr));
  address.base = element(source, offsets);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [i, size, stride] :
       llvm::enumerate(op.getMixedSizes(), op.getMixedStrides())) {
    if (dropped.test(i))
      continue;
    address.sizes.push_back(value(size));
    address.strides.push_back(mul(source.strides[i], value(stride)));
  }
  return success();
}

LogicalResult LaneEmitter::resolveWorkgroup(memref::ViewOp op,
                                            TileAddress &address) {
  auto arena = op.getSource().getDefiningOp<memref::GetGlobalOp>();
  if (!arena || !address.type.hasStaticShape() ||
      address.type.getNumElements() == 0 ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(arena.getType()) ||
      !isMultipleOf(op.getByteShift(), kChunkBytes))
    return op.emitOpError("expected a tile of static extents in an arena of "
                          "workgroup memory, at a multiple of 16 bytes");
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
  address.inPanels = op->hasAttr(kPanelsAttr);
  address.swizzled = op->hasAttr(kSwizzleAttr) || address.inPanels;
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

/// Rows as they lie, all inside, one column or pair of columns a lane.
LogicalResult LaneEmitter::verifyTransfer(VectorTransferOpInterface op) {
  VectorType type = op.getVectorType();
  LaneShare share = *LaneShare::get(type);
  auto memref = dyn_cast<MemRefType>(op.getShapedType());
  bool isRow = share.kind == LaneShare::Kind::Row;
  if (!memref || memref.getRank() != type.getRank() || op.getMask() ||
      op.hasOutOfBoundsDim() || !op.getPermutationMap().isMinorIdentity() ||
      type.getElementTypeBitWidth() != 32 || (isRow && type.getRank() != 1))
    return op->emitOpError("expected rows of 32-bit elements as they lie in "
                           "memory, in bounds and unmasked");
  // Two columns of a lane are moved at once.
  if (share.kind == LaneShare::Kind::Tile &&
      (!memref.hasStaticShape() || !memref.getLayout().isIdentity() ||
       memref.getDimSize(1) % 2 != 0 ||
       !isMultipleOf(op.getIndices().back(), 2)))
    return op->emitOpError("needs contiguous rows of an even length, from an "
                           "even column on");
  return success();
}

LogicalResult LaneEmitter::emitTransferRead(vector::TransferReadOp op) {
  if (failed(verifyTransfer(op)))
    return failure();
  FailureOr<TileAddress> source = resolvePlain(op, op.getBase());
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
  if (failed(verifyTransfer(op)))
    return failure();
  FailureOr<TileAddress> dest = resolvePlain(op, op.getBase());
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
    // of them have read the old one. They meet again for what all must execute.
    createWarpBarrier(b, op.getLoc());
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          me.quadLane, constant(0));
    auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    createWarpBarrier(b, op.getLoc());
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
