//===- Registry.cpp - the devices that this build knows -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runtime/Registry.h"

#include <algorithm>

namespace farun {

Expected<std::unique_ptr<Device>>
DeviceRegistry::open(const std::string &name,
                     const DeviceOptions &options) const {
  if (name == "auto") {
    std::vector<const DeviceEntry *> candidates;
    for (const DeviceEntry &entry : entries)
      if (entry.preference > 0)
        candidates.push_back(&entry);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const DeviceEntry *a, const DeviceEntry *b) {
                       return a->preference < b->preference;
                     });
    std::string reasons;
    for (const DeviceEntry *entry : candidates) {
      std::optional<std::string> reason = entry->whyUnavailable();
      if (!reason)
        return entry->open(options);
      reasons += (reasons.empty() ? "" : "; ") + entry->name + ": " + *reason;
    }
    return deviceError("no device is available" +
                       (reasons.empty() ? "" : " (" + reasons + ")"));
  }
  std::string known = "auto";
  for (const DeviceEntry &entry : entries) {
    if (entry.name == name) {
      if (std::optional<std::string> reason = entry.whyUnavailable())
        return deviceError("the device " + name +
                           " is not available: " + *reason);
      return entry.open(options);
    }
    known += ", " + entry.name;
  }
  return inputError("'" + name + "' names no device; accepted are " + known);
}

} // namespace farun
