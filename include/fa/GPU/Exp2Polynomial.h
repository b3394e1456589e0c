//===- Exp2Polynomial.h - 2^x by sums and products --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How fa.exp2 does without the instruction, in f32, each line rounded to the
// nearest:
//
//     y = max(x, kLeast)          NaN stays NaN, -inf becomes a number
//     t = y + kShift              its last bits are n + 127, n next to y
//     n = t - kShift              exact
//     f = y - n                   exact, between -1/2 and 1/2
//     p = 1 + f (c1 + f (c2 + f (c3 + f c4)))      fused, from the inside
//     2^x = p * (t << 23)         t's bits, moved to where an exponent is: 2^n
//
// At kLeast the exponent's bits are 0, and so is 2^x: a hidden score gives
// exactly 0. The product, and not a sum of bits, keeps NaN.
//
// The coefficients are those of the polynomial of degree 4 with p(0) = 1 whose
// largest error relative to 2^f is least (Remez' exchange on [-1/2, 1/2]; the
// error is 2.82e-6 at 5 points of it), rounded to f32. p(0) = 1 leaves powers
// of two exact. Degree 3 would do for weights of f16, with 1.01e-4, and degree
// 2 for those of bf16; but the weights are also summed, in f32, and the
// logarithm of the sum is promised to 2e-5.
//
//===----------------------------------------------------------------------===//
#ifndef FA_GPU_EXP2POLYNOMIAL_H
#define FA_GPU_EXP2POLYNOMIAL_H

namespace mlir::fa {

struct Exp2Polynomial {
  static constexpr float kLeast = -127.0f;
  static constexpr float kShift = 0x1.8p23f + 127.0f;
  /// From that of f^4 to that of f.
  static constexpr float kCoefficients[] = {0.009582853f, 0.055906426f,
                                            0.24024099f, 0.6931242f};
};

} // namespace mlir::fa

#endif // FA_GPU_EXP2POLYNOMIAL_H
