//===- Findings.cpp - what a checker has found ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reporting and folding.
//
//===----------------------------------------------------------------------===//
#include "Findings.h"

#include <algorithm>
#include <cstdio>

using namespace ptxvm;

bool CheckerCTA::isNew(uint32_t pc) const {
  return std::find(reported.begin(), reported.end(), pc) == reported.end();
}

void CheckerCTA::report(uint32_t pc, uint32_t warp, int lane,
                        std::string message) {
  if (!isNew(pc))
    return;
  reported.push_back(pc);
  sink.report(Severity::Error, origin, std::move(message), pc, int(warp), lane);
}

std::string CheckerCTA::instruction(uint32_t pc) const {
  return opcode(pc) + " at line " + std::to_string(code.instructions[pc].line);
}

void Checker::kernelBegin(const KernelEvent &event) {
  device = &event.device;
  code = &event.code;
  ctasOf.clear();
}

void Checker::ctaEnd(const CTAEvent &, CTAObserver &observer, bool) {
  for (uint32_t pc :
       static_cast<const CheckerCTA &>(observer).reportedInstructions())
    ++ctasOf[pc];
}

void Checker::kernelEnd(Report &report) {
  std::map<std::pair<unsigned, unsigned>, uint64_t> ctasAt, kept;
  for (const auto &[pc, ctas] : ctasOf) {
    const InstructionInfo &i = code->instructions[pc];
    uint64_t &sum = ctasAt[{i.line, i.column}];
    sum = std::max(sum, ctas);
  }
  std::erase_if(report.diagnostics, [&](Diagnostic &d) {
    if (d.origin != name())
      return false;
    std::pair<unsigned, unsigned> at(d.location.line, d.location.column);
    if (kept[at]++)
      return true;
    if (uint64_t others = ctasAt[at] - 1; ctasAt[at] > 1)
      d.message += "; " + std::to_string(others) + " other CTA" +
                   (others > 1 ? "s do" : " does") + " the same";
    return false;
  });
}

std::string ptxvm::placeName(Space space, uint64_t address,
                             const Allocation *buffer) {
  static constexpr const char *kNames[] = {"global memory", "shared memory",
                                           "the thread's local memory",
                                           "parameters"};
  if (space == Space::Global && buffer)
    return "buffer '" + buffer->name + "' at byte " +
           std::to_string(address - buffer->address);
  return std::string(kNames[unsigned(space)]) + " at byte " +
         std::to_string(address);
}

std::string ptxvm::othersText(int lanes) {
  if (lanes <= 0)
    return {};
  return "; " + std::to_string(lanes) + " other lane" +
         (lanes > 1 ? "s do" : " does") + " the like";
}

std::string ptxvm::hex(uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", mask);
  return text;
}
