//===- CheckerSet.cpp - checkers by name ----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of --sanitize.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Checkers.h"

#include <algorithm>

using namespace ptxvm;

const std::vector<CheckerInfo> &ptxvm::allCheckers() {
  static const std::vector<CheckerInfo> kTable = {
      {"bounds",
       "accesses outside a buffer or window, stores to read-only buffers", true,
       nullptr},
      {"alignment", "accesses that are not naturally aligned", true, nullptr},
      {"space", "addresses of another state space", true, nullptr},
      {"tensor-map", "tensor maps that are none, or that a copy cannot use",
       true, nullptr},
      {"register-pool",
       "setmaxnreg to what a thread cannot have, or by part of a warpgroup",
       true, nullptr},
      {"deadlock", "warps that wait for each other for ever", true, nullptr},
      {"determinism", "results that --order=random:FIRST..LAST finds to differ",
       true, nullptr},
      {"initialisation",
       "reads of global, shared and local memory that nothing has written",
       true, makeInitialisationChecker},
      {"async-wait", "shared memory touched before the wait for what moves it",
       true, makeAsyncWaitChecker},
      {"wgmma",
       "registers of a wgmma touched before its wait or without wgmma.fence",
       true, makeWgmmaChecker},
      {"registers", "reads of registers that nothing has written", true,
       makeRegisterChecker},
      {"mbarrier", "mbarriers used wrongly: init, arrivals, bytes, phases",
       true, makeMbarrierChecker},
      {"division", "integer divisions by zero", true, makeDivisionChecker},
      {"proxy-fence",
       "shared memory handed to wgmma or bulk copies without a proxy fence",
       false, makeProxyFenceChecker},
      {"barriers",
       "barriers that part of a warp reaches, or that threads use differently",
       false, makeBarrierChecker},
      {"warp-sync",
       "membermasks and .aligned instructions that lanes do not keep to", false,
       makeWarpSyncChecker},
      {"leaks", "asynchronous work that nobody has waited for at the end",
       false, makeLeakChecker},
      {"race",
       "accesses to shared memory that nothing puts in order, one a write",
       false, makeRaceChecker},
      {"global-race",
       "accesses of CTAs to global memory that nothing puts in order", false,
       makeGlobalRaceChecker},
      {"equal-writes",
       "writes of the same bytes to shared memory that nothing puts in order; "
       "not in all",
       false, makeEqualWritesChecker, true},
  };
  return kTable;
}

static Diagnostic unknown(const std::string &word) {
  Diagnostic d;
  d.origin = "sanitize";
  d.message = "'" + word + "' names no checker; accepted are all, none, help";
  for (const CheckerInfo &c : allCheckers())
    d.message += ", " + std::string(c.name);
  return d;
}

Expected<CheckerSet> CheckerSet::parse(const std::string &list) {
  std::vector<char> isOn(allCheckers().size());
  auto set = [&](auto isWanted) {
    for (size_t k = 0; k < isOn.size(); ++k)
      isOn[k] |= isWanted(allCheckers()[k]);
  };
  if (list.empty())
    set([](const CheckerInfo &c) { return c.isDefault; });
  else if (list != "none")
    for (size_t begin = 0; begin <= list.size();) {
      size_t end = std::min(list.find(',', begin), list.size());
      std::string word = list.substr(begin, end - begin);
      auto isNamed = [&](const CheckerInfo &c) {
        return word == "all" ? !c.isExtra : c.name == word;
      };
      if (std::none_of(allCheckers().begin(), allCheckers().end(), isNamed))
        return unknown(word);
      set(isNamed);
      begin = end + 1;
    }
  CheckerSet result;
  for (size_t k = 0; k < isOn.size(); ++k)
    if (isOn[k] && !allCheckers()[k].isCore())
      result.observers.push_back(allCheckers()[k].make());
  return result;
}

void CheckerSet::attach(Device &device) const {
  for (const auto &observer : observers)
    device.addObserver(*observer);
}
