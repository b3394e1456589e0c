//===- UndefinedEvents.cpp - what the ISA leaves undefined ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the lane-parallel families tell observers; apart from them because
// their files are compiled once for each vector variant.
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "Machine.h"

using namespace ptxvm;

void ptxvm::reportUndefined(Warp &w, UndefinedEvent::Kind kind, uint32_t mask,
                            uint64_t detail) {
  for (CTAObserver *o : w.cta->onUndefined)
    o->undefined({w.index, w.pc, mask, kind, detail});
}
