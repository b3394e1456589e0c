//===- WgmmaRegisters.cpp - registers that wgmma uses ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.15: wgmma.mma_async reads and writes registers while
// the warp goes on.
//
//   access r; wgmma.fence; wgmma on r; commit_group; wait_group N; access r
//             ^ needed: "fence"                      ^ needed: "wait"
//
// Accumulators of consecutive wgmmas of one shape need no fence between them.
//
//===----------------------------------------------------------------------===//
#include "Findings.h"

#include <algorithm>
#include <span>

using namespace ptxvm;

namespace {
/// A wgmma that has not been waited for, as one warp sees it.
struct Pending {
  uint32_t group;
  std::span<const uint32_t> accumulators, a; ///< its registers
};

/// What an instruction does to a register that a wgmma of the kernel uses.
struct Access {
  uint32_t reg;
  bool writes;
};

/// The accesses of each instruction.
struct Accesses {
  std::vector<Access> all;
  std::vector<uint32_t> first; ///< by pc, and one more

  std::span<const Access> of(uint32_t pc) const {
    return std::span(all).subspan(first[pc], first[pc + 1] - first[pc]);
  }
};

/// One register of one warp.
struct Register {
  uint64_t accessed = 0; ///< time of the last access by other instructions
  uint32_t accessPc = 0;
  uint32_t users = 0; ///< wgmmas under way that use it
  uint32_t userPc = 0;
  uint32_t shape = 0; ///< of the last wgmma that it accumulated for
};

struct WarpState {
  std::vector<Register> registers;
  std::vector<Pending> pending;
  uint32_t openGroup = 0;
  uint64_t fenced = 0; ///< time of the last wgmma.fence
};

class WgmmaCTA : public CheckerCTA {
public:
  WgmmaCTA(const CTAEvent &event, std::string_view checker,
           const Accesses &accesses)
      : CheckerCTA(event, checker), accesses(accesses), warps(event.warps) {
    for (WarpState &w : warps)
      w.registers.resize(event.code.registerNames.size());
  }

  void instructionIssued(const IssueEvent &e) override {
    std::span<const Access> here = accesses.of(e.pc);
    if (here.empty() || !e.active)
      return;
    ++now;
    for (const Access &a : here)
      access(e, warps[e.warp], a);
  }

  void wgmmaIssued(const WgmmaEvent &e) override {
    ++now;
    uint32_t shape = uint32_t(e.n) << 16 | e.k;
    for (uint32_t n = e.firstWarp; n < e.firstWarp + 4; ++n) {
      WarpState &w = warps[n];
      for (const auto &used : {e.accumulators, e.aRegisters})
        for (uint32_t r : used)
          needFence(e, n, r);
      for (uint32_t r : e.accumulators)
        overlap(e, n, r, shape);
      for (const auto &used : {e.accumulators, e.aRegisters})
        for (uint32_t r : used) {
          ++w.registers[r].users;
          w.registers[r].userPc = e.pc;
        }
      for (uint32_t r : e.accumulators)
        w.registers[r].shape = shape;
      w.pending.push_back({w.openGroup, e.accumulators, e.aRegisters});
    }
  }

  void wgmmaCommitted(const WgmmaGroupEvent &e) override {
    for (uint32_t n = 0; n < e.warps; ++n)
      ++warps[e.firstWarp + n].openGroup;
  }
  void wgmmaWaited(const WgmmaGroupEvent &e) override {
    for (uint32_t n = 0; n < e.warps; ++n) {
      WarpState &w = warps[e.firstWarp + n];
      std::erase_if(w.pending, [&](const Pending &p) {
        bool isDone = p.group + e.pending < w.openGroup;
        for (const auto &used : {p.accumulators, p.a})
          for (uint32_t r : used)
            w.registers[r].users -= isDone;
        return isDone;
      });
    }
  }
  void wgmmaFence(const WgmmaGroupEvent &e) override {
    ++now;
    for (uint32_t n = 0; n < e.warps; ++n)
      warps[e.firstWarp + n].fenced = now;
  }

private:
  void access(const IssueEvent &e, WarpState &w, const Access &a) {
    Register &reg = w.registers[a.reg];
    reg.accessed = now;
    reg.accessPc = e.pc;
    reg.shape = 0;
    if (!reg.users) [[likely]]
      return;
    report(e.pc, e.warp, __builtin_ctz(e.active),
           opcode(e.pc) + (a.writes ? " writes" : " reads") + " register " +
               code.registerNames[a.reg] + ", which " +
               instruction(reg.userPc) +
               " is still using; no wgmma.wait_group lies between");
  }

  void needFence(const WgmmaEvent &e, uint32_t warp, uint32_t r) {
    const WarpState &w = warps[warp];
    const Register &reg = w.registers[r];
    if (w.fenced && reg.accessed <= w.fenced)
      return;
    std::string why =
        w.fenced ? ", which " + instruction(reg.accessPc) +
                       " accesses, and no wgmma.fence lies between"
                 : ", and there was no wgmma.fence before the first wgmma";
    report(e.pc, warp, -1,
           opcode(e.pc) + " uses register " + code.registerNames[r] + why);
  }

  /// Accumulators under way may only be those of the same shape.
  void overlap(const WgmmaEvent &e, uint32_t warp, uint32_t r, uint32_t shape) {
    const Register &reg = warps[warp].registers[r];
    if (!reg.users || reg.shape == shape)
      return;
    report(e.pc, warp, -1,
           opcode(e.pc) + " accumulates in register " + code.registerNames[r] +
               ", which " + instruction(reg.userPc) +
               ", of another shape or as its operand, is still using");
  }

  const Accesses &accesses;
  uint64_t now = 0;
  std::vector<WarpState> warps;
};

class WgmmaChecker : public Checker {
public:
  std::string_view name() const override { return "wgmma"; }
  uint32_t interests() const override { return kInstructions | kWgmma; }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    const std::vector<InstructionInfo> &all = event.code.instructions;
    std::vector<char> isUsed(event.code.registerNames.size());
    for (const InstructionInfo &i : all)
      if (i.mnemonic == "wgmma")
        for (const auto &registers : {i.reads, i.writes})
          for (uint32_t r : registers)
            isUsed[r] = 1;
    accesses = {};
    for (const InstructionInfo &i : all) {
      accesses.first.push_back(uint32_t(accesses.all.size()));
      if (i.mnemonic == "wgmma")
        continue;
      for (uint32_t r : i.reads)
        if (isUsed[r])
          accesses.all.push_back({r, false});
      for (uint32_t r : i.writes)
        if (isUsed[r])
          accesses.all.push_back({r, true});
    }
    accesses.first.push_back(uint32_t(accesses.all.size()));
    hasWgmma = std::any_of(all.begin(), all.end(),
                           [](auto &i) { return i.mnemonic == "wgmma"; });
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    if (!hasWgmma)
      return nullptr;
    return std::make_unique<WgmmaCTA>(event, name(), accesses);
  }

private:
  Accesses accesses;
  bool hasWgmma = false;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeWgmmaChecker() {
  return std::make_unique<WgmmaChecker>();
}
