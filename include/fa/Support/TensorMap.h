//===- TensorMap.h - the words of tensor maps -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map describes a tensor in global memory, and the box of it that one
// TMA copy moves, in 128 bytes. Numbers here are the driver's
// (cuTensorMapEncodeTiled), so each device that has tensor maps takes them as
// they are.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_TENSORMAP_H
#define FA_SUPPORT_TENSORMAP_H

#include "fa/Support/Array.h"

namespace farun {

inline constexpr size_t kTensorMapBytes = 128;
/// Dimensions of a tensor, and elements of a box in each of them.
inline constexpr size_t kMaxTensorRank = 5;
inline constexpr int64_t kMaxTensorBox = 256;
/// Addresses, strides and rows of boxes are multiples of it, in bytes.
inline constexpr int64_t kTensorAlignment = 16;

/// How the rows of a box lie in shared memory.
enum class TensorSwizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

/// "none", "32B", "64B" or "128B".
std::string_view name(TensorSwizzle swizzle);
std::optional<TensorSwizzle> parseTensorSwizzle(std::string_view text);
/// Bytes that a row of a box may have; 0 for any, without a swizzle.
int64_t swizzleSpan(TensorSwizzle swizzle);

/// The driver's number of the element type (CUtensorMapDataType). Copies move
/// bits: a type that the driver lacks goes as the unsigned of its size.
uint32_t tensorDataType(ElementType type);

} // namespace farun

#endif // FA_SUPPORT_TENSORMAP_H
