//===- DeviceOptions.h - how a device runs kernels --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one definition of the options that every tool which runs PTX has. A new
// one is a member here, a row of the table in DeviceOptions.cpp, and a line in
// the device that obeys it (lib/Emulator/Setup): no tool changes.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_DEVICEOPTIONS_H
#define FA_SUPPORT_DEVICEOPTIONS_H

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace farun {

/// What the user said, not yet looked at: the device that is opened judges it.
/// Each default means "not given".
struct DeviceOptions {
  uint64_t threads = 0;         ///< host threads, 0 = one for each core
  std::string order;            ///< "round-robin", "reverse", "random:SEED"
  uint64_t maxInstructions = 0; ///< 0 = no limit
  uint64_t maxCluster = 0;      ///< largest cluster, 0 = 8
  uint64_t maxResident = 0;     ///< CTAs under way at once, 0 = 1024
  uint64_t multiprocessors = 0; ///< 0 = those of `chip`
  std::string sanitize;         ///< "", "all", "none" or a list of checkers
  std::string countersFile;     ///< "" none, kStdout lines, else a JSON file
  bool counters = false;        ///< count, for a file or for a report
  std::string chip;             ///< whose speed of light is printed; "": H100
  std::string tensorModel;
  std::string approx;
};

/// What --counters means without a file.
inline constexpr const char *kStdout = "-";

/// One option of the command line.
struct DeviceOption {
  const char *name; ///< with its dashes
  const char *help;
  const char *alone; ///< the value without one; null when one is needed
  std::variant<std::string DeviceOptions::*, uint64_t DeviceOptions::*> value;
};

/// All of them, in the order of the help.
const std::vector<DeviceOption> &deviceOptionTable();

/// "--order=reverse": the first option that was given, empty without one.
std::string findGivenOption(const DeviceOptions &options);

} // namespace farun

#endif // FA_SUPPORT_DEVICEOPTIONS_H
