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

#include <cctype>
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

std::string_view Lexer::dotted() {
  skip();
  const char *start = cursor;
  while (cursor != end) {
    bool isScope = *cursor == ':' && end - cursor > 1 && cursor[1] == ':';
    if (isScope)
      cursor += 2;
    else if (isWord(*cursor) || *cursor == '.')
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
          ((*cursor == '-' || *cursor == '+') &&
           (cursor[-1] == 'e' || cursor[-1] == 'E') && start[0] != '0')))
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
    uint64_t value = isBinary ? std::strtoull(text.c_str() + 2, &rest, 2)
                              : std::strtoull(text.c_str(), &rest, 0);
    result.kind = Operand::Integer;
    result.value = int64_t(negative ? 0 - value : value);
  }
  if (rest && *rest)
    bad();
  return result;
}

std::string_view Lexer::balancedBraces() {
  ast::Position at = position();
  const char *start = cursor;
  for (unsigned depth = 1;;) {
    skip();
    if (cursor == end)
      fail(at, "this '{' is not closed");
    char c = *cursor++;
    if (c == '"') {
      --cursor;
      quoted();
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return {start, size_t(cursor - 1 - start)};
    }
  }
}

void Lexer::skipStatement() {
  while (!atEnd()) {
    char c = *cursor;
    if (c == '"') {
      quoted();
      continue;
    }
    ++cursor;
    if (c == ';')
      return;
    if (c == '{')
      balancedBraces();
  }
}
