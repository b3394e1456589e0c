//===- Setup.cpp - a machine as options describe it -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Setup.h"

namespace ptxvm {

/// More would only wait for each other; far more cannot be made.
static constexpr unsigned kMaxThreads = 1024;

/// Models of arithmetic that this machine does not have are refused by name.
static farun::Status checkModels(const farun::DeviceOptions &options) {
  if (!options.tensorModel.empty() && options.tensorModel != "fma")
    return farun::inputError("--tensor-model=" + options.tensorModel +
                             " is unknown; accepted is fma (f32 chains)");
  if (!options.approx.empty() && options.approx != "exact")
    return farun::inputError("--approx=" + options.approx +
                             " is unknown; accepted is exact (correctly "
                             "rounded)");
  return {};
}

farun::Expected<Setup> makeSetup(const farun::DeviceOptions &options) {
  Expected<CheckerSet> checkers = CheckerSet::parse(options.sanitize);
  if (!checkers)
    return farun::inputError("--sanitize=" + options.sanitize + ": " +
                             checkers.error().message);
  if (farun::Status status = checkModels(options); !status)
    return status.takeError();
  if (options.threads > kMaxThreads)
    return farun::inputError("--threads=" + std::to_string(options.threads) +
                             " is too many; accepted are 0 to " +
                             std::to_string(kMaxThreads));
  Setup setup;
  setup.checkers = std::move(*checkers);
  setup.device.threads = options.threads;
  setup.device.maxInstructions = options.maxInstructions;
  if (options.maxCluster > 16)
    return farun::inputError(
        "--max-cluster=" + std::to_string(options.maxCluster) +
        " is too many; accepted are 1 to 16");
  if (options.maxCluster)
    setup.device.maxClusterSize = options.maxCluster;
  if (!options.order.empty()) {
    Expected<OrderPolicy> order = OrderPolicy::parse(options.order);
    if (!order)
      return farun::inputError("--order: " + order.error().message);
    setup.device.order = *order;
  }
  return setup;
}

std::vector<std::pair<std::string, std::string>> describeCheckers() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const CheckerInfo &checker : allCheckers())
    lines.push_back({std::string(checker.name),
                     std::string(checker.description) +
                         (checker.isDefault ? "" : " (not by default)")});
  return lines;
}

} // namespace ptxvm
