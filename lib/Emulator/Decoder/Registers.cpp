//===- Registers.cpp - virtual registers to slots -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers write PTX with thousands of virtual registers, one for each value.
// Giving each its own 128 bytes a warp would push the register file out of the
// cache, so slots are shared by registers that are never live together: classic
// liveness over blocks and a linear scan over the ordered code. It is done for
// one thread, and is right for a diverged warp too because every write touches
// only its own lanes. A write under a guard does not end a live range.
//
//===----------------------------------------------------------------------===//
#include "Draft.h"

#include <algorithm>
#include <cassert>
#include <set>

using namespace ptxvm;

namespace {
using Bits = std::vector<uint64_t>;

struct Range {
  uint32_t first = ~0u, last = 0;
  uint32_t reg = 0;
  void extend(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

class Liveness {
public:
  Liveness(const DraftKernel &draft, const std::vector<Draft> &code)
      : draft(draft), code(code), words((draft.registers.size() + 63) / 64) {}

  std::vector<Range> run() {
    findBlocks();
    solve();
    std::vector<Range> ranges(draft.registers.size());
    for (uint32_t r = 0; r < ranges.size(); ++r)
      ranges[r].reg = r;
    for (size_t b = 0; b < first.size(); ++b) {
      extendAll(ranges, in[b], first[b]);
      extendAll(ranges, out[b], last(b) - 1);
    }
    for (uint32_t i = 0; i < code.size(); ++i) {
      for (uint32_t r : code[i].info.reads)
        ranges[r].extend(i);
      for (uint32_t r : code[i].keeps)
        ranges[r].extend(i);
      for (uint32_t r : code[i].info.writes)
        ranges[r].extend(i);
      for (uint32_t r : code[i].hiddenReads)
        ranges[r].extend(i);
    }
    return ranges;
  }

private:
  uint32_t last(size_t b) const {
    return b + 1 < first.size() ? first[b + 1] : uint32_t(code.size());
  }
  static void extendAll(std::vector<Range> &ranges, const Bits &set,
                        uint32_t at) {
    for (size_t w = 0; w < set.size(); ++w)
      for (uint64_t bits = set[w]; bits; bits &= bits - 1)
        ranges[w * 64 + unsigned(__builtin_ctzll(bits))].extend(at);
  }

  void findBlocks() {
    std::vector<char> leads(code.size() + 1, 0);
    leads[0] = 1;
    for (uint32_t i = 0; i < code.size(); ++i) {
      for (uint32_t t : code[i].targets)
        leads[t] = 1;
      if (code[i].isBranch() || code[i].endsPath)
        leads[i + 1] = 1;
    }
    std::vector<uint32_t> blockOf(code.size());
    for (uint32_t i = 0; i < code.size(); ++i) {
      if (leads[i])
        first.push_back(i);
      blockOf[i] = uint32_t(first.size() - 1);
    }
    successors.resize(first.size());
    for (size_t b = 0; b < first.size(); ++b) {
      const Draft &end = code[last(b) - 1];
      for (uint32_t t : end.targets)
        successors[b].push_back(blockOf[t]);
      if (!(end.endsPath && !end.isGuarded) && b + 1 < first.size())
        successors[b].push_back(uint32_t(b + 1));
    }
  }

  void solve() {
    in.assign(first.size(), Bits(words));
    out = in;
    std::vector<Bits> use = in, def = in;
    auto set = [](Bits &b, uint32_t r) { b[r / 64] |= 1ull << (r % 64); };
    auto test = [](const Bits &b, uint32_t r) {
      return b[r / 64] >> (r % 64) & 1;
    };
    for (size_t b = 0; b < first.size(); ++b)
      for (uint32_t i = first[b]; i < last(b); ++i) {
        for (const auto *used :
             {&code[i].info.reads, &code[i].keeps, &code[i].hiddenReads})
          for (uint32_t r : *used)
            if (!test(def[b], r))
              set(use[b], r);
        for (uint32_t r : code[i].info.writes) {
          if (code[i].isGuarded && !test(def[b], r))
            set(use[b], r);
          set(def[b], r);
        }
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = first.size(); b-- > 0;) {
        for (uint32_t s : successors[b])
          for (size_t w = 0; w < words; ++w)
            out[b][w] |= in[s][w];
        for (size_t w = 0; w < words; ++w) {
          uint64_t bits = use[b][w] | (out[b][w] & ~def[b][w]);
          changed |= bits != in[b][w];
          in[b][w] = bits;
        }
      }
    }
  }

  const DraftKernel &draft;
  const std::vector<Draft> &code;
  size_t words;
  std::vector<uint32_t> first;
  std::vector<std::vector<uint32_t>> successors;
  std::vector<Bits> in, out;
};

/// Slots of one width with a free list.
struct Pool {
  std::vector<uint32_t> free;
  std::vector<std::pair<uint32_t, uint32_t>> active; ///< heap of (-last), slot
};
} // namespace

/// Linear scan; returns the slot (in 32-lane units) of each register.
static std::vector<uint32_t> scan(const DraftKernel &draft,
                                  std::vector<Range> ranges, uint32_t &slots) {
  std::vector<uint32_t> slotOf(draft.registers.size(), 0);
  std::stable_sort(
      ranges.begin(), ranges.end(),
      [](const Range &x, const Range &y) { return x.first < y.first; });
  Pool pools[2];
  auto later = [](const auto &x, const auto &y) { return x.first > y.first; };
  for (const Range &r : ranges) {
    if (r.first == ~0u || draft.registers[r.reg].isPredicate)
      continue;
    bool isWide = draft.registers[r.reg].isWide;
    Pool &pool = pools[isWide];
    while (!pool.active.empty() && pool.active.front().first < r.first) {
      pool.free.push_back(pool.active.front().second);
      std::pop_heap(pool.active.begin(), pool.active.end(), later);
      pool.active.pop_back();
    }
    uint32_t slot;
    if (!pool.free.empty()) {
      slot = pool.free.back();
      pool.free.pop_back();
    } else {
      slot = slots;
      slots += isWide ? 2 : 1;
    }
    slotOf[r.reg] = slot;
    pool.active.push_back({r.last, slot});
    std::push_heap(pool.active.begin(), pool.active.end(), later);
  }
  return slotOf;
}

/// What calls of each function have to save: all that its code touches.
static void findSaved(const DraftKernel &draft,
                      const std::vector<Draft> &ordered,
                      const std::vector<uint32_t> &slotOf, Kernel &kernel) {
  for (size_t f = 1; f < kernel.functions.size(); ++f) {
    FunctionInfo &info = kernel.functions[f];
    std::set<uint32_t> slots, wideSlots, predicates;
    auto add = [&](uint32_t r) {
      const VirtualRegister &v = draft.registers[r];
      if (v.isPredicate) {
        if (v.predicate > 2)
          predicates.insert(v.predicate);
        return;
      }
      (v.isWide ? wideSlots : slots).insert(slotOf[r] * 32);
    };
    for (uint32_t pc = info.firstPc; pc < info.lastPc; ++pc) {
      for (uint32_t r : ordered[pc].info.reads)
        add(r);
      for (uint32_t r : ordered[pc].info.writes)
        add(r);
      for (uint32_t r : ordered[pc].hiddenReads)
        add(r);
    }
    info.savedSlots.assign(slots.begin(), slots.end());
    info.savedWideSlots.assign(wideSlots.begin(), wideSlots.end());
    info.savedPredicates.assign(predicates.begin(), predicates.end());
    uint32_t frame = draft.regions[f].frameRegister;
    if (frame != ~0u)
      info.frameSlot = slotOf[frame] * 32;
  }
}

void ptxvm::allocateRegisters(const DraftKernel &draft,
                              std::vector<Draft> &ordered, Kernel &kernel) {
  // Slots 0 and 1 take what is written to '_', of either width.
  uint32_t slots = 2;
  keepWgmmaRegisters(ordered);
  std::vector<uint32_t> slotOf =
      scan(draft, Liveness(draft, ordered).run(), slots);
  kernel.registerWords = slots * 32;
  for (ReadOnly &r : kernel.readOnly) {
    r.slot = slots * 32;
    slots += r.isWide ? 2 : 1;
  }
  kernel.totalWords = slots * 32;
  auto place = [&](uint32_t &ref) {
    if (ref == kNone)
      ref = 0;
    else if (ref & kReadOnlyBit)
      ref = kernel.readOnly[ref & ~kReadOnlyBit].slot;
    else
      ref = slotOf[ref] * 32;
  };
  for (const VirtualRegister &r : draft.registers)
    kernel.info.registerNames.push_back(r.name);
  findSaved(draft, ordered, slotOf, kernel);
  for (Draft &d : ordered) {
    Instruction &i = d.inst;
    if (d.fields & kFieldDst)
      place(i.dst);
    if (d.fields & kFieldA)
      place(i.a);
    if (d.fields & kFieldB)
      place(i.b);
    if (d.fields & kFieldC)
      place(i.c);
    if (d.fields & kFieldD)
      place(i.d);
    i.list = uint32_t(kernel.lists.size());
    for (uint32_t ref : d.list) {
      place(ref);
      kernel.lists.push_back(ref);
    }
    if (d.targets.size() == 1 && d.list.empty())
      i.imm = int32_t(d.targets[0]);
    else
      kernel.lists.insert(kernel.lists.end(), d.targets.begin(),
                          d.targets.end());
    kernel.code.push_back(i);
    kernel.info.instructions.push_back(std::move(d.info));
  }
}
