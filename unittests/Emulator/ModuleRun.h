//===- ModuleRun.h - whole PTX files as tests -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the entry `k` of a file, one warp, with a buffer of 32 words as its only
// argument; all checkers of the default set watch.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_MODULERUN_H
#define FA_UNITTESTS_EMULATOR_MODULERUN_H

#include "Harness.h"

#include "fa/Emulator/Checkers.h"

namespace ptxvm::test {

inline const char *const kHead = ".version 8.8\n.target sm_80\n"
                                 ".address_size 64\n";

/// An entry `k` that stores what `body` leaves in %v for lane %t.
inline std::string entry(const std::string &body) {
  return R"(
.visible .entry k(.param .u64 k_out)
{
  .reg .b32 %t, %v, %r<20>;
  .reg .b64 %out, %rd<20>;
  .reg .pred %p<8>;
  mov.u32 %t, %tid.x;
  ld.param.u64 %out, [k_out];
  mad.wide.u32 %out, %t, 4, %out;
  mov.u32 %v, 0;
)" + body +
         R"(
  st.global.u32 [%out], %v;
  ret;
}
)";
}

struct ModuleRun {
  Report report;
  Words out{};
  std::string printed;

  /// The first diagnostic, or nothing.
  std::string message() const {
    return report.diagnostics.empty() ? "" : report.diagnostics[0].str();
  }
};

inline ModuleRun runModule(const std::string &text,
                           DeviceOptions options = {}) {
  ModuleRun result;
  auto module = Module::parse(text, "test.ptx");
  if (!module) {
    result.report = {Status::Invalid, {module.error()}, {}};
    return result;
  }
  Device device(options);
  device.setPrinter([&](std::string_view s) { result.printed += s; });
  auto checkers = CheckerSet::parse("");
  checkers->attach(device);
  uint64_t out = device.alloc(128, "out");
  result.report =
      device.launch(*module, "k", {{1}, {32}, {1}, 0}, {Argument::of(out)});
  device.read(out, result.out.data(), 128);
  return result;
}

inline ModuleRun runEntry(const std::string &body,
                          const std::string &before = "") {
  return runModule(kHead + before + entry(body));
}

/// Runs and expects `%v` to be f(lane).
inline void expectWords(const ModuleRun &r, uint32_t (*f)(uint32_t)) {
  ASSERT_TRUE(r.report.ok()) << r.message();
  for (uint32_t l = 0; l < 32; ++l)
    EXPECT_EQ(r.out[l], f(l)) << "lane " << l;
}

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_MODULERUN_H
