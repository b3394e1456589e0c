//===- Loops.h - the loops of a kernel --------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Natural loops, from the branches of CodeInfo. The decoder lays code out so
// that a loop's header comes first in it: an edge back is an edge to a lower
// pc.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_COUNTERS_LOOPS_H
#define FA_LIB_EMULATOR_COUNTERS_LOOPS_H

#include "fa/Emulator/ExecutionObserver.h"

namespace ptxvm {

struct Loop {
  uint32_t header = 0;        ///< pc of its first instruction in the file
  std::vector<uint32_t> body; ///< pcs, rising, those of inner loops too
  uint32_t depth = 1;         ///< 1 = in no other loop
};

/// By header; outer loops come before those that they contain.
std::vector<Loop> findLoops(const CodeInfo &code);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_COUNTERS_LOOPS_H
