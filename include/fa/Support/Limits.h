//===- Limits.h - what arrays and clauses may be ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds that the compiler, the manifest and both doors to them share.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_LIMITS_H
#define FA_SUPPORT_LIMITS_H

#include <cmath>
#include <cstdint>

namespace farun {

/// More elements of an array than this are a mistake, whatever the machine.
inline constexpr int64_t kMaxElements = int64_t(1) << 40;

/// Structural masks count keys in 32 bits: a prefix or a side of a window is at
/// most the one, the size of a chunk the other, so that a place and a size add
/// up.
inline constexpr int64_t kMaxMaskKeys = (int64_t(1) << 31) - 1;
inline constexpr int64_t kMaxChunkKeys = int64_t(1) << 30;

/// Are the softcap and its reciprocal, by which kernels multiply, finite f32
/// above 0?
inline bool isSoftcapInRange(double softcap) {
  auto isRight = [](float value) { return value > 0 && std::isfinite(value); };
  return isRight(float(softcap)) && isRight(float(1 / softcap));
}

} // namespace farun

#endif // FA_SUPPORT_LIMITS_H
