//===- FunctionDecoder.h - names to meanings --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the statements of an entry and of the functions it reaches, each once.
// `.local` and `.param` variables of the entry lie at fixed places of the
// thread's local memory; those of a function in the frame of its call, whose
// address the call leaves in a register. Parameters and results are copied
// between the two frames by the call itself (Calls.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_FUNCTIONDECODER_H
#define FA_LIB_EMULATOR_DECODER_FUNCTIONDECODER_H

#include "../Parser/Lexer.h"
#include "Draft.h"
#include "InstructionTable.h"
#include "Modifiers.h"
#include "ModuleImpl.h"
#include "Targets.h"

#include <cstdlib>
#include <map>
#include <unordered_map>
#include <unordered_set>

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
    enum Kind { Param, Local, Shared, DynamicShared, Global, Frame } kind;
    uint64_t offset;
    std::string_view symbol;
    uint64_t bytes = 0;
    bool isTemporary = false; ///< a `.param` variable of a body
  };
  /// Registers %r<count>; those that are named get numbers.
  struct Family {
    std::string_view type;
    uint64_t count;
    std::unordered_map<uint32_t, uint32_t> known;
  };
  struct Prototype {
    std::vector<ast::Variable> results, parameters;
  };
  /// One brace scope: what is declared in it.
  struct Scope {
    std::unordered_map<std::string_view, uint32_t> registers;
    std::unordered_map<std::string_view, Family> families;
    std::unordered_map<std::string_view, Place> variables;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> tables;
    std::unordered_map<std::string_view, Prototype> prototypes;
  };

  /// The function `index` of `reached`: its code is appended.
  void walk(uint32_t index);
  /// Labels and lists of all scopes of a body, in the order of the scopes.
  std::vector<Scope> findLabels(const std::vector<ast::Statement> &statements);
  void scope(const std::vector<ast::Statement> &statements, size_t &at);
  void declareRegisters(const ast::Statement &s);
  void declareVariable(const ast::Variable &v, Scope &into);
  void instruction(const ast::Statement &s);
  /// Refuses a register that an operand of this type cannot name; wider ones
  /// are good for what is extended or cut.
  void checkType(const ast::Operand &o, uint32_t reg, std::string_view type,
                 bool mayBeWider = false);
  void plainOperands(const ast::Statement &s, const OpcodeMatch &m, Draft &d);

  // Calls.cpp
  void call(const ast::Statement &s, Draft d);
  void builtinCall(const ast::Statement &s, Draft d, CallSite site,
                   std::string_view name);
  CallSite prepareCall(const ast::Statement &s, const ast::Operand *results,
                       const ast::Operand *parameters,
                       const std::vector<ast::Variable> &resultTypes,
                       const std::vector<ast::Variable> &parameterTypes,
                       std::vector<Draft> &after);
  /// Where an argument of a call lies in the caller's frame.
  uint32_t argumentPlace(const ast::Operand &o, const ast::Variable &formal,
                         bool isResult, std::vector<Draft> &after);
  void enterFunction(const ast::Function &f);
  void leaveFunction(const ast::Statement &s);
  Draft localAccess(const Place &place, std::string_view type,
                    const ast::Operand &reg, bool isLoad);
  uint32_t reach(const ast::Function &f);
  void useGlobal(const ast::Variable &v);
  void useInitialValue(const ast::Variable &v,
                       std::vector<const ast::Variable *> &open);
  /// The number of a function that something may call by its address.
  uint32_t takeAddress(const ast::Function &f);
  /// Lists that many instructions name grow the code by their product.
  void countTargets(ast::Position at, size_t count);
  void measureStack();
  uint32_t frameBase();

  [[noreturn]] static void fail(ast::Position at, std::string message) {
    throw SyntaxError{at, std::move(message)};
  }

  // Look-ups; they throw when there is no such thing.
  uint32_t findRegister(const ast::Operand &o);
  const Place *findPlace(std::string_view name);
  template <typename T>
  const T *findIn(std::unordered_map<std::string_view, T> Scope::*table,
                  std::string_view name) {
    for (size_t i = scopes.size(); i-- > 0;) {
      auto found = (scopes[i].*table).find(name);
      if (found != (scopes[i].*table).end())
        return &found->second;
    }
    return nullptr;
  }
  uint32_t findLabel(const ast::Operand &o);
  bool isRegister(const ast::Operand &o);

  // Operands. `wide` is the width that the instruction wants.
  uint32_t source(const ast::Operand &o, bool wide, Draft &d);
  /// A source whose register may have either width.
  uint32_t anySource(const ast::Operand &o, bool wideImmediate, Draft &d,
                     bool &isWide);
  uint32_t destination(const ast::Operand &o, bool wide, Draft &d);
  uint32_t anyDestination(const ast::Operand &o, Draft &d, bool &isWide);
  /// A .b128 register: the number of its lower half, the upper one follows.
  uint32_t wholeRegister(const ast::Operand &o);
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
  uint32_t newRegister(std::string name, std::string_view type);
  /// 90 of "sm_90a".
  int targetNumber() const {
    return module.target.starts_with("sm_")
               ? std::atoi(module.target.c_str() + 3)
               : 0;
  }
  uint32_t newLabel() {
    draft.labels.push_back(kNone);
    return uint32_t(draft.labels.size() - 1);
  }
  void emit(Draft d);
  void needOperands(const ast::Statement &s, size_t least, size_t most);

  ModuleImpl &module;
  Kernel &kernel;
  DraftKernel draft;
  OpcodeTable opcodes;
  std::unordered_set<const OpcodeMatch *> fitting; ///< the target has them
  Target target;
  /// The module's variables, then the function's scopes.
  std::vector<Scope> scopes;
  std::vector<Scope> labelScopes; ///< of the body being walked
  size_t nextLabelScope = 0;
  /// Functions met so far; 0 is the entry. Others are `current` in turn.
  std::vector<const ast::Function *> reached;
  std::unordered_map<const ast::Function *, uint32_t> reachedIndex;
  std::unordered_set<uint32_t> isAddressTaken;
  uint32_t current = 0;
  std::unordered_set<const ast::Variable *> usedGlobals;
  std::map<std::pair<uint64_t, bool>, uint32_t> constants;
  std::map<std::string, uint32_t> otherReadOnly;
  uint32_t carryRegister = kNone; ///< CC.CF, once it is used
  uint32_t frameAlignment = 16;
  uint32_t line = 0; ///< of the operand in hand
  /// What the operand in hand has to be, empty when anything goes.
  std::string_view operandType;
  bool mayBeWider = false;
  uint64_t listedTargets = 0; ///< of brx and of calls by address
  int32_t locFile = -1, inlinedFile = -1;
  uint32_t locLine = 0, inlinedLine = 0;
};

/// Runs the decoder function "@name" of a row; false when there is none.
bool decodeFamily(const std::string &name, FunctionDecoder &decoder,
                  const ast::Statement &s, const OpcodeMatch &m, Draft &d);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_FUNCTIONDECODER_H
