//===- LazyTest.cpp - a large file costs what is asked for ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies and initial values that no launch reaches are only skipped: whatever
// is in them, they cost no more than the scan for their closing brace.
//
//===----------------------------------------------------------------------===//
#include "ModuleRun.h"

#include <chrono>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {

/// An entry in the style of a compiler, of about `bytes`.
std::string largeEntry(const std::string &name, size_t bytes) {
  std::string text = ".visible .entry " + name +
                     "(.param .u64 p)\n{\n  .reg .b32 \t%r<100000>;\n"
                     "  .reg .f32 \t%f<100000>;\n";
  for (unsigned n = 0; text.size() < bytes; ++n) {
    std::string a = std::to_string(n % 99990),
                b = std::to_string(n % 99990 + 1);
    text += "  .loc 1 " + a + " 3\n  mad.lo.s32 \t%r" + b + ", %r" + a +
            ", 16, %r" + a +
            ";\n  // begin inline asm\n  { .reg .pred p; "
            "setp.lt.f32 p, %f" +
            a +
            ", 0f00000000; @p bra DONE; "
            "ex2.approx.ftz.f32 \t%f" +
            b + ", %f" + a +
            "; DONE: }\n"
            "  // end inline asm\n$L__BB0_" +
            std::to_string(n) + ":\n";
  }
  return text + "  ret;\n}\n";
}

TEST(Lazy, otherEntriesAreNotLookedInto) {
  std::string text = kHead;
  text += ".visible .entry other() { frobnicate.u32 %q, \"}\"; /* } */ [[ }\n";
  text += ".func helper() { tcgen05.nonsense; }\n";
  text += ".global .b32 table[2] = { nobody, 0x, [ };\n";
  text += entry("mov.u32 %v, 7;");
  expectWords(runModule(text), [](uint32_t) { return 7u; });
  // Asked for, it is named with its place.
  auto module = Module::parse(text, "test.ptx");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->kernels(), (std::vector<std::string>{"other", "k"}));
  auto problem = module->prepare("other");
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->location.line, 4u);
}

TEST(Lazy, entriesThatLookLikeAMegabyteAreSkipped) {
  std::string text = kHead;
  for (int n = 0; n < 10; ++n)
    text += largeEntry("large" + std::to_string(n), 1 << 20);
  text += ".global .align 4 .b8 data[1048576] = {";
  for (int n = 0; n < 1 << 18; ++n)
    text += "7, ";
  text += "7};\n";
  text += entry("mov.u32 %v, 3;");
  double megabytes = double(text.size()) / 1e6;
  auto start = std::chrono::steady_clock::now();
  auto module = Module::parse(text, "test.ptx");
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(module) << module.error().str();
  EXPECT_EQ(module->kernels().size(), 11u);
  // A figure for the reader, not a limit.
  RecordProperty("skip_scan_mb_per_s", int(megabytes / time.count()));
  std::printf("skip scan: %.0f MB/s\n", megabytes / time.count());
  expectWords(runModule(text), [](uint32_t) { return 3u; });
  start = std::chrono::steady_clock::now();
  EXPECT_FALSE(module->prepare("large3"));
  time = std::chrono::steady_clock::now() - start;
  std::printf("decoding: %.1f MB/s\n", 1.0 / time.count());
}

} // namespace
