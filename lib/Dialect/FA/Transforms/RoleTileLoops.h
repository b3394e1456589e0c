//===- RoleTileLoops.h - several tiles of the output, by roles --*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A persistent program begins as many blocks of threads as run at once; of W of
// them block w does the tiles w, w + W, w + 2 W, ... of the output. Every role
// is then a loop over tiles:
//
//     scf.forall (%w) in (%workers) {
//       fa.warp_roles {                              consumers
//         scf.for %x = %w to %tiles step %workers
//             iter_args(%n = 0, %t = 0)              blocks, tiles before
//           place of tile %x; what follows from it
//           wait until Q is full                     parity %t mod 2
//           loops over blocks of K and V             their bases follow from %n
//           give Q back
//           yield %n + blocks of this tile, %t + 1
//       }, { the same for K and V }, { the same for Q }
//
// What depends on the tile is computed by each role for itself, and so are %n
// and %t: all count alike, because a tile's blocks, and whether some are done
// again, are the same for all. The rings of K and V go on from tile to tile
// (TileRings.h). Q is a ring of one whose n is %t; its producer, a warp of its
// own, waits for the parity of the phase before.
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_ROLETILELOOPS_H
#define LIB_DIALECT_FA_TRANSFORMS_ROLETILELOOPS_H

#include "RoleProgram.h"

namespace mlir::fa {

/// The loop over the tiles of a block of threads, in one role.
struct TileLoop {
  scf::ForOp loop;

  /// How many blocks of K and V, and how many tiles, went before: i32.
  Value getBlocksBefore() { return loop.getRegionIterArg(0); }
  Value getTilesBefore() { return loop.getRegionIterArg(1); }
};

class RoleTileLoops {
public:
  explicit RoleTileLoops(RoleProgram &program)
      : program(program), builder(program.builder) {}

  /// Puts a loop over tiles around what consumers do, and makes the program one
  /// over blocks of threads.
  void create();
  TileLoop getOfConsumers() const { return ofConsumers; }

  /// How many blocks of K and V went through the rings at the end of a tile;
  /// the base is that of the last loop over them.
  Value emitBlocksAfter(Value lastBase);
  /// The parity that Q's consumers wait for, and with `before` its producer.
  Value emitParity(TileLoop own, bool before);

  /// The loop of a producer, in which the place of a tile is found anew;
  /// `mapping` then says what stands for the consumers' values. The builder
  /// stands behind that.
  TileLoop beginProducer(Region &role, IRMapping &mapping);
  /// Drops, too, what this producer has no need of.
  void endProducer(TileLoop own, Value blocksAfter);
  void end(TileLoop own, Value blocksAfter);

private:
  SmallVector<Operation *> takeDependentOnTile();
  scf::ForallOp createWorkers(ValueRange sizes);
  Value emitRefusedGrid(Value workers);
  TileLoop createLoop(Region &role);

  RoleProgram &program;
  OpBuilder &builder;
  TileLoop ofConsumers;
  Value numTiles;                  // of the output, of all
  SmallVector<Operation *> ofTile; // of the consumers, for producers too
};

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_ROLETILELOOPS_H
