//===- KernelHarness.h - whole kernels as tests -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels for sm_90a with some CTAs and warps. Their parameters are up to four
// buffers of 32-bit words (in, out, more); the body finds
//
//   %tid %warp %lane %cta %rank    numbers of the thread
//   %in %out %more                 addresses of the buffers
//   smem                           4096 bytes, 1024-byte aligned
//   bar                            8 mbarriers
//   %r<60> %rd<40> %f<16> %p<10>   for its own use
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_KERNELHARNESS_H
#define FA_UNITTESTS_EMULATOR_KERNELHARNESS_H

#include "Harness.h"

namespace ptxvm::test {

inline std::string hopperKernel(const std::string &body,
                                const std::string &limits = "",
                                const std::string &target = "sm_90a") {
  return ".version 8.6\n.target " + target + R"(
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .u64 k_more) )" +
         limits + R"(
{
  .reg .b32 %r<60>, %tid, %warp, %lane, %cta, %rank;
  .reg .b64 %rd<40>, %in, %out, %more;
  .reg .f32 %f<16>;
  .reg .pred %p<10>;
  .shared .align 1024 .b8 smem[4096];
  .shared .align 8 .b64 bar[8];
  ld.param.u64 %in, [k_in];
  ld.param.u64 %out, [k_out];
  ld.param.u64 %more, [k_more];
  mov.u32 %tid, %tid.x;
  shr.u32 %warp, %tid, 5;
  and.b32 %lane, %tid, 31;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %rank, %cluster_ctarank;
// body
)" + body +
         "\n  ret;\n}\n";
}

struct KernelRun {
  Report report;
  std::vector<uint32_t> out, more;
  std::string message() const {
    return report.diagnostics.empty() ? "" : report.diagnostics[0].message;
  }
};

struct KernelSetup {
  LaunchShape shape;
  DeviceOptions options = {};
  std::vector<uint32_t> in = {};
  size_t outWords = 1024;
  std::vector<ExecutionObserver *> observers = {};
};

inline KernelRun runText(const std::string &text, const KernelSetup &setup) {
  KernelRun result;
  auto module = Module::parse(text, "test.ptx");
  if (!module) {
    result.report.status = Status::Invalid;
    result.report.diagnostics.push_back(module.error());
    return result;
  }
  Device device(setup.options);
  for (ExecutionObserver *o : setup.observers)
    device.addObserver(*o);
  std::vector<uint32_t> in = setup.in;
  if (in.empty())
    for (uint32_t k = 0; k < 1024; ++k)
      in.push_back(k * 3 + 1);
  uint64_t a = device.alloc(in.size() * 4, "in", true);
  uint64_t b = device.alloc(setup.outWords * 4, "out");
  uint64_t c = device.alloc(4096, "more");
  device.write(a, in.data(), in.size() * 4);
  std::vector<uint32_t> zeros(1024);
  device.write(c, zeros.data(), 4096);
  result.report =
      device.launch(*module, "k", setup.shape,
                    {Argument::of(a), Argument::of(b), Argument::of(c)});
  result.out.resize(setup.outWords);
  result.more.resize(1024);
  device.read(b, result.out.data(), setup.outWords * 4);
  device.read(c, result.more.data(), 4096);
  return result;
}

inline KernelRun runBody(const std::string &body, const KernelSetup &setup) {
  return runText(hopperKernel(body), setup);
}

/// Round-robin, reverse, completion at once, and `seeds` random orders.
inline std::vector<DeviceOptions> allOrders(unsigned seeds = 20) {
  std::vector<DeviceOptions> all(3);
  all[1].order = {OrderPolicy::Reverse, 0};
  all[2].lateCompletion = false;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    all.emplace_back();
    all.back().order = {OrderPolicy::Random, seed};
  }
  return all;
}

/// Waits for phase parity `parity` of the mbarrier at `address`.
inline std::string waitParity(const std::string &address,
                              const std::string &parity) {
  return "{ .reg .pred P; WAIT: mbarrier.try_wait.parity.shared::cta.b64 P, [" +
         address + "], " + parity + "; @P bra DONE; bra WAIT; DONE: }\n";
}

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_KERNELHARNESS_H
