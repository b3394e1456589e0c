//===- Barriers.cpp - barriers used in ways that are not allowed ----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.13.1: an .aligned barrier (every bar.*) is executed
// by all threads of a warp together; one phase of a barrier has one thread
// count, and does not mix bar.red with bar.sync or bar.arrive. The machine goes
// on where a GPU may hang, so the first wrong arrival is what is reported.
//
//===----------------------------------------------------------------------===//
#include "Findings.h"

#include <array>

using namespace ptxvm;

namespace {
/// The lanes of a warp that have come to an aligned barrier without the others.
/// Those may be in a loop that waits for something, and come later.
struct Part {
  uint32_t pc = 0, lanes = 0, missing = 0;
};

/// One phase of one barrier, from its first arrival.
struct Phase {
  bool inUse = false;
  uint32_t firstPc = 0, expected = 0;
  bool isReduction = false;
  std::vector<uint32_t> arrived; ///< lanes, by warp
  std::vector<Part> parts;       ///< by warp
};

class BarrierCTA : public CheckerCTA {
public:
  BarrierCTA(const CTAEvent &event, std::string_view checker)
      : CheckerCTA(event, checker), warps(event.warps) {}

  void barrierArrived(const BarrierEvent &e) override {
    Phase &p = phases[e.barrier];
    bool isReduction = e.kind == BarrierEvent::Reduce;
    if (!p.inUse)
      p = {true, e.pc, e.expected, isReduction, {}, {}};
    meet(e, p);
    std::string name = "barrier " + std::to_string(e.barrier);
    if (p.expected != e.expected)
      report(e.pc, e.warp, __builtin_ctz(e.mask),
             opcode(e.pc) + " waits for " + count(e.expected) + " at " + name +
                 ", but " + instruction(p.firstPc) + " began this phase with " +
                 count(p.expected));
    if (p.isReduction != isReduction)
      report(e.pc, e.warp, __builtin_ctz(e.mask),
             opcode(e.pc) + " and " + instruction(p.firstPc) +
                 " meet in one phase of " + name +
                 "; reductions do not mix with the others");
    // A second arrival would count once more and release the others early.
    p.arrived.resize(warps);
    if (p.arrived[e.warp] & e.mask)
      report(e.pc, e.warp, __builtin_ctz(p.arrived[e.warp] & e.mask),
             opcode(e.pc) + " arrives at " + name +
                 " again before the phase that " + instruction(p.firstPc) +
                 " began is over");
    p.arrived[e.warp] |= e.mask;
  }

  void barrierCompleted(const BarrierEvent &e) override {
    reportParts(phases[e.barrier]);
    phases[e.barrier] = {};
  }

  /// A phase that began and did not end.
  void atEnd(bool completed) {
    for (uint32_t n = 0; n < phases.size(); ++n) {
      const Phase &p = phases[n];
      reportParts(p);
      if (!p.inUse || !completed)
        continue;
      uint32_t arrived = 0, warp = 0;
      for (uint32_t w = 0; w < p.arrived.size(); ++w) {
        arrived += uint32_t(__builtin_popcount(p.arrived[w]));
        warp = p.arrived[w] ? w : warp;
      }
      report(p.firstPc, warp, -1,
             "the CTA ends while " + std::to_string(arrived) + " of " +
                 count(p.expected) + " have arrived at barrier " +
                 std::to_string(n));
    }
  }

private:
  void meet(const BarrierEvent &e, Phase &p) {
    p.parts.resize(warps);
    Part &part = p.parts[e.warp];
    if (!code.instructions[e.pc].isAligned)
      return;
    // Lanes that have exited since they arrived cannot have come with these.
    bool haveExited = part.lanes & ~e.liveMask;
    bool isOther = part.lanes && (part.pc != e.pc || haveExited);
    if (isOther)
      reportPart(e.warp, part);
    uint32_t together = e.mask | (isOther ? 0 : part.lanes);
    part = {};
    if (together != e.liveMask)
      part = {e.pc, together, e.liveMask & ~together};
  }
  void reportPart(uint32_t warp, const Part &p) {
    report(p.pc, warp, __builtin_ctz(p.missing),
           opcode(p.pc) + " needs all lanes of the warp together, and lanes " +
               hex(p.missing) + " are not there");
  }
  void reportParts(const Phase &p) {
    for (uint32_t w = 0; w < p.parts.size(); ++w)
      if (p.parts[w].lanes)
        reportPart(w, p.parts[w]);
  }

  static std::string count(uint32_t expected) {
    return expected ? std::to_string(expected) + " threads"
                    : std::string("all threads of the CTA");
  }
  uint32_t warps;
  std::array<Phase, 16> phases;
};

class BarrierChecker : public Checker {
public:
  std::string_view name() const override { return "barriers"; }
  uint32_t interests() const override { return kBarriers; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<BarrierCTA>(event, name());
  }
  void ctaEnd(const CTAEvent &event, CTAObserver &observer,
              bool completed) override {
    static_cast<BarrierCTA &>(observer).atEnd(completed);
    Checker::ctaEnd(event, observer, completed);
  }
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeBarrierChecker() {
  return std::make_unique<BarrierChecker>();
}
