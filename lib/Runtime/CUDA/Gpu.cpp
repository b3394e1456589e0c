//===- Gpu.cpp - which GPU answers ----------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Gpu.h"

namespace farun::cuda {

namespace {

/// The targets of the compiler by compute capability, best first. The driver
/// translates PTX of a base target for every newer GPU, that of a target with a
/// letter for its own capability alone.
struct TargetRow {
  int major, minor;
  const char *name;
  bool isExact = false;
};
constexpr TargetRow kTargets[] = {
    {12, 0, "sm_120"}, {9, 0, "sm_90a", true}, {9, 0, "sm_90"}, {8, 9, "sm_89"},
    {8, 7, "sm_87"},   {8, 6, "sm_86"},        {8, 0, "sm_80"},
};

constexpr const char *kAsking = "asking which GPUs there are";

std::string version(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

} // namespace

static Expected<Driver> start() {
  Expected<Driver> driver = Driver::load();
  if (!driver)
    return driver;
  if (Status status = driver->call(driver->Init, "starting the driver", 0u);
      !status)
    return status.takeError();
  return driver;
}

Expected<int> Gpu::count() {
  Expected<Driver> driver = start();
  if (!driver)
    return driver.takeError();
  int count = 0;
  if (Status status = driver->call(driver->DeviceGetCount, kAsking, &count);
      !status)
    return status.takeError();
  return count;
}

std::string Gpu::name(int ordinal) {
  return ordinal ? "cuda:" + std::to_string(ordinal) : "cuda";
}

Expected<Gpu> Gpu::find(int ordinal) {
  Expected<Driver> driver = start();
  if (!driver)
    return driver.takeError();
  Gpu gpu{std::move(*driver), ordinal};
  const Driver &d = gpu.driver;
  int count = 0;
  if (Status status = d.call(d.DriverGetVersion, kAsking, &gpu.driverVersion);
      !status)
    return status.takeError();
  if (Status status = d.call(d.DeviceGetCount, kAsking, &count); !status)
    return status.takeError();
  if (count < 1)
    return deviceError("the CUDA driver shows no GPU");
  if (ordinal >= count)
    return deviceError("the CUDA driver shows " + std::to_string(count) +
                       (count == 1 ? " GPU" : " GPUs") + ", counted from 0");
  if (Status status = d.call(d.DeviceGet, kAsking, &gpu.device, ordinal);
      !status)
    return status.takeError();
  char model[256] = {};
  if (Status status = d.call(d.DeviceGetName, kAsking, model,
                             int(sizeof(model)), gpu.device);
      !status)
    return status.takeError();
  gpu.model = model;
  for (auto [attribute, value] :
       {std::pair(kComputeCapabilityMajor, &gpu.major),
        std::pair(kComputeCapabilityMinor, &gpu.minor),
        std::pair(kMaxSharedBytesOptin, &gpu.maxSharedBytes),
        std::pair(kMultiprocessorCount, &gpu.multiprocessors)})
    if (Status status = d.call(d.DeviceGetAttribute, "asking what a GPU can do",
                               value, attribute, gpu.device);
        !status)
      return status.takeError();
  if (!gpu.target())
    return deviceError(gpu.model + " has compute capability " +
                       version(gpu.major, gpu.minor) +
                       "; 8.0 or newer is needed");
  return gpu;
}

std::string Gpu::description() const {
  return model + ", compute capability " + version(major, minor) +
         ", driver of CUDA " +
         version(driverVersion / 1000, driverVersion % 1000 / 10);
}

const char *Gpu::target() const {
  for (const TargetRow &row : kTargets)
    if (std::pair(major, minor) == std::pair(row.major, row.minor) ||
        (!row.isExact &&
         std::pair(major, minor) > std::pair(row.major, row.minor)))
      return row.name;
  return nullptr;
}

} // namespace farun::cuda
