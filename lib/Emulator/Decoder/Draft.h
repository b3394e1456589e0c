//===- Draft.h - an instruction on its way ----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between syntax and code. Operand fields hold references: a register number,
// or with kReadOnlyBit the number of a read-only slot, or kNone. Predicates are
// already slots.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_DRAFT_H
#define FA_LIB_EMULATOR_DECODER_DRAFT_H

#include "Code.h"

namespace ptxvm {

inline constexpr uint32_t kReadOnlyBit = 1u << 31;
inline constexpr uint32_t kNone = ~0u;

/// Fields of an Instruction that hold a register reference.
enum DraftField : uint8_t {
  kFieldDst = 1,
  kFieldA = 2,
  kFieldB = 4,
  kFieldC = 8,
  kFieldD = 16,
};

struct Draft {
  Instruction inst;
  InstructionInfo info;
  uint8_t fields = 0;            ///< DraftField bits
  std::vector<uint32_t> list;    ///< references of Instruction::list
  std::vector<uint32_t> keeps;   ///< registers that must not be reused here
  std::vector<uint32_t> targets; ///< label numbers; bra has one
  /// Registers that are read but are none of the program's: the frame's.
  std::vector<uint32_t> hiddenReads;
  bool endsPath = false; ///< no fall-through when the guard is always true
  bool isGuarded = false;

  bool isBranch() const { return !targets.empty(); }
};

/// A declared register.
struct VirtualRegister {
  std::string name;
  bool isPredicate = false;
  bool isWide = false;
  uint32_t predicate = 0; ///< slot, when it is one
  /// The declared type, "b32"; "b128" takes this register and the next one.
  std::string_view type;
};

/// A kernel before blocks are ordered and registers placed.
struct DraftKernel {
  std::vector<Draft> drafts;
  /// Label number -> index into drafts (may be drafts.size()).
  std::vector<uint32_t> labels;
  std::vector<VirtualRegister> registers;
  /// The drafts of each function, as [first, last).
  struct Region {
    uint32_t first = 0, last = 0;
    uint32_t frameRegister = ~0u;
    std::vector<uint32_t> callees;
    bool callsByAddress = false;
  };
  std::vector<Region> regions;
  /// The functions that a call by address may reach.
  std::vector<uint32_t> addressTaken;

  /// A call by address may reach each of them: they become the callees of one
  /// more region, without code, that such a caller calls. (Edges from each
  /// caller to each of them could be far too many.)
  void joinCallsByAddress() {
    uint32_t any = uint32_t(regions.size());
    for (Region &r : regions)
      if (r.callsByAddress)
        r.callees.push_back(any);
    regions.emplace_back();
    regions.back().callees = addressTaken;
  }
};

/// Orders functions (callees first) and their blocks, adds jumps where a
/// fall-through is broken, makes targets indices into the returned list, and
/// says where each function lies.
std::vector<Draft> orderBlocks(DraftKernel &kernel,
                               std::vector<FunctionInfo> &functions);

/// Keeps the registers of wgmmas in place until a wait.
void keepWgmmaRegisters(std::vector<Draft> &code);

/// Places registers and fills Kernel::code, lists, info, registerWords.
void allocateRegisters(const DraftKernel &draft, std::vector<Draft> &ordered,
                       Kernel &kernel);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_DRAFT_H
