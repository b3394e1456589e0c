//===- GridRunner.h - clusters on host threads ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the clusters of a grid and hands what is left of their CTAs to the
// observers, in the order of linear CTA numbers. The memory of a cluster is
// used again, so memory grows with the resident clusters and not with the grid:
// one for each thread, and those that spin on what a later one writes.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_GRIDRUNNER_H
#define FA_LIB_EMULATOR_EXECUTOR_GRIDRUNNER_H

#include "Cluster.h"

#include <condition_variable>
#include <deque>
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

/// Bytes of the host that a cluster takes while it runs, observers aside.
uint64_t clusterBytes(const Launch &launch);
/// What a launch says that the host has no memory for.
Diagnostic memoryProblem(const Kernel &kernel);

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

  /// A cluster that has begun. Most run to their end at once; one that spins
  /// is parked until something may have changed.
  struct Resident {
    explicit Resident(Launch &launch) : cluster(launch) {}
    Cluster cluster;
    std::unique_ptr<ClusterRun> run;
    std::vector<Finished> parts;
    uint64_t epoch = 0; ///< when it was found stuck
    bool isStuck = false;
  };

  void work();
  void workUntilDone();
  void stopForMemory();
  bool isReverse() const;
  uint64_t numberOf(uint64_t n) const;
  void startThreads(std::vector<std::thread> &pool, unsigned count);
  void workBehind();
  void watch(size_t threads);
  std::unique_ptr<Resident> take();
  void give(std::unique_ptr<Resident> r, ClusterRun::Result result,
            uint64_t epochBefore);
  void begin(Resident &r, uint64_t number);
  void end(Resident &r);
  std::unique_ptr<CTARecord> makeRecord(uint64_t cluster, uint32_t rank) const;
  CTAEvent eventOf(const CTARecord &record, DiagnosticSink &sink) const;
  void attach(CTA &cta, Finished &f, ExecutionObserver &o);
  void handOver(std::vector<Finished> done);
  std::map<uint64_t, Finished>::iterator firstWaiting();
  void stopParked();
  void finish(Finished &f);
  void finishAll();

  Launch &launch;
  const std::vector<ExecutionObserver *> &observers;
  Report &report;
  uint32_t clusterSize;
  bool mayPrint = false; ///< a CTA that printed nothing has its turn too
  uint64_t total;        ///< clusters
  std::mutex lock;       ///< of all that follows
  std::condition_variable changed;
  uint64_t next = 0; ///< cluster to begin
  uint64_t done = 0; ///< CTAs
  uint64_t residents = 0, mostResidents, running = 0;
  uint64_t epoch = 0; ///< counts runs that may have written to memory
  bool prefersNew = false;
  bool lacksMemory = false;
  std::deque<std::unique_ptr<Resident>> parked;
  std::vector<std::unique_ptr<Resident>> spare; ///< memory to use again
  std::map<uint64_t, Finished> waiting;         ///< by linear CTA number
  uint64_t handed = 0;
  // While the launching thread watches instead of working.
  std::condition_variable oneEnded;
  size_t ended = 0; ///< threads
  bool isCancelled = false;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_GRIDRUNNER_H
