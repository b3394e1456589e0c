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
      : draft(draft), code(code) {}

  std::vector<Range> run() {
    findBlocks();
    ranges.resize(draft.registers.size());
    for (uint32_t r = 0; r < ranges.size(); ++r)
      ranges[r].reg = r;
    findUses();
    std::vector<uint32_t> batch;
    for (uint32_t r = 0; r < ranges.size(); ++r) {
      if (!usedFirst[r].empty())
        batch.push_back(r);
      if (batch.size() == 64 || (r + 1 == ranges.size() && !batch.empty())) {
        solve(batch);
        batch.clear();
      }
    }
    return std::move(ranges);
  }

private:
  uint32_t last(size_t b) const {
    return b + 1 < first.size() ? first[b + 1] : uint32_t(code.size());
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
    predecessors.resize(first.size());
    for (size_t b = 0; b < first.size(); ++b) {
      const Draft &end = code[last(b) - 1];
      for (uint32_t t : end.targets)
        predecessors[blockOf[t]].push_back(uint32_t(b));
      if (!(end.endsPath && !end.isGuarded) && b + 1 < first.size())
        predecessors[b + 1].push_back(uint32_t(b));
    }
  }

  /// For each register the blocks that read it before they write it, and those
  /// that write it. Most registers live inside one block and have none.
  void findUses() {
    usedFirst.resize(ranges.size());
    writes.resize(ranges.size());
    std::vector<uint32_t> writtenIn(ranges.size(), kNone);
    auto note = [](std::vector<uint32_t> &blocks, uint32_t b) {
      if (blocks.empty() || blocks.back() != b)
        blocks.push_back(b);
    };
    for (uint32_t b = 0; b < first.size(); ++b)
      for (uint32_t i = first[b]; i < last(b); ++i) {
        for (const auto *used :
             {&code[i].info.reads, &code[i].keeps, &code[i].hiddenReads})
          for (uint32_t r : *used) {
            ranges[r].extend(i);
            if (writtenIn[r] != b)
              note(usedFirst[r], b);
          }
        for (uint32_t r : code[i].info.writes) {
          ranges[r].extend(i);
          if (code[i].isGuarded && writtenIn[r] != b)
            note(usedFirst[r], b);
          writtenIn[r] = b;
          note(writes[r], b);
        }
      }
  }

  /// Liveness of up to 64 registers, one bit each, so that memory does not
  /// grow with blocks times registers.
  void solve(const std::vector<uint32_t> &batch) {
    size_t n = first.size();
    if (visits > kMostVisits) {
      // Too much to know: they live everywhere.
      for (uint32_t r : batch) {
        ranges[r].extend(0);
        ranges[r].extend(uint32_t(code.size()) - 1);
      }
      return;
    }
    std::vector<uint64_t> use(n), def(n), in(n), out(n);
    for (size_t k = 0; k < batch.size(); ++k) {
      for (uint32_t b : usedFirst[batch[k]])
        use[b] |= 1ull << k;
      for (uint32_t b : writes[batch[k]])
        def[b] |= 1ull << k;
    }
    for (bool changed = true; changed;) {
      changed = false;
      visits += n;
      for (size_t b = n; b-- > 0;) {
        uint64_t bits = use[b] | (out[b] & ~def[b]);
        if (bits == in[b])
          continue;
        changed = true;
        in[b] = bits;
        for (uint32_t p : predecessors[b])
          out[p] |= bits;
      }
    }
    // A range needs only the first and the last block.
    uint64_t starts = 0, ends = 0;
    for (size_t b = 0; b < n; ++b) {
      extendNew(batch, in[b], first[b], starts);
      extendNew(batch, out[b], last(b) - 1, starts);
      size_t c = n - 1 - b;
      extendNew(batch, out[c], last(c) - 1, ends);
      extendNew(batch, in[c], first[c], ends);
    }
  }

  /// Registers of `bits` that are not in `known` yet are alive at `at`.
  void extendNew(const std::vector<uint32_t> &batch, uint64_t bits, uint32_t at,
                 uint64_t &known) {
    for (uint64_t fresh = bits & ~known; fresh; fresh &= fresh - 1)
      ranges[batch[unsigned(__builtin_ctzll(fresh))]].extend(at);
    known |= bits;
  }

  /// Blocks looked at, of all batches; some seconds.
  static constexpr uint64_t kMostVisits = uint64_t(1) << 31;
  uint64_t visits = 0;
  const DraftKernel &draft;
  const std::vector<Draft> &code;
  std::vector<uint32_t> first;
  std::vector<std::vector<uint32_t>> predecessors, usedFirst, writes;
  std::vector<Range> ranges;
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
