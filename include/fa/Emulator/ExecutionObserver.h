//===- ExecutionObserver.h - how a run is watched ---------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checkers and counters see a run through this interface, and the executor
// knows nothing else of them. One ExecutionObserver lives for the launch; it
// makes a CTAObserver for each CTA. The events of one CTA come from one host
// thread, in the order in which the machine does things, so a CTAObserver needs
// no lock. kernelBegin, ctaBegin and ctaEnd are called under a lock; ctaEnd is
// called in the order of linear CTA numbers (from the last one with the order
// Reverse) whatever the host threads do, so what is summed or reported there is
// deterministic.
//
//   kernelBegin
//     ctaBegin -> CTAObserver
//       instructionIssued      every warp instruction, before it acts
//       memoryAccess           before the bytes move; after the core's checks
//       asyncCopyIssued / asyncCopyCommitted / asyncCopyWaited / ...Completed
//       bulkCopyIssued / ...Read / ...Completed, bulkGroupCommitted / ...Waited
//       wgmmaIssued / ...Committed / ...Waited / ...Completed, wgmmaFence
//       barrierArrived / barrierCompleted, warpSynchronised
//       mbarrier, clusterBarrier, fence, registerPool, undefined
//       lanesExited
//     ctaEnd
//   kernelEnd
//
// Nothing here costs anything when no observer is present, and an observer
// gets only the events whose bits interests() returns.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_EXECUTIONOBSERVER_H
#define FA_EMULATOR_EXECUTIONOBSERVER_H

#include "fa/Emulator/AsyncEvents.h"
#include "fa/Emulator/Device.h"
#include "fa/Emulator/Diagnostic.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxvm {

/// State spaces as the executor resolves them: generic and const accesses are
/// reported with the space they reach (const data is Global, read-only).
enum class Space : uint8_t { Global, Shared, Local, Param };

/// What an instruction is for a counter; see InstructionInfo.
enum class Category : uint8_t {
  Integer,
  Float,
  Convert,
  Compare,
  Move,
  SpecialFunction, ///< ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh (MUFU)
  Load,
  Store,
  Atomic,
  AsyncCopy,
  MatrixLoad, ///< ldmatrix, stmatrix, movmatrix
  Mma,
  Shuffle, ///< shfl, vote, match, redux, activemask
  Barrier,
  Fence,
  Control,
};

/// The static facts about one PTX instruction. Register numbers count the
/// virtual registers of the kernel, as declared; predicates are included.
struct InstructionInfo {
  std::string opcode;   ///< the whole word: "ld.global.nc.v4.b32"
  std::string mnemonic; ///< "ld"
  Category category = Category::Move;
  uint32_t line = 0, column = 0;
  /// From the nearest `.loc`: index into CodeInfo::sourceFiles, or -1.
  int32_t sourceFile = -1;
  uint32_t sourceLine = 0;
  /// Where that line was inlined, from `inlined_at`; -1 = nowhere.
  int32_t inlinedFile = -1;
  uint32_t inlinedLine = 0;
  std::vector<uint32_t> reads;  ///< registers, the guard included
  std::vector<uint32_t> writes; ///< registers
  int32_t guard = -1;           ///< predicate register of `@p`, or -1
  bool isAligned = false;       ///< `.aligned`, or bar.* which implies it
  /// Where a branch may go: pcs. `endsFlow`: never to the next pc.
  std::vector<uint32_t> targets;
  bool endsFlow = false;
  /// Shape of an mma; 0 for the others. A multiply-add counts 2 flops.
  uint16_t m = 0, n = 0, k = 0;
  /// Element type of A of an mma ("f16", "bf16", ...).
  std::string mmaType;
};

/// The code of a kernel as it runs; `pc` of an event indexes `instructions`.
/// Blocks are in the order in which the scheduler prefers them (docs of
/// Decoder/ControlFlow.h), not in that of the file. Jumps that were added for
/// that have an empty opcode and are never reported.
struct CodeInfo {
  std::string kernel;
  std::string file;
  std::vector<InstructionInfo> instructions;
  std::vector<std::string> registerNames;
  std::vector<std::string> sourceFiles;

  SourceLocation location(uint32_t pc) const {
    return {file, instructions[pc].line, instructions[pc].column};
  }
  /// The kernel source line from `.loc`; line 0 when there is none.
  SourceLocation source(uint32_t pc) const {
    const InstructionInfo &i = instructions[pc];
    if (i.sourceFile < 0 || size_t(i.sourceFile) >= sourceFiles.size())
      return {};
    return {sourceFiles[i.sourceFile], i.sourceLine, 0};
  }
  /// The line into which source(pc) was inlined; line 0 when it was not.
  SourceLocation inlinedAt(uint32_t pc) const {
    const InstructionInfo &i = instructions[pc];
    if (i.inlinedFile < 0 || size_t(i.inlinedFile) >= sourceFiles.size())
      return {};
    return {sourceFiles[i.inlinedFile], i.inlinedLine, 0};
  }
};

struct KernelEvent {
  const CodeInfo &code;
  const LaunchShape &shape;
  uint32_t staticSharedBytes;
  const Device &device;
};

/// Where reports of one CTA go; the core merges them in the order of CTAs.
class DiagnosticSink {
public:
  virtual ~DiagnosticSink() = default;
  virtual void report(Diagnostic diagnostic) = 0;
  /// Fills in location, source and point from a pc, a warp and a lane.
  virtual void report(Severity severity, std::string origin,
                      std::string message, uint32_t pc, int warp,
                      int lane = -1) = 0;
};

struct CTAEvent {
  const CodeInfo &code;
  const LaunchShape &shape;
  Dim3 cta;        ///< %ctaid
  uint64_t linear; ///< x fastest
  uint32_t clusterRank;
  uint64_t cluster;     ///< number of the cluster, x fastest
  uint32_t clusterSize; ///< CTAs of the cluster
  uint32_t warps;
  uint32_t threads;     ///< of the CTA; the last warp may be partial
  uint32_t sharedBytes; ///< static and dynamic
  DiagnosticSink &sink; ///< lives as long as the CTA
};

/// `active` are the lanes that execute: of the converged group, with a true
/// guard. `group` are those of the group, whatever the guard says.
struct IssueEvent {
  uint32_t warp;
  uint32_t pc;
  uint32_t active;
  uint32_t group;
};

enum class AccessKind : uint8_t {
  Load,
  Store,
  Atomic,     ///< atom and red: reads and writes
  MatrixLoad, ///< ldmatrix: lane 8q+i names row i (16 bytes) of matrix q
  MatrixStore,
  AsyncRead,  ///< a copy reads its source (when the bytes move)
  AsyncWrite, ///< a copy writes its destination (when the bytes move)
};

enum class Ordering : uint8_t {
  Weak,
  Volatile,
  Relaxed,
  Acquire,
  Release,
  AcquireRelease
};

/// One warp-wide access. `addresses[l]` is valid for the lanes in `mask`:
/// device addresses in Global, offsets in the owner's window for Shared,
/// offsets in the thread's window for Local and Param. For a MatrixLoad of x1
/// and x2 the mask holds the lanes that supply row addresses (8 and 16 of them)
/// and all lanes of the warp receive data.
///
/// Bulk copies move long ranges: one event for each contiguous range, with one
/// lane in `mask`, any number of `bytes` and no alignment beyond 16 bytes (in
/// global memory, that of an element of the tensor). Other accesses are
/// naturally aligned and at most 32 bytes a lane.
struct AccessEvent {
  uint32_t warp;
  uint32_t pc;
  AccessKind kind;
  Space space;
  Ordering ordering;
  uint32_t mask;
  uint32_t bytes; ///< per lane, all elements of a vector
  const uint64_t *addresses;
  /// Per lane, when lanes move different numbers of bytes (AsyncRead with
  /// src-size: bytes read; the rest is filled with zeros); null = `bytes`.
  const uint32_t *lengths;
  /// Global only: the buffer of the lowest lane; other lanes mostly share it
  /// (ask Device::findAllocation when contains() says otherwise).
  const Allocation *allocation;
  Scope scope = Scope::GPU; ///< of a strong access
  Proxy proxy = Proxy::Generic;
  /// Shared only: the rank in the cluster of the CTA whose memory it is.
  uint32_t ownerRank = 0;
  /// Of st: what the lane will write, `bytes` of it, and by lane what stands
  /// there now; null for others.
  void (*storedBytes)(const AccessEvent &, unsigned lane,
                      uint8_t *to) = nullptr;
  const uint8_t *const *memory = nullptr;
  const void *storeState[2] = {}; ///< for storedBytes
};

/// A cp.async was issued; its bytes move at completion.
struct AsyncCopyEvent {
  uint32_t warp;
  uint32_t pc;
  uint64_t id; ///< counts the cp.async instructions of the CTA, from 0
  uint32_t mask;
  uint32_t bytes;              ///< cp-size
  const uint32_t *sourceBytes; ///< src-size per lane, 0 for ignore-src
  const uint64_t *shared;      ///< destinations, offsets in the window
  const uint64_t *global;      ///< sources, device addresses
};

/// cp.async.commit_group (pending = 0) or a wait: wait_group N leaves `pending`
/// = N groups open; wait_all has waitsForAll.
struct AsyncGroupEvent {
  uint32_t warp;
  uint32_t pc;
  uint32_t mask;
  uint32_t pending;
  bool waitsForAll;
};

struct BarrierEvent {
  uint32_t warp; ///< who arrives; for completion the last who arrived
  uint32_t pc;
  uint32_t barrier;  ///< 0..15
  uint32_t mask;     ///< arriving lanes
  uint32_t liveMask; ///< lanes of that warp that have not exited
  /// Threads the barrier waits for: the operand, or 0 = all of the CTA.
  uint32_t expected;
  enum Kind : uint8_t { Sync, Arrive, Reduce } kind;
  /// For completion: one mask per warp of the CTA, the lanes that took part.
  const std::vector<uint32_t> *participants;
};

enum EventInterest : uint32_t {
  kInstructions = 1u << 0,
  kMemory = 1u << 1,
  kAsyncCopies = 1u << 2,
  /// CTA, cluster and warp barriers, mbarriers, fences, the register pool,
  /// exits.
  kBarriers = 1u << 3,
  kWgmma = 1u << 4,
  kUndefined = 1u << 5,
  /// Bulk copies come with kAsyncCopies.
};

/// Watches one CTA. Every method has an empty default.
class CTAObserver {
public:
  virtual ~CTAObserver() = default;

  virtual void instructionIssued(const IssueEvent &) {}
  virtual void memoryAccess(const AccessEvent &) {}
  virtual void asyncCopyIssued(const AsyncCopyEvent &) {}
  virtual void asyncCopyCommitted(const AsyncGroupEvent &) {}
  /// Comes after the copies that the wait completed.
  virtual void asyncCopyWaited(const AsyncGroupEvent &) {}
  /// The bytes of copy `id` have moved for the lanes in `mask`; the AsyncRead
  /// and AsyncWrite accesses come right before.
  virtual void asyncCopyCompleted(uint32_t warp, uint64_t id, uint32_t mask) {}
  virtual void bulkCopyIssued(const BulkCopyEvent &) {}
  /// The source has been read: it may be written again.
  virtual void bulkCopyRead(const BulkCopyEvent &) {}
  /// The bytes have come; bulkCopyRead was before.
  virtual void bulkCopyCompleted(const BulkCopyEvent &) {}
  virtual void bulkGroupCommitted(const BulkGroupEvent &) {}
  /// Comes after the copies that the wait completed, or read.
  virtual void bulkGroupWaited(const BulkGroupEvent &) {}
  virtual void wgmmaIssued(const WgmmaEvent &) {}
  virtual void wgmmaCommitted(const WgmmaGroupEvent &) {}
  /// Comes after the wgmmas that the wait completed.
  virtual void wgmmaWaited(const WgmmaGroupEvent &) {}
  virtual void wgmmaCompleted(const WgmmaEvent &) {}
  virtual void wgmmaFence(const WgmmaGroupEvent &) {}
  virtual void barrierArrived(const BarrierEvent &) {}
  virtual void barrierCompleted(const BarrierEvent &) {}
  /// bar.warp.sync, or another `.sync` instruction with a membermask: the lanes
  /// in `mask` met. `ordersMemory` is true for bar.warp.sync only.
  virtual void warpSynchronised(uint32_t warp, uint32_t pc, uint32_t mask,
                                bool ordersMemory) {}
  virtual void fence(const FenceEvent &) {}
  virtual void mbarrier(const MbarrierEvent &) {}
  virtual void clusterBarrier(const ClusterBarrierEvent &) {}
  virtual void registerPool(const RegisterPoolEvent &) {}
  virtual void lanesExited(uint32_t warp, uint32_t pc, uint32_t mask) {}
  virtual void undefined(const UndefinedEvent &) {}
};

/// Watches a launch.
class ExecutionObserver {
public:
  virtual ~ExecutionObserver() = default;

  /// A short name, as in `--sanitize=NAME`.
  virtual std::string_view name() const = 0;
  /// EventInterest bits of the events its CTAObservers want.
  virtual uint32_t interests() const = 0;
  /// True for what sums up a launch: when a launch is run in many orders, it
  /// sees the first of them only.
  virtual bool countsOnce() const { return false; }

  virtual void kernelBegin(const KernelEvent &) {}
  /// May return null to skip a CTA.
  virtual std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) = 0;
  /// `completed` is false when the CTA was stopped by a fault or a deadlock;
  /// such a CTA may have left waits and copies open. `sink` still accepts
  /// reports.
  virtual void ctaEnd(const CTAEvent &event, CTAObserver &observer,
                      bool completed) {}
  virtual void kernelEnd(Report &report) {}
};

} // namespace ptxvm

#endif // FA_EMULATOR_EXECUTIONOBSERVER_H
