//===- RaceState.cpp - the order of accesses in a cluster -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Agents cost a column in every vector clock, so a kernel without asynchronous
// work has none.
//
//===----------------------------------------------------------------------===//
#include "RaceState.h"

#include <algorithm>

using namespace ptxvm;

bool RaceState::needsAgents(const CodeInfo &code) {
  return std::any_of(code.instructions.begin(), code.instructions.end(),
                     [](const InstructionInfo &i) {
                       return i.mnemonic == "mbarrier" ||
                              i.mnemonic == "wgmma" ||
                              i.opcode.starts_with("cp.async.bulk");
                     });
}

RaceState::RaceState(const CTAEvent &e, bool hasAgents)
    : order(e.clusterSize * (e.warps * 32 + (hasAgents ? kAgents : 0))),
      isSingle(e.clusterSize == 1 && !hasAgents),
      live(e.clusterSize, e.threads), visitors(e.clusterSize),
      perCTA(e.warps * 32), agents(e.clusterSize * perCTA),
      histories(e.clusterSize, AccessHistory(e.sharedBytes)) {}

RaceState::Mbarrier &RaceState::mbarrier(uint32_t rank, uint32_t address) {
  auto [at, isNew] = mbarriers.try_emplace({rank, address});
  if (isNew)
    // More mbarriers than agents share some; then less is found.
    at->second.agent = agents + rank * kAgents + 8 +
                       uint32_t(mbarriers.size()) % (kAgents - 8);
  return at->second;
}
