//===- FunctionDecoder.h - names to meanings --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the statements of an entry and of the functions it calls. A call is
// expanded in place: `.param` variables of a body are memory of the thread, the
// callee's parameters are other names for the caller's, and `ret` is a jump
// behind the call. Recursion cannot be expanded and is refused.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_FUNCTIONDECODER_H
#define FA_LIB_EMULATOR_DECODER_FUNCTIONDECODER_H

#include "../Parser/Lexer.h"
#include "Draft.h"
#include "InstructionTable.h"
#include "Modifiers.h"
#include "ModuleImpl.h"

#include <map>
#include <unordered_map>

namespace ptxvm {

class FunctionDecoder {
public:
  FunctionDecoder(ModuleImpl &module, Kernel &kernel)
      : module(module), kernel(kernel) {}

  /// Throws SyntaxError.
  DraftKernel run(const ast::Function &entry);

private:
  friend struct FamilyDecoders;

  /// Where a variable lives.
  struct Place {
    enum Kind { Param, Local, Shared, DynamicShared, Global } kind;
    uint64_t offset;
    std::string_view symbol;
  };
  /// Registers %r<count>, numbered from `first` on.
  struct Family {
    uint32_t first;
    uint64_t count;
  };
  /// One brace scope: what is declared in it.
  struct Scope {
    std::unordered_map<std::string_view, uint32_t> registers;
    std::unordered_map<std::string_view, Family> families;
    std::unordered_map<std::string_view, Place> variables;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> tables;
  };

  void walk(const ast::Function &f);
  void scope(const std::vector<ast::Statement> &statements, size_t &at);
  void declareRegisters(const ast::Statement &s);
  void declareVariable(const ast::Variable &v, Scope &into);
  void instruction(const ast::Statement &s);
  void plainOperands(const ast::Statement &s, const OpcodeMatch &m, Draft &d);
  void call(const ast::Statement &s, Draft &guardOf);

  [[noreturn]] static void fail(ast::Position at, std::string message) {
    throw SyntaxError{at, std::move(message)};
  }

  // Look-ups; they throw when there is no such thing.
  uint32_t findRegister(const ast::Operand &o);
  const Place *findPlace(std::string_view name);
  uint32_t findLabel(const ast::Operand &o);
  bool isRegister(const ast::Operand &o);

  // Operands. `wide` is the width that the instruction wants.
  uint32_t source(const ast::Operand &o, bool wide, Draft &d);
  /// A source whose register may have either width.
  uint32_t anySource(const ast::Operand &o, bool wideImmediate, Draft &d,
                     bool &isWide);
  uint32_t destination(const ast::Operand &o, bool wide, Draft &d);
  uint32_t anyDestination(const ast::Operand &o, Draft &d, bool &isWide);
  /// Predicate slot; `negated` is null where `!p` is not allowed.
  uint32_t predicateSource(const ast::Operand &o, Draft &d,
                           bool *negated = nullptr);
  uint32_t predicateDestination(const ast::Operand &o, Draft &d);
  int64_t immediate(const ast::Operand &o);
  /// The base and offset of an address; fills a and imm.
  void address(const ast::Operand &o, Draft &d, MemoryAux &aux,
               uint32_t Instruction::*base = &Instruction::a);

  uint32_t constant(uint64_t value, bool wide);
  uint32_t special(const ast::Operand &o, bool wide);
  uint32_t readOnly(ReadOnly r);
  uint32_t addressOf(const Place &place, uint64_t offset, bool wide);
  uint32_t newPredicate(std::string name);
  uint32_t newRegister(std::string name, bool wide);
  uint32_t newLabel() {
    draft.labels.push_back(kNone);
    return uint32_t(draft.labels.size() - 1);
  }
  void emit(Draft d);
  Draft makeJump(uint32_t label, ast::Position at);
  void needOperands(const ast::Statement &s, size_t least, size_t most);

  ModuleImpl &module;
  Kernel &kernel;
  DraftKernel draft;
  OpcodeTable opcodes;
  std::vector<Scope> scopes;
  /// First scope of the function being walked; names do not reach past it.
  size_t functionBase = 0;
  std::vector<const ast::Function *> active;
  std::vector<uint32_t> returnLabels; ///< kNone for the entry
  std::map<std::pair<uint64_t, bool>, uint32_t> constants;
  std::map<std::string, uint32_t> otherReadOnly;
  std::map<const ast::Function *, std::vector<ast::Statement>> bodies;
  uint32_t carryRegister = kNone; ///< CC.CF, once it is used
  int32_t locFile = -1;
  uint32_t locLine = 0;
};

/// Runs the decoder function "@name" of a row; false when there is none.
bool decodeFamily(const std::string &name, FunctionDecoder &decoder,
                  const ast::Statement &s, const OpcodeMatch &m, Draft &d);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_FUNCTIONDECODER_H
