//===- AsyncQueue.h - operations that end later -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies, tensor copies, wgmma: an instruction checks its operands, makes
// an AsyncOperation and gives it to the queue of its cluster. The operation
// reads its sources and writes its results when the queue says so:
//
//   DeviceOptions::lateCompletion = false  in add(), at once
//   --order=random                         also at random points between turns
//   otherwise                              as late as the waits allow: when
//     - a wait asks for its group: waitGroups(), readGroups();
//     - a test of its mbarrier would fail and only such operations are missing:
//       completePhase(); a warp parked on the mbarrier is served when no warp
//       of the cluster can go on, or after a few turns of the others;
//     - its CTA exits.
//
// So a kernel that does not wait sees what was there before. To add a kind of
// operation: derive from AsyncOperation; check everything that can be wrong
// when the instruction issues (bounds, alignment), because finish() has nobody
// to tell; set `stream` and `group` when waits count groups (one stream for
// each thread or warpgroup, numbers of streamOf()), `signal` when an mbarrier
// is told; write finish(), and read() too when a wait may ask for the reading
// alone (`.read`). `isOrdered` keeps the operations of one stream in order
// (wgmma); others end in any order.
//
//   auto op = std::make_unique<MyOperation>(w, ...);
//   op->stream = streamOf(AsyncStream::Wgmma, w.cta->rank, firstWarp * 32);
//   op->group = openGroup;                      // commit_group: ++openGroup
//   w.cta->cluster->queue.add(std::move(op));
//   ...
//   queue.waitGroups(stream, openGroup - N);    // wait_group N: groups below
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_ASYNCQUEUE_H
#define FA_LIB_EMULATOR_EXECUTOR_ASYNCQUEUE_H

#include <cstdint>
#include <memory>
#include <vector>

namespace ptxvm {

struct CTA;
struct Cluster;
struct Warp;

/// Who counts groups: a thread for bulk copies, a warpgroup for wgmma (name it
/// by its first thread). 0 is no stream.
enum class AsyncStream : uint32_t { Bulk = 1, Wgmma = 2 };
inline uint64_t streamOf(AsyncStream kind, uint32_t rank, uint32_t thread) {
  return uint64_t(kind) << 48 | uint64_t(rank) << 32 | thread;
}

/// The mbarrier that an operation tells.
struct AsyncSignal {
  CTA *owner = nullptr; ///< null = none
  uint32_t address = 0;
  uint32_t arrivals = 0; ///< arrive-on operations
  uint64_t bytes = 0;    ///< complete_tx
};

class AsyncOperation {
public:
  AsyncOperation(Warp &issuer, uint32_t pc) : issuer(issuer), pc(pc) {}
  virtual ~AsyncOperation() = default;

  /// Reads the sources; called once, at the latest right before finish().
  virtual void read() {}
  /// Does the rest; called once.
  virtual void finish() = 0;
  /// Another operation has done its work: it leaves the queue.
  virtual bool isDone() const { return false; }

  Warp &issuer;
  uint32_t pc;
  uint64_t stream = 0;
  uint32_t group = 0;
  bool isOrdered = false;
  AsyncSignal signal;

private:
  friend class AsyncQueue;
  bool wasRead = false;
};

class AsyncQueue {
public:
  AsyncQueue(Cluster &cluster) : cluster(cluster) {}

  bool empty() const { return pending.empty(); }
  void clear() { pending.clear(); }
  void add(std::unique_ptr<AsyncOperation> operation);

  /// Completes the operations of a stream in groups below `group`.
  void waitGroups(uint64_t stream, uint32_t group);
  /// The same for their reads only.
  void readGroups(uint64_t stream, uint32_t group);
  /// Completes the oldest operations that tell this mbarrier when, and as far
  /// as, they are all that its phase waits for; true when they were.
  bool completePhase(CTA &owner, uint32_t address);
  /// Completes what an exiting CTA has issued.
  void completeOf(const CTA &issuer);
  /// Completes everything; false when there was nothing.
  bool completeAll();
  /// Completes what parked warps wait for; with `isStuck`, when nobody can go
  /// on, whatever tells an mbarrier. False when there was nothing.
  bool completeForWaiters(bool isStuck);
  /// --order=random: now and then completes, or reads for, one of them.
  void completeSome();

private:
  template <typename Wants> bool completeWhere(Wants wants);
  void finish(AsyncOperation &operation);

  Cluster &cluster;
  std::vector<std::unique_ptr<AsyncOperation>> pending; ///< in order of issue
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_ASYNCQUEUE_H
