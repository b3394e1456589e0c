//===- LeakTest.cpp - many calls leave nothing behind ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built twice: with few calls for every run of the tests, and with 10,000 for
// the long ones.
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

/// Runs `body` often; what it keeps for each call must be next to nothing.
template <typename Body> void expectNoGrowth(Body body) {
  for (int n = 0; n < 20; ++n)
    body(); // caches fill
  int64_t before = usedBytes();
  for (int n = 0; n < FA_LEAK_CALLS; ++n)
    body();
  if (kCounts) {
    // The allocator keeps some freed chunks for each thread.
    EXPECT_LT(usedBytes() - before, 65536 + 8 * int64_t(FA_LEAK_CALLS));
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
