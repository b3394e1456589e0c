//===- Targets.h - what needs which chip and which PTX ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An instruction of Hopper in a file for Ampere is refused when it is decoded,
// as ptxas does, and not run because it happens to be known.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_TARGETS_H
#define FA_LIB_EMULATOR_DECODER_TARGETS_H

#include "InstructionTable.h"

#include <optional>
#include <string>

namespace ptxvm {

/// A file's `.target` and `.version`.
struct Target {
  unsigned sm = 0;      ///< 80 of sm_80
  char suffix = 0;      ///< 'a', 'f' or 0
  unsigned version = 0; ///< 78 of 7.8

  std::string name() const;
};

/// Takes the two words apart; the message when they are no target or do not go
/// together.
std::optional<std::string> parseTarget(std::string_view target,
                                       std::string_view version, Target &into);

/// Why the target has no such instruction, or nothing.
std::optional<std::string> checkTarget(const Target &target,
                                       std::string_view opcode,
                                       const OpcodeMatch &match);
/// The same for a special register.
std::optional<std::string> checkSpecial(const Target &target,
                                        std::string_view name);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_TARGETS_H
