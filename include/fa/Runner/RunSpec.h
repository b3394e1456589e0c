//===- RunSpec.h - what the user asks of a run ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_RUNSPEC_H
#define FA_RUNNER_RUNSPEC_H

#include "fa/Support/Array.h"
#include "fa/Support/ExtentExpression.h"

#include <map>
#include <optional>
#include <string>

namespace farun {

/// One run of one entry. Arguments are counted as the function counts its
/// inputs, from 0.
struct RunSpec {
  std::string entry;
  /// Arrays given by the user; the element type is the operand's.
  std::map<int, Array> inputs;
  /// Where each of them came from, for messages: "--input=1=k.npy".
  std::map<int, std::string> inputNames;
  /// Layout in device memory of an operand, inputs then results, as strides in
  /// elements (0 and negative ones too for inputs); dense without an entry.
  std::map<int, std::vector<int64_t>> strides;
  Extents dims;                               ///< --dim
  std::map<int, std::vector<int64_t>> shapes; ///< --shape
  uint64_t seed = 0;
  bool check = true;
  /// --bench: timed runs behind the checked one, on devices with real time.
  uint64_t benchRuns = 0;
  std::optional<int64_t> traceRow; ///< --trace-state: b, h, i row-major
  bool isLoaded = false; ///< the device has loaded this program before
};

} // namespace farun

#endif // FA_RUNNER_RUNSPEC_H
