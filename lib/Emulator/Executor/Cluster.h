//===- Cluster.h - CTAs that run together -----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CTAs of a cluster take turns on one host thread and see each other's
// shared memory. An address in shared space is
//
//   bits 0..23   offset in the window of a CTA
//   bits 24..31  0 = of the executing CTA, r + 1 = of the CTA of rank r
//
// and the generic address of the same byte is kSharedWindow + that. The first
// kind is what a variable's name gives, the second what mapa gives. Everybody
// who turns such an address into bytes does it by resolveShared().
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_CLUSTER_H
#define FA_LIB_EMULATOR_EXECUTOR_CLUSTER_H

#include "AsyncQueue.h"
#include "Machine.h"

#include <algorithm>
#include <random>
#include <string>

namespace ptxvm {

inline constexpr unsigned kRankShift = 24;
inline constexpr uint32_t kOffsetMask = (1u << kRankShift) - 1;

/// A byte of shared memory; no owner = no CTA of the cluster has this rank.
struct SharedPlace {
  CTA *owner;
  uint32_t offset;
};

struct Cluster {
  Cluster(Launch &launch) : launch(launch), queue(*this) {}

  Launch &launch;
  uint64_t linear = 0;                    ///< number of the cluster
  std::vector<std::unique_ptr<CTA>> ctas; ///< by rank
  std::mt19937_64 random;                 ///< --order=random: all choices
  AsyncQueue queue;
  bool failed = false;       ///< a fault stops all CTAs
  uint64_t barrierPhase = 0; ///< phases of barrier.cluster

  bool isRandom() const {
    return launch.options.order.kind == OrderPolicy::Random;
  }
  /// barrier.cluster: completes the phase when every live lane has arrived.
  void recheckBarrier(Warp &w);
  /// The last lane of a warp has exited.
  void warpExited(Warp &w);
};

/// The one place where a shared address gets a meaning.
inline SharedPlace resolveShared(CTA &executing, uint64_t address) {
  if (address <= kOffsetMask) [[likely]]
    return {&executing, uint32_t(address)};
  uint64_t rank = (address >> kRankShift) - 1;
  const auto &ctas = executing.cluster->ctas;
  return {rank < ctas.size() ? ctas[rank].get() : nullptr,
          uint32_t(address) & kOffsetMask};
}

/// What mapa gives; a rank that no cluster has stays wrong.
inline uint32_t mappedAddress(uint32_t address, uint32_t rank) {
  return (address & kOffsetMask) | (std::min(rank, 254u) + 1) << kRankShift;
}

/// Why a place cannot be reached, or an empty string: no such CTA, a CTA that
/// has exited, or another CTA where only the executing one is allowed.
std::string unreachable(const CTA &executing, const SharedPlace &place,
                        bool allowsRemote);

// Scheduler.cpp
/// Issues up to `count` instructions of a warp that has a group.
uint64_t stepWarp(Warp &w, uint64_t count);

/// Runs the warps of a cluster in turns; it can be left and entered again.
class ClusterRun {
public:
  enum Result {
    Finished, ///< all warps are done, or the launch stops
    Busy,     ///< never returned by run()
    Spinning, ///< for a long time it has only read and computed
    Stuck,    ///< it goes round in a loop until others write to memory
  };
  ClusterRun(Cluster &cluster, uint64_t seed);

  /// Goes on until there is nothing more to do, or only others can help.
  Result run();
  /// Whether the last run() did more than to find that it is still stuck.
  bool changed() const { return hasChanged; }

private:
  bool turn(size_t k);
  bool round();
  void completeSome(Warp &w);
  // SpinWatch.cpp
  Result examine();
  Result watch(Warp &w);
  const std::vector<uint32_t> &sweep();
  uint64_t quantum();

  Cluster &cluster;
  std::vector<Warp *> warps;
  std::vector<uint32_t> order;
  std::vector<unsigned> stalls;
  std::vector<uint64_t> issuedApart;
  unsigned sweeps = 0;
  uint64_t sinceExamined = 0, budget;
  bool isStuck = false, hasChanged = false;
};

// RegisterPool.cpp
/// Gives each warp the registers that it starts with.
void fillRegisterPool(CTA &cta);
/// False, after a fault, when a warp that exits leaves others of its warpgroup
/// alone with a setmaxnreg.
bool mayLeaveWarpgroup(Warp &w);
/// "for 240 registers a thread (...)", of a parked warp.
std::string describePool(const Warp &w, uint32_t wanted);

// Deadlock.cpp
/// One diagnostic that says who waits for what.
void reportDeadlock(Cluster &cluster);
/// The same of clusters that wait for each other, or for one of the CTAs that
/// have not started.
void reportNoProgress(const std::vector<Cluster *> &clusters,
                      uint64_t notStarted);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_CLUSTER_H
