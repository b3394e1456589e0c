//===- Findings.h - what a checker has found --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bug in a loop is met thousands of times. A CTA reports each instruction
// once, the launch keeps the report of the first CTA and counts the others.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_FINDINGS_H
#define FA_LIB_EMULATOR_CHECKERS_FINDINGS_H

#include "fa/Emulator/Checkers.h"

#include <map>

namespace ptxvm {

/// Watches a CTA for a checker and keeps what it needs of the CTAEvent, which
/// does not live as long.
class CheckerCTA : public CTAObserver {
public:
  CheckerCTA(const CTAEvent &event, std::string_view checker)
      : code(event.code), origin(checker), sink(event.sink) {}

  const std::vector<uint32_t> &reportedInstructions() const { return reported; }

protected:
  /// True when this CTA has not reported this instruction.
  bool isNew(uint32_t pc) const;
  void report(uint32_t pc, uint32_t warp, int lane, std::string message);
  /// "ld.shared.u32"
  const std::string &opcode(uint32_t pc) const {
    return code.instructions[pc].opcode;
  }
  /// "ld.shared.u32 at line 12"
  std::string instruction(uint32_t pc) const;

  const CodeInfo &code;

private:
  std::string origin;
  DiagnosticSink &sink;
  std::vector<uint32_t> reported;
};

/// The part that all checkers share: CTAs are CheckerCTAs.
class Checker : public ExecutionObserver {
public:
  void kernelBegin(const KernelEvent &event) override;
  void ctaEnd(const CTAEvent &event, CTAObserver &observer,
              bool completed) override;
  void kernelEnd(Report &report) override;

protected:
  const Device *device = nullptr;

private:
  const CodeInfo *code = nullptr;
  std::map<uint32_t, uint64_t> ctasOf; ///< by pc
};

/// "buffer 'x' at byte 12", "shared memory at byte 128".
std::string placeName(Space space, uint64_t address, const Allocation *buffer);

/// "; 3 other lanes do the like", or nothing.
std::string othersText(int lanes);
/// "0x0000ffff"
std::string hex(uint32_t mask);

inline std::string bytesText(uint64_t bytes) {
  return bytes == 1 ? "1 byte" : std::to_string(bytes) + " bytes";
}

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_FINDINGS_H
