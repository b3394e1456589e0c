//===- HostMemory.cpp - what a run may ask of the host --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asked of the system once.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/HostMemory.h"

#include <unistd.h>

uint64_t farun::hostMemoryBudget() {
  static const uint64_t budget = [] {
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGE_SIZE);
    constexpr uint64_t kUnknown = uint64_t(1) << 32;
    return pages > 0 && bytes > 0 ? uint64_t(pages) * uint64_t(bytes) / 2
                                  : kUnknown;
  }();
  return budget;
}
