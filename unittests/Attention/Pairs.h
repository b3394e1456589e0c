//===- Pairs.h - what can be said about a score, two by two -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All pairs of what can be said about a score. Nothing is written for a pair:
// what this looks for is a clause that holds only alone.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_ATTENTION_PAIRS_H
#define FA_UNITTESTS_ATTENTION_PAIRS_H

#include "Kernel.h"

namespace farun::test {

/// The names of what is paired, "causal".
std::vector<std::string> pairFeatures();

/// Runs `base` with feature `number` and each behind it, at these extents; the
/// features choose Hkv, with Hq a multiple of 3.
void runPairs(size_t number, const Form &base,
              const std::vector<Extent5> &extents);

} // namespace farun::test

#endif // FA_UNITTESTS_ATTENTION_PAIRS_H
