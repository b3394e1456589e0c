//===- Undefined.cpp - what PTX leaves undefined --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two checkers: integer divisions by zero (PTX ISA 9.1 section 9.7.1), and
// lanes that do not keep together as a warp-wide instruction demands:
// membermasks (9.7.9.6, 9.7.13) and `.aligned`. The machine goes on with some
// value; what the hardware does is not known.
//
//===----------------------------------------------------------------------===//
#include "Findings.h"

using namespace ptxvm;

namespace {
class DivisionCTA : public CheckerCTA {
public:
  using CheckerCTA::CheckerCTA;

  void undefined(const UndefinedEvent &e) override {
    if (e.kind != UndefinedEvent::DivisionByZero)
      return;
    report(e.pc, e.warp, __builtin_ctz(e.mask),
           opcode(e.pc) + " divides by zero" +
               othersText(__builtin_popcount(e.mask) - 1));
  }
};

class DivisionChecker : public Checker {
public:
  std::string_view name() const override { return "division"; }
  uint32_t interests() const override { return kUndefined; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<DivisionCTA>(event, name());
  }
};

/// Instructions that all lanes of the warp must execute together. CTA barriers
/// have a checker of their own, and the core stops at matrix instructions.
std::vector<char> alignedInstructions(const CodeInfo &code) {
  std::vector<char> flags;
  for (const InstructionInfo &i : code.instructions) {
    bool isCTABarrier =
        i.category == Category::Barrier && !i.opcode.starts_with("barrier.clu");
    bool isMatrix =
        i.category == Category::Mma || i.category == Category::MatrixLoad;
    flags.push_back(i.isAligned && !isCTABarrier && !isMatrix);
  }
  return flags;
}

class WarpSyncCTA : public CheckerCTA {
public:
  WarpSyncCTA(const CTAEvent &event, std::string_view checker,
              const std::vector<char> &isAligned)
      : CheckerCTA(event, checker), isAligned(isAligned),
        live(event.warps, ~0u) {
    if (uint32_t rest = event.threads % 32)
      live.back() = (1u << rest) - 1;
  }

  void instructionIssued(const IssueEvent &e) override {
    if (!isAligned[e.pc] || e.active == live[e.warp] || !e.active) [[likely]]
      return;
    uint32_t missing = live[e.warp] & ~e.active;
    report(e.pc, e.warp, __builtin_ctz(missing),
           opcode(e.pc) + " needs all lanes of the warp together, and lanes " +
               hex(missing) + " are not there");
  }

  void lanesExited(uint32_t warp, uint32_t, uint32_t mask) override {
    live[warp] &= ~mask;
  }

  void undefined(const UndefinedEvent &e) override {
    std::string message;
    switch (e.kind) {
    case UndefinedEvent::InactiveSource:
      message = " reads from lane " + std::to_string(e.detail) +
                ", which does not take part" +
                othersText(__builtin_popcount(e.mask) - 1);
      break;
    case UndefinedEvent::NotInOwnMask:
      message = " is executed by a lane that its membermask " +
                hex(uint32_t(e.detail)) + " leaves out" +
                othersText(__builtin_popcount(e.mask) - 1);
      break;
    case UndefinedEvent::DifferentMasks:
      message = " is executed with different membermasks: lanes " +
                hex(e.mask) + " do not give " + hex(uint32_t(e.detail));
      break;
    case UndefinedEvent::EmptyMask:
      message = " has an empty membermask";
      break;
    case UndefinedEvent::DivisionByZero:
      return;
    }
    report(e.pc, e.warp, __builtin_ctz(e.mask), opcode(e.pc) + message);
  }

private:
  const std::vector<char> &isAligned; ///< by pc
  std::vector<uint32_t> live;         ///< lanes, by warp
};

class WarpSyncChecker : public Checker {
public:
  std::string_view name() const override { return "warp-sync"; }
  uint32_t interests() const override {
    return kInstructions | kBarriers | kUndefined;
  }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    isAligned = alignedInstructions(event.code);
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<WarpSyncCTA>(event, name(), isAligned);
  }

private:
  std::vector<char> isAligned;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeDivisionChecker() {
  return std::make_unique<DivisionChecker>();
}
std::unique_ptr<ExecutionObserver> ptxvm::makeWarpSyncChecker() {
  return std::make_unique<WarpSyncChecker>();
}
