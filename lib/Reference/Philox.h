//===- Philox.h - random numbers by counting --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 as published (Salmon and others, "Parallel random numbers: as
// easy as 1, 2, 3").
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_REFERENCE_PHILOX_H
#define FA_LIB_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace faref {

using Philox4 = std::array<uint32_t, 4>;

inline Philox4 philox4x32(Philox4 c, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53u) * c[0];
    uint64_t second = uint64_t(0xCD9E8D57u) * c[2];
    c = {uint32_t(second >> 32) ^ c[1] ^ k0, uint32_t(second),
         uint32_t(first >> 32) ^ c[3] ^ k1, uint32_t(first)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

} // namespace faref

#endif // FA_LIB_REFERENCE_PHILOX_H
