//===- TileRings.cpp - tiles between those who copy and compute -*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileRings.h"

using namespace mlir;
using namespace mlir::fa;

void TileRings::create() {
  for (CopyTileOp copy : program.resident)
    rings.insert({copy.getDest(), createRing(copy, 1)});
  for (CopyTileOp copy : program.blocks.front().copies) {
    Ring ring = createRing(copy, program.schedule.stages);
    rings.insert({copy.getDest(), ring});
    if (!program.isAlone(program.blocks.size() - 1))
      continue;
    builder.setInsertionPoint(ring.tile);
    ring.empty = createBarriers(ring.stages);
    ring.full = createBarriers(ring.stages);
    ring.blocks = 1;
    ownRings.insert({copy.getDest(), ring});
  }
}

Value TileRings::createBarriers(int64_t number) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({number}, builder.getI64Type(),
                              MemRefLayoutAttrInterface(), space);
  return memref::AllocOp::create(builder, program.getLoc(), type);
}

Ring TileRings::createRing(CopyTileOp copy, int64_t stages) {
  Ring ring;
  ring.tile = copy.getDest().getDefiningOp<memref::AllocOp>();
  ring.stages = stages;
  builder.setInsertionPoint(ring.tile);
  bool isResident = llvm::is_contained(program.resident, copy);
  ring.blocks = isResident ? 1 : program.schedule.cluster;
  if (isResident) {
    ring.tiles = ring.tile;
  } else {
    MemRefType type = ring.tile.getType();
    SmallVector<int64_t> shape{stages};
    llvm::append_range(shape, type.getShape());
    ring.tiles = memref::AllocOp::create(
        builder, ring.tile.getLoc(),
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace()));
  }
  if (!isResident || program.schedule.isPersistent)
    ring.empty = createBarriers(stages);
  ring.full = createBarriers(stages);
  return ring;
}

void TileRings::emitInitBarriers() {
  Location loc = program.getLoc();
  for (auto *all : {&rings, &ownRings})
    for (auto &[tile, ring] : *all) {
      InitBarriersOp::create(builder, loc, ring.full, ring.blocks);
      if (ring.empty)
        InitBarriersOp::create(builder, loc, ring.empty,
                               ring.blocks * program.schedule.warps);
    }
}

/// A loop that begins again puts its blocks behind all that went through the
/// ring before; with rings of its own there is nothing before.
void TileRings::numberBlocks(Value blocksBefore) {
  Location loc = program.getLoc();
  Value first = program.blocks.front().loop.getLowerBound();
  Value base; // n of the first block of all, i32
  for (auto [i, block] : llvm::enumerate(program.blocks)) {
    builder.setInsertionPoint(block.loop);
    auto narrow = [&](Value value) {
      return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                        value)
          .getResult();
    };
    if (i == 0)
      base = arith::SubIOp::create(builder, loc,
                                   blocksBefore ? blocksBefore : program.i32(0),
                                   narrow(first));
    if (program.isAlone(i) && !program.isAlone(i - 1)) {
      base = bases.front();
    } else if (block.restart) {
      Value done = arith::SubIOp::create(
          builder, loc, narrow(program.blocks[i - 1].loop.getUpperBound()),
          narrow(first));
      Value more = arith::SelectOp::create(builder, loc, block.restart, done,
                                           program.i32(0));
      base = arith::AddIOp::create(builder, loc, base, more);
    }
    bases.push_back(base);
  }
}

RingPlace TileRings::emitPlace(Value block, Value base) {
  Location loc = program.getLoc();
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), block);
  number = arith::AddIOp::create(builder, loc, number, base);
  Value stages = program.i32(program.schedule.stages);
  Value stage = arith::RemUIOp::create(builder, loc, number, stages);
  Value round = arith::DivUIOp::create(builder, loc, number, stages);
  Value parity = arith::AndIOp::create(builder, loc, round, program.i32(1));
  stage =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), stage);
  return {stage, parity};
}

void TileRings::eraseReplacedTiles() {
  for (auto &[tile, ring] : rings)
    if (ring.tiles != tile)
      ring.tile.erase();
}
