//===- Clock.cpp - processor time and the unit of comparison --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Clock.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

using namespace bench;

double bench::threadSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double bench::wallSeconds() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// The barrier keeps the chains in registers of their own.
__attribute__((target("fma"))) static float fused(unsigned long rounds) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (unsigned long n = 0; n < rounds; ++n)
#pragma GCC unroll 8
    for (float &v : x) {
      v = __builtin_fmaf(v, 0.999f, 0.001f);
      asm volatile("" : "+x"(v));
    }
  return x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
}

/// For a processor without FMA.
static float apart(unsigned long rounds) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (unsigned long n = 0; n < rounds; ++n)
#pragma GCC unroll 8
    for (float &v : x) {
      v = v * 0.999f + 0.001f;
      asm volatile("" : "+x"(v));
    }
  return x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
}

double bench::fusedMultiplyAddSeconds() {
  constexpr unsigned long kRounds = 200000;
  volatile float sink = 0;
  bool hasFma = __builtin_cpu_supports("fma");
  double least =
      leastSeconds(8, [&] { sink = sink + (hasFma ? fused : apart)(kRounds); });
  return least / double(8 * kRounds);
}

double bench::leastSeconds(unsigned runs, const std::function<void()> &call) {
  double least = std::numeric_limits<double>::infinity();
  for (unsigned n = 0; n < runs; ++n) {
    double start = threadSeconds();
    call();
    least = std::min(least, threadSeconds() - start);
  }
  return least;
}
