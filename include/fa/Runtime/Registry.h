//===- Registry.h - the devices that this build knows -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A list filled by hand (RegisterDevices.h), without static constructors: a
// program has the back ends that it names.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNTIME_REGISTRY_H
#define FA_RUNTIME_REGISTRY_H

#include "fa/Runtime/Device.h"

#include <functional>
#include <memory>

namespace farun {

/// A seat for one kind of device.
struct DeviceEntry {
  std::string name;        ///< as in --device=NAME
  std::string description; ///< one line: what it can do
  /// Why it cannot run here; nothing when it can.
  std::function<std::optional<std::string>()> whyUnavailable;
  /// Which one it is, where one is available; may be empty.
  std::function<std::string()> model;
  std::function<Expected<std::unique_ptr<Device>>(const DeviceOptions &)> open;
  /// Name and one line for each checker of --sanitize.
  std::vector<std::pair<std::string, std::string>> checkers;
  /// The order in which --device=auto asks; 0 = never.
  int preference = 0;
  /// Where there may be several of the kind, "NAME:1" is the second: how many
  /// there are, and the seat of each. Else null.
  std::function<int()> count;
  std::function<DeviceEntry(int ordinal)> at;
};

class DeviceRegistry {
public:
  void add(DeviceEntry entry) { entries.push_back(std::move(entry)); }
  const std::vector<DeviceEntry> &devices() const { return entries; }

  /// Opens a device by name, "cuda:1" the second of a kind; "auto" takes the
  /// first available one. Errors say which names there are (wrong input) or why
  /// it is not available (device).
  Expected<std::unique_ptr<Device>> open(const std::string &name,
                                         const DeviceOptions &options) const;

private:
  std::optional<DeviceEntry> find(const std::string &name) const;

  std::vector<DeviceEntry> entries;
};

} // namespace farun

#endif // FA_RUNTIME_REGISTRY_H
