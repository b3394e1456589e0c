//===- CheckerHarness.h - kernels with and without a fault ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row has a kernel with one fault and its near miss, which differs by what
// was left out. All checkers are on: the fault must be found by the checker of
// its row and by no other, the near miss by none, in any order of warps.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_CHECKERHARNESS_H
#define FA_UNITTESTS_EMULATOR_CHECKERHARNESS_H

#include "fa/Emulator/Checkers.h"

#include <gtest/gtest.h>

namespace ptxvm::test {

/// Two warps. %b is the shared memory, %s the thread's word in it, %w and %l
/// warp and lane, %i and %o the thread's words of the buffers, %in and %out the
/// buffers; 'out' is not initialised,
/// the variable 'counter' is 0.
inline std::string kernelText(const std::string &body) {
  return R"(.version 8.6
.target sm_90a
.address_size 64  .global .u32 counter;
.visible .entry k(.param .u64 k_in, .param .u64 k_out)
{
  .reg .b32 %r<40>, %b, %s, %w, %l, %tid;
  .reg .b64 %rd<8>, %in, %out, %i, %o;
  .reg .b16 %h<4>;
  .reg .f32 %f<8>;
  .reg .pred %p<8>, %first, %second;
  .shared .align 128 .b8 smem[4096];
  ld.param.u64 %in, [k_in];
  ld.param.u64 %out, [k_out];
  mov.u32 %tid, %tid.x;
  mov.u32 %b, smem;
  mad.lo.u32 %s, %tid, 4, %b;
  mad.wide.u32 %i, %tid, 4, %in;
  mad.wide.u32 %o, %tid, 4, %out;
  shr.u32 %w, %tid, 5;
  and.b32 %l, %tid, 31;
  setp.eq.u32 %first, %w, 0;
  setp.ne.u32 %second, %w, 0;
)" + body +
         "\n  ret;\n}\n";
}

inline Report check(const std::string &body,
                    const std::string &checkers = "all",
                    const std::string &order = "round-robin",
                    uint32_t ctas = 1) {
  Report failure;
  failure.status = Status::Invalid;
  auto module = Module::parse(kernelText(body), "test.ptx");
  auto set = CheckerSet::parse(checkers);
  auto policy = OrderPolicy::parse(order);
  if (!module || !set || !policy) {
    if (!module)
      failure.diagnostics.push_back(module.error());
    return failure;
  }
  DeviceOptions options;
  options.order = *policy;
  options.maxInstructions = 1 << 20;
  Device device(options);
  set->attach(device);
  std::vector<uint8_t> zeros(8192);
  uint64_t in = device.alloc(8192, "in", true), out = device.alloc(8192, "out");
  device.write(in, zeros.data(), zeros.size());
  return device.launch(*module, "k", {{ctas}, {64}, {1}, 0},
                       {Argument::of(in), Argument::of(out)});
}

inline std::string allText(const Report &report) {
  std::string text = statusName(report.status);
  for (const Diagnostic &d : report.diagnostics)
    text += "\n" + d.str();
  return text;
}

inline const char *const kOrders[] = {"round-robin", "reverse",  "random:1",
                                      "random:2",    "random:3", "random:4"};

struct FaultCase {
  const char *name;
  const char *checker;
  const char *fault;
  const char *message; ///< part of it
  const char *nearMiss;
};
inline void PrintTo(const FaultCase &c, std::ostream *os) { *os << c.name; }

/// The rows of a test suite; to be derived from once a file.
class FaultTest : public testing::TestWithParam<FaultCase> {
protected:
  void findsTheFault() {
    const FaultCase &c = GetParam();
    Report r = check(c.fault);
    ASSERT_NE(r.status, Status::Ok) << allText(r);
    EXPECT_NE(allText(r).find(c.message), std::string::npos) << allText(r);
    for (const Diagnostic &d : r.diagnostics)
      EXPECT_EQ(d.origin, c.checker) << d.str();
  }
  void passesTheNearMiss() {
    for (const char *order : kOrders) {
      Report r = check(GetParam().nearMiss, "all", order);
      EXPECT_TRUE(r.ok()) << order << ": " << allText(r);
    }
  }
};

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_CHECKERHARNESS_H
