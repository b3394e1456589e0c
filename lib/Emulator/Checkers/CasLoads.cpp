//===- CasLoads.cpp - loads that only begin a compare-and-swap ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a chip has no atomic of a type, nvcc writes
//
//         ld.global.u32 old, [a];                 an ordinary load
//   AGAIN:
//         ... next = f(old)
//         atom.global.cas.b32 was, [a], old, next;
//         setp.ne.s32 p, old, was;
//         old = was;
//   @p    bra AGAIN;
//
// By the memory model the load races with the swaps of others; but whatever it
// reads, the swap compares it again, so no result depends on it. A load is such
// a one when its value reaches nothing but arithmetic, swaps at its own address
// register, and comparisons with what those swaps gave. It is followed along
// the paths of the code until it is written over.
//
//===----------------------------------------------------------------------===//
#include "CasLoads.h"

#include <map>

#include <algorithm>
#include <set>

using namespace ptxvm;

namespace {
using Registers = std::set<uint32_t>;

bool isCas(const InstructionInfo &i) {
  return i.mnemonic == "atom" && i.opcode.find(".cas") != std::string::npos;
}

/// The register of the address, which the decoder names behind the guard;
/// ~0u when there is none.
uint32_t addressRegister(const InstructionInfo &i) {
  size_t at = i.guard >= 0;
  return at < i.reads.size() ? i.reads[at] : ~0u;
}

bool contains(const std::vector<uint32_t> &list, uint32_t r) {
  return std::find(list.begin(), list.end(), r) != list.end();
}

/// What one load's value reaches.
class Flow {
public:
  Flow(const CodeInfo &code, uint32_t load)
      : all(code.instructions), load(load),
        address(addressRegister(all[load])) {
    for (const InstructionInfo &i : all)
      if (isCas(i) && addressRegister(i) == address)
        swapped.insert(i.writes.begin(), i.writes.end());
  }

  bool isBenign() {
    if (address == ~0u || swapped.empty() ||
        contains(all[load].writes, address))
      return false;
    const std::vector<uint32_t> &writes = all[load].writes;
    follow(load + 1, Registers(writes.begin(), writes.end()));
    // Long paths are not followed to their ends.
    for (unsigned steps = 0; !open.empty(); ++steps) {
      uint32_t pc = *open.begin();
      open.erase(open.begin());
      if (steps > 10000 || !step(pc))
        return false;
    }
    return hasSwapped;
  }

private:
  void follow(uint32_t pc, const Registers &live) {
    if (pc >= all.size() || live.empty())
      return;
    Registers &there = at[pc];
    size_t before = there.size();
    there.insert(live.begin(), live.end());
    if (there.size() != before)
      open.insert(pc);
  }

  /// One instruction with the value in some registers; false when it leaks.
  bool step(uint32_t pc) {
    const InstructionInfo &i = all[pc];
    Registers live = at[pc];
    bool reads = std::any_of(i.reads.begin(), i.reads.end(),
                             [&](uint32_t r) { return live.count(r); });
    bool spreads = false;
    if (reads && isCas(i) && addressRegister(i) == address &&
        !live.count(address))
      hasSwapped = true;
    else if (reads && !comparesSwapped(i, live)) {
      if (!isArithmetic(i))
        return false;
      spreads = true;
    }
    for (uint32_t w : i.writes) {
      if (spreads)
        live.insert(w);
      else if (i.guard < 0)
        live.erase(w);
    }
    for (uint32_t target : i.targets)
      follow(target, live);
    if (!i.endsFlow)
      follow(pc + 1, live);
    return true;
  }

  static bool isArithmetic(const InstructionInfo &i) {
    switch (i.category) {
    case Category::Move:
    case Category::Integer:
    case Category::Float:
    case Category::SpecialFunction:
    case Category::Compare:
    case Category::Convert:
      return true;
    default:
      return false;
    }
  }
  bool comparesSwapped(const InstructionInfo &i, const Registers &live) const {
    return i.mnemonic == "setp" && i.guard < 0 &&
           std::any_of(i.reads.begin(), i.reads.end(), [&](uint32_t r) {
             return swapped.count(r) && !live.count(r);
           });
  }

  const std::vector<InstructionInfo> &all;
  uint32_t load, address;
  Registers swapped; ///< what swaps at this address give
  std::map<uint32_t, Registers> at;
  std::set<uint32_t> open;
  bool hasSwapped = false;
};
} // namespace

std::vector<char> ptxvm::findCasLoads(const CodeInfo &code) {
  const std::vector<InstructionInfo> &all = code.instructions;
  std::vector<char> result(all.size(), 0);
  if (std::none_of(all.begin(), all.end(), isCas))
    return result;
  for (uint32_t pc = 0; pc < all.size(); ++pc)
    if (all[pc].mnemonic == "ld")
      result[pc] = Flow(code, pc).isBenign();
  return result;
}
