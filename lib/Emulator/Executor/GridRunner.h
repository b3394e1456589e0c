//===- GridRunner.h - clusters on host threads ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the clusters of a grid and hands what is left of their CTAs to the
// observers, in the order of linear CTA numbers. Each thread keeps one
// cluster's memory and uses it again, so memory grows with the threads and not
// with the grid.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_GRIDRUNNER_H
#define FA_LIB_EMULATOR_EXECUTOR_GRIDRUNNER_H

#include "Cluster.h"

#include <map>

namespace ptxvm {

/// What observers report goes to the record of the CTA.
class Sink : public DiagnosticSink {
public:
  Sink(CTARecord &record, Launch &launch) : record(record), launch(launch) {}
  void report(Diagnostic d) override;
  void report(Severity severity, std::string origin, std::string message,
              uint32_t pc, int warp, int lane) override;

private:
  CTARecord &record;
  Launch &launch;
};

class GridRunner {
public:
  GridRunner(Launch &launch, const std::vector<ExecutionObserver *> &observers,
             Report &report);
  void run();

private:
  /// A CTA until its turn in the order comes.
  struct Finished {
    std::unique_ptr<CTARecord> record;
    std::unique_ptr<Sink> sink;
    std::vector<std::pair<ExecutionObserver *, std::unique_ptr<CTAObserver>>>
        observers;
  };

  void work();
  void runOne(Cluster &cluster, uint64_t number);
  std::unique_ptr<CTARecord> makeRecord(uint64_t cluster, uint32_t rank) const;
  CTAEvent eventOf(const CTARecord &record, DiagnosticSink &sink) const;
  void attach(CTA &cta, Finished &f, ExecutionObserver &o);
  void handOver(std::vector<Finished> done);
  void finish(Finished &f);
  void finishAll();

  Launch &launch;
  const std::vector<ExecutionObserver *> &observers;
  Report &report;
  uint32_t clusterSize;
  bool mayPrint = false; ///< a CTA that printed nothing has its turn too
  uint64_t total;        ///< clusters
  std::atomic<uint64_t> next{0}, done{0};
  std::mutex lock;
  std::map<uint64_t, Finished> waiting; ///< by linear CTA number
  uint64_t handed = 0;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_GRIDRUNNER_H
