//===- ControlFlow.cpp - basic blocks in the scheduler's order ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executor always runs the lanes with the lowest pc and merges lanes whose
// pcs meet ("thread frontiers"). That reconverges early when blocks are in an
// order in which
//
//   - a block comes before what it leads to, back edges apart, and
//   - a loop is contiguous: its exits come after all of its blocks, so lanes
//     that leave early wait for the others before they go on.
//
//   A -> B; B -> C or D; C -> B or E; D -> B or E
//
//   order: A, [B, C, D], E. Lanes that leave at C wait in front of E until the
//   lanes that are still in the loop get there too.
//
// Functions lie before those that call them: lanes in a callee run first, and
// the others wait for them behind the call.
//
// It is computed by strongly connected components: the components in
// topological order; inside one, the edges to its entry are cut and the rest is
// ordered the same way.
//
//===----------------------------------------------------------------------===//
#include "Draft.h"

#include <algorithm>

using namespace ptxvm;

namespace {
struct Block {
  uint32_t first, last; ///< drafts [first, last)
  std::vector<uint32_t> successors;
  int32_t fallThrough = -1;
};

/// Orders the nodes of a graph by nested strongly connected components.
class ComponentOrder {
public:
  explicit ComponentOrder(std::vector<Block> &blocks)
      : blocks(blocks), number(blocks.size()), low(blocks.size()),
        level(blocks.size(), 0), onStack(blocks.size()) {}

  /// Appends the blocks [first, last), which no edge leaves.
  void add(uint32_t first, uint32_t last) {
    std::vector<uint32_t> nodes;
    for (uint32_t i = first; i < last; ++i)
      nodes.push_back(i);
    if (!nodes.empty())
      order(nodes, ~0u, 0);
  }
  std::vector<uint32_t> take() { return std::move(result); }

private:
  /// Loops that are nested deeper stay in the order of the file.
  static constexpr uint32_t kMaxDepth = 500;

  /// Orders `nodes` (all at `depth`), ignoring edges to `cut`; appends.
  void order(const std::vector<uint32_t> &nodes, uint32_t cut, uint32_t depth) {
    for (uint32_t n : nodes) {
      number[n] = 0;
      level[n] = depth;
    }
    std::vector<std::vector<uint32_t>> components;
    uint32_t counter = 0;
    for (uint32_t n : nodes) {
      if (number[n])
        continue;
      // Tarjan's algorithm yields successors first. Blocks that the entry does
      // not reach are roots of their own and come last.
      size_t from = components.size();
      tarjan(n, cut, depth, counter, components);
      std::reverse(components.begin() + long(from), components.end());
    }
    for (std::vector<uint32_t> &c : components) {
      // The first node that the search met is the entry.
      uint32_t entry =
          *std::min_element(c.begin(), c.end(), [&](uint32_t x, uint32_t y) {
            return number[x] < number[y];
          });
      if (c.size() == 1 || depth == kMaxDepth) {
        std::sort(c.begin(), c.end());
        for (uint32_t n : c)
          level[n] = ~0u;
        result.insert(result.end(), c.begin(), c.end());
        continue;
      }
      std::erase(c, entry);
      c.insert(c.begin(), entry);
      order(c, entry, depth + 1);
    }
  }

  /// Iterative, since a kernel may have many thousands of blocks.
  void tarjan(uint32_t root, uint32_t cut, uint32_t depth, uint32_t &counter,
              std::vector<std::vector<uint32_t>> &components) {
    std::vector<std::pair<uint32_t, size_t>> calls{{root, 0}};
    number[root] = low[root] = ++counter;
    stack.push_back(root);
    onStack[root] = true;
    while (!calls.empty()) {
      auto &[n, next] = calls.back();
      if (next < blocks[n].successors.size()) {
        uint32_t s = blocks[n].successors[next++];
        if (s == cut || level[s] != depth)
          continue;
        if (!number[s]) {
          number[s] = low[s] = ++counter;
          stack.push_back(s);
          onStack[s] = true;
          calls.push_back({s, 0});
        } else if (onStack[s]) {
          low[n] = std::min(low[n], number[s]);
        }
        continue;
      }
      if (low[n] == number[n]) {
        std::vector<uint32_t> component;
        uint32_t member;
        do {
          member = stack.back();
          stack.pop_back();
          onStack[member] = false;
          component.push_back(member);
        } while (member != n);
        components.push_back(std::move(component));
      }
      uint32_t done = n;
      calls.pop_back();
      if (!calls.empty())
        low[calls.back().first] = std::min(low[calls.back().first], low[done]);
    }
  }

  std::vector<Block> &blocks;
  std::vector<uint32_t> number, low, level;
  std::vector<char> onStack;
  std::vector<uint32_t> stack, result;
};
} // namespace

static std::vector<Block> findBlocks(const DraftKernel &kernel) {
  const auto &drafts = kernel.drafts;
  uint32_t n = uint32_t(drafts.size());
  std::vector<char> leads(n + 1, 0);
  leads[0] = 1;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t t : drafts[i].targets)
      leads[kernel.labels[t]] = 1;
    if (drafts[i].isBranch() || drafts[i].endsPath)
      leads[i + 1] = 1;
  }
  std::vector<Block> blocks;
  std::vector<uint32_t> blockOf(n + 1, 0);
  for (uint32_t i = 0; i < n; ++i) {
    if (leads[i])
      blocks.push_back({i, i, {}, -1});
    blockOf[i] = uint32_t(blocks.size() - 1);
    blocks.back().last = i + 1;
  }
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const Draft &end = drafts[blocks[b].last - 1];
    // The successor that is visited last comes next in the order.
    for (uint32_t t : end.targets)
      blocks[b].successors.push_back(blockOf[kernel.labels[t]]);
    bool falls = !(end.endsPath && !end.isGuarded);
    if (falls && b + 1 < blocks.size()) {
      blocks[b].fallThrough = int32_t(b + 1);
      blocks[b].successors.push_back(b + 1);
    }
  }
  return blocks;
}

static Draft makeJump() {
  Draft jump;
  jump.info.category = Category::Control;
  jump.endsPath = true;
  return jump;
}

/// Functions in postorder of the call graph.
static std::vector<uint32_t>
calleesFirst(const std::vector<DraftKernel::Region> &regions) {
  std::vector<uint32_t> called, result;
  std::vector<char> seen(regions.size(), 0);
  std::vector<std::pair<uint32_t, size_t>> path{{0, 0}};
  seen[0] = 1;
  while (!path.empty()) {
    auto &[f, next] = path.back();
    if (next == regions[f].callees.size()) {
      if (f + 1 < regions.size()) // the last is none
        called.push_back(f);
      path.pop_back();
      continue;
    }
    uint32_t callee = regions[f].callees[next++];
    if (!seen[callee]) {
      seen[callee] = 1;
      path.push_back({callee, 0});
    }
  }
  // Functions whose address is taken and that nothing calls.
  for (uint32_t f = uint32_t(regions.size()) - 1; f-- > 0;)
    if (!seen[f])
      result.push_back(f);
  result.insert(result.end(), called.begin(), called.end());
  return result;
}

std::vector<Draft> ptxvm::orderBlocks(DraftKernel &kernel,
                                      std::vector<FunctionInfo> &functions) {
  std::vector<Block> blocks = findBlocks(kernel);
  std::vector<uint32_t> firstBlock(kernel.drafts.size() + 1,
                                   uint32_t(blocks.size()));
  for (uint32_t b = uint32_t(blocks.size()); b-- > 0;)
    firstBlock[blocks[b].first] = b;
  ComponentOrder components(blocks);
  std::vector<uint32_t> functionOrder = calleesFirst(kernel.regions);
  for (uint32_t f : functionOrder)
    components.add(firstBlock[kernel.regions[f].first],
                   firstBlock[kernel.regions[f].last]);
  std::vector<uint32_t> order = components.take();
  std::vector<Draft> result;
  result.reserve(kernel.drafts.size() + 16);
  std::vector<uint32_t> start(blocks.size());
  std::vector<uint32_t> draftBlock(kernel.drafts.size());
  for (uint32_t b = 0; b < blocks.size(); ++b)
    for (uint32_t i = blocks[b].first; i < blocks[b].last; ++i)
      draftBlock[i] = b;
  constexpr uint32_t kBlockTarget = 1u << 31;
  if (functionOrder.front() != 0) {
    // A warp starts at pc 0.
    Draft jump = makeJump();
    jump.targets.push_back(kBlockTarget | firstBlock[kernel.regions[0].first]);
    result.push_back(std::move(jump));
  }
  for (size_t at = 0; at < order.size(); ++at) {
    Block &b = blocks[order[at]];
    start[order[at]] = uint32_t(result.size());
    for (uint32_t i = b.first; i < b.last; ++i) {
      Draft d = std::move(kernel.drafts[i]);
      for (uint32_t &t : d.targets)
        t = kBlockTarget | draftBlock[kernel.labels[t]];
      result.push_back(std::move(d));
    }
    bool isNext =
        at + 1 < order.size() && int32_t(order[at + 1]) == b.fallThrough;
    if (b.fallThrough >= 0 && !isNext) {
      Draft jump = makeJump();
      jump.targets.push_back(kBlockTarget | uint32_t(b.fallThrough));
      result.push_back(std::move(jump));
    }
  }
  for (Draft &d : result) {
    for (uint32_t &t : d.targets)
      t = start[t & ~kBlockTarget];
    d.info.targets = d.targets;
    d.info.endsFlow = d.endsPath && !d.isGuarded;
  }
  for (size_t n = 0; n < functionOrder.size(); ++n) {
    const DraftKernel::Region &r = kernel.regions[functionOrder[n]];
    functions[functionOrder[n]].firstPc = start[firstBlock[r.first]];
    functions[functionOrder[n]].lastPc = uint32_t(result.size());
    if (n)
      functions[functionOrder[n - 1]].lastPc =
          functions[functionOrder[n]].firstPc;
  }
  return result;
}
