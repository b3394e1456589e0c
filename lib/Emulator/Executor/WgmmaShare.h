//===- WgmmaShare.h - the arithmetic of one warp's share --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wgmma.mma_async of 64 rows is four products of 16 rows, one a warp, with
// the same B. While it is pending, a warp's accumulator lies column by column
// in a tile: one column of 16 rows is one vector of the widest variant.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_WGMMASHARE_H
#define FA_LIB_EMULATOR_EXECUTOR_WGMMASHARE_H

#include "../Decoder/WgmmaForm.h"
#include "WgmmaDescriptor.h"
#include "fa/Emulator/Numerics.h"

namespace ptxvm {

/// Columns of 16 rows. Float and Half hold values, Int the bits of an int32_t.
struct alignas(64) WgmmaTile {
  float columns[256][16];
};

struct WgmmaShare {
  WgmmaForm form;
  const uint8_t *shared;            ///< the CTA's window
  WgmmaMatrix a, b;                 ///< `a` only when it is in shared memory
  uint32_t firstRow;                ///< of A, 16 times the warp's rank
  const uint32_t (*aRegisters)[32]; ///< four of them
  bool accumulates;                 ///< scale-d
  TensorModel model = TensorModel::Fma; ///< of floating-point products
  /// B is that of the last product of this host thread, and in memory as then.
  bool hasSameB = false;
};

/// The functions of one vector variant.
struct WgmmaFunctions {
  /// tile = share's product, plus tile where it accumulates.
  void (*multiply)(const WgmmaShare &share, WgmmaTile &tile);
  /// Between accumulator registers (their offsets in `slots`) and a tile.
  void (*load)(const WgmmaForm &form, const uint32_t *registers,
               const uint32_t *slots, WgmmaTile &tile);
  void (*store)(const WgmmaForm &form, const WgmmaTile &tile,
                uint32_t *registers, const uint32_t *slots);
};

namespace baseline {
extern const WgmmaFunctions kWgmmaFunctions;
}
namespace avx2 {
extern const WgmmaFunctions kWgmmaFunctions;
}
namespace avx512 {
extern const WgmmaFunctions kWgmmaFunctions;
}

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_WGMMASHARE_H
