//===- CUDADevice.cpp - the seat of the CUDA back end ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Says whether the machine has a CUDA driver and why it is not used: this
// build launches on the emulator only. The driver is looked for at run time,
// so nothing links against it.
//
//===----------------------------------------------------------------------===//
#include "fa/Runtime/RegisterDevices.h"

#include <dlfcn.h>

namespace farun {

namespace {

std::optional<std::string> whyNoCUDA() {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!driver)
    return "the CUDA driver library libcuda.so.1 was not found";
  dlclose(driver);
  return "a CUDA driver is installed, and this build has no launcher for it; "
         "use --device=emulator";
}

} // namespace

DeviceEntry cudaDeviceEntry() {
  DeviceEntry entry;
  entry.name = "cuda";
  entry.description = "an NVIDIA GPU through its driver";
  entry.preference = 1;
  entry.whyUnavailable = whyNoCUDA;
  entry.open = [](const DeviceOptions &) -> Expected<std::unique_ptr<Device>> {
    return deviceError("the device cuda is not available: " + *whyNoCUDA());
  };
  return entry;
}

} // namespace farun
