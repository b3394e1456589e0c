//===- InputGenerator.h - seeded inputs that are legal ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats are N(0,1) rounded to the type; masks are fair coins; lengths are
// uniform over 0..extent. The numbers depend on the seed and the argument's
// number alone and are the same on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_INPUTGENERATOR_H
#define FA_RUNNER_INPUTGENERATOR_H

#include "fa/Runner/Binding.h"

namespace farun {

/// splitmix64: small, well mixed, and the same everywhere.
class RandomSource {
public:
  RandomSource(uint64_t seed, uint64_t stream)
      : state(seed * 0x9e3779b97f4a7c15u ^ (stream + 1) * 0xd1b54a32d192ed03u) {
  }
  uint64_t bits();
  /// Uniform in (0, 1).
  double uniform();
  /// N(0,1) by Box and Muller.
  double normal();
  /// Uniform in 0..limit, both included.
  int64_t integer(int64_t limit);

private:
  uint64_t state;
  bool hasSpare = false;
  double spare = 0;
};

/// Values for operand `index`; an Error names a role that needs --input.
Expected<Array> generateInput(const Entry &entry, int index,
                              const Binding &binding, uint64_t seed);

} // namespace farun

#endif // FA_RUNNER_INPUTGENERATOR_H
