//===- IntegerRanges.cpp - the integers of a region -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerRanges.h"
#include "fa/Support/Manifest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fa;

IntegerRanges::IntegerRanges(Region &region, const AttentionDims &dims) {
  Block &block = region.front();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  auto upTo = [&](int64_t extent, int64_t most) {
    return Range{0, ShapedType::isDynamic(extent) ? most : extent - 1};
  };
  unsigned first = block.getNumArguments() - 4;
  Range bounds[] = {upTo(dims.B, kMost), upTo(dims.Hq, kMost),
                    upTo(dims.Sq, farun::kMaxPositions),
                    upTo(dims.Sk, farun::kMaxPositions)};
  for (auto [n, range] : llvm::enumerate(bounds))
    ranges[block.getArgument(first + n)] = range;
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() == 1 && op.getResult(0).getType().isIntOrIndex())
      ranges[op.getResult(0)] = compute(op);
}

IntegerRanges::Range IntegerRanges::hull(std::initializer_list<Wide> ends) {
  Wide low = std::min(ends), high = std::max(ends);
  Range all;
  if (low < all.low || high > all.high)
    return all;
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

IntegerRanges::Range IntegerRanges::wholeOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() >= 64)
    return {};
  unsigned bits = integer.getWidth();
  return {llvm::minIntN(bits), llvm::maxIntN(bits)};
}

IntegerRanges::Range IntegerRanges::get(Value value) const {
  if (auto it = ranges.find(value); it != ranges.end())
    return it->second;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), constant.getSExtValue()};
  return wholeOf(value.getType());
}

IntegerRanges::Range IntegerRanges::computeBinary(Operation &op, Range a,
                                                  Range c) const {
  auto corners = [&](auto f) {
    return hull({f(Wide(a.low), Wide(c.low)), f(Wide(a.low), Wide(c.high)),
                 f(Wide(a.high), Wide(c.low)), f(Wide(a.high), Wide(c.high))});
  };
  bool isPositive = c.low > 0;
  return llvm::TypeSwitch<Operation *, Range>(&op)
      .Case([&](arith::AddIOp) {
        return hull({Wide(a.low) + c.low, Wide(a.high) + c.high});
      })
      .Case([&](arith::SubIOp) {
        return hull({Wide(a.low) - c.high, Wide(a.high) - c.low});
      })
      .Case([&](arith::MulIOp) {
        return corners([](Wide x, Wide y) { return x * y; });
      })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(
          [&](auto) -> Range {
            // No quotient is larger than its dividend.
            if (!isPositive)
              return {};
            return hull({std::min<Wide>(a.low, 0), std::max<Wide>(a.high, 0)});
          })
      .Case<arith::DivUIOp>([&](auto) -> Range {
        return a.low >= 0 && isPositive ? Range{0, a.high} : Range{};
      })
      .Case<arith::RemSIOp>([&](auto) -> Range {
        if (!isPositive)
          return {};
        return {a.low < 0 ? 1 - c.high : 0, c.high - 1};
      })
      .Case<arith::RemUIOp>([&](auto) -> Range {
        return a.low >= 0 && isPositive ? Range{0, c.high - 1} : Range{};
      })
      .Case([&](arith::MaxSIOp) {
        return Range{std::max(a.low, c.low), std::max(a.high, c.high)};
      })
      .Case([&](arith::MinSIOp) {
        return Range{std::min(a.low, c.low), std::min(a.high, c.high)};
      })
      .Default([](Operation *) { return Range{}; });
}

/// What does not fit a type that is narrower wraps around within it.
IntegerRanges::Range IntegerRanges::compute(Operation &op) const {
  Range range;
  if (isa<arith::ConstantOp>(op))
    return get(op.getResult(0));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Range a = get(select.getTrueValue()), c = get(select.getFalseValue());
    range = {std::min(a.low, c.low), std::max(a.high, c.high)};
  } else if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    range = get(op.getOperand(0));
  } else if (isa<arith::ExtUIOp>(op)) {
    range = get(op.getOperand(0));
    if (range.low < 0)
      range = {0, static_cast<int64_t>(llvm::maxUIntN(
                      op.getOperand(0).getType().getIntOrFloatBitWidth()))};
  } else if (op.getNumOperands() == 2) {
    range = computeBinary(op, get(op.getOperand(0)), get(op.getOperand(1)));
  }
  Range whole = wholeOf(op.getResult(0).getType());
  if (range.low < whole.low || range.high > whole.high)
    return whole;
  return range;
}

bool IntegerRanges::isBounded(Operation &op) const {
  Range range = get(op.getResult(0)),
        whole = wholeOf(op.getResult(0).getType());
  return range.low > whole.low || range.high < whole.high;
}
