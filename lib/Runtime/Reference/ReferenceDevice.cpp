//===- ReferenceDevice.cpp - the oracle in a device's place ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device that runs no PTX: the runner gives the oracle's results, rounded
// to the output types. It is for looking at right answers and for machines on
// which nothing else works.
//
//===----------------------------------------------------------------------===//
#include "fa/Runtime/RegisterDevices.h"
#include "fa/Support/Manifest.h"

namespace farun {

namespace {

class ReferenceDevice : public Device {
public:
  std::string name() const override { return "reference"; }
  std::string defaultTarget() const override { return kDefaultTarget; }
  bool runsPTX() const override { return false; }

  Status load(const std::string &, const std::string &) override {
    return refuse();
  }
  Expected<DeviceAddress> allocate(uint64_t, const std::string &,
                                   BufferAccess) override {
    return refuse();
  }
  void release(DeviceAddress) override {}
  Status write(DeviceAddress, const void *, uint64_t) override {
    return refuse();
  }
  Status read(DeviceAddress, void *, uint64_t) override { return refuse(); }
  Expected<LaunchOutcome> launch(const std::string &, const LaunchGeometry &,
                                 const std::vector<LaunchArgument> &) override {
    return refuse();
  }

private:
  static Error refuse() {
    return deviceError("the reference device runs no PTX");
  }
};

} // namespace

DeviceEntry referenceDeviceEntry() {
  DeviceEntry entry;
  entry.name = "reference";
  entry.description = "the f64 oracle: no PTX runs, the right answer comes out";
  entry.whyUnavailable = [] { return std::nullopt; };
  entry.open =
      [](const DeviceOptions &options) -> Expected<std::unique_ptr<Device>> {
    if (std::string given = findGivenOption(options); !given.empty())
      return inputError(given + " is about how a kernel runs, and the device "
                                "reference runs none");
    return std::unique_ptr<Device>(new ReferenceDevice());
  };
  return entry;
}

} // namespace farun
