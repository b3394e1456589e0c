//===- MMALayoutTest.cpp - the numbers that the header teaches ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shares, the swizzle and descriptors of wgmma against what PTX says of single
// elements.
//
//===----------------------------------------------------------------------===//
#include "fa/GPU/MMA/MMALayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fa;

namespace {

TEST(MMALayout, AShareIsOrderedByPieces) {
  MLIRContext context;
  Builder b(&context);
  LaneShare tile = *LaneShare::get(VectorType::get({32, 16}, b.getF32Type()));
  EXPECT_EQ(tile.kind, LaneShare::Kind::Tile);
  EXPECT_EQ(tile.size(), 32 * 16 / 32);
  // (16 m + 8 half + g, 8 n + 2 t + e): the last of piece (1, 0) is the one
  // before the first of piece (1, 1).
  EXPECT_EQ(tile.at(0, 0, 0, 1), 1);
  EXPECT_EQ(tile.at(0, 0, 1, 0), 2);
  EXPECT_EQ(tile.at(0, 1, 0, 0), 4);
  EXPECT_EQ(tile.at(1, 0, 1, 1) + 1, tile.at(1, 1, 0, 0));
  // Two neighbours are one register of 16-bit elements.
  LaneShare pairs = *LaneShare::get(VectorType::get({32, 16}, b.getF16Type()));
  EXPECT_TRUE(pairs.packed);
  EXPECT_EQ(pairs.size(), tile.size() / 2);
  EXPECT_EQ(pairs.at(0, 0, 1), 1);
  EXPECT_EQ(pairs.at(0, 1, 0), 2);
}

TEST(MMALayout, RowsAndPartsAreTwoForEachPiece) {
  MLIRContext context;
  Builder b(&context);
  LaneShare row = *LaneShare::get(VectorType::get({48}, b.getF32Type()));
  EXPECT_EQ(row.kind, LaneShare::Kind::Row);
  EXPECT_EQ(row.size(), 6);
  LaneShare parts = *LaneShare::get(VectorType::get({48, 4}, b.getF32Type()));
  EXPECT_EQ(parts.kind, LaneShare::Kind::Partial);
  EXPECT_EQ(parts.size(), 6);
  EXPECT_EQ(LaneShare::row(2, 1), 5);
  for (auto [rows, columns] : {std::pair(12, 8), {16, 12}, {16, 2}})
    EXPECT_TRUE(failed(
        LaneShare::get(VectorType::get({rows, columns}, b.getF32Type()))));
}

TEST(MMALayout, NarrowRowsShareALineOfBanks) {
  EXPECT_EQ((ChunkSwizzle{8}.span()), 8);
  EXPECT_EQ((ChunkSwizzle{8}.rowsPerLine()), 1);
  EXPECT_EQ((ChunkSwizzle{32}.span()), 8);
  EXPECT_EQ((ChunkSwizzle{2}.span()), 2);
  EXPECT_EQ((ChunkSwizzle{2}.rowsPerLine()), 4);
}

TEST(MMALayout, DescriptorsSayWhatFollowsWhere) {
  // Q or K: swizzled rows of 128 bytes, patterns of 1024 bytes.
  PanelOperand key{/*panelBytes=*/176 * 128, /*isKMajor=*/true};
  EXPECT_EQ(key.getDescriptorBits(), (1LL << 62) | (64LL << 32) | (1LL << 16));
  // V of 32 keys: panels of 4096 bytes.
  PanelOperand value{/*panelBytes=*/32 * 128, /*isKMajor=*/false};
  EXPECT_EQ(value.getDescriptorBits(),
            (1LL << 62) | (64LL << 32) | (256LL << 16));
}

TEST(MMALayout, StepsOfAProductGoOnInTheNextPanel) {
  PanelOperand key{/*panelBytes=*/176 * 128, /*isKMajor=*/true};
  PanelOperand value{/*panelBytes=*/176 * 128, /*isKMajor=*/false};
  const int64_t ofKey[] = {0, 32, 64, 96, 22528, 22560};
  const int64_t ofValue[] = {0, 2048, 4096, 6144, 8192, 10240};
  for (int64_t step = 0; step < 6; ++step) {
    EXPECT_EQ(key.getStepBytes(step), ofKey[step]);
    EXPECT_EQ(value.getStepBytes(step), ofValue[step]);
  }
}

} // namespace
