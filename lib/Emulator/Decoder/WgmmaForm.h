//===- WgmmaForm.h - what one wgmma.mma_async computes ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The static facts of a wgmma.mma_async, packed into Instruction::aux. In all
// types a row of A or B has 32 bytes along K (b1: 256 bits), two chunks of 16.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_WGMMAFORM_H
#define FA_LIB_EMULATOR_DECODER_WGMMAFORM_H

#include <cstdint>

namespace ptxvm {

struct WgmmaForm {
  enum Element : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8, B1 };
  enum Accumulator : uint8_t { Float, Half, Int };

  uint32_t n = 8; ///< columns of B and D
  Element a = F16, b = F16;
  Accumulator accumulator = Float;
  bool aInRegisters = false;
  bool transA = false, transB = false; ///< M- or N-major, 16-bit types only
  bool negateA = false, negateB = false;
  bool satfinite = false;
  bool isScaleNegated = false; ///< scale-d is !p

  uint32_t pack() const {
    return n / 8 | uint32_t(a) << 6 | uint32_t(b) << 9 |
           uint32_t(accumulator) << 12 | uint32_t(aInRegisters) << 14 |
           uint32_t(transA) << 15 | uint32_t(transB) << 16 |
           uint32_t(negateA) << 17 | uint32_t(negateB) << 18 |
           uint32_t(satfinite) << 19 | uint32_t(isScaleNegated) << 20;
  }
  static WgmmaForm unpack(uint32_t v) {
    auto bit = [v](unsigned at) { return bool(v >> at & 1); };
    return {(v & 63) * 8,
            Element(v >> 6 & 7),
            Element(v >> 9 & 7),
            Accumulator(v >> 12 & 3),
            bit(14),
            bit(15),
            bit(16),
            bit(17),
            bit(18),
            bit(19),
            bit(20)};
  }

  /// Elements along K of one instruction.
  uint32_t k() const {
    return a == TF32 ? 8 : a <= BF16 ? 16 : a == B1 ? 256 : 32;
  }
  /// Registers of D in each thread.
  uint32_t accumulators() const { return accumulator == Half ? n / 4 : n / 2; }
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_WGMMAFORM_H
