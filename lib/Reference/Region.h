//===- Region.h - a region of the op, evaluated -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle's reading of a region, one score at a time: floats in the
// arithmetic of T, integers as they wrap. It knows nothing of how a kernel
// computes one.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_REFERENCE_REGION_H
#define FA_LIB_REFERENCE_REGION_H

#include "fa/Reference/Attention.h"

namespace faref {

/// Do the operands that the region reads exist, with its element types and
/// dimensions?
farun::Status checkRegion(const Region &region, const char *name,
                          int numArguments);

/// The score that the region makes of `score`.
template <typename T>
T evaluateScore(const Region &region, T score, int64_t b, int64_t h, int64_t i,
                int64_t j);

bool evaluateVisible(const Region &region, int64_t b, int64_t h, int64_t i,
                     int64_t j);

} // namespace faref

#endif // FA_LIB_REFERENCE_REGION_H
