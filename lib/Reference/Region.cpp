//===- Region.cpp - a region of the op, evaluated -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Region.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace faref {

using farun::inputError;
using farun::RegionOp;
using farun::RegionValue;
using farun::Status;

namespace {

/// A value: a float or an integer, by its type.
template <typename T> struct Cell {
  T number = 0;
  int64_t integer = 0;
};

int64_t wrap(ElementType type, int64_t value) {
  if (type == ElementType::I1)
    return value & 1;
  return type == ElementType::I32 ? int64_t(int32_t(value)) : value;
}

/// As unsigned, of the type's width.
uint64_t toUnsigned(ElementType type, int64_t value) {
  if (type == ElementType::I1)
    return uint64_t(value & 1);
  return type == ElementType::I32 ? uint64_t(uint32_t(value)) : uint64_t(value);
}

int64_t add(int64_t a, int64_t c) { return int64_t(uint64_t(a) + uint64_t(c)); }
int64_t subtract(int64_t a, int64_t c) {
  return int64_t(uint64_t(a) - uint64_t(c));
}
int64_t multiply(int64_t a, int64_t c) {
  return int64_t(uint64_t(a) * uint64_t(c));
}

/// Divisions that have no quotient give 0; no legal region has any.
bool hasQuotient(int64_t a, int64_t c) {
  return c != 0 && !(c == -1 && a == std::numeric_limits<int64_t>::min());
}
int64_t quotient(int64_t a, int64_t c) { return hasQuotient(a, c) ? a / c : 0; }
int64_t remainder(int64_t a, int64_t c) {
  return hasQuotient(a, c) ? a % c : 0;
}
int64_t floorQuotient(int64_t a, int64_t c) {
  bool isBelow = remainder(a, c) != 0 && (a < 0) != (c < 0);
  return quotient(a, c) - isBelow;
}
int64_t ceilQuotient(int64_t a, int64_t c) {
  bool isAbove = remainder(a, c) != 0 && (a < 0) == (c < 0);
  return quotient(a, c) + isAbove;
}

template <typename T> T maximum(T a, T c) {
  return std::isnan(a) || std::isnan(c) ? std::numeric_limits<T>::quiet_NaN()
                                        : std::max(a, c);
}
template <typename T> T minimum(T a, T c) { return -maximum<T>(-a, -c); }

int64_t readInteger(const ArrayView &view, int64_t offset) {
  if (view.type != ElementType::I64)
    return int64_t(view.at(offset));
  int64_t value;
  std::memcpy(&value, view.data + offset * int64_t(sizeof(value)),
              sizeof(value));
  return value;
}

template <typename T> class Evaluator {
public:
  Evaluator(const Region &region, std::vector<Cell<T>> arguments)
      : region(region), cells(std::move(arguments)) {
    for (size_t n = 0; n < cells.size(); ++n)
      types.push_back(ElementType::I64);
    for (const RegionValue &value : region.program.values) {
      cells.push_back(evaluate(value));
      types.push_back(value.type);
    }
  }

  const Cell<T> &result() const { return cells[size_t(region.program.result)]; }

private:
  Cell<T> evaluate(const RegionValue &value) const;
  bool evaluateInteger(const RegionValue &value, int64_t &result) const;
  bool evaluateFloat(const RegionValue &value, T &result) const;
  Cell<T> read(const RegionValue &value) const;
  static Cell<T> ofInteger(const RegionValue &value, int64_t x) {
    return {0, wrap(value.type, x)};
  }

  int64_t integer(const RegionValue &value, size_t n) const {
    return cells[size_t(value.arguments[n])].integer;
  }
  /// A bit that is set is -1, as a number of one bit with a sign.
  int64_t signedInteger(const RegionValue &value, size_t n) const {
    int64_t x = integer(value, n);
    return types[size_t(value.arguments[n])] == ElementType::I1 ? -(x & 1) : x;
  }
  T number(const RegionValue &value, size_t n) const {
    return cells[size_t(value.arguments[n])].number;
  }

  const Region &region;
  std::vector<Cell<T>> cells;
  std::vector<ElementType> types;
};

template <typename T>
Cell<T> Evaluator<T>::read(const RegionValue &value) const {
  const ArrayView &view = region.operands[size_t(value.operand)];
  int64_t offset = 0;
  for (size_t n = 0; n < value.arguments.size(); ++n) {
    int64_t index = integer(value, n);
    // Where nothing can be read nothing is promised.
    if (index < 0 || index >= view.shape[n])
      return {std::numeric_limits<T>::quiet_NaN(), 0};
    offset += index * view.strides[n];
  }
  if (farun::isFloat(value.type))
    return {T(view.at(offset)), 0};
  return ofInteger(value, readInteger(view, offset));
}

template <typename T>
bool Evaluator<T>::evaluateInteger(const RegionValue &value,
                                   int64_t &result) const {
  auto a = [&] { return signedInteger(value, 0); };
  auto c = [&] { return signedInteger(value, 1); };
  auto ua = [&] {
    return toUnsigned(types[size_t(value.arguments[0])], integer(value, 0));
  };
  auto uc = [&] {
    return toUnsigned(types[size_t(value.arguments[1])], integer(value, 1));
  };
  switch (value.op) {
  case RegionOp::AddI:
    result = add(a(), c());
    return true;
  case RegionOp::SubI:
    result = subtract(a(), c());
    return true;
  case RegionOp::MulI:
    result = multiply(a(), c());
    return true;
  case RegionOp::DivSI:
    result = quotient(a(), c());
    return true;
  case RegionOp::RemSI:
    result = remainder(a(), c());
    return true;
  case RegionOp::DivUI:
    result = uc() ? int64_t(ua() / uc()) : 0;
    return true;
  case RegionOp::RemUI:
    result = uc() ? int64_t(ua() % uc()) : 0;
    return true;
  case RegionOp::FloorDivSI:
    result = floorQuotient(a(), c());
    return true;
  case RegionOp::CeilDivSI:
    result = ceilQuotient(a(), c());
    return true;
  case RegionOp::MaxSI:
    result = std::max(a(), c());
    return true;
  case RegionOp::MinSI:
    result = std::min(a(), c());
    return true;
  case RegionOp::AndI:
    result = a() & c();
    return true;
  case RegionOp::OrI:
    result = a() | c();
    return true;
  case RegionOp::XOrI:
    result = a() ^ c();
    return true;
  case RegionOp::CmpEq:
    result = a() == c();
    return true;
  case RegionOp::CmpNe:
    result = a() != c();
    return true;
  case RegionOp::CmpSlt:
    result = a() < c();
    return true;
  case RegionOp::CmpSle:
    result = a() <= c();
    return true;
  case RegionOp::CmpSgt:
    result = a() > c();
    return true;
  case RegionOp::CmpSge:
    result = a() >= c();
    return true;
  case RegionOp::CmpUlt:
    result = ua() < uc();
    return true;
  case RegionOp::CmpUle:
    result = ua() <= uc();
    return true;
  case RegionOp::CmpUgt:
    result = ua() > uc();
    return true;
  case RegionOp::CmpUge:
    result = ua() >= uc();
    return true;
  case RegionOp::ExtUI:
    result = int64_t(ua());
    return true;
  case RegionOp::ExtSI:
  case RegionOp::IndexCast:
  case RegionOp::TruncI:
    result = a();
    return true;
  default:
    return false;
  }
}

template <typename T>
bool Evaluator<T>::evaluateFloat(const RegionValue &value, T &result) const {
  auto a = [&] { return number(value, 0); };
  auto c = [&] { return number(value, 1); };
  switch (value.op) {
  case RegionOp::AddF:
    result = a() + c();
    return true;
  case RegionOp::SubF:
    result = a() - c();
    return true;
  case RegionOp::MulF:
    result = a() * c();
    return true;
  case RegionOp::DivF:
    result = a() / c();
    return true;
  case RegionOp::NegF:
    result = -a();
    return true;
  case RegionOp::MaximumF:
    result = maximum(a(), c());
    return true;
  case RegionOp::MinimumF:
    result = minimum(a(), c());
    return true;
  case RegionOp::MaxNumF:
    result = std::fmax(a(), c());
    return true;
  case RegionOp::MinNumF:
    result = std::fmin(a(), c());
    return true;
  case RegionOp::SIToFP:
    result = T(signedInteger(value, 0));
    return true;
  case RegionOp::UIToFP:
    result =
        T(toUnsigned(types[size_t(value.arguments[0])], integer(value, 0)));
    return true;
  case RegionOp::ExtF:
    result = a();
    return true;
  case RegionOp::TruncF:
    result = T(farun::roundTo(value.type, double(a())));
    return true;
  case RegionOp::Exp:
    result = std::exp(a());
    return true;
  case RegionOp::Exp2:
    result = std::exp2(a());
    return true;
  case RegionOp::Log:
    result = std::log(a());
    return true;
  case RegionOp::Log2:
    result = std::log2(a());
    return true;
  case RegionOp::Sqrt:
    result = std::sqrt(a());
    return true;
  case RegionOp::Rsqrt:
    result = T(1) / std::sqrt(a());
    return true;
  case RegionOp::Tanh:
    result = std::tanh(a());
    return true;
  case RegionOp::AbsF:
    result = std::abs(a());
    return true;
  case RegionOp::Floor:
    result = std::floor(a());
    return true;
  case RegionOp::Ceil:
    result = std::ceil(a());
    return true;
  case RegionOp::Fma:
    result = a() * c() + number(value, 2);
    return true;
  default:
    return false;
  }
}

/// A number that its type cannot hold is infinite there; one of 16 bits has no
/// more digits than they hold.
template <typename T> T asOf(ElementType type, T number) {
  double rounded = farun::roundTo(type, double(number));
  return type == ElementType::F32 && !std::isinf(rounded) ? number : T(rounded);
}

template <typename T>
Cell<T> Evaluator<T>::evaluate(const RegionValue &value) const {
  int64_t integerResult = 0;
  if (evaluateInteger(value, integerResult))
    return ofInteger(value, integerResult);
  T floatResult = 0;
  if (evaluateFloat(value, floatResult))
    return {asOf(value.type, floatResult), 0};
  switch (value.op) {
  case RegionOp::Constant:
    return {T(value.number), wrap(value.type, value.integer)};
  case RegionOp::Operand:
  case RegionOp::Load:
    return read(value);
  case RegionOp::Select:
    return cells[size_t(value.arguments[integer(value, 0) ? 1 : 2])];
  case RegionOp::CmpOeq:
    return {0, number(value, 0) == number(value, 1)};
  case RegionOp::CmpOlt:
    return {0, number(value, 0) < number(value, 1)};
  case RegionOp::CmpOle:
    return {0, number(value, 0) <= number(value, 1)};
  case RegionOp::CmpOgt:
    return {0, number(value, 0) > number(value, 1)};
  case RegionOp::CmpOge:
    return {0, number(value, 0) >= number(value, 1)};
  case RegionOp::CmpUne:
    return {0, number(value, 0) != number(value, 1)};
  default:
    return {};
  }
}

template <typename T>
std::vector<Cell<T>> coordinates(int64_t b, int64_t h, int64_t i, int64_t j) {
  return {{0, b}, {0, h}, {0, i}, {0, j}};
}

} // namespace

template <typename T>
T evaluateScore(const Region &region, T score, int64_t b, int64_t h, int64_t i,
                int64_t j) {
  std::vector<Cell<T>> arguments = coordinates<T>(b, h, i, j);
  arguments.insert(arguments.begin(), {score, 0});
  return Evaluator<T>(region, std::move(arguments)).result().number;
}
template double evaluateScore(const Region &, double, int64_t, int64_t, int64_t,
                              int64_t);
template float evaluateScore(const Region &, float, int64_t, int64_t, int64_t,
                             int64_t);

bool evaluateVisible(const Region &region, int64_t b, int64_t h, int64_t i,
                     int64_t j) {
  return Evaluator<double>(region, coordinates<double>(b, h, i, j))
             .result()
             .integer != 0;
}

Status checkRegion(const Region &region, const char *name, int numArguments) {
  for (const RegionValue &value : region.program.values) {
    if (value.op != RegionOp::Load && value.op != RegionOp::Operand)
      continue;
    const ArrayView *view = size_t(value.operand) < region.operands.size()
                                ? &region.operands[size_t(value.operand)]
                                : nullptr;
    if (!view || !view->data || view->type != value.type ||
        view->shape.size() != value.arguments.size())
      return inputError(std::string("the ") + name +
                        " region reads an operand that does not fit it");
  }
  int last = numArguments + int(region.program.values.size());
  if (region.program.result < 0 || region.program.result >= last)
    return inputError(std::string("the ") + name +
                      " region yields no value of its own");
  return {};
}

} // namespace faref
