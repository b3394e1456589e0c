//===- MemoryAccess.h - addresses to bytes ----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the addresses of a warp into host pointers, and on the way checks
// bounds, alignment and permission, tells observers, and marks written bytes of
// buffers as initialised.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_MEMORYACCESS_H
#define FA_LIB_EMULATOR_EXECUTOR_MEMORYACCESS_H

#include "../Decoder/Modifiers.h"
#include "Machine.h"

namespace ptxvm {

struct AccessRequest {
  uint32_t mask;
  uint32_t addressSlot;
  bool isWideAddress;
  int32_t offset;
  uint8_t space; ///< a Space, or MemoryAux::kGeneric
  uint32_t bytes;
  AccessKind kind;
  bool notifies = true;   ///< cp.async is told to observers when it completes
  bool isCluster = false; ///< .shared::cluster; generic addresses always are
  bool isStore = false;   ///< st: the values are in the list
};

struct Access {
  uint64_t address[32];
  uint8_t *pointer[32];
  Allocation *buffer = nullptr;
  /// Shared: lanes that reach another CTA's memory, and its rank. `address` is
  /// an offset in the owner's window then.
  uint32_t remote = 0;
  uint8_t owner[32];
};

/// False when a lane's access is wrong: the fault has been reported.
bool resolveAccess(Warp &w, const Instruction &i, const AccessRequest &request,
                   Access &result);

/// Tells observers of an access whose lanes all lie in `space`.
void notifyAccess(Warp &w, const Instruction &i, uint32_t pc, AccessKind kind,
                  Space space, uint32_t mask, uint32_t bytes,
                  const uint64_t *addresses, const uint32_t *lengths,
                  const Allocation *buffer, uint32_t ownerRank);

/// The scope that is written, or that of an operation without one.
inline Scope scopeOf(uint64_t mods) {
  if (mods & mod::cta_)
    return Scope::CTA;
  if (mods & mod::cluster_)
    return Scope::Cluster;
  return mods & mod::sys_ ? Scope::System : Scope::GPU;
}

inline Ordering orderingOf(uint64_t mods) {
  if (mods & mod::acq_rel_)
    return Ordering::AcquireRelease;
  if (mods & mod::acquire_)
    return Ordering::Acquire;
  if (mods & mod::release_)
    return Ordering::Release;
  if (mods & mod::relaxed_)
    return Ordering::Relaxed;
  return mods & mod::volatile_ ? Ordering::Volatile : Ordering::Weak;
}

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_MEMORYACCESS_H
