//===- ToolOptions.h - what the tools' command lines share ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Around CLI11: its words in the form of all other errors, options that may
// stand alone, whole numbers, and the options of devices; and how a tool ends.
// Only the library FAToolOptions and the tools know CLI11.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_TOOLOPTIONS_H
#define FA_SUPPORT_TOOLOPTIONS_H

#include "fa/Support/DeviceOptions.h"

#include <optional>
#include <utility>

namespace CLI {
class App;
}

namespace farun {

/// Declares every option of deviceOptionTable().
void addDeviceOptions(CLI::App &app, DeviceOptions &options);

/// Name and value of an option that stands alone.
using AloneValues = std::vector<std::pair<std::string, std::string>>;

/// Parses the command line; the usage names the tool as it was called. An
/// option of `alone`, or one of devices, that stands alone gets its value: a
/// following word is never taken for it. Returns the exit code when the command
/// line settles the matter: 0 after --help, 2 when it is wrong.
std::optional<int> parseCommandLine(CLI::App &app, int argc, char **argv,
                                    AloneValues alone = {});

/// What main returns: `code`, unless words for standard output found no place
/// there. That is said, and 0 becomes 2.
int finishOutput(int code);

/// A check for options: what is wrong with `text` as a whole number, nothing
/// when it is one. CLI11 itself takes -1 for 2^64 - 1, and so it does what is
/// too large.
std::string checkWholeNumber(const std::string &text);

} // namespace farun

#endif // FA_SUPPORT_TOOLOPTIONS_H
