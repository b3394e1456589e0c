//===- TensorMap.cpp - descriptions of tensors for TMA --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of cuTensorMapEncodeTiled (CUDA driver API, tensor map objects),
// and the record:
//
//   0   magic 8     8  address 8     16 dims 5 x 8      56 strides 4 x 8
//   88  box 5 x 4   108 element strides 5 x 1
//   113 rank, type, interleave, swizzle, promotion, fill   119 version
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/TensorMap.h"

#include <cstring>

using namespace ptxvm;

static constexpr uint64_t kMagic = 0x70614D726F736E54; // "TnsorMap"
static constexpr uint8_t kVersion = 1;

uint32_t ptxvm::elementBytes(TensorType type) {
  static constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type < TensorType::Count ? kBytes[unsigned(type)] : 1;
}

uint32_t ptxvm::boxCount(const TensorMapShape &s, uint32_t d) {
  // Dimension 0 is dense unless the layout is interleaved.
  uint32_t step = d == 0 && s.interleave == TensorInterleave::None
                      ? 1
                      : s.elementStrides[d];
  return (s.box[d] + step - 1) / step;
}

uint64_t ptxvm::boxBytes(const TensorMapShape &s) {
  uint64_t bytes = elementBytes(s.type);
  for (uint32_t d = 0; d < s.rank; ++d)
    bytes *= boxCount(s, d);
  return bytes;
}

uint32_t ptxvm::swizzleSpan(TensorSwizzle swizzle) {
  switch (swizzle) {
  case TensorSwizzle::None:
    return 0;
  case TensorSwizzle::Bytes32:
    return 32;
  case TensorSwizzle::Bytes64:
    return 64;
  default:
    return 128;
  }
}

uint32_t ptxvm::swizzleAddress(TensorSwizzle swizzle, uint32_t a) {
  uint32_t line = a >> 7;
  switch (swizzle) {
  case TensorSwizzle::Bytes32:
    return a ^ (line & 1) << 4;
  case TensorSwizzle::Bytes64:
    return a ^ (line & 3) << 4;
  case TensorSwizzle::Bytes128:
    return a ^ (line & 7) << 4;
  case TensorSwizzle::Bytes128Atom32:
    return a ^ (line & 3) << 5;
  case TensorSwizzle::Bytes128Atom32Flip8:
    return a ^ (line & 3) << 5 ^ (line & 1) << 3;
  case TensorSwizzle::Bytes128Atom64:
    return a ^ (line & 1) << 6;
  default:
    return a;
  }
}

static std::string number(uint64_t n) { return std::to_string(n); }

static bool isFloat(TensorType type) {
  return type >= TensorType::F16 && type < TensorType::Count;
}

static std::optional<std::string> checkEnums(const TensorMapShape &s) {
  if (s.type >= TensorType::Count)
    return "unknown element type " + number(uint64_t(s.type));
  if (s.interleave >= TensorInterleave::Count)
    return "unknown interleave " + number(uint64_t(s.interleave));
  if (s.swizzle >= TensorSwizzle::Count)
    return "unknown swizzle " + number(uint64_t(s.swizzle));
  if (s.promotion >= TensorPromotion::Count)
    return "unknown L2 promotion " + number(uint64_t(s.promotion));
  if (s.fill >= TensorFill::Count)
    return "unknown fill " + number(uint64_t(s.fill));
  if (s.rank < 1 || s.rank > 5)
    return "rank " + number(s.rank) + " is not 1 to 5";
  if (s.interleave != TensorInterleave::None && s.rank < 3)
    return "an interleaved tensor has rank 3 or more, found " + number(s.rank);
  if (s.interleave == TensorInterleave::Bytes32 &&
      s.swizzle != TensorSwizzle::Bytes32)
    return std::string("a tensor interleaved by 32 bytes needs the swizzle of "
                       "32 bytes");
  if (s.fill == TensorFill::NaN && !isFloat(s.type))
    return std::string("only float types can be filled with NaN");
  return std::nullopt;
}

/// Address, extents and strides.
static std::optional<std::string> checkTensor(const TensorMapShape &s) {
  uint64_t align = s.interleave == TensorInterleave::Bytes32 ? 32 : 16;
  if (s.address % align)
    return "the address is not a multiple of " + number(align);
  for (uint32_t d = 0; d < s.rank; ++d)
    if (s.dims[d] < 1 || s.dims[d] > 1ull << 32)
      return "extent " + number(s.dims[d]) + " of dimension " + number(d) +
             " is not 1 to 2^32";
  // The driver's page also writes down the strides of a padded dense tensor. It
  // does not ask for them: a permuted tensor ([batch, row, head, column] read
  // head by head) has strides that do not grow.
  for (uint32_t d = 1; d < s.rank; ++d) {
    uint64_t stride = s.strides[d - 1], reach = 0;
    std::string which =
        "stride " + number(stride) + " of dimension " + number(d);
    if (stride % align)
      return which + " is not a multiple of " + number(align);
    if (stride >= 1ull << 40)
      return which + " is not below 2^40";
    if (__builtin_mul_overflow(stride, s.dims[d] - 1, &reach))
      return which + " makes the tensor larger than 2^64 bytes";
  }
  return std::nullopt;
}

static std::optional<std::string> checkBox(const TensorMapShape &s) {
  for (uint32_t d = 0; d < s.rank; ++d) {
    if (s.box[d] < 1 || s.box[d] > 256)
      return "box size " + number(s.box[d]) + " of dimension " + number(d) +
             " is not 1 to 256";
    if (s.elementStrides[d] < 1 || s.elementStrides[d] > 8)
      return "element stride " + number(s.elementStrides[d]) +
             " of dimension " + number(d) + " is not 1 to 8";
  }
  uint32_t row = s.box[0] * elementBytes(s.type);
  if (s.interleave == TensorInterleave::None && row % 16)
    return "a row of the box has " + number(row) +
           " bytes, which is not a multiple of 16";
  uint32_t span = swizzleSpan(s.swizzle);
  if (span && s.interleave == TensorInterleave::None && row > span)
    return "a row of the box has " + number(row) +
           " bytes, more than the swizzle's " + number(span);
  return std::nullopt;
}

std::optional<std::string> ptxvm::checkTensorMap(const TensorMapShape &s) {
  if (auto wrong = checkEnums(s))
    return wrong;
  if (auto wrong = checkTensor(s))
    return wrong;
  return checkBox(s);
}

Expected<TensorMap> ptxvm::encodeTiled(const TensorMapShape &s) {
  if (auto wrong = checkTensorMap(s)) {
    Diagnostic d;
    d.origin = "tensor-map";
    d.message = "tensor map: " + *wrong;
    return d;
  }
  return packTensorMap(s);
}

TensorMap ptxvm::packTensorMap(const TensorMapShape &s) {
  TensorMap map;
  uint8_t *at = map.bytes.data();
  auto put = [&](const auto &value) {
    std::memcpy(at, &value, sizeof(value));
    at += sizeof(value);
  };
  put(kMagic);
  put(s.address);
  put(s.dims);
  put(s.strides);
  put(s.box);
  for (uint32_t step : s.elementStrides)
    put(uint8_t(step < 255 ? step : 255));
  put(uint8_t(s.rank < 255 ? s.rank : 255));
  put(s.type);
  put(s.interleave);
  put(s.swizzle);
  put(s.promotion);
  put(s.fill);
  put(kVersion);
  return map;
}

std::optional<TensorMapShape> ptxvm::unpackTensorMap(const uint8_t *bytes) {
  TensorMapShape s;
  const uint8_t *at = bytes;
  auto get = [&](auto &value) {
    std::memcpy(&value, at, sizeof(value));
    at += sizeof(value);
  };
  uint64_t magic;
  uint8_t small;
  get(magic);
  if (magic != kMagic)
    return std::nullopt;
  get(s.address);
  get(s.dims);
  get(s.strides);
  get(s.box);
  for (uint32_t &step : s.elementStrides) {
    get(small);
    step = small;
  }
  get(small);
  s.rank = small;
  get(s.type);
  get(s.interleave);
  get(s.swizzle);
  get(s.promotion);
  get(s.fill);
  get(small);
  if (small != kVersion)
    return std::nullopt;
  return s;
}
