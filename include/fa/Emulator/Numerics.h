//===- Numerics.h - choices where the ISA leaves some -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The PTX ISA promises of a matrix product only "at least single precision",
// and of approximate functions a bound. These options say which of the allowed
// results a run gives.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_NUMERICS_H
#define FA_EMULATOR_NUMERICS_H

#include "fa/Emulator/Diagnostic.h"

#include <cstdint>
#include <string>

namespace ptxvm {

/// How the tensor cores add the products of f16, bf16, tf32 and fp8 elements.
enum class TensorModel : uint8_t {
  Fma,    ///< a chain of f32 fused multiply-adds in the order of k
  Ampere, ///< aligned and truncated terms, as sm_80 to sm_89 are known to do
  Hopper, ///< the same with one more bit and the whole K in one step
};

/// "fma", "ampere" or "hopper".
Expected<TensorModel> parseTensorModel(const std::string &text);

/// What ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh and the approximate
/// divisions give.
struct ApproxPolicy {
  /// False: the correctly rounded value. True: a value anywhere inside the
  /// ISA's bound that depends on the seed, the function and its operands.
  bool isAdversarial = false;
  uint64_t seed = 0;

  /// "exact" or "adversarial:SEED".
  static Expected<ApproxPolicy> parse(const std::string &text);
};

} // namespace ptxvm

#endif // FA_EMULATOR_NUMERICS_H
