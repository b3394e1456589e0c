//===- Report.h - a run as JSON and as lines --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_REPORT_H
#define FA_RUNNER_REPORT_H

#include "fa/Runner/Runner.h"

namespace farun {

/// Everything about a run as JSON text, keys in a fixed order.
std::string reportJson(const RunResult &result);

/// The counters alone, as JSON text.
std::string countersJson(const RunResult &result);

/// Seconds the compiler took, when it did; added to the report.
struct CompileFacts {
  std::string source; ///< path of the input
  double seconds = 0;
};
std::string reportJson(const RunResult &result, const CompileFacts &facts);

} // namespace farun

#endif // FA_RUNNER_REPORT_H
