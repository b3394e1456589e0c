//===- MmaOperands.h - what an mma says of itself ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shape and types of a dense mma.sync, packed into Instruction::aux, and the
// numbers of registers that follow from them. The list of an mma holds its
// registers in the order D, A, B, C. With lane l = 4g + t, E elements a
// register and j the element, PTX ISA 9.1 section 9.7.14.5 is one rule:
//
//   A  register r:  row g + 8 (r & 1),  k = E (t + 4 (r >> 1)) + j
//      m8n8:        row g,              k = E (t + 4r) + j
//   B  register r:  k = E (t + 4r) + j, column g
//   C, D register i: row g + 8 (i >> 1), column 2t + (i & 1)
//      f16:         row g + 8i,         column 2t + j
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_MMAOPERANDS_H
#define FA_LIB_EMULATOR_DECODER_MMAOPERANDS_H

#include <cstdint>
#include <string_view>

namespace ptxvm {

/// In the order of TensorElement (Executor/TensorModel.h), then those that add
/// exactly.
enum class MmaElement : uint8_t {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  S8,
  U8,
  S4,
  U4,
  B1,
  F64,
  None
};

struct MmaElementInfo {
  const char *name;
  unsigned bits;
};
inline constexpr MmaElementInfo kMmaElements[] = {
    {"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8},
    {"e5m2", 8}, {"s8", 8},    {"u8", 8},    {"s4", 4},
    {"u4", 4},   {"b1", 1},    {"f64", 64}};

inline MmaElement mmaElement(std::string_view name) {
  unsigned n = 0;
  for (const MmaElementInfo &e : kMmaElements) {
    if (name == e.name)
      return MmaElement(n);
    ++n;
  }
  return MmaElement::None;
}

struct MmaOperands {
  MmaElement a = MmaElement::None, b = MmaElement::None;
  unsigned rows = 16, depth = 0; ///< M and K; N is 8
  bool isHalfResult = false, saturates = false;
  bool isAnd = false; ///< b1: .and.popc, else .xor.popc

  unsigned elementBits() const { return kMmaElements[unsigned(a)].bits; }
  /// Elements of A or B a register.
  unsigned perRegister() const {
    return a == MmaElement::F64 ? 1 : 32 / elementBits();
  }
  unsigned registersOfA() const { return rows * depth / 32 / perRegister(); }
  unsigned registersOfB() const { return 8 * depth / 32 / perRegister(); }
  unsigned registersOfC() const { return rows / (isHalfResult ? 8 : 4); }

  uint32_t pack() const {
    return uint32_t(a) | uint32_t(b) << 4 | depth << 8 | rows << 20 |
           uint32_t(isHalfResult) << 28 | uint32_t(saturates) << 29 |
           uint32_t(isAnd) << 30;
  }
  static MmaOperands unpack(uint32_t v) {
    return {MmaElement(v & 15), MmaElement(v >> 4 & 15), v >> 20 & 31,
            v >> 8 & 0xFFF,     bool(v >> 28 & 1),       bool(v >> 29 & 1),
            bool(v >> 30 & 1)};
  }
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_MMAOPERANDS_H
