//===- HostRounding.h - the rounding mode of the host -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For files compiled with -frounding-math.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_HOSTROUNDING_H
#define FA_LIB_EMULATOR_EXECUTOR_HOSTROUNDING_H

#include "../Decoder/Modifiers.h"

#include <cfenv>

namespace ptxvm {

/// The mode that an instruction's modifiers name, while this lives.
class HostRounding {
public:
  explicit HostRounding(uint64_t mods) : old(std::fegetround()) {
    std::fesetround(mods & mod::rz_   ? FE_TOWARDZERO
                    : mods & mod::rm_ ? FE_DOWNWARD
                    : mods & mod::rp_ ? FE_UPWARD
                                      : FE_TONEAREST);
  }
  ~HostRounding() { std::fesetround(old); }
  HostRounding(const HostRounding &) = delete;
  HostRounding &operator=(const HostRounding &) = delete;

private:
  int old;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_HOSTROUNDING_H
