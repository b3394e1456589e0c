//===- Case.h - small attention problems for tests --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Case owns the arrays of one problem, so that a test reads as its table
// entry: rows of q, k and v, then clauses, then what must come out.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_REFERENCE_CASE_H
#define FA_UNITTESTS_REFERENCE_CASE_H

#include "fa/Reference/Attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <list>

namespace faref::test {

using farun::Array;
using Values = std::vector<double>;
using Shape = std::vector<int64_t>;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The fill of the case list: element n is ((31 n + 17 seed) mod 23 - 11) / 8,
/// exact in every type.
inline Values fill(int64_t count, int64_t seed) {
  Values values;
  for (int64_t n = 0; n < count; ++n)
    values.push_back(double((31 * n + 17 * seed) % 23 - 11) / 8.0);
  return values;
}

struct Case {
  std::list<Array> arrays; ///< addresses stay put
  Problem problem;

  /// B = H = D = 1: rows of numbers.
  Case(const Values &q, const Values &k, const Values &v,
       ElementType type = ElementType::F32)
      : Case({1, 1, int64_t(q.size()), 1}, q, {1, 1, int64_t(k.size()), 1}, k,
             {1, 1, int64_t(v.size()), 1}, v, type) {}

  Case(const Shape &qShape, const Values &q, const Shape &kShape,
       const Values &k, const Shape &vShape, const Values &v,
       ElementType type = ElementType::F32) {
    problem.query = add(type, qShape, q);
    problem.key = add(type, kShape, k);
    problem.value = add(type, vShape, v);
    problem.outType = type;
  }

  Case(const Case &) = delete;

  ArrayView add(ElementType type, const Shape &shape, const Values &values) {
    arrays.emplace_back(type, shape, values);
    return arrays.back().view();
  }
  Case &scale(double value) {
    problem.scale = value;
    return *this;
  }
  Case &mask(const Shape &shape, const Values &values) {
    problem.mask = add(ElementType::I1, shape, values);
    return *this;
  }
  Case &bias(const Shape &shape, const Values &values) {
    problem.bias = add(ElementType::F32, shape, values);
    return *this;
  }
  Case &kvLengths(const Values &values) {
    problem.kvLengths = add(ElementType::I32, {int64_t(values.size())}, values);
    return *this;
  }
  Case &qLengths(const Values &values) {
    problem.qLengths = add(ElementType::I32, {int64_t(values.size())}, values);
    return *this;
  }
  /// B = 1: a number for each query and key.
  Case &segments(const Values &ofQueries, const Values &ofKeys) {
    problem.qSegments =
        add(ElementType::I32, {1, int64_t(ofQueries.size())}, ofQueries);
    problem.kvSegments =
        add(ElementType::I32, {1, int64_t(ofKeys.size())}, ofKeys);
    return *this;
  }
  Case &causal(bool isBottomRight, int64_t prefix = 0) {
    farun::StructuralMask mask;
    mask.isBottomRight = isBottomRight;
    mask.prefix = prefix;
    problem.masks.push_back(mask);
    return *this;
  }

  Result run(bool withEvidence = false) const {
    Options options;
    options.withEvidence = withEvidence;
    farun::Expected<Result> result = attention(problem, options);
    EXPECT_TRUE(bool(result)) << (result ? "" : result.error().message);
    return result ? *result : Result();
  }
  std::string refusal() const {
    farun::Expected<Result> result = attention(problem);
    return result ? "no error" : result.error().message;
  }
};

/// Equal to `tolerance`, with NaN and infinities in place.
inline void expectNear(const Values &found, const Values &expected,
                       double tolerance = 1e-6) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t n = 0; n < found.size(); ++n) {
    if (std::isnan(expected[n]))
      EXPECT_TRUE(std::isnan(found[n])) << "at " << n << ": " << found[n];
    else if (std::isinf(expected[n]))
      EXPECT_EQ(found[n], expected[n]) << "at " << n;
    else
      EXPECT_NEAR(found[n], expected[n],
                  tolerance * std::max(1.0, std::abs(expected[n])))
          << "at " << n;
  }
}

} // namespace faref::test

#endif // FA_UNITTESTS_REFERENCE_CASE_H
