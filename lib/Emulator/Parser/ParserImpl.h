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
  void initialiser(ast::Variable &v);
  /// One declaration statement, up to and with its ';'.
  void variables(ast::Variable::Space space, bool isExtern,
                 std::vector<ast::Variable> &into);

protected:
  Lexer &lexer;
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
  void registers(ast::Statement &s);
  void instruction(ast::Statement &s);
  ast::Operand operand();
  ast::Operand primary();

  Lexer own;
  std::vector<ast::Statement> result;
  unsigned depth = 0;
  int operandDepth = 0; ///< of nested braces, brackets and negations
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_PARSER_PARSERIMPL_H
