//===- FmaContraction.cpp - products of f32 ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vector.contract on f32 -> fused multiply-adds, each rounded once, without
// tensor cores. The accumulator lies over the lanes as that of mma.sync does
// (MMALayout.h), so all around the products stays as it is. With quad g and
// lane t of it, a lane owns rows g, g + 8 and columns 2t, 2t + 1 of a piece:
//
//   S = Q . K^T   rows g, g + 8 of Q and rows 2t, 2t + 1 of K, both from
//                 workgroup memory, four columns (16 bytes) at a time
//   u = P . V     the lanes of a quad hold a row of P together: each in turn
//                 gives its two keys' weights to the others, who multiply them
//                 with their own columns of V
//===----------------------------------------------------------------------===//

#include "../MMA/MmaSync.h"
#include "LaneEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fa;

/// base + (chunk XOR flip) chunks.
Value LaneEmitter::chunkAt(Value base, Value chunk, Value flip) {
  return offset(base, placeOf(chunk, flip));
}

/// `count` neighbours of f32.
static SmallVector<Value> loadFloats(ImplicitLocOpBuilder &b, Value address,
                                     int64_t count) {
  auto type = VectorType::get({count}, b.getF32Type());
  Value vector = LLVM::LoadOp::create(b, type, address, 4 * count);
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(vector::ExtractOp::create(b, vector, i));
  return values;
}

LaneEmitter::Values LaneEmitter::emitRowProducts(const LaneShare &lhs,
                                                 const LaneShare &acc,
                                                 const MatrixSource &left,
                                                 const MatrixSource &right,
                                                 Values d) {
  constexpr int64_t kPerChunk = kChunkBytes / 4;
  // The first row of each kind; the others are a multiple of 8 further.
  Value row = rowOf(0, 0), columns[] = {columnOf(0, 0), columnOf(0, 1)};
  Value rowBase = offset(left.origin, mul(row, constant(left.pitchBytes)));
  Value rowFlip = flipOf(left.swizzle, row);
  Value columnBase[2], columnFlip[2];
  for (int64_t e : {0, 1}) {
    columnBase[e] =
        offset(right.origin, mul(columns[e], constant(right.pitchBytes)));
    columnFlip[e] = flipOf(right.swizzle, columns[e]);
  }
  int64_t chunks = lhs.colPieces * kPieceCols / kPerChunk;
  auto loop = scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                                 arith::ConstantIndexOp::create(b, chunks),
                                 arith::ConstantIndexOp::create(b, 1), d);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Values sums(loop.getRegionIterArgs());
  Value chunk = toI64(loop.getInductionVar());
  Value rowAddress = chunkAt(rowBase, chunk, rowFlip);
  SmallVector<Values> rows;
  for (int64_t m = 0; m < acc.rowPieces; ++m)
    for (int64_t half : {0, 1})
      rows.push_back(loadFloats(
          b, offset(rowAddress, (m * kPieceRows + half * 8) * left.pitchBytes),
          kPerChunk));
  for (int64_t e : {0, 1}) {
    Value columnAddress = chunkAt(columnBase[e], chunk, columnFlip[e]);
    for (int64_t n = 0; n < acc.colPieces; ++n) {
      Values column = loadFloats(
          b, offset(columnAddress, n * kPieceCols * right.pitchBytes),
          kPerChunk);
      for (int64_t m = 0; m < acc.rowPieces; ++m)
        for (int64_t half : {0, 1})
          for (int64_t i = 0; i < kPerChunk; ++i) {
            Value &sum = sums[acc.at(m, n, half, e)];
            sum = math::FmaOp::create(b, rows[2 * m + half][i], column[i], sum);
          }
    }
  }
  scf::YieldOp::create(b, sums);
  return Values(loop.getResults());
}

LaneEmitter::Values LaneEmitter::emitWeightedRows(const LaneShare &lhs,
                                                  const LaneShare &acc,
                                                  const Values &weights,
                                                  const MatrixSource &right,
                                                  Values d) {
  // Columns 8c + 2t, 8c + 2t + 1: half (t mod 2) of chunk 2c + t / 2.
  Value laneChunk = arith::ShRUIOp::create(b, me.quadLane, constant(1));
  Value laneHalf = arith::AndIOp::create(b, me.quadLane, constant(1));
  Value laneBase = offset(right.origin, mul(laneHalf, constant(8)));
  Value quadFirst = arith::SubIOp::create(b, me.lane, me.quadLane);

  auto loop =
      scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                         arith::ConstantIndexOp::create(b, kLanesPerRow),
                         arith::ConstantIndexOp::create(b, 1), d);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Values sums(loop.getRegionIterArgs());
  // The lane whose keys 8n + 2 giver + e are taken.
  Value giver = toI64(loop.getInductionVar());
  Value from =
      arith::TruncIOp::create(b, b.getI32Type(), add(quadFirst, giver));
  for (int64_t e : {0, 1}) {
    Value key = add(mul(giver, constant(2)), constant(e));
    Value base = offset(laneBase, mul(key, constant(right.pitchBytes)));
    Value flip = flipOf(right.swizzle, key);
    // By the part of a chunk's number that the XOR reaches.
    DenseMap<int64_t, Value> addresses;
    for (int64_t n = 0; n < lhs.colPieces; ++n) {
      Values given;
      for (int64_t m = 0; m < acc.rowPieces; ++m)
        for (int64_t half : {0, 1})
          given.push_back(createShuffleIndex(
              b, b.getLoc(), weights[lhs.at(m, n, half, e)], from));
      for (int64_t c = 0; c < acc.colPieces; ++c) {
        int64_t near = 2 * c % right.swizzle.span(), far = 2 * c - near;
        Value &address = addresses[near];
        if (!address)
          address = chunkAt(base, add(laneChunk, constant(near)), flip);
        Values pair =
            loadFloats(b,
                       offset(address, n * kPieceCols * right.pitchBytes +
                                           far * kChunkBytes),
                       2);
        for (int64_t m = 0; m < acc.rowPieces; ++m)
          for (int64_t half : {0, 1})
            for (int64_t i : {0, 1}) {
              Value &sum = sums[acc.at(m, c, half, i)];
              sum = math::FmaOp::create(b, given[2 * m + half], pair[i], sum);
            }
      }
    }
  }
  scf::YieldOp::create(b, sums);
  return Values(loop.getResults());
}
