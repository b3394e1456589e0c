//===- Contraction.cpp - products on tensor cores ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vector.contract -> mma.sync.m16n8k16. The right operand stays in workgroup
// memory and each ldmatrix stands before the instructions that need it, so
// that a warp never holds a whole K or V tile. The left operand is either the
// lane's share (P, or Q in registers) or read the same way (Q in workgroup
// memory). Products of f32 are in FmaContraction.cpp.
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "KnownIndices.h"
#include "LaneEmitter.h"

using namespace mlir;
using namespace mlir::fa;

/// Whether an op reads memory at most; barriers and waits say that they write.
static bool readsAtMost(Operation &op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(&op);
  return effects && llvm::all_of(*effects, [](const auto &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

/// Whether a contraction may read the memory of a load itself: the load gives
/// its left or right operand and stands before it in the same block, and
/// nothing in between writes memory or is a barrier.
static bool mayReadAt(LoadTileOp load, OpOperand &use) {
  Operation *user = use.getOwner();
  if (!isa<vector::ContractionOp>(user) || use.getOperandNumber() > 1 ||
      user->getBlock() != load->getBlock())
    return false;
  return llvm::all_of(
      llvm::make_range(std::next(load->getIterator()), user->getIterator()),
      readsAtMost);
}

bool fa::isReadByContraction(LoadTileOp load) {
  auto type = cast<MemRefType>(load.getSource().getType());
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) &&
         llvm::all_of(load->getUses(),
                      [&](OpOperand &use) { return mayReadAt(load, use); });
}

LoadTileOp LaneEmitter::fusedLoad(Value operand) {
  auto load = operand.getDefiningOp<LoadTileOp>();
  return load && fusedLoads.contains(load) ? load : LoadTileOp();
}

void fa::loadTilesAtContractions(gpu::GPUFuncOp kernel) {
  kernel.walk([](LoadTileOp load) {
    if (load->hasOneUse() || !isReadByContraction(load))
      return;
    for (OpOperand &use : llvm::make_early_inc_range(load->getUses()))
      use.set(OpBuilder(use.getOwner()).clone(*load)->getResult(0));
  });
}

FailureOr<LaneEmitter::MatrixSource>
LaneEmitter::matrixSource(LoadTileOp load) {
  FailureOr<TileAddress> address = resolve(load, load.getSource());
  if (failed(address))
    return failure();
  MemRefType type = address->type;
  Type element = type.getElementType();
  if (!address->swizzled)
    return load.emitOpError("a product needs a swizzled tile");
  if (failed(verifyMatrixTile(load)) ||
      failed(verifyInside(
          load, type, load.getIndices(),
          cast<VectorType>(load.getResult().getType()).getShape())) ||
      (!element.isF32() &&
       failed(require(&TargetInfo::hasMatrixLoad, load, "ldmatrix"))))
    return failure();
  int64_t pitchBytes =
      type.getShape().back() * type.getElementTypeBitWidth() / 8;
  if (pitchBytes % kChunkBytes != 0 || !llvm::isPowerOf2_64(pitchBytes))
    return load.emitOpError("a product needs rows of a power of two of 16-byte "
                            "chunks, found ")
           << type;
  SmallVector<Value> indices;
  for (Value index : load.getIndices())
    indices.push_back(toI64(index));
  return MatrixSource{this->element(*address, indices), pitchBytes,
                      ChunkSwizzle{pitchBytes / kChunkBytes}, element};
}

LaneEmitter::Values LaneEmitter::loadMatrix(const MatrixSource &source,
                                            int64_t row, int64_t chunk,
                                            bool rowsAreColumns,
                                            bool transpose) {
  // The XOR reaches only the lowest bits of the chunk; what lies above is added
  // as an immediate and needs no register of its own.
  int64_t far = chunk - chunk % source.swizzle.span();
  chunk -= far;
  Value &laneOffset = laneOffsets[{rowsAreColumns, source.pitchBytes, chunk}];
  if (!laneOffset) {
    // Depends on the lane only: written once, at the top of the kernel.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(atTop.quadLane.getDefiningOp());
    auto shr = [&](Value v, int64_t n) -> Value {
      return arith::ShRUIOp::create(b, v, constant(n));
    };
    auto mask = [&](Value v, int64_t n) -> Value {
      return arith::AndIOp::create(b, v, constant(n));
    };
    // Which of the four 8x8 matrices this lane gives a row of, as bits.
    Value low = mask(shr(atTop.lane, 3), 1), high = shr(atTop.lane, 4);
    Value rowBit = rowsAreColumns ? high : low;
    Value chunkBit = rowsAreColumns ? low : high;
    Value inner = mask(atTop.lane, 7);
    Value laneRow = add(inner, mul(rowBit, constant(8)));
    Value flip = flipOf(source.swizzle, inner);
    Value place = placeOf(add(chunkBit, constant(chunk)), flip);
    laneOffset = add(mul(laneRow, constant(source.pitchBytes)), place);
  }
  Value address = offset(offset(source.origin, laneOffset),
                         row * source.pitchBytes + far * kChunkBytes);
  return createLdmatrix(b, b.getLoc(), address, source.element, transpose);
}

LogicalResult fa::verifyMatrixTile(LoadTileOp load) {
  auto tile = cast<VectorType>(load.getResult().getType());
  if (load.getEachRow() || tile.getRank() != 2 ||
      tile.getDimSize(0) % kPieceRows != 0 || tile.getDimSize(1) % kPieceK != 0)
    return load.emitOpError("a product needs rows and columns in multiples of "
                            "16, found ")
           << tile << (load.getEachRow() ? " of one row" : "");
  if (!matchPattern(load.getIndices().back(), m_Zero()) ||
      !isMultipleOf(*std::prev(load.getIndices().end(), 2), 8))
    return load.emitOpError("a tile of a product begins at column 0 and at a "
                            "row that is a multiple of 8, as the swizzle does");
  return success();
}

/// A sum of products in whole pieces: of 16 bits by mma.sync.m16n8k16, two
/// columns of pieces at a time, or of f32.
LogicalResult LaneEmitter::verifyContraction(vector::ContractionOp op) {
  auto iterators = op.getIteratorTypesArray();
  if (op.getKind() != vector::CombiningKind::ADD ||
      iterators !=
          ArrayRef<vector::IteratorType>{vector::IteratorType::parallel,
                                         vector::IteratorType::parallel,
                                         vector::IteratorType::reduction})
    return op.emitOpError("expected a sum of products over k, found kind ")
           << stringifyCombiningKind(op.getKind());
  VectorType lhs = op.getLhsType(), rhs = op.getRhsType();
  auto acc = cast<VectorType>(op.getAccType());
  Type element = lhs.getElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type>(element) ||
      rhs.getElementType() != element || !acc.getElementType().isF32())
    return op.emitOpError("expected products of f16, bf16 or f32 added up in "
                          "f32, found ")
           << element << ", " << rhs.getElementType() << " and "
           << acc.getElementType();
  int64_t m = acc.getDimSize(0), n = acc.getDimSize(1), k = lhs.getDimSize(1);
  if (m % kPieceRows != 0 || n % (2 * kPieceCols) != 0 || k % kPieceK != 0)
    return op.emitOpError("expected m, n and k in multiples of 16, found ")
           << m << ", " << n << " and " << k;
  if (!target || element.isF32())
    return success();
  if (!target->hasMma(element.isF16() ? MmaElement::F16 : MmaElement::BF16,
                      kPieceRows, kPieceCols, kPieceK))
    return op.emitOpError("needs mma.sync.m16n8k16 of ")
           << element << ", which " << target->name << " does not have";
  return success();
}

/// Left registers of step `k`, one quadruple for each 16 rows: those of
/// `share`, or read from `tile` where there is one.
SmallVector<LaneEmitter::Values>
LaneEmitter::leftRegisters(const LaneShare &lhs, const Values &share,
                           const MatrixSource *tile, int64_t k) {
  SmallVector<Values> registers;
  for (int64_t m = 0; m < lhs.rowPieces; ++m) {
    if (tile)
      registers.push_back(loadMatrix(*tile, m * kPieceRows, 2 * k,
                                     /*rowsAreColumns=*/false,
                                     /*transpose=*/false));
    else
      registers.push_back(
          {share[lhs.at(m, 2 * k, 0)], share[lhs.at(m, 2 * k, 1)],
           share[lhs.at(m, 2 * k + 1, 0)], share[lhs.at(m, 2 * k + 1, 1)]});
  }
  return registers;
}

/// Step by step of k; in each, columns two pieces at a time, which one ldmatrix
/// gives, and for these all rows.
LaneEmitter::Values LaneEmitter::emitMmaProducts(const LaneShare &lhs,
                                                 const LaneShare &acc,
                                                 const Values &share,
                                                 const MatrixSource *left,
                                                 const MatrixSource &right,
                                                 bool isTransposed, Values d) {
  for (int64_t k = 0; k < lhs.colPieces / 2; ++k) {
    SmallVector<Values> registers = leftRegisters(lhs, share, left, k);
    for (int64_t pair = 0; pair < acc.colPieces / 2; ++pair) {
      Values rhs =
          isTransposed
              ? loadMatrix(right, pair * 2 * kPieceCols, 2 * k,
                           /*rowsAreColumns=*/true, /*transpose=*/false)
              : loadMatrix(right, k * kPieceK, 2 * pair,
                           /*rowsAreColumns=*/false, /*transpose=*/true);
      for (int64_t n : {2 * pair, 2 * pair + 1})
        for (int64_t m = 0; m < acc.rowPieces; ++m) {
          Value *piece = &d[acc.at(m, n, 0, 0)];
          Values result =
              createMmaSync(b, b.getLoc(), registers[m],
                            {rhs[2 * (n % 2)], rhs[2 * (n % 2) + 1]},
                            ValueRange{piece[0], piece[1], piece[2], piece[3]});
          std::copy(result.begin(), result.end(), piece);
        }
    }
  }
  return d;
}

LogicalResult LaneEmitter::emitContraction(vector::ContractionOp op) {
  std::optional<bool> isTransposed =
      isRightTransposed(op.getIndexingMapsArray());
  if (!isTransposed)
    return op.emitOpError("expected (m, k) x (n, k) or (m, k) x (k, n) to "
                          "(m, n)");
  if (failed(verifyContraction(op)))
    return failure();
  LoadTileOp rightLoad = fusedLoad(op.getRhs());
  if (!rightLoad)
    return op.emitOpError("the right operand must be a tile in workgroup "
                          "memory, loaded in the same block");
  FailureOr<MatrixSource> right = matrixSource(rightLoad);
  if (failed(right))
    return failure();
  LoadTileOp leftLoad = fusedLoad(op.getLhs());
  FailureOr<MatrixSource> left = failure();
  if (leftLoad && failed(left = matrixSource(leftLoad)))
    return failure();

  LaneShare lhs = *layoutOf(op, op.getLhs());
  LaneShare acc = *layoutOf(op, op.getResult());
  Values share = leftLoad ? Values() : shareOf(op.getLhs());
  Values d = shareOf(op.getAcc());
  if (!right->element.isF32())
    d = emitMmaProducts(lhs, acc, share, leftLoad ? &*left : nullptr, *right,
                        *isTransposed, std::move(d));
  else if (leftLoad && *isTransposed)
    d = emitRowProducts(lhs, acc, *left, *right, std::move(d));
  else if (!leftLoad && !*isTransposed)
    d = emitWeightedRows(lhs, acc, share, *right, std::move(d));
  else
    return op.emitOpError("of f32 expected (m, k) in workgroup memory x "
                          "(n, k), or (m, k) in registers x (k, n)");
  replaceWithShare(op, std::move(d));
  return success();
}

LogicalResult LaneEmitter::emitMatrixLoad(LoadTileOp op) {
  // Not where it is used: Q that stays in registers during the loop.
  FailureOr<MatrixSource> source = matrixSource(op);
  if (failed(source))
    return failure();
  if (!source->element.isF16() && !source->element.isBF16())
    return op.emitOpError("is read into registers by ldmatrix, which gives f16 "
                          "and bf16, found ")
           << source->element;
  LaneShare share = *layoutOf(op, op.getResult());
  Values values(share.size());
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t k = 0; k < share.colPieces / 2; ++k) {
      Values registers =
          loadMatrix(*source, m * kPieceRows, 2 * k, false, false);
      for (int64_t i = 0; i < 4; ++i)
        values[share.at(m, 2 * k + i / 2, i % 2)] = registers[i];
    }
  replaceWithShare(op, std::move(values));
  return success();
}
