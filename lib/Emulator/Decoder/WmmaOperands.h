//===- WmmaOperands.h - what a wmma says of itself --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fragments of wmma are opaque (PTX ISA 9.1 section 9.7.14.4): a program
// may only load them, multiply them, store them, and treat their elements
// alike. So this machine lays them out in the plainest way. Lane l has the
// elements
//
//   l * n ... l * n + n - 1,   n = registers * elements a register
//
// of the matrix, A row by row, B column by column, C and D row by row; when
// there are fewer elements than that, they begin again from the first.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_WMMAOPERANDS_H
#define FA_LIB_EMULATOR_DECODER_WMMAOPERANDS_H

#include <cstdint>
#include <string_view>

namespace ptxvm {

enum class WmmaElement : uint8_t {
  F16,
  BF16,
  TF32,
  S8,
  U8,
  S4,
  U4,
  B1,
  F64,
  F32,
  S32,
  None
};

struct WmmaElementInfo {
  const char *name;
  unsigned bits;
};
inline constexpr WmmaElementInfo kWmmaElements[] = {
    {"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"s8", 8},   {"u8", 8},  {"s4", 4},
    {"u4", 4},   {"b1", 1},    {"f64", 64},  {"f32", 32}, {"s32", 32}};

inline WmmaElement wmmaElement(std::string_view name) {
  unsigned n = 0;
  for (const WmmaElementInfo &e : kWmmaElements) {
    if (name == e.name)
      break;
    ++n;
  }
  return WmmaElement(n);
}

/// One matrix of a product.
struct WmmaFragment {
  enum Matrix : uint8_t { A, B, CD } matrix = A;
  WmmaElement element = WmmaElement::None;
  /// `inner` elements lie side by side in a fragment: k of A and B, n of C.
  unsigned outer = 0, inner = 0;

  unsigned bits() const { return kWmmaElements[unsigned(element)].bits; }
  bool isWide() const { return element == WmmaElement::F64; }
  unsigned perRegister() const { return isWide() ? 1 : 32 / bits(); }
  /// f16 has 8 registers for A and B of every shape; others none to spare.
  unsigned registers() const {
    if (matrix != CD && element == WmmaElement::F16)
      return 8;
    return outer * inner / 32 / perRegister();
  }
  /// The number of element `j` of register `r` of lane `l`.
  unsigned index(unsigned l, unsigned r, unsigned j) const {
    unsigned slot = (l * registers() + r) * perRegister() + j;
    return slot % (outer * inner);
  }
};

/// m, n and k of a product, and what is multiplied.
struct WmmaShape {
  unsigned m = 0, n = 0, k = 0;

  WmmaFragment fragment(WmmaFragment::Matrix matrix, WmmaElement e) const {
    switch (matrix) {
    case WmmaFragment::A:
      return {matrix, e, m, k};
    case WmmaFragment::B:
      return {matrix, e, n, k};
    default:
      return {matrix, e, m, n};
    }
  }
  bool operator==(const WmmaShape &) const = default;
};

/// Instruction::aux of a product; its list has the registers of D, A, B, C.
struct WmmaProduct {
  WmmaShape shape;
  WmmaElement a, b, c, d;
  bool saturates = false, isAnd = false;

  // m, n, k are at most 32, 32 and 128.
  uint32_t pack() const {
    return uint32_t(a) | uint32_t(b) << 4 | uint32_t(c) << 8 |
           uint32_t(d) << 12 | shape.m / 8 << 16 | shape.n / 8 << 19 |
           shape.k / 4 << 22 | uint32_t(saturates) << 28 |
           uint32_t(isAnd) << 29;
  }
  static WmmaProduct unpack(uint32_t v) {
    auto element = [&](unsigned at) { return WmmaElement(v >> at & 15); };
    return {{8 * (v >> 16 & 7), 8 * (v >> 19 & 7), 4 * (v >> 22 & 63)},
            element(0),
            element(4),
            element(8),
            element(12),
            bool(v >> 28 & 1),
            bool(v >> 29 & 1)};
  }
};

/// Instruction::aux of a load or a store; its list has the fragment.
struct WmmaMove {
  WmmaFragment fragment;
  uint8_t space = 0; ///< a Space, or 7 for a generic address
  bool isWideAddress = false, hasStride = false;
  /// The elements that lie side by side in a fragment do so in memory.
  bool isContiguous = false;

  uint32_t pack() const {
    return uint32_t(fragment.matrix) | uint32_t(fragment.element) << 2 |
           fragment.outer / 8 << 6 | fragment.inner / 4 << 9 |
           uint32_t(space & 7) << 15 | uint32_t(isWideAddress) << 18 |
           uint32_t(hasStride) << 19 | uint32_t(isContiguous) << 20;
  }
  static WmmaMove unpack(uint32_t v) {
    return {{WmmaFragment::Matrix(v & 3), WmmaElement(v >> 2 & 15),
             8 * (v >> 6 & 7), 4 * (v >> 9 & 63)},
            uint8_t(v >> 15 & 7),
            bool(v >> 18 & 1),
            bool(v >> 19 & 1),
            bool(v >> 20 & 1)};
  }
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_WMMAOPERANDS_H
