//===- Compare.cpp - a result against what it must be ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Compare.h"

#include <cmath>
#include <cstdio>
#include <limits>

namespace farun {

namespace {

std::string number(double value, const char *format = "%.4g") {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

/// The error of one element in units of its bound: at most 1 is right.
double severity(ElementType type, double found, double expected, double bound,
                double &error) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  error = std::abs(found - expected);
  if (std::isnan(found) || std::isnan(expected)) {
    error = kWrong;
    if (std::isnan(found) && std::isnan(expected))
      error = 0;
    return error;
  }
  if (std::isinf(found) || std::isinf(expected)) {
    // A finite expectation within its bound of the type's overflow may come
    // out infinite.
    double edge = std::isinf(expected)
                      ? expected
                      : roundTo(type, expected + std::copysign(bound, found));
    bool same = std::isinf(found) && found == edge;
    error = same ? 0 : kWrong;
    return error;
  }
  if (error == 0)
    return 0;
  return bound > 0 ? error / bound : kWrong;
}

} // namespace

std::string Comparison::str() const {
  std::string text = ok ? "check: ok" : "check: FAILED";
  if (!problem.empty())
    return text + " " + problem + " result=" + result;
  text += " max_error=" + number(maxError) + " bound=" + number(bound) +
          " at=" + indexText(at);
  if (!ok)
    text += " found=" + number(found, "%.9g") +
            " expected=" + number(expected, "%.9g") +
            " wrong=" + std::to_string(wrong) + "/" + std::to_string(count);
  return text + " result=" + result;
}

Comparison compare(const std::string &result, const Array &found,
                   const Expectation &expectation) {
  Comparison comparison;
  comparison.result = result;
  if (found.shape != expectation.shape) {
    comparison.ok = false;
    comparison.problem = "shape=" + shapeText(found.shape) +
                         " expected=" + shapeText(expectation.shape);
    return comparison;
  }
  comparison.count = found.size();
  double worst = -1;
  int64_t worstAt = 0;
  for (int64_t n = 0; n < comparison.count; ++n) {
    double value = found.get(n), expected = expectation.values[size_t(n)];
    double bound = expectation.bounds[size_t(n)], error = 0;
    double ratio = severity(found.type, value, expected, bound, error);
    // Written so that a NaN bound counts as wrong.
    if (!(ratio <= 1.0))
      ++comparison.wrong;
    if (ratio > worst || std::isnan(ratio)) {
      worst =
          std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
      worstAt = n;
      comparison.maxError = error;
      comparison.bound = bound;
      comparison.found = value;
      comparison.expected = expected;
    }
  }
  comparison.ok = comparison.wrong == 0;
  if (comparison.count > 0)
    comparison.at = indexOf(worstAt, found.shape);
  return comparison;
}

std::vector<int64_t> indexOf(int64_t n, const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = n % shape[d];
    n /= shape[d];
  }
  return index;
}

std::string indexText(const std::vector<int64_t> &index) {
  std::string text = "[";
  for (size_t d = 0; d < index.size(); ++d)
    text += (d ? "," : "") + std::to_string(index[d]);
  return text + "]";
}

} // namespace farun
