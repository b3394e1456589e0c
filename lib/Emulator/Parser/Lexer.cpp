//===- Lexer.cpp - characters to words ------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Words, literals (PTX ISA 9.1 section 4.5) and skipping.
//
//===----------------------------------------------------------------------===//
#include "Lexer.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

using namespace ptxvm;
using ast::Operand;

static bool isWord(char c) {
  return std::isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

void Lexer::skip() {
  while (cursor != end) {
    char c = *cursor;
    if (c == '\n') {
      newline();
      ++cursor;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++cursor;
    } else if (c == '/' && end - cursor > 1 && cursor[1] == '/') {
      skipLine();
    } else if (c == '/' && end - cursor > 1 && cursor[1] == '*') {
      ast::Position at{line, uint32_t(cursor - lineStart + 1)};
      cursor += 2;
      while (end - cursor > 1 && !(cursor[0] == '*' && cursor[1] == '/')) {
        if (*cursor == '\n')
          newline();
        ++cursor;
      }
      if (end - cursor <= 1)
        fail(at, "this comment is not closed");
      cursor += 2;
    } else {
      return;
    }
  }
}

void Lexer::skipLine() {
  while (cursor != end && *cursor != '\n')
    ++cursor;
}

bool Lexer::take(char c) {
  if (peek() != c)
    return false;
  ++cursor;
  return true;
}

void Lexer::expect(char c, const char *where) {
  if (take(c))
    return;
  std::string found =
      atEnd() ? "the end of the text" : std::string("'") + *cursor + "'";
  fail(std::string("expected '") + c + "' " + where + ", found " + found);
}

std::string_view Lexer::identifier() {
  skip();
  const char *start = cursor;
  while (cursor != end && isWord(*cursor))
    ++cursor;
  if (start != cursor && *start == '%' && end - cursor > 1 && *cursor == '.' &&
      std::strchr("xyzw", cursor[1]) &&
      (end - cursor == 2 || !isWord(cursor[2])))
    cursor += 2;
  return {start, size_t(cursor - start)};
}

std::string_view Lexer::directive() {
  skip();
  const char *start = cursor;
  if (cursor != end && *cursor == '.')
    do
      ++cursor;
    while (cursor != end && isWord(*cursor) && *cursor != '%');
  return {start, size_t(cursor - start)};
}

std::string_view Lexer::dotted() {
  skip();
  const char *start = cursor;
  while (cursor != end) {
    bool isScope = *cursor == ':' && end - cursor > 1 && cursor[1] == ':';
    // mov.u32%r1: '%' begins the name of a register.
    bool isRegister = *cursor == '%' && cursor != start;
    if (isScope)
      cursor += 2;
    else if ((isWord(*cursor) && !isRegister) || *cursor == '.')
      ++cursor;
    else
      break;
  }
  return {start, size_t(cursor - start)};
}

std::string_view Lexer::quoted() {
  expect('"', "before a string");
  const char *start = cursor;
  while (cursor != end && *cursor != '"' && *cursor != '\n')
    ++cursor;
  if (cursor == end || *cursor == '\n')
    fail("this string is not closed");
  return {start, size_t(cursor++ - start)};
}

bool Lexer::startsNumber() {
  char c = peek();
  return std::isdigit((unsigned char)c) || c == '-' || c == '+';
}

/// Not 0x..., 0f..., 0d...: an 'e' is an exponent.
static bool isDecimal(const char *digits) {
  return digits[0] != '0' || !std::isalpha((unsigned char)digits[1]) ||
         (digits[1] | 32) == 'e';
}

Operand Lexer::number() {
  Operand result;
  result.at = position();
  bool negative = false;
  while (peek() == '-' || peek() == '+')
    negative ^= *cursor++ == '-';
  skip();
  const char *start = cursor;
  while (cursor != end &&
         (isWord(*cursor) || *cursor == '.' ||
          ((*cursor == '-' || *cursor == '+') && cursor - start > 1 &&
           (cursor[-1] | 32) == 'e' && isDecimal(start))))
    ++cursor;
  std::string text(start, cursor);
  auto bad = [&] { fail(result.at, "malformed number '" + text + "'"); };
  if (text.empty() || !std::isdigit((unsigned char)text[0]))
    bad();
  char *rest = nullptr;
  bool isHexFloat =
      text.size() > 2 && text[0] == '0' &&
      (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D');
  if (isHexFloat) {
    bool isSingle = (text[1] | 32) == 'f';
    if (text.size() != (isSingle ? 10u : 18u))
      bad();
    uint64_t bits = std::strtoull(text.c_str() + 2, &rest, 16);
    if (negative)
      bits ^= isSingle ? 0x80000000ull : 0x8000000000000000ull;
    result.kind = isSingle ? Operand::Float32 : Operand::Float64;
    result.value = int64_t(bits);
  } else if (text.find('.') != std::string::npos ||
             (text[1] != 'x' && text[1] != 'X' &&
              text.find_first_of("eE") != std::string::npos)) {
    double value = std::strtod(text.c_str(), &rest);
    value = negative ? -value : value;
    result.kind = Operand::Float64;
    std::memcpy(&result.value, &value, 8);
  } else {
    if (text.back() == 'U' || text.back() == 'u')
      text.pop_back();
    bool isBinary = text.size() > 2 && text[0] == '0' && (text[1] | 32) == 'b';
    errno = 0;
    uint64_t value = isBinary ? std::strtoull(text.c_str() + 2, &rest, 2)
                              : std::strtoull(text.c_str(), &rest, 0);
    if (errno == ERANGE)
      fail(result.at, "'" + text + "' has more than 64 bits");
    result.kind = Operand::Integer;
    result.value = int64_t(negative ? 0 - value : value);
  }
  if (rest && *rest)
    bad();
  return result;
}

/// Characters at which the skip of a body has to look.
static constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops{};
  for (unsigned char c : {'{', '}', '"', '/', '\n'})
    stops[c] = true;
  return stops;
}();

std::string_view Lexer::balancedBraces() {
  ast::Position at = position();
  const char *start = cursor;
  for (uint64_t depth = 1;;) {
    while (cursor != end && !kStops[(unsigned char)*cursor])
      ++cursor;
    if (cursor == end)
      fail(at, "this '{' is not closed");
    char c = *cursor;
    if (c == '\n') {
      newline();
      ++cursor;
    } else if (c == '"') {
      quoted();
    } else if (c == '/') {
      const char *before = cursor;
      skip(); // a comment, or nothing
      cursor += cursor == before;
    } else {
      ++cursor;
      if (c == '{')
        ++depth;
      else if (c == '}' && --depth == 0)
        return {start, size_t(cursor - 1 - start)};
    }
  }
}

void Lexer::skipStatement() {
  for (;;) {
    char c = peek();
    if (c == '"') {
      quoted();
      continue;
    }
    if (c == '}' || atEnd())
      return expect(';', "after a directive");
    ++cursor;
    if (c == ';')
      return;
    if (c == '{')
      balancedBraces();
  }
}

/// Braces, brackets and operators of constants are never deeper.
static constexpr int kMaxConstantDepth = 32;

static int precedence(std::string_view op) {
  static constexpr const char *const kLevels[][5] = {{"||"},
                                                     {"&&"},
                                                     {"|"},
                                                     {"^"},
                                                     {"&"},
                                                     {"==", "!="},
                                                     {"<=", ">=", "<", ">"},
                                                     {"<<", ">>"},
                                                     {"+", "-"},
                                                     {"*", "/", "%"}};
  int level = 1;
  for (const auto &names : kLevels) {
    for (const char *name : names)
      if (name && op == name)
        return level;
    ++level;
  }
  return 0;
}

std::string_view Lexer::binaryOperator() {
  skip();
  size_t left = size_t(end - cursor);
  for (size_t n : {size_t(2), size_t(1)})
    if (n <= left && precedence({cursor, n}))
      return {cursor, n};
  return {};
}

Operand Lexer::primaryConstant() {
  ast::Position at = position();
  struct Nesting {
    int &depth;
    explicit Nesting(int &depth) : depth(++depth) {}
    ~Nesting() { --depth; }
  } nesting(constantDepth);
  if (constantDepth > kMaxConstantDepth)
    fail(at, "a constant is nested more than " +
                 std::to_string(kMaxConstantDepth) + " deep");
  Operand result;
  char c = peek();
  if (c == '(') {
    take('(');
    if (peek() == '.') {
      // A cast: (.s64) or (.u64); all our integers have 64 bits.
      std::string_view type = dotted();
      if (type != ".s64" && type != ".u64")
        fail(at, "unsupported: a cast to '" + std::string(type) + "'");
      expect(')', "after a cast");
      return primaryConstant();
    }
    result = constant();
    expect(')', "after a constant");
  } else if (c == '~' || c == '!') {
    take(c);
    result = primaryConstant();
    if (result.kind != Operand::Integer)
      fail(at, "an operator on a constant that is no integer");
    result.value = c == '~' ? ~result.value : !result.value;
  } else if ((c == '-' || c == '+') && end - cursor > 1 && cursor[1] == '(') {
    take(c);
    result = primaryConstant();
    if (result.kind != Operand::Integer)
      fail(at, "an operator on a constant that is no integer");
    if (c == '-')
      result.value = int64_t(0 - uint64_t(result.value));
  } else if (startsNumber()) {
    return number();
  } else if (identifier() == "WARP_SZ") {
    result.kind = Operand::Integer;
    result.value = 32;
  } else {
    fail(at, "expected a number");
  }
  result.at = at;
  return result;
}

static int64_t apply(std::string_view op, int64_t x, int64_t y, bool &isBad) {
  uint64_t a = uint64_t(x), b = uint64_t(y);
  switch (op[0]) {
  case '+':
    return int64_t(a + b);
  case '-':
    return int64_t(a - b);
  case '*':
    return int64_t(a * b);
  case '/':
  case '%':
    isBad = y == 0 || (y == -1 && x == INT64_MIN);
    return isBad ? 0 : op[0] == '/' ? x / y : x % y;
  case '&':
    return op.size() == 2 ? x && y : x & y;
  case '|':
    return op.size() == 2 ? x || y : x | y;
  case '^':
    return x ^ y;
  case '=':
    return x == y;
  case '!':
    return x != y;
  case '<':
    if (op == "<<")
      return b > 63 ? 0 : int64_t(a << b);
    return op.size() == 2 ? x <= y : x < y;
  default:
    if (op == ">>")
      return x >> (b > 63 ? 63 : b);
    return op.size() == 2 ? x >= y : x > y;
  }
}

/// Precedence climbing.
Operand Lexer::binaryConstant(int least) {
  Operand left = primaryConstant();
  for (;;) {
    std::string_view op = binaryOperator();
    int level = precedence(op);
    if (!level || level < least)
      return left;
    cursor += op.size();
    Operand right = binaryConstant(level + 1);
    bool isBad =
        left.kind != Operand::Integer || right.kind != Operand::Integer;
    if (isBad)
      fail(left.at, "an operator on a constant that is no integer");
    left.value = apply(op, left.value, right.value, isBad);
    if (isBad)
      fail(right.at, "a constant is divided by zero");
  }
}

Operand Lexer::constant() {
  Operand first = binaryConstant(1);
  if (peek() != '?' || first.kind != Operand::Integer)
    return first;
  take('?');
  struct Nesting {
    int &depth;
    explicit Nesting(int &depth) : depth(++depth) {}
    ~Nesting() { --depth; }
  } nesting(constantDepth);
  Operand yes = constant();
  expect(':', "in a conditional constant");
  Operand no = constant();
  return first.value ? yes : no;
}

int64_t Lexer::offsets() {
  uint64_t sum = 0;
  while (peek() == '+' || peek() == '-') {
    bool isMinus = take('-');
    if (!isMinus)
      take('+');
    Operand term = binaryConstant(precedence("*"));
    if (term.kind != Operand::Integer)
      fail(term.at, "an offset must be an integer");
    sum += isMinus ? 0 - uint64_t(term.value) : uint64_t(term.value);
  }
  return int64_t(sum);
}
