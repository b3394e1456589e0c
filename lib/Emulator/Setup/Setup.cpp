//===- Setup.cpp - a machine as options describe it -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Setup.h"

#include "fa/Support/SpeedOfLight.h"

namespace ptxvm {

/// More would only wait for each other; far more cannot be made.
static constexpr unsigned kMaxThreads = 1024;
/// Each has its shared memory and registers: 1024 CTAs may take a gigabyte.
static constexpr unsigned kMaxResident = 65536;
static constexpr unsigned kMaxMultiprocessors = 65536;

/// --tensor-model and --approx.
static farun::Status readModels(const farun::DeviceOptions &options,
                                DeviceOptions &device) {
  if (!options.tensorModel.empty()) {
    Expected<TensorModel> model = parseTensorModel(options.tensorModel);
    if (!model)
      return farun::inputError("--tensor-model=" + options.tensorModel + " " +
                               model.error().message);
    device.tensorModel = *model;
  }
  if (!options.approx.empty()) {
    Expected<ApproxPolicy> approx = ApproxPolicy::parse(options.approx);
    if (!approx)
      return farun::inputError("--approx=" + options.approx + " " +
                               approx.error().message);
    device.approx = *approx;
  }
  return {};
}

farun::Expected<Setup> makeSetup(const farun::DeviceOptions &options) {
  Expected<CheckerSet> checkers = CheckerSet::parse(options.sanitize);
  if (!checkers)
    return farun::inputError("--sanitize=" + options.sanitize + ": " +
                             checkers.error().message);
  if (!options.chip.empty() && !farun::findChip(options.chip))
    return farun::inputError("--chip=" + options.chip +
                             " is unknown; accepted are " + farun::chipNames());
  if (options.threads > kMaxThreads)
    return farun::inputError("--threads=" + std::to_string(options.threads) +
                             " is too many; accepted are 0 to " +
                             std::to_string(kMaxThreads));
  Setup setup;
  if (farun::Status status = readModels(options, setup.device); !status)
    return status.takeError();
  setup.checkers = std::move(*checkers);
  setup.device.threads = unsigned(options.threads);
  setup.device.maxInstructions = options.maxInstructions;
  if (options.maxCluster > 16)
    return farun::inputError(
        "--max-cluster=" + std::to_string(options.maxCluster) +
        " is too many; accepted are 1 to 16");
  if (options.maxCluster)
    setup.device.maxClusterSize = unsigned(options.maxCluster);
  if (options.maxResident > kMaxResident)
    return farun::inputError(
        "--max-resident=" + std::to_string(options.maxResident) +
        " is too many; accepted are 1 to " + std::to_string(kMaxResident));
  if (options.maxResident)
    setup.device.maxResidentCTAs = unsigned(options.maxResident);
  if (options.multiprocessors > kMaxMultiprocessors)
    return farun::inputError(
        "--multiprocessors=" + std::to_string(options.multiprocessors) +
        " is too many; accepted are 1 to " +
        std::to_string(kMaxMultiprocessors));
  setup.multiprocessors =
      options.multiprocessors
          ? unsigned(options.multiprocessors)
          : farun::findChip(options.chip.empty() ? "H100" : options.chip)->sms;
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
