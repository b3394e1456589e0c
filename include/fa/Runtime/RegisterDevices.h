//===- RegisterDevices.h - every back end of this build ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNTIME_REGISTERDEVICES_H
#define FA_RUNTIME_REGISTERDEVICES_H

#include "fa/Runtime/Registry.h"

namespace farun {

/// Adds cuda, emulator and reference.
void registerAllDevices(DeviceRegistry &registry);

/// The seats one by one.
DeviceEntry cudaDeviceEntry();
DeviceEntry emulatorDeviceEntry();
DeviceEntry referenceDeviceEntry();

} // namespace farun

#endif // FA_RUNTIME_REGISTERDEVICES_H
