//===- Checkers.h - what looks for bugs in a kernel -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checkers are observers with a name. The machine's core stops at what cannot
// be executed (an access out of bounds, a deadlock); a checker reports what can
// be executed and is wrong all the same, and the run goes on.
//
//   auto checkers = ptxvm::CheckerSet::parse("all");
//   checkers->attach(device);
//   ptxvm::Report report = device.launch(...);   // status Fault after a
//   finding
//
// A finding names the instruction once for each CTA; at the end of the launch
// the same instruction in other CTAs is folded into the first finding.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_CHECKERS_H
#define FA_EMULATOR_CHECKERS_H

#include "fa/Emulator/ExecutionObserver.h"

namespace ptxvm {

struct CheckerInfo {
  std::string_view name;
  std::string_view description;
  /// On without being asked for.
  bool isDefault;
  /// Part of the core, which always finds it; null then.
  std::unique_ptr<ExecutionObserver> (*make)();
  /// On only by its name: not in "all".
  bool isExtra = false;

  bool isCore() const { return !make; }
};

/// All of them, those of the core first.
const std::vector<CheckerInfo> &allCheckers();

/// The checkers of a run.
class CheckerSet {
public:
  /// "" (the default ones), "all", "none" or names with commas between them.
  /// The core's are accepted and change nothing.
  static Expected<CheckerSet> parse(const std::string &list);

  /// They must outlive the launches of the device.
  void attach(Device &device) const;
  bool empty() const { return observers.empty(); }

private:
  std::vector<std::unique_ptr<ExecutionObserver>> observers;
};

/// Reads of global, shared and local bytes that nothing has written. Bytes of a
/// cp.async count as written when it is issued: reading them too early is for
/// the next but one to find.
std::unique_ptr<ExecutionObserver> makeInitialisationChecker();
/// Reads of registers that nothing has written. `mov` passes the fault on,
/// since compilers move values that nobody uses.
std::unique_ptr<ExecutionObserver> makeRegisterChecker();
/// Accesses to shared bytes that a copy is still writing, and writes to those
/// that a bulk store or a wgmma is still reading.
std::unique_ptr<ExecutionObserver> makeAsyncWaitChecker();
/// Registers of a wgmma touched before wgmma.wait_group, or handed to it
/// without wgmma.fence.
std::unique_ptr<ExecutionObserver> makeWgmmaChecker();
/// Shared memory that generic writes and bulk copies or wgmma use without
/// fence.proxy.async between them.
std::unique_ptr<ExecutionObserver> makeProxyFenceChecker();
/// mbarrier objects: use before init or after inval, init while in use, too
/// many arrivals, byte counts that do not add up, waits that come too late.
std::unique_ptr<ExecutionObserver> makeMbarrierChecker();
/// Pairs of accesses to a byte of shared memory, one of them a write, that no
/// barrier, fence or program order puts in order. It works with threads, not
/// with warps: lanes of a warp need bar.warp.sync between them. In a cluster
/// also accesses to a CTA that may not have started or may have ended.
std::unique_ptr<ExecutionObserver> makeRaceChecker();
/// The same for global memory and different CTAs.
std::unique_ptr<ExecutionObserver> makeGlobalRaceChecker();
/// Pairs of unordered writes to shared memory that write the same bytes, which
/// the race checker leaves out.
std::unique_ptr<ExecutionObserver> makeEqualWritesChecker();
/// CTA barriers that part of a warp reaches, or that threads use differently.
std::unique_ptr<ExecutionObserver> makeBarrierChecker();
/// Membermasks that the lanes do not keep to, shfl from lanes that are not
/// there, `.aligned` instructions that part of a warp executes.
std::unique_ptr<ExecutionObserver> makeWarpSyncChecker();
/// Integer divisions by zero.
std::unique_ptr<ExecutionObserver> makeDivisionChecker();
/// Asynchronous work that nobody waits for, and mbarriers in the middle of a
/// phase, when a CTA ends.
std::unique_ptr<ExecutionObserver> makeLeakChecker();

} // namespace ptxvm

#endif // FA_EMULATOR_CHECKERS_H
