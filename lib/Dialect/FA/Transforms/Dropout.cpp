//===- Dropout.cpp - which weights are kept ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dropout.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::fa;

static constexpr unsigned kRounds = 10;
static constexpr uint32_t kMultipliers[] = {0xD2511F53u, 0xCD9E8D57u};
static constexpr uint32_t kKeySteps[] = {0x9E3779B9u, 0xBB67AE85u};

namespace {

/// Words are i32, or vectors of them where they differ within the site.
class Philox {
public:
  Philox(TileBuilder &b, const ScoreSite &site)
      : b(b), tile(site.getType(b.getI32Type())) {}

  /// The first word of the output.
  Value emit(std::array<Value, 4> counter, std::array<Value, 2> key);

private:
  struct Product {
    Value high, low;
  };
  Product multiply(uint32_t multiplier, Value word);
  Value exclusiveOr(Value a, Value c);
  Value narrow(Value wide);
  Type withElement(Type element, Value like) {
    auto vector = dyn_cast<VectorType>(like.getType());
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(int64_t value, Type type) {
    auto element = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      return b.create<arith::ConstantOp>(
          DenseElementsAttr::get(vector, Attribute(element)));
    return b.create<arith::ConstantOp>(element);
  }

  TileBuilder &b;
  VectorType tile;
};

} // namespace

Value Philox::narrow(Value wide) {
  return b.create<arith::TruncIOp>(withElement(b.getI32Type(), wide), wide);
}

Philox::Product Philox::multiply(uint32_t multiplier, Value word) {
  Type type = withElement(b.getI64Type(), word);
  Value wide = b.create<arith::ExtUIOp>(type, word);
  Value product =
      b.create<arith::MulIOp>(wide, constant(int64_t(multiplier), type));
  Value high = b.create<arith::ShRUIOp>(product, constant(32, type));
  return {narrow(high), narrow(product)};
}

Value Philox::exclusiveOr(Value a, Value c) {
  if (isa<VectorType>(a.getType()) || isa<VectorType>(c.getType())) {
    a = b.spread(a, tile);
    c = b.spread(c, tile);
  }
  return b.create<arith::XOrIOp>(a, c);
}

Value Philox::emit(std::array<Value, 4> counter, std::array<Value, 2> key) {
  for (unsigned round = 0; round < kRounds; ++round) {
    Product first = multiply(kMultipliers[0], counter[0]);
    Product second = multiply(kMultipliers[1], counter[2]);
    // Words before those that differ more, so that they meet early.
    Value left = exclusiveOr(exclusiveOr(counter[1], key[0]), second.high);
    Value right = exclusiveOr(exclusiveOr(counter[3], key[1]), first.high);
    counter = {left, second.low, right, first.low};
    for (unsigned word : {0, 1})
      key[word] = b.create<arith::AddIOp>(
          key[word], constant(int32_t(kKeySteps[word]), b.getI32Type()));
  }
  return counter[0];
}

Value mlir::fa::emitKept(TileBuilder &b, const Dropout &dropout,
                         const ScoreSite &site) {
  VectorType tile = site.getType(b.getI32Type());
  auto threshold = static_cast<uint64_t>(std::ldexp(dropout.probability, 32));
  if (threshold > UINT32_MAX)
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(site.getType(b.getI1Type()), false));
  Type word = b.getI32Type();
  Value high = b.create<arith::ShRUIOp>(
      dropout.seed, b.create<arith::ConstantIntOp>(32, 64).getResult());
  Value random = Philox(b, site).emit(
      {site.emitKeys(b), site.emitRows(b), b.toI32(dropout.head),
       b.toI32(dropout.batch)},
      {b.create<arith::TruncIOp>(word, dropout.seed).getResult(),
       b.create<arith::TruncIOp>(word, high).getResult()});
  Value limit = b.spread(b.i32(static_cast<int32_t>(threshold)), tile);
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::uge, random, limit);
}
