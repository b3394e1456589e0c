//===- Registry.cpp - the devices that this build knows -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runtime/Registry.h"

#include <algorithm>
#include <charconv>

namespace farun {

std::optional<DeviceEntry> DeviceRegistry::find(const std::string &name) const {
  for (const DeviceEntry &entry : entries) {
    if (entry.name == name)
      return entry;
    if (!entry.at || !name.starts_with(entry.name + ":"))
      continue;
    int ordinal = 0;
    const char *begin = name.data() + entry.name.size() + 1;
    const char *end = name.data() + name.size();
    auto [rest, error] = std::from_chars(begin, end, ordinal);
    if (begin != end && rest == end && error == std::errc() && ordinal >= 0)
      return entry.at(ordinal);
  }
  return std::nullopt;
}

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
  if (std::optional<DeviceEntry> entry = find(name)) {
    if (std::optional<std::string> reason = entry->whyUnavailable())
      return deviceError("the device " + name +
                         " is not available: " + *reason);
    return entry->open(options);
  }
  std::string known = "auto";
  for (const DeviceEntry &entry : entries)
    known += ", " + entry.name;
  return inputError("'" + name + "' names no device; accepted are " + known);
}

} // namespace farun
