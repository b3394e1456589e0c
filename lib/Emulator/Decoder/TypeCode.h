//===- TypeCode.h - element types as numbers --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types of a conversion, packed into Instruction::aux.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_TYPECODE_H
#define FA_LIB_EMULATOR_DECODER_TYPECODE_H

#include <cstdint>
#include <string_view>

namespace ptxvm {

enum class TypeCode : uint8_t {
  U8,
  S8,
  U16,
  S16,
  U32,
  S32,
  U64,
  S64,
  F16,
  BF16,
  F32,
  F64,
  TF32,
  None
};

inline TypeCode typeCode(std::string_view type) {
  constexpr struct {
    const char *name;
    TypeCode code;
  } kCodes[] = {
      {"u8", TypeCode::U8},     {"s8", TypeCode::S8},   {"u16", TypeCode::U16},
      {"s16", TypeCode::S16},   {"u32", TypeCode::U32}, {"s32", TypeCode::S32},
      {"u64", TypeCode::U64},   {"s64", TypeCode::S64}, {"f16", TypeCode::F16},
      {"bf16", TypeCode::BF16}, {"f32", TypeCode::F32}, {"f64", TypeCode::F64},
      {"tf32", TypeCode::TF32}, {"b8", TypeCode::U8},   {"b16", TypeCode::U16},
      {"b32", TypeCode::U32},   {"b64", TypeCode::U64}};
  for (auto &c : kCodes)
    if (type == c.name)
      return c.code;
  return TypeCode::None;
}

/// aux of cvt.
struct ConvertAux {
  TypeCode to, from;
  bool wideTo, wideFrom;
  uint32_t pack() const {
    return uint32_t(to) | uint32_t(from) << 8 | uint32_t(wideTo) << 16 |
           uint32_t(wideFrom) << 17;
  }
  static ConvertAux unpack(uint32_t v) {
    return {TypeCode(v & 255), TypeCode(v >> 8 & 255), bool(v >> 16 & 1),
            bool(v >> 17 & 1)};
  }
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_TYPECODE_H
