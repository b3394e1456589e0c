//===- DeviceArrays.h - the arrays of a launch on a device ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_DEVICEARRAYS_H
#define FA_LIB_CAPI_DEVICEARRAYS_H

#include "CallArrays.h"

#include "fa/Runner/InPlace.h"

namespace facapi {

/// Refuses arrays that lie some here and some there; scalars lie in host memory
/// always.
Outcome checkOnePlace(const EntryView &view, const CallArrays &arrays);

/// Refuses arrays that are not in memory of this device, or not aligned there.
Outcome checkOnDevice(const EntryView &view, const CallArrays &arrays,
                      farun::Device &device);

/// Arrays that were looked at, as a launch in place takes them.
farun::InPlaceSpec toInPlace(const EntryView &view, const CallArrays &arrays);

} // namespace facapi

#endif // FA_LIB_CAPI_DEVICEARRAYS_H
