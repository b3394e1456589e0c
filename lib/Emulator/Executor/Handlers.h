//===- Handlers.h - how families register -----------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A family file holds a table of (name, function); the names are those of
// Instructions.def. Lane-parallel families are compiled three times, for plain
// x86-64, AVX2 and AVX-512, in a namespace of their own (FA_ISA), so that every
// helper they inline has that variant's code and no other.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_HANDLERS_H
#define FA_LIB_EMULATOR_EXECUTOR_HANDLERS_H

#include "../Decoder/Code.h"

#include <vector>

namespace ptxvm {

struct NamedHandler {
  const char *name;
  Handler handler;
};
using HandlerList = std::vector<NamedHandler>;

/// Tells observers that PTX leaves a result of the lanes in `mask` undefined.
void reportUndefined(Warp &w, UndefinedEvent::Kind kind, uint32_t mask,
                     uint64_t detail = 0);

/// The row whose handler an instruction gets under the numeric options:
/// another one than its own for --tensor-model and --approx.
uint16_t numericRow(const Instruction &i, const DeviceOptions &options);

// Compiled once.
void addApproximate(HandlerList &list);
void addMmaF64(HandlerList &list);
void addWmma(HandlerList &list);
void addAtomic(HandlerList &list);
void addWideAtomic(HandlerList &list);
void addShuffle(HandlerList &list);
void addBarrier(HandlerList &list);
void addAsyncCopy(HandlerList &list);
void addCluster(HandlerList &list);
void addMbarrier(HandlerList &list);
void addBulkCopy(HandlerList &list);
void addBulkIssue(HandlerList &list);
void addStoreAsync(HandlerList &list);
void addTensorMap(HandlerList &list);
void addRegisterPool(HandlerList &list);
void addControlFlow(HandlerList &list);
void addCall(HandlerList &list);
void addBuiltin(HandlerList &list);
void addDirectedRounding(HandlerList &list);
void addWgmma(HandlerList &list);

// Compiled for each variant.
#define FA_VARIANT(isa)                                                        \
  namespace isa {                                                              \
  void addInteger(HandlerList &list);                                          \
  void addBits(HandlerList &list);                                             \
  void addFloat(HandlerList &list);                                            \
  void addHalf(HandlerList &list);                                             \
  void addSpecialFunction(HandlerList &list);                                  \
  void addCompare(HandlerList &list);                                          \
  void addConvert(HandlerList &list);                                          \
  void addMove(HandlerList &list);                                             \
  void addLdmatrix(HandlerList &list);                                         \
  void addLoadStore(HandlerList &list);                                        \
  void addMmaSync(HandlerList &list);                                          \
  void addMmaDense(HandlerList &list);                                         \
  }
FA_VARIANT(baseline)
FA_VARIANT(avx2)
FA_VARIANT(avx512)
#undef FA_VARIANT

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_HANDLERS_H
