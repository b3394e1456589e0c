//===- LeakTest.cpp - many calls leave nothing behind ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built twice: with few calls for every run of the tests, and with 10,000, and
// some hundred compilations, for the long ones.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <gtest/gtest.h>
#include <malloc.h>

using namespace capitest;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCounts = false; // the sanitizer has an allocator of its own
#else
constexpr bool kCounts = true;
#endif

/// Bytes that are allocated and not freed.
int64_t usedBytes() {
  struct mallinfo2 info = mallinfo2();
  return int64_t(info.uordblks + info.hblkhd);
}

/// What is measured, and a little more: 13.7 KB at most, after 1,000 calls as
/// after 10,000. The allocator keeps some freed chunks for each thread.
constexpr int64_t kSlackBytes = 16384;

/// Runs `body` often; it must keep next to nothing, however often.
template <typename Body>
void expectNoGrowth(Body body, int calls = FA_LEAK_CALLS, int warm = 100,
                    int64_t slack = kSlackBytes) {
  for (int n = 0; n < warm; ++n)
    body(); // caches fill
  int64_t before = usedBytes();
  for (int n = 0; n < calls; ++n)
    body();
  if (kCounts) {
    EXPECT_LT(usedBytes() - before, slack);
  }
}

TEST(CAPILeak, Queries) {
  Kernel kernel = loadOneKey();
  expectNoGrowth([&] {
    fa_operand_info operand = {};
    operand.struct_size = sizeof(operand);
    EXPECT_TRUE(
        ask(fa_kernel_operand, kernel.handle, size_t(0), size_t(0), &operand)
            .ok());
    EXPECT_FALSE(text(fa_kernel_ptx, kernel.handle).empty());
    EXPECT_FALSE(
        ask(fa_kernel_operand, kernel.handle, size_t(0), size_t(9), &operand)
            .ok());
  });
}

TEST(CAPILeak, Launches) {
  Kernel kernel = loadOneKey();
  OneKey arrays(16);
  expectNoGrowth([&] {
    fa_run *run = nullptr;
    EXPECT_TRUE(
        launch(kernel, arrays.inputs(), arrays.results(), {}, &run).ok());
    EXPECT_EQ(fa_run_free(run), FA_OK);
  });
}

TEST(CAPILeak, FailedLaunches) {
  Kernel kernel = loadOneKey();
  OneKey arrays(16);
  const char *limit = "max-instructions=3";
  fa_launch_options options = {};
  options.options = &limit;
  options.option_count = 1;
  std::vector<fa_array> wrong = arrays.inputs();
  wrong[1].dtype = FA_F32;
  expectNoGrowth([&] {
    EXPECT_FALSE(
        launch(kernel, arrays.inputs(), arrays.results(), options).ok());
    EXPECT_FALSE(launch(kernel, wrong, arrays.results()).ok());
  });
}

#if FA_HAVE_COMPILER
constexpr const char *kText = R"(
func.func @f(%q: tensor<1x1x?x16xf16>) -> tensor<1x1x?x16xf16> {
  %o = fa.attention %q, %q, %q : tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>,
       tensor<1x1x?x16xf16> -> tensor<1x1x?x16xf16>
  return %o : tensor<1x1x?x16xf16>
})";

Answer compile(const char *source, Kernel &kernel, const char *schedule) {
  fa_compile_options options = {};
  options.struct_size = sizeof(options);
  options.schedule = schedule;
  options.keep_stages = 1;
  return ask(fa_compile_text, source,
             const_cast<const fa_compile_options *>(&options), &kernel.handle);
}

/// LLVM's own pools have grown to their end after some fifty compilations;
/// from the tenth to the 35th they take 53 KB.
TEST(CAPILeak, Compilations) {
  constexpr bool kIsLong = FA_LEAK_CALLS >= 10000;
  expectNoGrowth(
      [] {
        Kernel kernel;
        EXPECT_TRUE(compile(kText, kernel, nullptr).ok());
      },
      FA_LEAK_CALLS / 40, /*warm=*/kIsLong ? 60 : 10,
      /*slack=*/kIsLong ? kSlackBytes : 4 * kSlackBytes);
}

TEST(CAPILeak, FailedCompilations) {
  expectNoGrowth(
      [] {
        Kernel kernel;
        EXPECT_FALSE(compile("func.func @f() {\n  oops\n}", kernel, "").ok());
        EXPECT_FALSE(compile(kText, kernel, "tile_q=7").ok());
      },
      FA_LEAK_CALLS / 10);
}
#endif

TEST(CAPILeak, KernelsAndTheOracle) {
  OneKey arrays(4);
  expectNoGrowth([&] {
    Kernel kernel = loadOneKey();
    std::vector<fa_array> inputs = arrays.inputs(), results = arrays.results();
    EXPECT_TRUE(ask(fa_kernel_reference, kernel.handle,
                    static_cast<const char *>(nullptr), inputs.data(),
                    inputs.size(), results.data(), results.size(),
                    static_cast<const fa_array *>(nullptr), size_t(0))
                    .ok());
  });
}

} // namespace
