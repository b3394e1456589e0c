//===- LaunchReport.h - one launch as JSON ----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fa-ptx-emu --report writes: any kernel, with arguments of which nothing
// but their text is known. What it shares with the report of fa-run
// (fa/Runner/Report.h) has the same names there.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_LAUNCHREPORT_H
#define FA_SUPPORT_LAUNCHREPORT_H

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace farun {

/// An output compared with what was expected of it.
struct ExpectationResult {
  int argument = 0;     ///< number of the output
  std::string expected; ///< the file
  bool ok = false;
  std::string problem;            ///< why nothing was compared, or empty
  double maxError = 0, bound = 0; ///< bound: the tolerance
  std::vector<int64_t> at;        ///< of the first that is wrong
  double found = 0, wanted = 0;   ///< the values there
  int64_t wrong = 0, count = 0;   ///< elements
};

struct LaunchReport {
  std::string file, entry, target;
  std::array<uint32_t, 3> grid{}, block{}, cluster{}; ///< cluster 0: not given
  uint64_t sharedBytes = 0;                           ///< dynamic
  std::vector<std::string> arguments;                 ///< as given
  int exitCode = 0;
  std::string status; ///< "ok", "fault", "deadlock", ...
  std::vector<ExpectationResult> checks;
  std::vector<std::pair<std::string, double>> counters;
  std::vector<std::string> diagnostics;
  std::string speedOfLight; ///< the table of --chip, or empty
  double seconds = 0;
};

/// Keys in a fixed order.
std::string reportJson(const LaunchReport &report);

} // namespace farun

#endif // FA_SUPPORT_LAUNCHREPORT_H
