//===- TensorMap.cpp - the words of tensor maps ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/TensorMap.h"

namespace farun {

namespace {

constexpr std::string_view kSwizzleNames[] = {"none", "32B", "64B", "128B"};

} // namespace

std::string_view name(TensorSwizzle swizzle) {
  return kSwizzleNames[size_t(swizzle)];
}

std::optional<TensorSwizzle> parseTensorSwizzle(std::string_view text) {
  for (TensorSwizzle swizzle :
       {TensorSwizzle::None, TensorSwizzle::Bytes32, TensorSwizzle::Bytes64,
        TensorSwizzle::Bytes128})
    if (text == name(swizzle))
      return swizzle;
  return std::nullopt;
}

int64_t swizzleSpan(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::None ? 0 : 16 << int(swizzle);
}

uint32_t tensorDataType(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::I1:
  case ElementType::I8:
  case ElementType::U8:
    return 0;
  case ElementType::I16:
  case ElementType::U16:
    return 1;
  case ElementType::U32:
    return 2;
  case ElementType::I32:
    return 3;
  case ElementType::U64:
    return 4;
  case ElementType::I64:
    return 5;
  case ElementType::F16:
    return 6;
  case ElementType::F32:
    return 7;
  case ElementType::F64:
    return 8;
  case ElementType::BF16:
    return 9;
  }
  return 0;
}

} // namespace farun
