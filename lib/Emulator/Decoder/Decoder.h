//===- Decoder.h - syntax to code -------------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// decodeKernel turns the syntax of one entry, with every function it calls,
// into a Kernel:
//
//   1. FunctionDecoder flattens scopes, resolves names, copies in the bodies of
//      called functions, and makes one Draft an instruction (Families.cpp);
//   2. orderBlocks puts the basic blocks in the order in which the scheduler
//      prefers them (ControlFlow.cpp);
//   3. allocateRegisters gives virtual registers their slots (Registers.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_DECODER_H
#define FA_LIB_EMULATOR_DECODER_DECODER_H

#include "Code.h"

namespace ptxvm {

class ModuleImpl;

Expected<std::shared_ptr<const Kernel>>
decodeKernel(ModuleImpl &module, const KernelSignature &signature);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_DECODER_H
