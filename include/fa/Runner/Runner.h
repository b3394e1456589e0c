//===- Runner.h - one checked run -------------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Program and RunSpec in, results and verdicts out. Nothing is printed; the
// tools, the C API and the tests all stand on this function. Results start as
// NaN and every buffer lies between guards, so what a kernel does not write or
// writes beside is seen.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_RUNNER_H
#define FA_RUNNER_RUNNER_H

#include "fa/Runner/Binding.h"
#include "fa/Runner/Compare.h"
#include "fa/Runner/Program.h"
#include "fa/Runtime/Device.h"

namespace farun {

/// m, l and u of one row after a K/V block, in natural units.
struct TraceBlock {
  int64_t block = 0;
  float m = 0, l = 0;
  std::vector<float> u;

  /// "trace: block=0 m=0.6931472 l=1.5 u=[20]", digits that read back exactly.
  std::string str() const;
};

/// What moves through global memory, in bytes.
struct Traffic {
  double bound = 0;       ///< Q, O, LSE once; K, V once per block of queries
  double naive = 0;       ///< the same with S and P written and read again
  double naiveStored = 0; ///< S for all heads; this kernel stores none
};

struct RunResult {
  std::string entry, target, device;
  Extents extents;
  std::vector<Operand> operands;
  std::vector<std::vector<int64_t>> shapes; ///< by operand
  Schedule schedule;
  uint64_t seed = 0;
  std::vector<Array> outputs;          ///< in result order
  std::vector<Comparison> comparisons; ///< in result order; empty unchecked
  std::vector<TraceBlock> trace;
  std::vector<std::string> diagnostics; ///< what the device said
  std::vector<std::pair<std::string, double>> counters;
  Traffic traffic;
  double deviceSeconds = 0, oracleSeconds = 0;
  int64_t launches = 0;
  /// Set when a checker, a deadlock or a limit stopped the kernel: there are
  /// no outputs then.
  std::optional<Error> failure;

  /// The exit code of a tool that ran this.
  int exitCode() const;
};

/// Runs; an Error is a run that did not begin (input) or a device that failed.
Expected<RunResult> run(const Program &program, const RunSpec &spec,
                        Device &device);

} // namespace farun

#endif // FA_RUNNER_RUNNER_H
