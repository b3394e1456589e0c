//===- Exponentials.cpp - which lane's elements take the polynomial -------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the elements that a lane holds of a row, one of so many, by its column
// alone: all rows and lanes are treated alike, whoever holds them.
//===----------------------------------------------------------------------===//

#include "LaneEmitter.h"
#include "fa/GPU/Exp2Polynomial.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fa;

/// 2^x of one f32 as Exp2Polynomial says.
static Value emitPolynomial(ImplicitLocOpBuilder &b, Value x) {
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  Value y = arith::MaximumFOp::create(b, x, constant(Exp2Polynomial::kLeast));
  Value shift = constant(Exp2Polynomial::kShift);
  Value shifted = arith::AddFOp::create(b, y, shift);
  Value whole = arith::SubFOp::create(b, shifted, shift);
  Value fraction = arith::SubFOp::create(b, y, whole);

  ArrayRef<float> coefficients(Exp2Polynomial::kCoefficients);
  Value sum = constant(coefficients.front());
  for (float c : coefficients.drop_front())
    sum = math::FmaOp::create(b, sum, fraction, constant(c));
  sum = math::FmaOp::create(b, sum, fraction, constant(1.0f));

  constexpr int kMantissaBits = 23;
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), shifted);
  Value exponent = arith::ShLIOp::create(
      b, bits, arith::ConstantIntOp::create(b, kMantissaBits, 32));
  Value power = arith::BitcastOp::create(b, b.getF32Type(), exponent);
  return arith::MulFOp::create(b, sum, power);
}

LogicalResult LaneEmitter::emitExp2(Exp2Op op) {
  LaneShare share = *layoutOf(op, op.getResult());
  Values exponents = shareOf(op.getExponents()), values(share.size());
  auto polynomial = static_cast<int64_t>(op.getPolynomial());
  for (int64_t m = 0; m < share.rowPieces; ++m)
    for (int64_t n = 0; n < share.colPieces; ++n)
      for (int64_t half : {0, 1})
        for (int64_t e : {0, 1}) {
          int64_t at = share.at(m, n, half, e), column = 2 * n + e;
          values[at] = column % polynomial == 0
                           ? emitPolynomial(b, exponents[at])
                           : math::Exp2Op::create(b, exponents[at]).getResult();
        }
  replaceWithShare(op, std::move(values));
  return success();
}
