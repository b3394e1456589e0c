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
#include "fa/Runner/Launch.h"
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

/// Runs of the same launches again, by the device's clock.
struct Timing {
  static constexpr int kWarmUps = 3;
  std::vector<double> seconds; ///< each timed run, the shortest first
  double operations = 0;       ///< of both products, visible elements alone
  double bytes = 0;            ///< operands and results, each once

  double median() const;
  /// "bench: 10 runs min=0.12 ms median=0.13 ms max=0.2 ms 512 TFLOP/s 90
  /// GB/s", rates by the median.
  std::string str() const;
};

struct RunResult {
  std::string entry, target, device;
  std::string model; ///< of the device; may be empty
  Extents extents;
  std::vector<Operand> operands;
  std::vector<std::vector<int64_t>> shapes; ///< by operand
  Schedule schedule;
  uint64_t seed = 0;
  std::vector<Array> outputs;          ///< in result order
  std::vector<Comparison> comparisons; ///< in result order; empty unchecked
  std::vector<TraceBlock> trace;
  std::vector<WithoutTensorMap> withoutTensorMap;
  std::vector<std::string> diagnostics; ///< what the device said
  std::vector<std::pair<std::string, double>> counters;
  Traffic traffic;
  std::optional<Timing> timing;
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
