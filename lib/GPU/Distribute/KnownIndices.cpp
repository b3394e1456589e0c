//===- KnownIndices.cpp - what is known of an index -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownIndices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

bool fa::isMultipleOf(Value index, int64_t factor) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return *number % factor == 0;
  if (auto product = index.getDefiningOp<arith::MulIOp>())
    return isMultipleOf(product.getLhs(), factor) ||
           isMultipleOf(product.getRhs(), factor);
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    return isMultipleOf(sum.getLhs(), factor) &&
           isMultipleOf(sum.getRhs(), factor);
  return false;
}

using MaybeNumber = std::optional<int64_t>;

/// Of two numbers of which none is negative.
static MaybeNumber combine(MaybeNumber a, MaybeNumber b,
                           int64_t (*overflows)(int64_t, int64_t, int64_t &)) {
  int64_t result = 0;
  if (!a || !b || overflows(*a, *b, result))
    return std::nullopt;
  return result;
}

MaybeNumber fa::findMaximum(Value index, int64_t threads) {
  if (MaybeNumber number = getConstantIntValue(index))
    return *number >= 0 ? number : std::nullopt;
  Operation *op = index.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto maximum = [&](Value value) { return findMaximum(value, threads); };
  return llvm::TypeSwitch<Operation *, MaybeNumber>(op)
      .Case([&](gpu::ThreadIdOp id) -> MaybeNumber {
        if (id.getDimension() == gpu::Dimension::x)
          return threads - 1;
        return std::nullopt;
      })
      .Case([&](gpu::ClusterBlockIdOp id) -> MaybeNumber {
        if (std::optional<APInt> bound = id.getUpperBound())
          return bound->getSExtValue() - 1;
        return std::nullopt;
      })
      .Case([&](arith::IndexCastUIOp cast) { return maximum(cast.getIn()); })
      .Case([&](arith::AddIOp sum) {
        return combine(maximum(sum.getLhs()), maximum(sum.getRhs()),
                       [](int64_t a, int64_t b, int64_t &r) -> int64_t {
                         return llvm::AddOverflow(a, b, r);
                       });
      })
      .Case([&](arith::MulIOp product) {
        return combine(maximum(product.getLhs()), maximum(product.getRhs()),
                       [](int64_t a, int64_t b, int64_t &r) -> int64_t {
                         return llvm::MulOverflow(a, b, r);
                       });
      })
      .Case([&](arith::DivUIOp quotient) -> MaybeNumber {
        MaybeNumber divisor = getConstantIntValue(quotient.getRhs());
        MaybeNumber dividend = maximum(quotient.getLhs());
        if (!divisor || *divisor <= 0 || !dividend)
          return std::nullopt;
        return *dividend / *divisor;
      })
      .Case([&](arith::RemUIOp rest) -> MaybeNumber {
        MaybeNumber divisor = getConstantIntValue(rest.getRhs());
        if (!divisor || *divisor <= 0)
          return std::nullopt;
        return *divisor - 1;
      })
      .Default([](Operation *) { return std::nullopt; });
}
