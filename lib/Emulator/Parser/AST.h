//===- AST.h - syntax of a PTX file -----------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The syntax tree: names are views into the module's text, every node keeps its
// line and column. Nothing is resolved here; the decoder gives names a meaning.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_PARSER_AST_H
#define FA_LIB_EMULATOR_PARSER_AST_H

#include "fa/Emulator/Module.h"

#include <string_view>
#include <vector>

namespace ptxvm::ast {

struct Position {
  uint32_t line = 0, column = 0;
};

struct Operand {
  enum Kind {
    Name,    ///< register, label, symbol, special register
    Integer, ///< 64 bits, sign extended
    Float32, ///< bits of 0f...
    Float64, ///< bits of 0d... or of a decimal fraction
    Vector,  ///< {a, b}
    Address, ///< [base + offset]; elements[0] is the base
    List,    ///< (a, b) of a call
    Pair,    ///< a|b
    Sink,    ///< _
  } kind = Name;
  Position at;
  std::string_view name;
  bool negated = false; ///< !p
  int64_t value = 0;    ///< Integer, Float bits, offset of an Address
  std::vector<Operand> elements;
};

/// A variable declaration of any space but `.reg`.
struct Variable {
  enum Space { Global, Const, Shared, Local, Param } space = Global;
  std::string_view name;
  std::string_view type;
  Position at;
  uint32_t alignment = 0;
  uint64_t bytes = 0;
  bool isArray = false;
  bool isExtern = false;
  bool isPointer = false;
  /// What stands after '=', parsed when the variable is used.
  std::string_view initialText;
  Position initialAt;
  /// A formal parameter in `.reg` space: a register of the function.
  bool isRegister = false;
};

/// What a variable holds at first; bytes past the end are zero.
struct InitialValue {
  std::vector<uint8_t> bytes;
  /// ((address of symbol + addend) & mask) >> shift, in `size` bytes.
  struct Symbol {
    uint64_t offset;
    uint32_t size;
    std::string_view name;
    uint64_t addend, mask;
    uint32_t shift;
    Position at;
  };
  std::vector<Symbol> symbols;
};

struct RegisterDeclaration {
  std::string_view type, name;
  int64_t count = -1; ///< %r<count>, or -1 for one register
};

struct Statement {
  enum Kind {
    Instruction,
    Label,
    Registers,
    Variables,
    ScopeBegin,
    ScopeEnd,
    Location,
    BranchTargets,
    CallTargets,
    CallPrototype,
  } kind = Instruction;
  Position at;
  // Instruction
  std::string_view guard;
  bool guardNegated = false;
  std::string_view opcode;
  std::vector<Operand> operands;
  // Label, BranchTargets, CallTargets, CallPrototype
  std::string_view label;
  std::vector<std::string_view> targets;
  // Registers, Variables; of a CallPrototype the parameters
  std::vector<RegisterDeclaration> registers;
  std::vector<Variable> variables;
  std::vector<Variable> results;
  // Location
  uint32_t file = 0, line = 0;
  uint32_t inlinedFile = 0, inlinedLine = 0; ///< `inlined_at`, line 0 = none
};

struct Function {
  std::string_view name;
  bool isEntry = false;
  bool hasBody = false;
  bool isExtern = false;
  Position at;
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  Dim3 requiredThreads{0, 0, 0}, maximumThreads{0, 0, 0};
  Dim3 requiredCluster{0, 0, 0};
  bool isExplicitCluster = false;
  uint32_t maximumRegisters = 0; ///< .maxnreg; 0 = not given
  /// The text between the braces; parsed on demand.
  std::string_view body;
  Position bodyAt;
};

struct File {
  std::string_view version, target;
  Position targetAt;
  uint32_t addressSize = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  /// `.alias`: a name and the function that it stands for.
  std::vector<std::pair<std::string_view, std::string_view>> aliases;
  /// `.file` numbers and names.
  std::vector<std::pair<uint32_t, std::string>> sources;
};

} // namespace ptxvm::ast

#endif // FA_LIB_EMULATOR_PARSER_AST_H
