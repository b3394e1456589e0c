//===- Mbarrier.h - what happens at an mbarrier -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations on mbarrier objects: PTX ISA 9.1 section 9.7.13.15. They are
// asked for by instructions (Mbarrier.cpp) and by asynchronous operations that
// end. Each returns false after a fault.
//
//   phase n:  pending = expected, tx = 0
//     expect_tx b     tx += b
//     complete_tx b   tx -= b
//     arrive c        pending -= c
//     arrive_drop c   pending -= c, expected -= c
//   after each of the last three: pending = 0 and tx = 0 begin phase n + 1
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_MBARRIER_H
#define FA_LIB_EMULATOR_EXECUTOR_MBARRIER_H

#include "../Decoder/MbarrierAux.h"
#include "Cluster.h"
#include "MemoryAccess.h"

namespace ptxvm {

/// Who acts, for events and faults.
struct MbarrierActor {
  Warp &warp;
  uint32_t pc;
  uint32_t mask; ///< lanes; 0 for an asynchronous operation
  bool ordersMemory = true;
  Scope scope = Scope::CTA;
  bool isAsync = false;
  uint64_t copyId = 0;
};

/// The objects that the active lanes of an instruction name.
class MbarrierLanes {
public:
  /// False after a fault.
  bool resolve(Warp &w, const Instruction &i);
  SharedPlace place(unsigned lane, const Warp &w) const;
  /// Lanes of `rest` that name the same object as the lowest of them.
  uint32_t sameObject(const Warp &w, uint32_t rest) const;

private:
  Access access;
};

bool initMbarrier(const MbarrierActor &actor, const SharedPlace &place,
                  uint32_t count);
bool invalidateMbarrier(const MbarrierActor &actor, const SharedPlace &place);
bool expectTx(const MbarrierActor &actor, const SharedPlace &place,
              uint64_t bytes);
bool completeTx(const MbarrierActor &actor, const SharedPlace &place,
                uint64_t bytes);
/// `kind` is Arrive or ArriveDrop.
bool arriveOn(const MbarrierActor &actor, const SharedPlace &place,
              uint32_t count, MbarrierEvent::Kind kind = MbarrierEvent::Arrive);
/// cp.async.mbarrier.arrive without .noinc: the phase waits for more.
bool addPending(const MbarrierActor &actor, const SharedPlace &place,
                uint32_t count);
/// The object, which must be one, or null after a fault. `kind` is what is
/// about to be done with it.
Mbarrier *findMbarrier(const MbarrierActor &actor, const SharedPlace &place,
                       MbarrierEvent::Kind kind);
/// Tells observers what was done with an object.
void tellMbarrier(const MbarrierActor &actor, const SharedPlace &place,
                  const Mbarrier *m, MbarrierEvent event);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_MBARRIER_H
