//===- Machine.h - the state of a running grid ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launch (shared by all host threads, read-only while running), CTA and Warp;
// a CTA belongs to a Cluster (Cluster.h), if only to one of its own.
// A warp is a resumable machine: its lanes are split into groups that share a
// pc; the current group is in `pc` and `group`, the others in `others`. The
// group with the lowest pc runs, and groups merge where their pcs meet; see
// Decoder/ControlFlow.cpp for why that reconverges early.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_MACHINE_H
#define FA_LIB_EMULATOR_EXECUTOR_MACHINE_H

#include "../Decoder/Code.h"
#include "../Memory/DeviceHeap.h"

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ptxvm {

struct CTA;
struct CallStack;
struct Cluster;
struct WgmmaState;

/// What all CTAs of a launch share.
struct Launch {
  const Kernel &kernel;
  std::vector<Instruction> code; ///< with handlers
  const LaunchShape &shape;      ///< its cluster is never empty
  const DeviceOptions &options;
  GlobalMemory &memory;
  DeviceHeap &heap;
  std::vector<uint8_t> parameters;
  std::vector<uint32_t> readOnlyImage; ///< of the register file, lanes spread
  uint32_t sharedBytes = 0;
  uint32_t dynamicSharedStart = 0;
  bool isExplicitCluster = false;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> issued{0};
  const std::function<void(std::string_view)> *printer = nullptr;
  const ProgressFunction *progress = nullptr;
};

/// The predicates that bar.red has seen in one phase.
struct BarrierCounts {
  uint32_t isTrue = 0, total = 0;
};

struct Group {
  enum State : uint8_t {
    Ready,
    AtBarrier,
    AtWarpSync,
    AtClusterBarrier,
    AtMbarrier,
    AtRegisterPool,
    AtWarpgroup, ///< until the other warps of the warpgroup come
  } state = Ready;
  uint32_t pc = 0, mask = 0;
  uint32_t wanted = 0; ///< AtWarpSync: the membermask
  /// AtBarrier: its number; AtWarpSync: 1 = bar.warp; AtMbarrier: its address
  /// in the CTA; AtRegisterPool: the registers it asks for.
  uint32_t barrier = 0;
  bool released = false; ///< what it waited for has come: finish the handler
  BarrierCounts counts =
      {}; ///< AtBarrier, once released: of the phase it was in
};

/// A cp.async whose bytes have not moved.
struct PendingCopy {
  uint64_t id;
  uint32_t pc;
  uint32_t mask; ///< lanes not completed yet
  uint32_t bytes;
  bool isWhole; ///< every lane reads all of its bytes
  std::array<uint32_t, 32> sourceBytes;
  std::array<uint32_t, 32> groupOf; ///< the lane's group number
  std::array<uint64_t, 32> shared, global;
  std::array<const uint8_t *, 32> source;
};

/// A pc that is none.
inline constexpr uint32_t kNowhere = ~0u;

struct Warp {
  uint32_t *regs = nullptr;
  uint32_t *preds = nullptr;
  const uint32_t *lists = nullptr;
  uint32_t *scratch = nullptr; ///< 32 lanes of 64 bits, for one instruction
  uint32_t mask = 0;           ///< lanes that execute the current instruction
  uint32_t group = 0;          ///< lanes of the current group
  uint32_t pc = 0;
  uint32_t mergePc = ~0u; ///< lowest pc of `others` that may be met
  uint32_t live = 0;      ///< lanes that have not exited
  uint32_t index = 0;
  CTA *cta = nullptr;
  std::vector<Group> others;
  /// The current instruction is run again because what it waited for came.
  bool released = false;
  BarrierCounts counts; ///< with `released`: what the barrier counted
  Allocation *lastBuffer = nullptr;
  std::vector<PendingCopy> copies;
  std::array<uint32_t, 32> openGroup{}; ///< number of each lane's open group
  std::array<uint32_t, 32> openBulkGroup{};
  /// barrier.cluster: lanes that have arrived in the phase in progress, and
  /// those whose phase is complete but that have not waited.
  uint32_t clusterArrived = 0, clusterReady = 0;
  uint32_t registers = 0; ///< of a thread, as setmaxnreg left them
  /// setmaxnreg.inc: what the pool has set aside for this warp, since another
  /// warp of its warpgroup asked; 0 = nothing.
  uint32_t grantedRegisters = 0;
  /// The setmaxnreg that this warp has executed and others of its warpgroup
  /// have not yet; kNowhere = none.
  uint32_t registersPc = kNowhere;
  /// Cleared by an atomic that left memory as it was; for finding spin loops.
  bool hasWritten = false;
  uint64_t issued = 0;
  std::shared_ptr<CallStack> calls; ///< once the warp has called
  std::string printed;              ///< by vprintf

  bool isDone() const { return live == 0; }
};

struct Barrier {
  std::vector<uint32_t> arrived; ///< lanes, by warp
  uint32_t expected = 0;         ///< threads; 0 = all of the CTA
  bool inUse = false;
  uint32_t firstPc = 0;
  BarrierCounts counts; ///< bar.red: of the phase in progress
};

/// The state of an mbarrier object, kept beside shared memory, which holds
/// image(). A different word there means that something else wrote to it.
struct Mbarrier {
  uint32_t expected = 0; ///< arrivals of the next phase
  uint32_t pending = 0;  ///< arrivals this phase still needs
  int64_t tx = 0;        ///< bytes this phase still needs
  uint64_t phase = 0;    ///< phases completed since init
  uint32_t waiting = 0;  ///< parked groups

  /// 20 bits pending, 20 expected, 21 tx, 3 phase.
  uint64_t image() const {
    return uint64_t(pending) | uint64_t(expected) << 20 |
           (uint64_t(tx) & 0x1FFFFF) << 40 | phase << 61;
  }
};

/// What a CTA is and what was said of it. It outlives the CTA's memory, which
/// the next one uses again.
struct CTARecord {
  const Launch &launch;
  Dim3 id = {};
  uint64_t linear = 0;
  uint64_t cluster = 0; ///< number of its cluster
  uint32_t rank = 0;
  uint32_t threads = 0;
  Status status = Status::Ok;
  std::vector<Diagnostic> diagnostics = {};
  unsigned errors = 0;
  bool completed = false;
  std::string printed = {}; ///< by its warps, in their order

  uint32_t warps() const { return (threads + 31) / 32; }
  Diagnostic makeDiagnostic(Severity severity, std::string origin,
                            std::string message, uint32_t pc, int warp,
                            int lane) const;
};

struct CTA {
  CTA(Launch &launch) : launch(launch) {}

  Launch &launch;
  Cluster *cluster = nullptr;
  std::unique_ptr<CTARecord> record;
  uint32_t rank = 0;
  uint32_t threads = 0;
  uint32_t liveWarps = 0;
  std::vector<uint8_t> shared;
  std::vector<uint8_t> local; ///< localBytes a thread
  std::vector<uint32_t> registerFile, predicateFile;
  std::vector<Warp> warps;
  std::array<Barrier, 16> barriers;
  std::map<uint32_t, Mbarrier> mbarriers; ///< by offset in `shared`
  uint32_t freeRegisters = 0;             ///< setmaxnreg: of the CTA's pool
  uint64_t copies = 0;                    ///< cp.async instructions so far
  uint64_t bulkCopies = 0;                ///< bulk copies so far
  std::shared_ptr<WgmmaState> wgmma;      ///< made by the first wgmma

  // Observers of this CTA, by what they want to see.
  std::vector<CTAObserver *> onInstruction, onMemory, onCopy, onBarrier,
      onWgmma, onUndefined;

  /// Makes it the CTA of this record, before its first instruction.
  void reset(std::unique_ptr<CTARecord> r);

  bool hasExited() const { return liveWarps == 0; }
  /// Records the fault that stops the launch.
  Flow fault(const Warp &w, std::string origin, std::string message,
             int lane = -1);
  /// The same for another instruction than the current one, such as that of an
  /// asynchronous operation.
  Flow faultAt(uint32_t pc, const Warp &w, std::string origin,
               std::string message, int lane = -1);

  // Barrier.cpp
  /// True when the phase completed; then all waiting groups are ready.
  bool arrive(Warp &w, uint32_t number, uint32_t expected,
              BarrierEvent::Kind kind);
  /// After lanes exited: barriers that waited only for them complete.
  void recheckBarriers(Warp &w);

private:
  void fillSpecial(Warp &w);
  bool isComplete(const Barrier &b) const;
  void complete(Warp &w, uint32_t number, BarrierEvent::Kind kind);
};

// Scheduler.cpp
/// Chooses the ready group with the lowest pc (or, for fairness, the one that
/// is `skip` ready groups further) and merges what stands at the same pc.
/// False when none is ready.
bool selectGroup(Warp &w, unsigned skip = 0);
/// Lets the active lanes wait at this instruction; the others of the group go
/// on. The handler returns Flow::Block then.
Flow parkActive(Warp &w, Group::State state, uint32_t wanted, uint32_t barrier);

/// The fault of an .aligned instruction that part of a warp executes.
void faultNotAligned(Warp &w);
/// False, after that fault, unless all 32 lanes are here.
inline bool needsWholeWarp(Warp &w) {
  if (w.mask == ~0u) [[likely]]
    return true;
  faultNotAligned(w);
  return false;
}

// AsyncCopy.cpp
/// Moves the bytes of the copies of groups older than `pending` open ones.
void completeCopies(Warp &w, uint32_t lanes, uint32_t pending);

/// Moves those of the copies with a lower id that belong to these lanes.
void completeCopiesBefore(Warp &w, uint32_t lanes, uint64_t id);

/// Handlers by row of Instructions.def, for the widest vectors of this host.
const std::vector<Handler> &handlersByRow();
/// "baseline", "avx2" or "avx512".
const char *handlerVariant();

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_MACHINE_H
