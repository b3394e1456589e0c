//===- Harness.h - snippets of PTX as tests ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a few PTX lines in one warp. Lane l finds word l of input buffer k in
// %ink and leaves words in %out0..; 64-bit snippets use %lin and %lout.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_HARNESS_H
#define FA_UNITTESTS_EMULATOR_HARNESS_H

#include "fa/Emulator/Device.h"
#include "fa/Emulator/ExecutionObserver.h"

#include <array>
#include <bit>
#include <gtest/gtest.h>

namespace ptxvm::test {

using Words = std::array<uint32_t, 32>;

inline Words words(uint32_t (*f)(uint32_t)) {
  Words w;
  for (uint32_t l = 0; l < 32; ++l)
    w[l] = f(l);
  return w;
}
inline uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }
inline float asFloat(uint32_t x) { return std::bit_cast<float>(x); }

/// The whole PTX file around a snippet.
inline std::string wrap(const std::string &body,
                        const std::string &target = "sm_100") {
  return R"(.version 8.8
.target )" +
         target +
         R"(
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out)
{
  .reg .b32 %in<4>, %out<4>, %r<40>, %tid;
  .reg .b64 %a<4>, %rd<20>;
  .reg .b16 %h<10>;
  .reg .f32 %f<10>;
  .reg .f64 %fd<10>;
  .reg .pred %p<8>;
  .shared .align 128 .b8 smem[8192];
  ld.param.u64 %a0, [k_in];
  ld.param.u64 %a1, [k_out];
  mov.u32 %tid, %tid.x;
  mad.wide.u32 %a2, %tid, 4, %a0;
  mad.wide.u32 %a3, %tid, 4, %a1;
  ld.global.u32 %in0, [%a2];
  ld.global.u32 %in1, [%a2+128];
  ld.global.u32 %in2, [%a2+256];
  ld.global.u32 %in3, [%a2+384];
  mov.u32 %out0, 0;
  mov.u32 %out1, 0;
  mov.u32 %out2, 0;
  mov.u32 %out3, 0;
)" + body +
         R"(
  st.global.u32 [%a3], %out0;
  st.global.u32 [%a3+128], %out1;
  st.global.u32 [%a3+256], %out2;
  st.global.u32 [%a3+384], %out3;
  ret;
}
)";
}

struct Snippet {
  Report report;
  std::array<Words, 4> out{};
};

inline Snippet run(const std::string &body, std::array<Words, 4> in = {},
                   DeviceOptions options = {},
                   const std::vector<ExecutionObserver *> &observers = {},
                   const std::string &target = "sm_100") {
  Snippet result;
  auto module = Module::parse(wrap(body, target), "test.ptx");
  if (!module) {
    result.report.status = Status::Invalid;
    result.report.diagnostics.push_back(module.error());
    return result;
  }
  options.threads = 1;
  Device device(options);
  for (ExecutionObserver *o : observers)
    device.addObserver(*o);
  uint64_t a = device.alloc(512, "in", true), b = device.alloc(512, "out");
  device.write(a, in.data(), 512);
  result.report = device.launch(*module, "k", {{1}, {32}, {1}, 0},
                                {Argument::of(a), Argument::of(b)});
  device.read(b, result.out.data(), 512);
  return result;
}

#define ASSERT_RUNS(r)                                                         \
  ASSERT_TRUE((r).report.ok()) << (r).report.diagnostics.at(0).str()

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_HARNESS_H
