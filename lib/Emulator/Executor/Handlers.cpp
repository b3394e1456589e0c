//===- Handlers.cpp - handlers of this host -------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses a variant once and lays the handlers out by row.
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "../Decoder/InstructionTable.h"
#include "Machine.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

using namespace ptxvm;

const char *ptxvm::handlerVariant() {
  static const char *const kVariant = [] {
    // FA_EMULATOR_VARIANT lets tests run the variants that this host would not
    // choose; one that the host cannot run is ignored.
    const char *forced = std::getenv("FA_EMULATOR_VARIANT");
    __builtin_cpu_init();
    // No more than was compiled.
#ifdef FA_HAS_avx2
    bool hasAvx2 = __builtin_cpu_supports("avx2") &&
                   __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("f16c");
#else
    bool hasAvx2 = false;
#endif
#ifdef FA_HAS_avx512
    bool hasAvx512 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl");
#else
    bool hasAvx512 = false;
#endif
    if (forced && !std::strcmp(forced, "baseline"))
      return "baseline";
    if (forced && !std::strcmp(forced, "avx2") && hasAvx2)
      return "avx2";
    return hasAvx512 ? "avx512" : hasAvx2 ? "avx2" : "baseline";
  }();
  return kVariant;
}

const std::vector<Handler> &ptxvm::handlersByRow() {
  static const std::vector<Handler> kHandlers = [] {
    HandlerList list;
    addAtomic(list);
    addWideAtomic(list);
    addShuffle(list);
    addBarrier(list);
    addAsyncCopy(list);
    addCluster(list);
    addMbarrier(list);
    addBulkCopy(list);
    addTensorMap(list);
    addRegisterPool(list);
    addControlFlow(list);
    addCall(list);
    addBuiltin(list);
    addDirectedRounding(list);
    addWgmma(list);
    addApproximate(list);
    addMmaF64(list);
    addWmma(list);
#define ADD_ALL(isa)                                                           \
  isa::addInteger(list), isa::addBits(list), isa::addFloat(list),              \
      isa::addHalf(list), isa::addSpecialFunction(list),                       \
      isa::addCompare(list), isa::addConvert(list), isa::addMove(list),        \
      isa::addLdmatrix(list), isa::addLoadStore(list), isa::addMmaSync(list),  \
      isa::addMmaDense(list)
    std::string variant = handlerVariant();
#ifdef FA_HAS_avx512
    if (variant == "avx512")
      ADD_ALL(avx512);
#endif
#ifdef FA_HAS_avx2
    if (variant == "avx2")
      ADD_ALL(avx2);
#endif
    if (variant == "baseline")
      ADD_ALL(baseline);
#undef ADD_ALL
    std::unordered_map<std::string, Handler> byName;
    for (const NamedHandler &h : list)
      byName[h.name] = h.handler;
    std::vector<Handler> result;
    for (const InstructionRow &row : instructionRows()) {
      auto found = byName.find(row.handler);
      result.push_back(found == byName.end() ? nullptr : found->second);
    }
    return result;
  }();
  return kHandlers;
}
