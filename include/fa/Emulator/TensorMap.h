//===- TensorMap.h - descriptions of tensors for TMA ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cuTensorMapEncodeTiled does on a GPU: a tensor in global memory, a box
// to move, and how the box lies in shared memory, checked by the rules of the
// driver and packed into 128 bytes. The bytes are this machine's own; kernels
// only hand them on and change fields by tensormap.replace.
//
//   ptxvm::TensorMapShape s;
//   s.type = ptxvm::TensorType::F16;
//   s.rank = 2;
//   s.address = buffer;
//   s.dims = {64, 1024};                 // innermost first
//   s.strides = {128};                   // bytes from row to row
//   s.box = {64, 32};
//   s.swizzle = ptxvm::TensorSwizzle::Bytes128;
//   auto map = ptxvm::encodeTiled(s);
//   device.launch(module, "k", shape, {ptxvm::Argument::of(*map)});
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_TENSORMAP_H
#define FA_EMULATOR_TENSORMAP_H

#include "fa/Emulator/Diagnostic.h"

#include <array>
#include <optional>

namespace ptxvm {

// Enumerators have the numbers of the driver's.
enum class TensorType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
  Count
};
enum class TensorInterleave : uint8_t { None, Bytes16, Bytes32, Count };
enum class TensorSwizzle : uint8_t {
  None,
  Bytes32,
  Bytes64,
  Bytes128,
  Bytes128Atom32,
  Bytes128Atom32Flip8,
  Bytes128Atom64,
  Count
};
enum class TensorPromotion : uint8_t { None, L2_64, L2_128, L2_256, Count };
enum class TensorFill : uint8_t { Zero, NaN, Count };

/// Dimensions are innermost first.
struct TensorMapShape {
  TensorType type = TensorType::U8;
  uint32_t rank = 1; ///< 1 to 5
  uint64_t address = 0;
  std::array<uint64_t, 5> dims{};
  /// Bytes from one index to the next of dimension 1, 2, ...; dimension 0 is
  /// dense.
  std::array<uint64_t, 4> strides{};
  std::array<uint32_t, 5> box{};
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
  TensorInterleave interleave = TensorInterleave::None;
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorPromotion promotion = TensorPromotion::None;
  TensorFill fill = TensorFill::Zero;

  bool operator==(const TensorMapShape &) const = default;
};

/// Memory that holds it must be aligned to 64.
struct TensorMap {
  std::array<uint8_t, 128> bytes{};
};

uint32_t elementBytes(TensorType type);
/// Elements of the box in dimension `d`: element strides skip some.
uint32_t boxCount(const TensorMapShape &shape, uint32_t d);
/// Bytes of one box in shared memory.
uint64_t boxBytes(const TensorMapShape &shape);
/// 32, 64 or 128; 0 without a swizzle.
uint32_t swizzleSpan(TensorSwizzle swizzle);
/// The byte where the swizzle puts the byte at `address` of shared memory. It
/// is its own inverse.
uint32_t swizzleAddress(TensorSwizzle swizzle, uint32_t address);

/// What is wrong with a shape, or nothing.
std::optional<std::string> checkTensorMap(const TensorMapShape &shape);
/// Packs a shape; an error says which rule it breaks.
Expected<TensorMap> encodeTiled(const TensorMapShape &shape);
/// Packs without the checks, for tensormap.replace.
TensorMap packTensorMap(const TensorMapShape &shape);
/// Reads 128 bytes; nothing when encodeTiled did not write them.
std::optional<TensorMapShape> unpackTensorMap(const uint8_t *bytes);

} // namespace ptxvm

#endif // FA_EMULATOR_TENSORMAP_H
