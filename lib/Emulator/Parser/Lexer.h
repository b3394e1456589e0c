//===- Lexer.h - characters to words ----------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cursor over PTX text that skips white space and comments and counts lines.
// It has no token list: the parser asks for the word it expects.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_PARSER_LEXER_H
#define FA_LIB_EMULATOR_PARSER_LEXER_H

#include "AST.h"

#include <string>
#include <string_view>

namespace ptxvm {

/// How an error leaves the parser and the decoder; caught at their doors.
struct SyntaxError {
  ast::Position at;
  std::string message;
};

class Lexer {
public:
  Lexer(std::string_view text, ast::Position start)
      : cursor(text.data()), end(text.data() + text.size()), line(start.line),
        lineStart(text.data() - (start.column - 1)) {}

  /// The place of the next word.
  ast::Position position() {
    skip();
    return {line, uint32_t(cursor - lineStart + 1)};
  }
  /// Where the next word stands in the text.
  const char *here() {
    skip();
    return cursor;
  }
  bool atEnd() {
    skip();
    return cursor == end;
  }
  char peek() {
    skip();
    return cursor == end ? '\0' : *cursor;
  }
  /// Takes `c` when it is next.
  bool take(char c);
  void expect(char c, const char *where);
  /// An identifier ([A-Za-z0-9_$%]+; after '%' one ".x" suffix belongs to it),
  /// or empty.
  std::string_view identifier();
  /// A directive or one of its words: '.' and an identifier, whatever follows;
  /// or empty.
  std::string_view directive();
  /// An opcode, a label or a version: letters, digits, '_', '.', ':'; or empty.
  std::string_view dotted();
  std::string_view quoted();
  /// An integer or float literal, optionally signed.
  ast::Operand number();
  bool startsNumber();
  /// A constant expression (PTX ISA 9.1 section 4.6), or a single literal.
  ast::Operand constant();
  /// What follows a base: {+ or -} terms, summed up; 0 when nothing does.
  int64_t offsets();
  /// Skips to the brace that closes an open one and returns the text between.
  std::string_view balancedBraces();
  /// Skips past the next ';' on this nesting level.
  void skipStatement();
  void skipLine();

  [[noreturn]] void fail(std::string message) {
    throw SyntaxError{position(), std::move(message)};
  }
  [[noreturn]] static void fail(ast::Position at, std::string message) {
    throw SyntaxError{at, std::move(message)};
  }

private:
  void skip();
  ast::Operand primaryConstant();
  ast::Operand binaryConstant(int least);
  std::string_view binaryOperator();
  void newline() {
    ++line;
    lineStart = cursor + 1;
  }

  const char *cursor, *end;
  uint32_t line;
  const char *lineStart;
  int constantDepth = 0;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_PARSER_LEXER_H
