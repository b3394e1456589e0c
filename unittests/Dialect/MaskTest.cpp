//===- MaskTest.cpp - key intervals against the definitions ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emitted arithmetic is folded on constants and compared, key by key, with
// the sentence that defines the mask.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"
#include <functional>

using namespace mlir;
using namespace mlir::fa;

namespace {
class MaskTest : public testing::Test {
protected:
  MaskTest() : builder(&context), module(ModuleOp::create(loc())) {
    context.loadDialect<FADialect>();
    builder.setInsertionPointToEnd(module->getBody());
  }

  Location loc() { return UnknownLoc::get(&context); }

  Value constant(TypedAttr attr) {
    return arith::ConstantOp::create(builder, loc(), attr);
  }

  MaskAttr parse(StringRef text) {
    return cast<MaskAttr>(parseAttribute(text, &context));
  }

  /// The constant that a value is, by folding what defines it.
  static Attribute evaluate(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return constant.getValue();
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand));
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.empty())
      return evaluate(op->getOperand(0)); // an identity, folded in place
    return isa<Attribute>(results[0]) ? cast<Attribute>(results[0])
                                      : evaluate(cast<Value>(results[0]));
  }

  int64_t evaluateBound(Value bound, int64_t unbounded) {
    return bound ? cast<IntegerAttr>(evaluate(bound)).getInt() : unbounded;
  }

  /// Compares with `isVisible(i, offset, j)` on small numbers, and checks that
  /// the bounds do not decrease with i.
  void check(StringRef text,
             std::function<bool(int64_t, int64_t, int64_t)> isVisible) {
    MaskAttr mask = parse(text);
    for (int64_t offset : {-9, -1, 0, 4}) {
      int64_t lastLo = INT64_MIN, lastHi = INT64_MIN;
      for (int64_t i = 0; i < 12; ++i) {
        KeyInterval keys = mask.emitKeyInterval(
            builder, loc(), constant(builder.getI32IntegerAttr(i)),
            constant(builder.getI32IntegerAttr(offset)));
        int64_t lo = evaluateBound(keys.lo, INT64_MIN);
        int64_t hi = evaluateBound(keys.hi, INT64_MAX);
        for (int64_t j = 0; j < 20; ++j)
          EXPECT_EQ(lo <= j && j < hi, isVisible(i, offset, j))
              << text.str() << " i=" << i << " offset=" << offset << " j=" << j;
        EXPECT_LE(lastLo, lo);
        EXPECT_LE(lastHi, hi);
        lastLo = lo;
        lastHi = hi;
      }
    }
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

TEST_F(MaskTest, Causal) {
  check("#fa.causal<bottom_right>",
        [](int64_t i, int64_t o, int64_t j) { return j <= i + o; });
  check("#fa.causal<top_left, prefix = 5>",
        [](int64_t i, int64_t o, int64_t j) { return j <= i + o || j < 5; });
}

TEST_F(MaskTest, Window) {
  for (int64_t left : {-1, 0, 3})
    for (int64_t right : {-1, 0, 2})
      check("#fa.window<top_left, left = " + std::to_string(left) +
                ", right = " + std::to_string(right) + ">",
            [=](int64_t i, int64_t o, int64_t j) {
              return (left < 0 || -left <= j - i - o) &&
                     (right < 0 || j - i - o <= right);
            });
}

// "Unbounded" written as the largest number wraps around nowhere.
TEST_F(MaskTest, WindowOfTheLargestNumber) {
  check("#fa.window<top_left, left = 2147483647, right = 2147483647>",
        [](int64_t, int64_t, int64_t) { return true; });
  check("#fa.window<top_left, left = 2147483000, right = 0>",
        [](int64_t i, int64_t o, int64_t j) { return j - i - o <= 0; });
}

TEST_F(MaskTest, Chunk) {
  for (int64_t size : {1, 3, 4, 100})
    check("#fa.chunk<top_left, size = " + std::to_string(size) + ">",
          [=](int64_t i, int64_t o, int64_t j) {
            return floorDiv(i + o, size) == floorDiv(j, size);
          });
}

// The same code serves all rows of a block at once.
TEST_F(MaskTest, VectorOfRows) {
  auto type = VectorType::get({4}, builder.getI32Type());
  Value rows =
      constant(DenseElementsAttr::get(type, ArrayRef<int32_t>{0, 1, 2, 3}));
  Value offset = constant(builder.getI32IntegerAttr(10));
  KeyInterval keys = parse("#fa.window<bottom_right, left = 2, right = 1>")
                         .emitKeyInterval(builder, loc(), rows, offset);
  EXPECT_EQ(evaluate(keys.lo),
            DenseElementsAttr::get(type, ArrayRef<int32_t>{8, 9, 10, 11}));
  EXPECT_EQ(evaluate(keys.hi),
            DenseElementsAttr::get(type, ArrayRef<int32_t>{12, 13, 14, 15}));
}

TEST_F(MaskTest, Description) {
  EXPECT_EQ(parse("#fa.causal<bottom_right>").getDescription(),
            parseAttribute("{kind = \"causal\", alignment = \"bottom_right\", "
                           "prefix = 0 : i64}",
                           &context));
  EXPECT_EQ(
      parse("#fa.window<top_left, left = 3, right = -1>").getDescription(),
      parseAttribute("{kind = \"window\", alignment = \"top_left\", "
                     "left = 3 : i64, right = -1 : i64}",
                     &context));
  EXPECT_EQ(parse("#fa.chunk<top_left, size = 8>").getDescription(),
            parseAttribute("{kind = \"chunk\", alignment = \"top_left\", "
                           "size = 8 : i64}",
                           &context));
}
} // namespace
