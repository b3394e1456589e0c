//===- ProgramGenerator.h - bytes to a PTX program --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs that are valid, or nearly: opcodes come from the rows of the
// machine's own instruction table, so a row that is new is fuzzed from its
// first day; operands follow the row's pattern. Each statement has a line of
// its own. What is refused all the same (a type that a register has not, a
// modifier that does not go with another) is dropped by the caller, by line.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_FUZZ_PROGRAMGENERATOR_H
#define FA_UNITTESTS_FUZZ_PROGRAMGENERATOR_H

#include "FuzzTarget.h"

#include "Emulator/Decoder/InstructionTable.h"

#include <vector>

namespace fafuzz {

/// The words of one instruction, and its operands by the pattern of its row.
class InstructionGenerator {
public:
  explicit InstructionGenerator(ByteSource &bytes) : bytes(bytes) {}

  /// "@%p1 add.s32 %r1, %r2, 3;" of a random row; for some rows lines before
  /// it that make an address.
  std::string instruction();
  /// Of rows with this mnemonic only.
  std::string instructionOf(std::string_view mnemonic);

  std::string reg32();
  std::string reg64();
  std::string predicate();
  /// In brackets, mostly inside of a variable of the space.
  std::string address(std::string_view space);

private:
  using Row = ptxvm::InstructionRow;

  std::string write(const Row &row);
  std::string opcode(const Row &row);
  std::string operands(const Row &row);
  std::string family(const Row &row);
  std::string memoryFamily(std::string_view name);
  std::string warpFamily(std::string_view name);
  std::string asyncFamily(std::string_view name);
  std::string bulk();
  std::string mma();
  std::string wgmma();
  std::string convert();
  /// A register or a constant for values of this type.
  std::string value(std::string_view type, bool isDestination = false);
  std::string vectorOf(unsigned count, std::string_view type,
                       bool isDestination);
  std::string mask();
  bool has(std::string_view word) const;
  std::string lastType() const { return types.empty() ? "b32" : types.back(); }

  ByteSource &bytes;
  std::vector<std::string> words, types; ///< of the opcode in hand
  bool isReduction = false;              ///< red: no result
  std::string before;                    ///< lines in front of the instruction
};

/// A whole file: variables, functions and an entry `k` with the parameters
/// input, output (addresses), map (a tensor map) and n.
std::string generateProgram(ByteSource &bytes);

} // namespace fafuzz

#endif // FA_UNITTESTS_FUZZ_PROGRAMGENERATOR_H
