//===- InstructionTable.h - opcode word to row ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes an opcode apart and finds its row of Instructions.def. What was found
// is kept for the next time.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_INSTRUCTIONTABLE_H
#define FA_LIB_EMULATOR_DECODER_INSTRUCTIONTABLE_H

#include "Code.h"

#include <map>
#include <string_view>
#include <utility>

namespace ptxvm {

struct InstructionRow {
  const char *mnemonic, *types, *required, *optional, *operands, *handler;
  Category category;
};

/// The rows in the order of the file.
const std::vector<InstructionRow> &instructionRows();

/// The row of a handler, for forms that a decoder function chooses; 0 (which is
/// none of those) when there is none.
uint16_t rowOfHandler(std::string_view handler);

/// An opcode that has been understood.
struct OpcodeMatch {
  const InstructionRow *row = nullptr;
  uint16_t index = 0;
  uint64_t mods = 0;
  std::vector<std::string_view> types;
  /// All words after the mnemonic, types included.
  std::vector<std::string_view> words;

  bool has(std::string_view word) const {
    for (std::string_view w : words)
      if (w == word)
        return true;
    return false;
  }
};

class OpcodeTable {
public:
  /// Null when no row fits. Of rows that differ in their operands alone the one
  /// that takes so many, else the first. The word must outlive the table.
  const OpcodeMatch *find(std::string_view opcode, size_t operands);

private:
  std::map<std::pair<std::string_view, size_t>, OpcodeMatch> cache;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_INSTRUCTIONTABLE_H
