//===- TileRings.h - tiles between those who copy and compute ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring is S tiles of workgroup memory, its stages, which a producer fills in
// turn and consumers read behind it. Two barriers that count stand for each
// stage: `full`, at which the fill arrives, and `empty`, at which each warp of
// consumers does when it has read the tile. n counts the tiles that went
// through the ring; all else follows from it (docs/Hopper.md, "Barriers that
// count", says what a phase is and what its parity). With S = 2:
//
//     n                                       0   1   2   3   4   5
//     stage, n mod S                          0   1   0   1   0   1
//     parity awaited at full, (n / S) mod 2   0   0   1   1   0   0
//     parity awaited at empty, the other      1   1   0   0   1   1
//
// n is not the number of the block of K and V, since loops may begin again at
// the first one; but inside a loop the two differ by a number that stays, the
// loop's base. So nothing is carried from iteration to iteration:
//
//     loop                          blocks        base   n
//     without masks                 0 1 2 3          0   0  1  2  3
//     with masks                    4 5              0   4  5
//     again, for huge scores        0 1 2 3 4 5      6   6  7  8  9 10 11
//
// From one tile of the output to the next n goes on (RoleTileLoops.h). Q, which
// stays while its tile lasts, is a ring of one; only where another tile follows
// is it given back, and has an empty barrier.
//
// In a cluster of B blocks of threads each fills a B-th of a stage in all of
// them. So B fills arrive at a full barrier, and at an empty one the consumers
// of all blocks. What a block does again concerns no other: it has a second
// pair of barriers for that, at which it arrives alone and whose n begins anew.
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_TILERINGS_H
#define LIB_DIALECT_FA_TRANSFORMS_TILERINGS_H

#include "RoleProgram.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fa {

/// A tile of workgroup memory, or a ring of them, and its barriers.
struct Ring {
  memref::AllocOp tile; ///< as fa-promote-tiles made it; goes
  int64_t stages;
  Value tiles;       ///< the ring; the tile itself where there is one
  Value full, empty; ///< barriers; no empty one where it is filled once
  int64_t blocks;    ///< of threads, that fill and empty it together
};

/// Where in a ring a tile is, and when.
struct RingPlace {
  Value stage;  ///< an index
  Value parity; ///< i32, of the phase that ends when the tile is there
};

/// The rings of a program, by the tile each of them replaces.
class TileRings {
public:
  explicit TileRings(RoleProgram &program)
      : program(program), builder(program.builder) {}

  /// Beside the tiles.
  void create();
  /// At the builder's place, for those who arrive.
  void emitInitBarriers();
  /// Finds the loops' bases. So many blocks, an i32, went before the first one;
  /// null: none.
  void numberBlocks(Value blocksBefore);
  void eraseReplacedTiles();

  const Ring &get(Value tile) const { return rings.find(tile)->second; }
  /// In a loop over blocks.
  const Ring &get(Value tile, size_t loop) const {
    return (program.isAlone(loop) ? ownRings : rings).find(tile)->second;
  }

  /// n minus the number of the block, i32.
  Value getBase(size_t loop) const { return bases[loop]; }
  Value getLastBase() const { return bases.back(); }
  /// Of block number `block` in a loop of this base.
  RingPlace emitPlace(Value block, Value base);

private:
  Ring createRing(CopyTileOp copy, int64_t stages);
  Value createBarriers(int64_t number);

  RoleProgram &program;
  OpBuilder &builder;
  llvm::MapVector<Value, Ring> rings;
  llvm::MapVector<Value, Ring> ownRings; // the same tiles, filled alone
  SmallVector<Value> bases;              // by loop
};

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_TILERINGS_H
