//===- BulkCopy.h - bytes that move by themselves ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bulk copy after its checks. It goes through a tile, the dense image of the
// data without swizzle: read() fills the tile from the source, finish() empties
// it into the destinations.
//
//   global runs --> tile --swizzle--> shared memory of one or more CTAs
//   shared memory --swizzle--> tile --> global runs (stored or reduced)
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_BULKCOPY_H
#define FA_LIB_EMULATOR_EXECUTOR_BULKCOPY_H

#include "ElementReduction.h"
#include "Mbarrier.h"

namespace ptxvm {

/// A contiguous piece of global memory and its place in the tile.
struct BulkRun {
  uint8_t *host = nullptr;
  uint64_t address = 0;
  Allocation *buffer = nullptr;
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

struct BulkDestination {
  SharedPlace place;
  SharedPlace mbarrier;
};

class BulkCopy {
public:
  BulkCopy(Warp &w, uint32_t pc) : warp(w), pc(pc) {}

  void read();
  void finish();
  bool isDone() const { return wasFinished; }

  Warp &warp;
  uint32_t pc;
  BulkCopyEvent event{};
  std::vector<BulkRun> runs;
  SharedPlace source{};                      ///< stores and copies inside
  std::vector<BulkDestination> destinations; ///< loads and copies inside
  uint32_t bytes = 0;                        ///< of the tile
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorType type = TensorType::U8;
  TensorFill fill = TensorFill::Zero;
  Reduction reduction = Reduction::None;

private:
  void readGlobal();
  void writeGlobal();
  void writeShared(const SharedPlace &to);
  /// Bytes that a swizzle keeps together.
  uint32_t chunk() const {
    return swizzle == TensorSwizzle::Bytes128Atom32Flip8 ? 8 : 16;
  }
  void fillTile();
  void convertTile();
  void notify(AccessKind kind, Space space, uint64_t address, uint64_t bytes,
              const Allocation *buffer, uint32_t ownerRank);

  std::vector<uint8_t> tile;
  bool wasRead = false, wasFinished = false;
};

/// Gives a checked copy to the queue: one operation for each mbarrier that it
/// tells, or one of the lane's open bulk group.
void launchBulkCopy(std::shared_ptr<BulkCopy> copy);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_BULKCOPY_H
