//===- AsyncEvents.h - events of asynchronous work --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a CTAObserver is told of mbarriers, bulk copies, wgmma, fences, cluster
// barriers, the register pool and undefined results. Who is told: the observer
// of the CTA whose thread acts, or whose thread issued the asynchronous
// operation that acts later. An object or a byte may belong to another CTA of
// the cluster; `ownerRank` says to which, and equals the CTA's own rank where
// clusters are not used. Addresses are offsets in the owner's shared window.
//
// The CTAs of a cluster run on one host thread, one event at a time, so
// observers of one cluster may share state without a lock.
//
// The order of the events of one asynchronous operation:
//
//   bulkCopyIssued ... AccessEvents (AsyncRead) ... bulkCopyRead
//                  ... AccessEvents (AsyncWrite) ... bulkCopyCompleted
//                  ... MbarrierEvent CompleteTx (... PhaseComplete)
//   wgmmaIssued ... wgmmaCompleted
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_ASYNCEVENTS_H
#define FA_EMULATOR_ASYNCEVENTS_H

#include <cstdint>
#include <span>

namespace ptxvm {

/// How memory is reached: PTX ISA 9.1 section 8.2. ld, st, atom, ldmatrix and
/// cp.async use the generic proxy; bulk copies and wgmma the async proxy.
enum class Proxy : uint8_t { Generic, Async };

/// Who a strong operation synchronises with.
enum class Scope : uint8_t { CTA, Cluster, GPU, System };

/// An operation on an mbarrier object. The lanes of one instruction that name
/// one object may share an event or have one each.
struct MbarrierEvent {
  enum Kind : uint8_t {
    Init,
    Invalidate,
    Arrive,
    ArriveDrop,
    ExpectTx,   ///< arrive.expect_tx sends this and then Arrive
    CompleteTx, ///< by a bulk copy, st.async or mbarrier.complete_tx
    TestWait,   ///< test_wait or try_wait, whenever it gives its answer
    PhaseComplete,
  };
  uint32_t warp;
  uint32_t pc;
  uint32_t mask; ///< lanes that do it; 0 for what an async operation does
  Kind kind;
  uint32_t ownerRank;
  uint32_t address;
  /// Init: the count; Arrive and ArriveDrop: arrivals by all lanes of the
  /// event together.
  uint32_t count = 0;
  uint64_t bytes = 0; ///< ExpectTx, CompleteTx
  /// TestWait: what was asked. `waitPhase` is the phase whose completion is
  /// meant: from the state token; for a parity the latest phase of that parity
  /// that is complete or current.
  bool byParity = false;
  uint32_t parity = 0;
  uint64_t waitPhase = 0;
  bool succeeded = false; ///< TestWait
  /// Arrive is release and TestWait acquire, unless `.relaxed` was written.
  bool ordersMemory = true;
  Scope scope = Scope::CTA;
  /// Arrive of cp.async.mbarrier.arrive (when the copies are done), and
  /// CompleteTx of a bulk copy.
  bool isAsync = false;
  uint64_t copyId = 0; ///< CompleteTx of a bulk copy: BulkCopyEvent::id
  // The object afterwards. Kinds other than Init on something that is no
  // mbarrier are told with isValid = false and nothing else happens.
  bool isValid = true;
  uint32_t pendingCount = 0, expectedCount = 0;
  int64_t txCount = 0; ///< bytes still expected; negative = came too early
  uint64_t phase = 0;  ///< phases completed since init
};

/// cp.async.bulk, cp.async.bulk.tensor and cp.reduce.async.bulk of one lane.
struct BulkCopyEvent {
  enum Direction : uint8_t {
    GlobalToShared,
    SharedToGlobal,
    SharedToShared, ///< own window to that of a CTA of the cluster
    Prefetch,
  };
  uint64_t id; ///< counts the bulk copies of the CTA, from 0
  uint32_t warp;
  uint32_t pc;
  uint32_t lane;
  Direction direction;
  bool isTensor = false;
  bool isReduce = false;
  /// What a destination CTA receives, or the source in shared memory: one
  /// contiguous range, whatever the swizzle; a tensor box with what lies
  /// outside the tensor.
  uint64_t bytes = 0;
  /// Destination (GlobalToShared, SharedToShared) or source (SharedToGlobal):
  /// a CTA of the cluster and an offset.
  uint32_t sharedRank = 0;
  uint32_t sharedAddress = 0;
  /// SharedToShared: the source, in the executing CTA.
  uint32_t sourceAddress = 0;
  /// Multicast: bit r = the CTA of rank r receives the same at the same offset
  /// (sharedRank is not meant then); 0 = no multicast.
  uint32_t multicast = 0;
  /// The mbarrier that is told; with multicast the same offset in each
  /// receiving CTA. Without one the copy belongs to the lane's open bulk group.
  bool hasMbarrier = false;
  uint32_t mbarrierRank = 0;
  uint32_t mbarrierAddress = 0;
  uint32_t group = 0; ///< number of the lane's bulk group, from 0
};

/// cp.async.bulk.commit_group (pending = 0) or wait_group: leaves `pending`
/// groups open; with isRead only the sources have been read.
struct BulkGroupEvent {
  uint32_t warp;
  uint32_t pc;
  uint32_t mask;
  uint32_t pending;
  bool isRead;
};

/// Bytes of the executing CTA's shared window: [begin, end).
struct ByteRange {
  uint32_t begin, end;
};

/// A wgmma.mma_async. It is told once, when the last of the four warps has come
/// to it; none of them has gone on by then. The machine sends no AccessEvent
/// for its reads: the footprints are here. Register numbers are those of
/// InstructionInfo.
struct WgmmaEvent {
  uint64_t id; ///< counts the wgmmas of the CTA, from 0
  uint32_t firstWarp;
  uint32_t pc;
  uint16_t m = 64, n = 0, k = 0;
  std::span<const uint32_t> accumulators;
  bool accumulates = false;             ///< scale-d: what they hold is added to
  std::span<const uint32_t> aRegisters; ///< empty when A is in shared memory
  /// In rising order, not overlapping, exact to 16 bytes.
  std::span<const ByteRange> aShared, bShared;
};

/// wgmma.commit_group (pending = 0), wait_group (which leaves `pending` groups
/// open) or fence, of one warp or of the warps of a group together.
struct WgmmaGroupEvent {
  uint32_t firstWarp;
  uint32_t warps; ///< 1 or 4
  uint32_t pc;
  uint32_t pending = 0;
};

/// fence, membar and fence.proxy.
struct FenceEvent {
  enum Semantics : uint8_t { Acquire, Release, AcquireRelease, Sequential };
  enum Kind : uint8_t {
    Memory,       ///< no proxy
    Async,        ///< .proxy.async: shared and global memory
    AsyncShared,  ///< .proxy.async.shared::{cta,cluster}
    AsyncGlobal,  ///< .proxy.async.global
    Alias,        ///< .proxy.alias
    Tensormap,    ///< .proxy.tensormap::generic
    MbarrierInit, ///< .mbarrier_init.release.cluster
  };
  uint32_t warp;
  uint32_t pc;
  uint32_t mask;
  Semantics semantics = AcquireRelease;
  Scope scope = Scope::GPU;
  Kind proxy = Memory;
};

/// barrier.cluster. Complete is told to one CTA, that of the last arrival;
/// Wait when the wait has succeeded, after Complete.
struct ClusterBarrierEvent {
  enum Kind : uint8_t { Arrive, Wait, Complete };
  uint32_t warp;
  uint32_t pc;
  uint32_t mask;
  uint32_t liveMask; ///< lanes of that warp that have not exited
  Kind kind;
  bool ordersMemory = true; ///< false for arrive.relaxed
  uint64_t phase = 0;       ///< phases completed before this event
};

/// setmaxnreg of one warp.
struct RegisterPoolEvent {
  enum Kind : uint8_t { Requested, Granted, Released };
  uint32_t warp;
  uint32_t pc;
  Kind kind;
  uint32_t previous;  ///< registers a thread, before
  uint32_t wanted;    ///< the operand
  uint32_t available; ///< registers in the pool of the CTA, afterwards
};

/// A result, or an effect, that PTX leaves undefined for the lanes in `mask`.
struct UndefinedEvent {
  enum Kind : uint8_t {
    DivisionByZero, ///< div, rem of integers
    InactiveSource, ///< shfl reads a lane that does not take part;
                    ///< `detail` = that lane, for the lowest of `mask`
    NotInOwnMask,   ///< `.sync` by a lane outside its membermask;
                    ///< `detail` = the mask
    DifferentMasks, ///< lanes that meet give different membermasks;
                    ///< `detail` = the mask of the lowest lane
    EmptyMask,      ///< a membermask of 0
  };
  uint32_t warp;
  uint32_t pc;
  uint32_t mask;
  Kind kind;
  uint64_t detail = 0;
};

} // namespace ptxvm

#endif // FA_EMULATOR_ASYNCEVENTS_H
