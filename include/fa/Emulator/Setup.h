//===- Setup.h - a machine as options describe it ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the text of the options (fa/Support/DeviceOptions.h) to the machine's
// own: the one place that judges them, whichever tool they came from.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_SETUP_H
#define FA_EMULATOR_SETUP_H

#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Device.h"
#include "fa/Support/DeviceOptions.h"
#include "fa/Support/Expected.h"

namespace ptxvm {

struct Setup {
  DeviceOptions device;
  /// What a host is told that launches as many CTAs; they run as others do.
  unsigned multiprocessors = 0;
  /// To attach to the device, and to outlive it.
  CheckerSet checkers;
};

/// An error names the option, what was found and what is accepted.
farun::Expected<Setup> makeSetup(const farun::DeviceOptions &options);

/// Name and one line for each checker, as --sanitize=help lists them.
std::vector<std::pair<std::string, std::string>> describeCheckers();

} // namespace ptxvm

#endif // FA_EMULATOR_SETUP_H
