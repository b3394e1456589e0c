//===- HostMemory.h - what a run may ask of the host ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A system that promises more memory than it has ends the process that comes to
// use it. So what a file can make large is compared with what there is before
// it is asked for.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_HOSTMEMORY_H
#define FA_SUPPORT_HOSTMEMORY_H

#include <cstdint>

namespace farun {

/// Half of the physical memory: the other half is for checkers and the rest of
/// the system.
uint64_t hostMemoryBudget();

} // namespace farun

#endif // FA_SUPPORT_HOSTMEMORY_H
