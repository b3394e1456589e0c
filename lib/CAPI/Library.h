//===- Library.h - what the library has once --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_LIBRARY_H
#define FA_LIB_CAPI_LIBRARY_H

#include "fa/Runtime/Registry.h"

namespace facapi {

/// Every device of this build.
const farun::DeviceRegistry &devices();

} // namespace facapi

#endif // FA_LIB_CAPI_LIBRARY_H
