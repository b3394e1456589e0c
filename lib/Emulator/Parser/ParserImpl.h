//===- ParserImpl.h - parts that the two parsers share ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variable declarations occur at module level and in bodies; this class parses
// them for both.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_PARSER_PARSERIMPL_H
#define FA_LIB_EMULATOR_PARSER_PARSERIMPL_H

#include "Lexer.h"

#include <cstring>

namespace ptxvm {

class VariableParser {
public:
  explicit VariableParser(Lexer &lexer) : lexer(lexer) {}
  ast::Variable declarator(ast::Variable::Space space);
  /// The value after '=', or the whole of a variable's initialText.
  ast::InitialValue initialValue(const ast::Variable &v);
  std::vector<ast::Variable> parameters();
  /// One declaration statement, up to and with its ';'.
  void variables(ast::Variable::Space space, bool isExtern,
                 std::vector<ast::Variable> &into);

protected:
  uint64_t integer(const char *what, uint64_t most);
  Lexer &lexer;

private:
  void bounds(ast::Variable &v);
  void takeInitialText(ast::Variable &v);
  void initialList(const ast::Variable &v, ast::InitialValue &into, int depth);
  void initialElement(const ast::Variable &v, ast::InitialValue &into);
  void initialSymbol(std::string_view name, uint64_t mask,
                     const ast::Variable &v, ast::InitialValue &into);
};

/// Statements of one function.
class BodyParser : VariableParser {
public:
  explicit BodyParser(const ast::Function &f)
      : VariableParser(own), own(f.body, f.bodyAt) {}
  std::vector<ast::Statement> run();

private:
  void statement();
  void directive(ast::Position at);
  void location(ast::Statement &s);
  void labelled(std::string_view word, ast::Statement &s);
  void registers(ast::Statement &s);
  void instruction(ast::Statement &s);
  ast::Operand operand();
  ast::Operand primary();

  Lexer own;
  std::vector<ast::Statement> result;
  unsigned depth = 0, scopeCount = 0;
  bool isCall = false;  ///< '(' starts a list of operands
  int operandDepth = 0; ///< of nested braces, brackets and negations
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_PARSER_PARSERIMPL_H
