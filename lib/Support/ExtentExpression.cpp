//===- ExtentExpression.cpp - sizes as text over the extents --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recursive-descent evaluator. Syntax checking is the same walk with
// evaluation switched off, so the two cannot disagree.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/ExtentExpression.h"

#include "fa/Support/Text.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

namespace farun {

namespace {

constexpr std::string_view kNames[] = {"B", "Hq", "Hkv", "Sq", "Sk",
                                       "D", "Dv", "Tq",  "Tk", "pages"};
/// Deeper nesting than this is a damaged file, not a launch rule.
constexpr int kMaxDepth = 100;

class Evaluator {
public:
  Evaluator(std::string_view text, const Extents *extents,
            const ExtentNames *names = nullptr)
      : text(text), extents(extents), names(names) {}

  Expected<int64_t> run() {
    int64_t value = parseSum();
    if (!problem && peek() != '\0')
      fail("unexpected '" + std::string(1, peek()) + "'");
    if (problem)
      return *problem;
    return value;
  }

private:
  char peek() {
    while (position < text.size() &&
           std::isspace((unsigned char)text[position]))
      ++position;
    return position < text.size() ? text[position] : '\0';
  }

  bool accept(char symbol) {
    if (peek() != symbol)
      return false;
    ++position;
    return true;
  }

  void expect(char symbol) {
    if (!accept(symbol))
      fail("expected '" + std::string(1, symbol) + "'");
  }

  int64_t fail(const std::string &what) {
    if (!problem)
      problem = inputError(what + " at column " + std::to_string(position + 1) +
                           " of the extent expression " + quote(text));
    return 0;
  }

  int64_t parseSum() {
    if (++depth > kMaxDepth)
      return fail("nesting deeper than " + std::to_string(kMaxDepth));
    int64_t value = parseProduct();
    while (!problem) {
      char symbol = peek();
      if (symbol != '+' && symbol != '-')
        break;
      ++position;
      value = apply(symbol, value, parseProduct());
    }
    --depth;
    return value;
  }

  int64_t parseProduct() {
    int64_t value = parsePrimary();
    while (!problem) {
      char symbol = peek();
      if (symbol != '*' && symbol != '/' && symbol != '%')
        break;
      ++position;
      value = apply(symbol, value, parsePrimary());
    }
    return value;
  }

  int64_t parsePrimary() {
    char symbol = peek();
    if (accept('(')) {
      int64_t value = parseSum();
      expect(')');
      return value;
    }
    if (accept('-')) {
      if (++depth > kMaxDepth)
        return fail("nesting deeper than " + std::to_string(kMaxDepth));
      int64_t value = apply('-', 0, parsePrimary());
      --depth;
      return value;
    }
    if (std::isdigit((unsigned char)symbol))
      return parseNumber();
    if (std::isalpha((unsigned char)symbol))
      return parseNameOrCall();
    return fail(symbol ? "unexpected '" + std::string(1, symbol) + "'"
                       : "unexpected end");
  }

  int64_t parseNumber() {
    int64_t value = 0;
    while (position < text.size() &&
           std::isdigit((unsigned char)text[position])) {
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_add_overflow(value, int64_t(text[position] - '0'), &value))
        return fail("a number that does not fit 64 bits");
      ++position;
    }
    return value;
  }

  int64_t parseNameOrCall() {
    size_t begin = position;
    while (position < text.size() &&
           std::isalnum((unsigned char)text[position]))
      ++position;
    std::string_view word = text.substr(begin, position - begin);
    if (word == "ceildiv" || word == "min" || word == "max") {
      expect('(');
      int64_t a = parseSum();
      expect(',');
      int64_t b = parseSum();
      expect(')');
      return call(word, a, b);
    }
    bool isOfDevice = word == kMultiprocessorsName;
    if (!isOfDevice && !isExtentName(word)) {
      position = begin;
      return fail("unknown name " + quote(word));
    }
    if (names && !isOfDevice && !names->count(word)) {
      position = begin;
      return fail("the extent " + std::string(word) +
                  ", which no operand has,");
    }
    if (!extents)
      return 1;
    auto found = extents->find(word);
    if (found == extents->end()) {
      position = begin;
      return fail("the extent " + std::string(word) + " has no value");
    }
    return found->second;
  }

  int64_t call(std::string_view word, int64_t a, int64_t b) {
    if (problem || !extents)
      return 1;
    if (word == "min")
      return std::min(a, b);
    if (word == "max")
      return std::max(a, b);
    int64_t quotient = apply('/', a, b);
    bool roundUp = !problem && a % b != 0 && (a < 0) == (b < 0);
    return quotient + (roundUp ? 1 : 0);
  }

  int64_t apply(char symbol, int64_t a, int64_t b) {
    if (problem || !extents)
      return 1;
    int64_t value = 0;
    bool overflow = false;
    switch (symbol) {
    case '+':
      overflow = __builtin_add_overflow(a, b, &value);
      break;
    case '-':
      overflow = __builtin_sub_overflow(a, b, &value);
      break;
    case '*':
      overflow = __builtin_mul_overflow(a, b, &value);
      break;
    default:
      if (b == 0)
        return fail("division by zero");
      overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
      if (!overflow)
        value = symbol == '/' ? a / b : a % b;
    }
    if (overflow)
      return fail("64-bit overflow");
    return value;
  }

  std::string_view text;
  const Extents *extents;   ///< null while only the syntax is checked
  const ExtentNames *names; ///< null for all
  size_t position = 0;
  int depth = 0;
  std::optional<Error> problem;
};

} // namespace

/// "region0.1": a dimension of what a region reads, which has no other name.
static bool isRegionExtent(std::string_view name) {
  constexpr std::string_view prefix = "region";
  return name.size() > prefix.size() &&
         name.substr(0, prefix.size()) == prefix &&
         name.find_first_not_of("0123456789.", prefix.size()) ==
             std::string_view::npos;
}

bool isExtentName(std::string_view name) {
  if (isRegionExtent(name))
    return true;
  return std::find(std::begin(kNames), std::end(kNames), name) !=
         std::end(kNames);
}

Expected<int64_t> evaluateExtent(std::string_view text,
                                 const Extents &extents) {
  return Evaluator(text, &extents).run();
}

Status checkExtentSyntax(std::string_view text, const ExtentNames *names) {
  Expected<int64_t> value = Evaluator(text, nullptr, names).run();
  if (!value)
    return value.takeError();
  return {};
}

} // namespace farun
