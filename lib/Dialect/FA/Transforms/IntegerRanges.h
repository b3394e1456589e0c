//===- IntegerRanges.h - the integers of a region ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interval for each integer that a score or visibility region computes, from
// what is known of b, h, i and j.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_INTEGERRANGES_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_INTEGERRANGES_H

#include "fa/Dialect/FA/IR/FADialect.h"
#include <limits>

namespace mlir::fa {

class IntegerRanges {
public:
  /// `region` is a score or visibility region of an attention of `dims`.
  IntegerRanges(Region &region, const AttentionDims &dims);

  bool fitsInto32Bits(Value value) const {
    Range range = get(value);
    return range.low >= std::numeric_limits<int32_t>::min() &&
           range.high <= std::numeric_limits<int32_t>::max();
  }
  bool mayBeNegative(Value value) const { return get(value).low < 0; }
  bool isPositive(Value value) const { return get(value).low > 0; }
  /// Whether the result of `op` is known not to wrap around.
  bool isBounded(Operation &op) const;

private:
  using Wide = __int128;
  struct Range {
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
  };
  /// All numbers of a type, which are signed: i1 has -1 and 0.
  static Range wholeOf(Type type);
  Range get(Value value) const;
  Range compute(Operation &op) const;
  Range computeBinary(Operation &op, Range a, Range c) const;
  /// The smallest and the largest of four, all 64-bit integers when they are
  /// not.
  static Range hull(std::initializer_list<Wide> ends);

  DenseMap<Value, Range> ranges;
};

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_INTEGERRANGES_H
