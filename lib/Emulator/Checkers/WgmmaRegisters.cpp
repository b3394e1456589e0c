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

using namespace ptxvm;

namespace {
/// A wgmma that has not been waited for, as one warp sees it.
struct Pending {
  uint32_t pc, group;
  uint64_t id;
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
  std::vector<std::pair<Pending, std::vector<uint32_t>>> pending;
  uint32_t openGroup = 0;
  uint64_t fenced = 0; ///< time of the last wgmma.fence
};

class WgmmaCTA : public CheckerCTA {
public:
  WgmmaCTA(const CTAEvent &event, std::string_view checker,
           const std::vector<char> &isWgmma)
      : CheckerCTA(event, checker), isWgmma(isWgmma), warps(event.warps) {
    for (WarpState &w : warps)
      w.registers.resize(event.code.registerNames.size());
  }

  void instructionIssued(const IssueEvent &e) override {
    if (isWgmma[e.pc] || !e.active)
      return;
    ++now;
    WarpState &w = warps[e.warp];
    const InstructionInfo &i = code.instructions[e.pc];
    for (uint32_t r : i.reads)
      access(e, w, r, "reads");
    for (uint32_t r : i.writes)
      access(e, w, r, "writes");
  }

  void wgmmaIssued(const WgmmaEvent &e) override {
    ++now;
    uint32_t shape = uint32_t(e.n) << 16 | e.k;
    for (uint32_t n = e.firstWarp; n < e.firstWarp + 4; ++n) {
      WarpState &w = warps[n];
      std::vector<uint32_t> used(e.accumulators.begin(), e.accumulators.end());
      used.insert(used.end(), e.aRegisters.begin(), e.aRegisters.end());
      for (uint32_t r : used)
        needFence(e, n, r);
      for (uint32_t r : e.accumulators)
        overlap(e, n, r, shape);
      for (uint32_t r : used) {
        ++w.registers[r].users;
        w.registers[r].userPc = e.pc;
      }
      for (uint32_t r : e.accumulators)
        w.registers[r].shape = shape;
      w.pending.push_back({{e.pc, w.openGroup, e.id}, std::move(used)});
    }
  }

  void wgmmaCommitted(const WgmmaGroupEvent &e) override {
    for (uint32_t n = 0; n < e.warps; ++n)
      ++warps[e.firstWarp + n].openGroup;
  }
  void wgmmaWaited(const WgmmaGroupEvent &e) override {
    for (uint32_t n = 0; n < e.warps; ++n) {
      WarpState &w = warps[e.firstWarp + n];
      std::erase_if(w.pending, [&](const auto &entry) {
        bool isDone = entry.first.group + e.pending < w.openGroup;
        for (uint32_t r : entry.second)
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
  void access(const IssueEvent &e, WarpState &w, uint32_t r, const char *verb) {
    Register &reg = w.registers[r];
    reg.accessed = now;
    reg.accessPc = e.pc;
    reg.shape = 0;
    if (!reg.users) [[likely]]
      return;
    report(e.pc, e.warp, __builtin_ctz(e.active),
           opcode(e.pc) + " " + verb + " register " + code.registerNames[r] +
               ", which " + instruction(reg.userPc) +
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

  const std::vector<char> &isWgmma; ///< by pc
  uint64_t now = 0;
  std::vector<WarpState> warps;
};

class WgmmaChecker : public Checker {
public:
  std::string_view name() const override { return "wgmma"; }
  uint32_t interests() const override { return kInstructions | kWgmma; }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    isWgmma.clear();
    for (const InstructionInfo &i : event.code.instructions)
      isWgmma.push_back(i.mnemonic == "wgmma");
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    if (std::find(isWgmma.begin(), isWgmma.end(), 1) == isWgmma.end())
      return nullptr;
    return std::make_unique<WgmmaCTA>(event, name(), isWgmma);
  }

private:
  std::vector<char> isWgmma;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeWgmmaChecker() {
  return std::make_unique<WgmmaChecker>();
}
