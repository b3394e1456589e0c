//===- RingProducer.h - what the warps do that copy -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A producer is a warp that walks the consumers' blocks of K and V ahead of
// them and fills rings (TileRings.h):
//
//     copy Q, signal full                        in a warp of its own, where
//     for each block                             another tile follows
//       for K, then for V
//         wait until the stage is empty
//         fill it, signal full
//
// Loops in a row that go on from each other are one here, since they copy
// alike. What places a tile is computed anew: the consumers' ops for it are
// repeated on this side, one by one, where they are asked for.
//
// A stage is filled in one of two ways. The host makes a tensor map, from which
// the unit for that (TMA) copies the tile as boxes, and writes zeros for what
// lies outside the tensor; a box brings what masks hide of the tile, too. Where
// there is no map, or where the sequence ends before the tensor does and inside
// the tile, so that a box would bring rows that are none, the lanes copy:
//
//     %has = fa.has_tensor_map %map              once, in front of the loops
//     scf.if %has and (all rows of the tensor may be read, or all of the tile)
//       fa.bulk_copy ... signals %full[%stage]   its bytes end the phase
//     else
//       fa.copy_tile; wait; fence                since wgmma reads by itself
//       fa.arrive %full[%stage]
//
// In a cluster of B blocks of threads each copies a B-th of the tile's rows to
// all of them; by lanes each copies a whole tile to itself, and then tells all
// that it has: nobody may be a round ahead of another block's producer.
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_RINGPRODUCER_H
#define LIB_DIALECT_FA_TRANSFORMS_RINGPRODUCER_H

#include "RoleTileLoops.h"
#include "TensorPlace.h"
#include "TileRings.h"

namespace mlir::fa {

class RingProducer {
public:
  /// `tileLoops` is null where each block of threads has one tile.
  RingProducer(RoleProgram &program, TileRings &rings, RoleTileLoops *tileLoops)
      : program(program), rings(rings), tileLoops(tileLoops),
        builder(program.builder) {}

  /// On the host, for each tensor that is copied and can have one a map of each
  /// number of rows that its tiles have.
  void createTensorMaps();
  /// Fills the producers' roles. At the end of a tile so many blocks went
  /// through the rings; null where no tile follows.
  void emitRoles(Value blocksAfter);

private:
  void createTensorMap(CopyTileOp copy);

  TileLoop beginRole(Region &role);
  void emitResident(TileLoop own);
  void emitStreams();
  void emitStream(size_t number, Value end);

  void emitFill(CopyTileOp copy, const Ring &ring, Value stage,
                IRMapping &mapping);
  void emitBoxCopy(CopyTileOp copy, const Ring &ring, Value stage,
                   ValueRange indices);
  void emitLaneCopy(CopyTileOp copy, const Ring &ring, Value stage,
                    ValueRange indices);
  Value emitMayCopyBoxes(CopyTileOp copy, Value map, ValueRange indices);
  Value emitHasMap(Value map);
  /// The map whose boxes a ring is filled with, or null.
  Value mapOf(CopyTileOp copy, const Ring &ring);

  /// What stands for a consumers' value on this side.
  Value onThisSide(Value value);
  Value toValue(OpFoldResult index);
  /// Maps so all that `value`, of a consumers' loop, needs from before it.
  void mapBeforeLoop(Value value, scf::ForOp loop, IRMapping &mapping);

  RoleProgram &program;
  TileRings &rings;
  RoleTileLoops *tileLoops;
  OpBuilder &builder;
  /// By a copy's source and the rows of a box: a tile's, or of the part of one
  /// that a block of a cluster copies.
  DenseMap<std::pair<Value, int64_t>, Value> maps;
  DenseMap<Value, TensorPlace> places;
  // Of the role that is being written.
  Block *producer = nullptr;
  IRMapping thisSide;
  DenseMap<Value, Value> hasMaps; // whether there is a map, by the map
};

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_RINGPRODUCER_H
