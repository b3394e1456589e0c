//===- MbarrierAux.h - forms of mbarrier instructions -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bits of Instruction::d, between AsyncFamilies.cpp and Executor/Mbarrier.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_MBARRIERAUX_H
#define FA_LIB_EMULATOR_DECODER_MBARRIERAUX_H

#include <cstdint>

namespace ptxvm {

struct MbarrierAux {
  static constexpr uint32_t kCount = 1;    ///< b holds the arrivals
  static constexpr uint32_t kExpectTx = 2; ///< b holds bytes
  static constexpr uint32_t kNoComplete = 4;
  static constexpr uint32_t kDrop = 8;
  static constexpr uint32_t kSink = 16;   ///< no state is wanted
  static constexpr uint32_t kParity = 32; ///< b holds a parity, not a state
  static constexpr uint32_t kTry = 64;
  static constexpr uint32_t kNoIncrement = 128;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_MBARRIERAUX_H
