//===- Parser.h - text to syntax --------------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hand-written parser for PTX (PTX ISA 9.1, chapters 4, 5 and 11). The file is
// scanned once; function bodies and initial values are skipped by their braces
// and parsed when they are asked for. Errors leave by a private exception that
// never crosses this library: the functions here catch it.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_PARSER_PARSER_H
#define FA_LIB_EMULATOR_PARSER_PARSER_H

#include "AST.h"

namespace ptxvm {

/// Parses the module level. `text` must outlive the result.
Expected<ast::File> parseFile(std::string_view text,
                              const std::string &filename);

/// Parses the body of one function.
Expected<std::vector<ast::Statement>> parseBody(const ast::Function &function,
                                                const std::string &filename);

/// Parses the initial value of a variable that has one.
Expected<ast::InitialValue> parseInitialValue(const ast::Variable &variable,
                                              const std::string &filename);

/// A message that quotes the file, in one line of printable characters, and cut
/// in the middle when it is long: a file may hold words of megabytes.
std::string readable(std::string_view message);

/// Bytes of a fundamental type without its dot, 0 when it is not one. `pred`
/// counts 1.
uint32_t typeBytes(std::string_view type);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_PARSER_PARSER_H
