//===- BulkAux.h - forms of bulk copies -------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instruction::aux of cp.async.bulk and its kin, between BulkFamilies.cpp and
// Executor/BulkIssue.cpp. The other fields:
//
//   a + imm   shared side: destination, or source of a store
//   b + dst   global address, address of the tensor map, or source in shared
//   c + d     mbarrier
//   list      size, or coordinates (innermost first); then the mask of CTAs
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_BULKAUX_H
#define FA_LIB_EMULATOR_DECODER_BULKAUX_H

#include <cstdint>

namespace ptxvm {

enum class Reduction : uint8_t {
  None,
  Add,
  Min,
  Max,
  Inc,
  Dec,
  And,
  Or,
  Xor,
};

struct BulkAux {
  uint8_t direction = 0; ///< BulkCopyEvent::Direction
  uint8_t rank = 0;      ///< of a tensor copy; 0 = no tensor
  Reduction reduction = Reduction::None;
  uint8_t type = 0; ///< TensorType of a reduction without a tensor
  bool isMulticast = false;
  bool isGather = false;  ///< tile::gather4, tile::scatter4
  bool isCluster = false; ///< the destination may be in another CTA
  bool wideShared = false, wideOther = false, wideMbarrier = false;

  uint32_t pack() const {
    return direction | uint32_t(rank) << 2 | uint32_t(reduction) << 5 |
           uint32_t(type) << 9 | uint32_t(isMulticast) << 13 |
           uint32_t(isGather) << 14 | uint32_t(isCluster) << 15 |
           uint32_t(wideShared) << 16 | uint32_t(wideOther) << 17 |
           uint32_t(wideMbarrier) << 18;
  }
  static BulkAux unpack(uint32_t v) {
    return {uint8_t(v & 3),       uint8_t(v >> 2 & 7), Reduction(v >> 5 & 15),
            uint8_t(v >> 9 & 15), bool(v >> 13 & 1),   bool(v >> 14 & 1),
            bool(v >> 15 & 1),    bool(v >> 16 & 1),   bool(v >> 17 & 1),
            bool(v >> 18 & 1)};
  }
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_BULKAUX_H
