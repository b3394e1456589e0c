//===- ConvertAll.h - one conversion of many values -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a snippet from %x (b32) or %h (its low half, b16) to %y (b32), a thread
// a value.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_CONVERTALL_H
#define FA_UNITTESTS_EMULATOR_CONVERTALL_H

#include "Harness.h"
#include "SmallFloats.h"

namespace ptxvm::test {

/// 0 to 65535.
inline std::vector<uint32_t> every16Bits() {
  std::vector<uint32_t> all(65536);
  for (uint32_t x = 0; x < 65536; ++x)
    all[x] = x;
  return all;
}

/// The number of values is a multiple of 32.
inline std::vector<uint32_t> convertAll(const std::string &code,
                                        const std::vector<uint32_t> &in,
                                        DeviceOptions options = {}) {
  std::vector<uint32_t> out(in.size());
  auto module = Module::parse(R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out)
{
  .reg .b64 %a<4>;
  .reg .b32 %x, %y, %c, %t, %r<4>;
  .reg .b16 %h;
  ld.param.u64 %a0, [k_in];
  ld.param.u64 %a1, [k_out];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mad.lo.u32 %t, %c, 32, %t;
  mad.wide.u32 %a2, %t, 4, %a0;
  mad.wide.u32 %a3, %t, 4, %a1;
  ld.global.b32 %x, [%a2];
  cvt.u16.u32 %h, %x;
  )" + code + R"(
  st.global.b32 [%a3], %y;
  ret;
}
)",
                              "convert.ptx");
  EXPECT_TRUE(module) << module.error().str();
  if (!module)
    return out;
  options.threads = 1;
  Device device(options);
  uint64_t from = device.alloc(in.size() * 4, "in", true),
           to = device.alloc(in.size() * 4, "out");
  device.write(from, in.data(), in.size() * 4);
  Report report =
      device.launch(*module, "k", {{uint32_t(in.size() / 32)}, {32}, {1}, 0},
                    {Argument::of(from), Argument::of(to)});
  EXPECT_TRUE(report.ok()) << report.diagnostics.at(0).str();
  device.read(to, out.data(), out.size() * 4);
  return out;
}

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_CONVERTALL_H
