//===- Loops.cpp - the loops of a kernel ----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a loop is what reaches an edge back without passing the header.
//
//===----------------------------------------------------------------------===//
#include "Loops.h"

#include <algorithm>
#include <map>

using namespace ptxvm;

using Edges = std::vector<std::vector<uint32_t>>;

static Edges findPredecessors(const CodeInfo &code) {
  Edges before(code.instructions.size());
  for (uint32_t pc = 0; pc < before.size(); ++pc) {
    const InstructionInfo &i = code.instructions[pc];
    for (uint32_t target : i.targets)
      before[target].push_back(pc);
    if (!i.endsFlow && pc + 1 < before.size())
      before[pc + 1].push_back(pc);
  }
  return before;
}

static std::vector<uint32_t> findBody(const Edges &before, uint32_t header,
                                      std::vector<uint32_t> work) {
  std::vector<char> isIn(before.size(), 0);
  isIn[header] = 1;
  while (!work.empty()) {
    uint32_t pc = work.back();
    work.pop_back();
    if (isIn[pc])
      continue;
    isIn[pc] = 1;
    work.insert(work.end(), before[pc].begin(), before[pc].end());
  }
  std::vector<uint32_t> body;
  for (uint32_t pc = 0; pc < isIn.size(); ++pc)
    if (isIn[pc])
      body.push_back(pc);
  return body;
}

std::vector<Loop> ptxvm::findLoops(const CodeInfo &code) {
  Edges before = findPredecessors(code);
  std::vector<Loop> loops;
  for (uint32_t pc = 0; pc < before.size(); ++pc) {
    std::vector<uint32_t> latches;
    for (uint32_t from : before[pc])
      if (from >= pc)
        latches.push_back(from);
    if (latches.empty())
      continue;
    Loop loop{pc, findBody(before, pc, latches), 1};
    // Jumps that the decoder added are in no file.
    for (uint32_t at : loop.body)
      if (!code.instructions[at].opcode.empty()) {
        loop.header = at;
        break;
      }
    for (const Loop &outer : loops)
      if (std::binary_search(outer.body.begin(), outer.body.end(), pc))
        loop.depth = std::max(loop.depth, outer.depth + 1);
    loops.push_back(std::move(loop));
  }
  return loops;
}
