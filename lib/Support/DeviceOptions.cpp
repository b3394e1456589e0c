//===- DeviceOptions.cpp - the table of device options --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/DeviceOptions.h"

namespace farun {

const std::vector<DeviceOption> &deviceOptionTable() {
  static const std::vector<DeviceOption> kTable = {
      {"--sanitize", "all (without a word), none, help or a list of checkers",
       "all", &DeviceOptions::sanitize},
      {"--counters", "count; to a JSON file when one is named", kStdout,
       &DeviceOptions::countersFile},
      {"--chip",
       "count, and print the least time that each resource of this chip needs: "
       "A100, H100, H200 or L40S",
       nullptr, &DeviceOptions::chip},
      {"--order",
       "round-robin, reverse, random:SEED, or random:FIRST..LAST: with each "
       "seed, to the same bits",
       nullptr, &DeviceOptions::order},
      {"--threads", "host threads; 0 = one for each core", nullptr,
       &DeviceOptions::threads},
      {"--max-instructions", "stop a kernel after so many warp instructions",
       nullptr, &DeviceOptions::maxInstructions},
      {"--max-cluster", "largest cluster; 8 by default, 16 on some chips",
       nullptr, &DeviceOptions::maxCluster},
      {"--max-resident",
       "CTAs that may be under way at once, 1024 by default: a kernel whose "
       "CTAs wait for each other needs all of them",
       nullptr, &DeviceOptions::maxResident},
      {"--multiprocessors",
       "what a launch finds that has no more blocks than these, by default "
       "as many as the chip has, an H100 when none is named",
       nullptr, &DeviceOptions::multiprocessors},
      {"--tensor-model", "tensor cores add as fma (default), ampere or hopper",
       nullptr, &DeviceOptions::tensorModel},
      {"--approx", "ex2 and its kin: exact (default) or adversarial:SEED",
       nullptr, &DeviceOptions::approx},
  };
  return kTable;
}

std::string findGivenOption(const DeviceOptions &options) {
  for (const DeviceOption &option : deviceOptionTable()) {
    std::string value = std::visit(
        [&](auto member) {
          using Value = std::decay_t<decltype(options.*member)>;
          if (options.*member == Value())
            return std::string();
          if constexpr (std::is_same_v<Value, std::string>)
            return options.*member;
          else
            return std::to_string(options.*member);
        },
        option.value);
    if (value.empty())
      continue;
    bool isAlone = option.alone && value == option.alone;
    return option.name + (isAlone ? "" : "=" + value);
  }
  return "";
}

} // namespace farun
