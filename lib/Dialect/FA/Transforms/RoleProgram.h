//===- RoleProgram.h - a tile program whose warps get roles -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of fa-specialize-warps know of the program that they take
// apart. Each part has an idea of its own and a file for it:
//
//   TileRings        tiles between those who copy and those who compute
//   RoleTileLoops    several tiles of the output, one after the other
//   RingProducer     what the warps do that copy
//   SpecializeWarps  who gets what of the program, and what consumers do
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_FA_TRANSFORMS_ROLEPROGRAM_H
#define LIB_DIALECT_FA_TRANSFORMS_ROLEPROGRAM_H

#include "BlockCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::fa {

struct RoleProgram {
  RoleProgram(scf::ForallOp forall, const CompleteSchedule &schedule)
      : forall(forall), schedule(schedule), builder(forall) {}

  scf::ForallOp forall;
  const CompleteSchedule &schedule;
  OpBuilder builder;                ///< the parts hand its place on
  SmallVector<BlockCopies> blocks;  ///< loops over blocks of K and V
  SmallVector<CopyTileOp> resident; ///< of Q: once for a tile of the output
  WarpRolesOp roles;
  Block *consumers = nullptr; ///< what they do for one tile of the output

  /// Whether a block of threads of a cluster does this loop over blocks by
  /// itself: from the first on that may begin again.
  bool isAlone(size_t loop) const {
    return schedule.cluster != 1 &&
           llvm::any_of(ArrayRef(blocks).take_front(loop + 1),
                        [](const BlockCopies &block) { return block.restart; });
  }

  Location getLoc() { return forall.getLoc(); }
  Value getIndex(int64_t value) { return getIndexConstant(forall, value); }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(builder, getLoc(), value, 32);
  }
};

} // namespace mlir::fa

#endif // LIB_DIALECT_FA_TRANSFORMS_ROLEPROGRAM_H
