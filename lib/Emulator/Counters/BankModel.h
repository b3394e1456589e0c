//===- BankModel.h - wavefronts and sectors ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory models of fa/Emulator/Counters.h, as functions of addresses. Every
// lane's access is naturally aligned, so it lies in one sector, and its words
// in neighbouring banks that do not wrap around.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_COUNTERS_BANKMODEL_H
#define FA_LIB_EMULATOR_COUNTERS_BANKMODEL_H

#include <cstdint>

namespace ptxvm {

struct Wavefronts {
  uint32_t actual = 0, ideal = 0;
  uint32_t broadcasts = 0; ///< lanes that another lane's words serve
};

/// Lanes that are served together when each moves `bytes`.
inline unsigned lanesOfPhase(uint32_t bytes) {
  return bytes <= 4 ? 32 : 128 / bytes;
}

/// `lanesAtOnce` divides the warp into phases.
Wavefronts countWavefronts(const uint64_t *addresses, uint32_t mask,
                           uint32_t bytes, unsigned lanesAtOnce);

struct Sectors {
  uint32_t sectors = 0, lines = 0;
};
/// Distinct 32-byte sectors and 128-byte lines that the lanes touch.
Sectors countSectors(const uint64_t *addresses, uint32_t mask);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_COUNTERS_BANKMODEL_H
