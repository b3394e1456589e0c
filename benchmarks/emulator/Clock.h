//===- Clock.h - processor time and the unit of comparison ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are processor time of the calling thread, the least of several runs, so
// that other work on the machine counts little. A scalar fused multiply-add,
// timed between the runs, is the unit that also cancels the machine's speed.
//
//===----------------------------------------------------------------------===//
#ifndef FA_BENCHMARKS_EMULATOR_CLOCK_H
#define FA_BENCHMARKS_EMULATOR_CLOCK_H

#include <functional>

namespace bench {

double threadSeconds();
double wallSeconds();

/// Seconds of one scalar f32 fused multiply-add of eight independent chains,
/// in a loop that the compiler may not vectorise.
double fusedMultiplyAddSeconds();

/// The least processor time of `runs` calls.
double leastSeconds(unsigned runs, const std::function<void()> &call);

} // namespace bench

#endif // FA_BENCHMARKS_EMULATOR_CLOCK_H
