//===- RegisterDevices.cpp - every back end of this build -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runtime/RegisterDevices.h"

namespace farun {

void registerAllDevices(DeviceRegistry &registry) {
  registry.add(cudaDeviceEntry());
  registry.add(emulatorDeviceEntry());
  registry.add(referenceDeviceEntry());
}

} // namespace farun
