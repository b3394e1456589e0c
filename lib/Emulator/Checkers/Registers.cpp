//===- Registers.cpp - reads of registers that nothing has written --------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One mask of lanes for each register of a warp. `mov` copies the mask, for
// compilers move values that are undefined on a path where nobody uses them;
// everything else that reads an unwritten register is a finding.
//
// Masks nearly always only grow. So an instruction that has once run with
// everything it touches defined in all lanes needs no second look, and a loop
// costs one test an instruction; where a mov takes a definition away, the looks
// begin again.
//
//===----------------------------------------------------------------------===//
#include "Findings.h"

using namespace ptxvm;

namespace {
/// The register numbers of an instruction, flat.
struct Operands {
  uint32_t begin = 0, reads = 0, writes = 0;
  int32_t guard = -1;
  bool isMove = false, isWgmma = false;
};
struct RegisterUses {
  std::vector<Operands> operands; ///< by pc
  std::vector<uint32_t> numbers;
  size_t registers = 0;
};

RegisterUses flatten(const CodeInfo &code) {
  RegisterUses uses;
  uses.registers = code.registerNames.size();
  for (const InstructionInfo &i : code.instructions) {
    Operands o{uint32_t(uses.numbers.size()), uint32_t(i.reads.size()),
               uint32_t(i.writes.size()),     i.guard,
               i.mnemonic == "mov",           i.mnemonic == "wgmma"};
    uses.operands.push_back(o);
    uses.numbers.insert(uses.numbers.end(), i.reads.begin(), i.reads.end());
    uses.numbers.insert(uses.numbers.end(), i.writes.begin(), i.writes.end());
  }
  return uses;
}

class RegisterCTA : public CheckerCTA {
public:
  RegisterCTA(const CTAEvent &event, std::string_view checker,
              const RegisterUses &uses)
      : CheckerCTA(event, checker), uses(uses),
        defined(uses.registers * event.warps),
        isSettled(uses.operands.size() * event.warps), sums(event.warps) {
    // Lanes that a partial last warp lacks never count.
    if (uint32_t rest = event.threads % 32)
      for (size_t r = 0; r < uses.registers; ++r)
        defined[(event.warps - 1) * uses.registers + r] = ~0u << rest;
  }

  void instructionIssued(const IssueEvent &e) override {
    char &settled = isSettled[e.warp * uses.operands.size() + e.pc];
    if (settled) [[likely]]
      return;
    const Operands &o = uses.operands[e.pc];
    uint32_t *masks = &defined[e.warp * uses.registers];
    const uint32_t *numbers = uses.numbers.data() + o.begin;
    uint32_t sources = ~0u, anywhere = ~0u;
    for (uint32_t k = 0; k < o.reads; ++k) {
      uint32_t r = numbers[k];
      bool isGuard = int32_t(r) == o.guard;
      if (!o.isMove || isGuard)
        check(e, r, masks[r], isGuard ? e.group : e.active);
      if (!isGuard)
        sources &= masks[r];
      anywhere &= masks[r];
    }
    if (o.isWgmma)
      sums[e.warp] = firstUnset(e, numbers + o.reads, o.writes, masks);
    uint32_t value = o.isMove ? sources : ~0u;
    for (uint32_t k = 0; k < o.writes; ++k) {
      uint32_t &mask = masks[numbers[o.reads + k]];
      uint32_t next = (mask & ~e.active) | (value & e.active);
      if (mask & ~next)
        unsettle(e.warp);
      mask = next;
      anywhere &= mask;
    }
    settled = anywhere == ~0u;
  }

  /// Whether the accumulators are read is known now; they were judged when
  /// each warp came to the instruction.
  void wgmmaIssued(const WgmmaEvent &e) override {
    for (uint32_t w = e.firstWarp; w < e.firstWarp + 4; ++w) {
      const UnsetSum &sum = sums[w];
      if (e.accumulates && sum.lanes && sum.pc == e.pc)
        check({w, e.pc, sum.lanes, sum.lanes}, sum.number, 0, sum.lanes);
      sums[w].lanes = 0;
    }
  }

private:
  /// An accumulator of a wgmma that nothing has written in some lanes.
  struct UnsetSum {
    uint32_t pc = 0, number = 0, lanes = 0;
  };
  static UnsetSum firstUnset(const IssueEvent &e, const uint32_t *numbers,
                             uint32_t count, const uint32_t *masks) {
    for (uint32_t k = 0; k < count; ++k)
      if (uint32_t lanes = e.active & ~masks[numbers[k]])
        return {e.pc, numbers[k], lanes};
    return {};
  }

  void check(const IssueEvent &e, uint32_t r, uint32_t mask, uint32_t lanes) {
    uint32_t bad = lanes & ~mask;
    if (!bad) [[likely]]
      return;
    report(e.pc, e.warp, __builtin_ctz(bad),
           opcode(e.pc) + " reads register " + code.registerNames[r] +
               ", which nothing has written");
  }

  void unsettle(uint32_t warp) {
    size_t n = uses.operands.size();
    std::fill_n(isSettled.begin() + long(warp * n), n, 0);
  }

  const RegisterUses &uses;
  std::vector<uint32_t> defined; ///< by warp and register, lanes
  std::vector<char> isSettled;   ///< by warp and pc
  std::vector<UnsetSum> sums;    ///< by warp
};

class RegisterChecker : public Checker {
public:
  std::string_view name() const override { return "registers"; }
  uint32_t interests() const override { return kInstructions | kWgmma; }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    uses = flatten(event.code);
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    return std::make_unique<RegisterCTA>(event, name(), uses);
  }

private:
  RegisterUses uses;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeRegisterChecker() {
  return std::make_unique<RegisterChecker>();
}
