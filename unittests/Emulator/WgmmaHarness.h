//===- WgmmaHarness.h - one warpgroup product as a test ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Product names types, shape, layouts and flags; its matrices are small
// integers, so results are exact in every order. run() lays A and B out in
// shared memory by a walk of its own, written from the core matrices of the
// ISA's figures and not from the executor's formulae, and returns D.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_WGMMAHARNESS_H
#define FA_UNITTESTS_EMULATOR_WGMMAHARNESS_H

#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Device.h"
#include "fa/Emulator/ExecutionObserver.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ptxvm::test {

/// Where a matrix lies: `span` of the swizzle (0, 32, 64, 128) and major.
struct Layout {
  unsigned span = 0;
  bool isMNMajor = false;
};

struct Product {
  std::string d = "f32", a = "f16", b = "f16";
  unsigned n = 8;
  bool aInRegisters = false;
  Layout layoutA, layoutB;
  int scaleA = 1, scaleB = 1;
  bool accumulates = true;
  std::string suffix;                ///< ".satfinite", ".and.popc"
  std::vector<int> valuesA, valuesB; ///< [64][k], [n][k]
  std::vector<int> valuesC;          ///< [64][n]

  unsigned k() const {
    return a == "tf32" ? 8 : a == "b1" ? 256 : is16() ? 16 : 32;
  }
  bool is16() const { return a == "f16" || a == "bf16"; }
  unsigned elementBits() const { return 256 / k(); }
  bool isHalf() const { return d == "f16"; }
  bool isInt() const { return d == "s32"; }
  unsigned registers() const { return isHalf() ? n / 4 : n / 2; }
};

/// The bits of a small integer in an element type.
inline uint32_t encode(const std::string &type, int value) {
  uint32_t f = std::bit_cast<uint32_t>(float(value));
  uint32_t sign = f >> 31, exponent = f >> 23 & 255, mantissa = f & 0x7FFFFF;
  auto small = [&](unsigned bits, unsigned fraction, int bias) {
    if (value == 0)
      return 0u;
    return sign << (bits - 1) | (exponent - 127 + uint32_t(bias)) << fraction |
           mantissa >> (23 - fraction);
  };
  if (type == "f16")
    return small(16, 10, 15);
  if (type == "bf16")
    return small(16, 7, 127);
  if (type == "e4m3")
    return small(8, 3, 7);
  if (type == "e5m2")
    return small(8, 2, 15);
  if (type == "f32")
    return f;
  if (type == "tf32") // the low bits do not count
    return f | 0x1ABC;
  return uint32_t(value) & (type == "b1" ? 1u : type == "s32" ? ~0u : 255u);
}

inline int decode(const std::string &type, uint32_t bits) {
  if (type == "s32")
    return int32_t(bits);
  if (type == "f32")
    return int(std::bit_cast<float>(bits));
  int exponent = int(bits >> 10 & 31);
  float v = exponent ? std::ldexp(float(1024 + (bits & 1023)), exponent - 25)
                     : std::ldexp(float(bits & 1023), -24);
  return int(bits & 0x8000 ? -v : v);
}

/// Builds one matrix: core matrices of eight rows (K-major) or eight k
/// (MN-major) of 16 bytes, each at its own place, then the swizzle by table.
class MatrixImage {
public:
  /// `rows` rows (M or N) of 32 bytes along K.
  MatrixImage(Layout layout, uint32_t start, unsigned rows)
      : layout(layout), start(start), rows(rows) {
    unsigned line = layout.span ? layout.span : 16;
    unsigned atoms = rows / 8;
    // Strides with a gap, so that swapped ones show.
    if (!layout.isMNMajor) {
      stride = 8 * line;
      leading = layout.span ? 16 : atoms * stride + 128;
    } else if (!layout.span) {
      stride = 2 * 128 + 128;
      leading = 128;
    } else {
      stride = 8 * line;
      leading = 2 * stride + (layout.span == 128 ? 1024 : 512);
    }
  }

  uint64_t descriptor() const {
    uint64_t mode = layout.span == 128  ? 1
                    : layout.span == 64 ? 2
                    : layout.span == 32 ? 3
                                        : 0;
    return uint64_t(start >> 4) | uint64_t(leading >> 4) << 16 |
           uint64_t(stride >> 4) << 32 | mode << 62;
  }

  /// Address of byte `byte` (0..31, K-major) of row `r`; for MN-major of the
  /// element (r, k) of two bytes.
  uint32_t ofRow(unsigned r, unsigned byte) const {
    unsigned core = byte / 16;
    uint32_t base =
        start + r / 8 * stride + (layout.span ? core * 16 : core * leading);
    uint32_t line = layout.span ? layout.span : 16;
    return place(base + r % 8 * line + byte % 16);
  }
  uint32_t ofColumn(unsigned r, unsigned k) const {
    unsigned group = r / 8, inside = r % 8 * 2;
    if (!layout.span)
      return start + group * stride + k / 8 * leading + k % 8 * 16 + inside;
    unsigned wide = layout.span / 16; // groups in one line
    return place(start + group / wide * leading + k / 8 * stride +
                 k % 8 * layout.span + group % wide * 16 + inside);
  }

private:
  /// Lines of 128 bytes of eight cells; line j of the pattern exchanges cells.
  uint32_t place(uint32_t at) const {
    static constexpr unsigned kExchange[4][8] = {{0, 0, 0, 0, 0, 0, 0, 0},
                                                 {0, 1, 0, 1, 0, 1, 0, 1},
                                                 {0, 1, 2, 3, 0, 1, 2, 3},
                                                 {0, 1, 2, 3, 4, 5, 6, 7}};
    unsigned mode = layout.span == 32    ? 1
                    : layout.span == 64  ? 2
                    : layout.span == 128 ? 3
                                         : 0;
    uint32_t line = at / 128, cell = at % 128 / 16;
    return line * 128 + (cell ^ kExchange[mode][line % 8]) * 16 + at % 16;
  }

  Layout layout;
  uint32_t start;
  unsigned rows;
  uint32_t leading, stride;
};

/// What a run of a product needs.
struct ProductText {
  std::string text;
  std::vector<uint8_t> image;         ///< of shared memory
  std::vector<uint64_t> descriptors;  ///< A, B
  std::vector<uint32_t> registersA;   ///< [128][4]
  std::vector<uint32_t> accumulators; ///< [128][registers]
};

std::string productKernel(const Product &p, const std::string &middle = "");
ProductText prepare(const Product &p);

struct ProductResult {
  Report report;
  std::vector<int> d; ///< [64][n]
};

ProductResult run(const Product &p, const DeviceOptions &options = {},
                  const CheckerSet *checkers = nullptr);
/// Fills values with numbers of [-range, range] (or that fit the type).
void fillRandom(Product &p, unsigned seed, int range = 3);
/// D by three loops.
std::vector<int> expected(const Product &p);
/// All layouts that a type can have.
std::vector<Layout> layoutsOf(const Product &p);

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_WGMMAHARNESS_H
