//===- OutputTest.cpp - printf, assert and trap by nvcc -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/CUDA/output.cu.
//
//===----------------------------------------------------------------------===//
#include "Compiled.h"

#include <cstring>

using namespace ptxvm;
using namespace ptxvm::test;

static const char *const kFile = "CUDA/Inputs/output";

TEST(Output, printf) {
  std::vector<char> name(8);
  std::strcpy(name.data(), "abc");
  std::string want;
  for (int t = 0; t < 3; ++t) {
    char line[100];
    std::snprintf(line, sizeof(line), "thread %d of 32: abc %5.2f %c %%\n", t,
                  2.5 * t, 'a' + t);
    want += line;
  }
  want +=
      "-1234567890123 fedcba9876543210 0x10 0000beef 7   |+7 2.500000e+00\n";
  forAll(kFile, {"sm_80"}, [&](Session &r) {
    std::string text;
    r.device.setPrinter([&](std::string_view part) { text += part; });
    uint64_t x = r.in(name);
    r.launch("hello", {1}, {32}, 0, x, 3, 2.5);
    EXPECT_EQ(text, want);
  });
}

static void expectSays(const Report &report, const char *what) {
  ASSERT_FALSE(report.diagnostics.empty());
  std::string said = report.diagnostics[0].str();
  EXPECT_NE(said.find(what), said.npos) << said;
}

TEST(Output, assertAndTrap) {
  std::vector<int> in = integers(64, 0, 9);
  in[37] = 12;
  forAll(kFile, {"sm_80"}, [&](Session &r) {
    uint64_t x = r.in(in);
    r.launch("guard", {1}, {64}, 0, x, 13);
    Report wrong = r.tryLaunch("guard", Dim3{1}, Dim3{64}, 0, x, 12);
    EXPECT_EQ(wrong.status, Status::Fault);
    expectSays(wrong, "too large");
    expectSays(wrong, "warp 1, lane 5");
    r.launch("traps", {2}, {32}, 0, 5);
    Report trapped = r.tryLaunch("traps", Dim3{2}, Dim3{32}, 0, 1);
    EXPECT_EQ(trapped.status, Status::Fault);
    expectSays(trapped, "trap");
  });
}
