//===- BankModel.cpp - wavefronts and sectors -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most accesses are free of conflicts, and that is seen from a mask of banks;
// only the others look at words.
//
//===----------------------------------------------------------------------===//
#include "BankModel.h"

#include <algorithm>

using namespace ptxvm;

/// Distinct words of the busiest bank; the lanes of one phase.
static uint32_t wavefrontsOfPhase(const uint64_t *addresses, uint32_t lanes,
                                  uint32_t bytes, uint32_t &broadcasts) {
  uint32_t words = std::max(1u, bytes / 4);
  uint32_t used = 0;
  bool isFree = true;
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint64_t word = addresses[__builtin_ctz(m)] / 4;
    uint32_t banks = uint32_t(((1ull << words) - 1) << (word % 32));
    isFree &= !(used & banks);
    used |= banks;
  }
  if (isFree)
    return 1;
  // Each lane's words all lie in one row of the banks or repeat another lane's:
  // distinct first words with their extent, then counts per bank.
  uint64_t first[32];
  unsigned n = 0;
  for (uint32_t m = lanes; m; m &= m - 1)
    first[n++] = addresses[__builtin_ctz(m)] / 4;
  std::sort(first, first + n);
  unsigned distinct = unsigned(std::unique(first, first + n) - first);
  broadcasts += n - distinct;
  n = distinct;
  uint32_t perBank[32] = {}, most = 0;
  for (unsigned k = 0; k < n; ++k)
    for (uint32_t e = 0; e < words; ++e)
      most = std::max(most, ++perBank[(first[k] + e) % 32]);
  return most;
}

Wavefronts ptxvm::countWavefronts(const uint64_t *addresses, uint32_t mask,
                                  uint32_t bytes, unsigned lanesAtOnce) {
  Wavefronts result;
  for (unsigned l = 0; l < 32; l += lanesAtOnce) {
    uint32_t phase = uint32_t(((1ull << lanesAtOnce) - 1) << l) & mask;
    if (!phase)
      continue;
    ++result.ideal;
    result.actual +=
        wavefrontsOfPhase(addresses, phase, bytes, result.broadcasts);
  }
  return result;
}

Sectors ptxvm::countSectors(const uint64_t *addresses, uint32_t mask) {
  uint64_t sector[32];
  unsigned n = 0;
  bool isSorted = true;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t s = addresses[__builtin_ctz(m)] / 32;
    if (n && s == sector[n - 1])
      continue;
    isSorted &= !n || s > sector[n - 1];
    sector[n++] = s;
  }
  if (!isSorted) {
    std::sort(sector, sector + n);
    n = unsigned(std::unique(sector, sector + n) - sector);
  }
  Sectors result{n, 0};
  for (unsigned k = 0; k < n; ++k)
    result.lines += k == 0 || sector[k] / 4 != sector[k - 1] / 4;
  return result;
}
