//===- ThreadTest.cpp - the C API from several threads --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace capitest;

namespace {

void inThreads(int count, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int n = 0; n < count; ++n)
    threads.emplace_back(body, n);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(CAPIThreads, OneKernelRunsInAll) {
  Kernel kernel = loadOneKey();
  std::atomic<int> wrong{0};
  inThreads(8, [&](int n) {
    for (int round = 0; round < 20; ++round) {
      OneKey arrays(1 + n + round);
      arrays.value.set(0, n + 1);
      // Some launches fail, beside those that do not.
      bool isBad = round % 5 == 4;
      std::vector<fa_array> inputs = arrays.inputs();
      if (isBad)
        inputs[1].dtype = FA_F32;
      Answer answer = launch(kernel, inputs, arrays.results());
      if (answer.ok() == isBad)
        ++wrong;
      for (int64_t i = 0; !isBad && i < arrays.out.size(); ++i)
        wrong += arrays.out.get(i) != n + 1;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CAPIThreads, KernelsComeAndGo) {
  std::atomic<int> wrong{0};
  inThreads(6, [&](int n) {
    for (int round = 0; round < 10; ++round) {
      Kernel kernel = loadOneKey();
      OneKey arrays(3);
      wrong += !launch(kernel, arrays.inputs(), arrays.results()).ok();
      wrong += text(fa_kernel_target, kernel.handle) != "sm_80";
      wrong += fa_kernel_free(std::exchange(kernel.handle, nullptr)) != FA_OK;
    }
  });
  EXPECT_EQ(wrong, 0);
}

/// A launch keeps its kernel, whoever frees it meanwhile; later ones see a
/// dead handle.
TEST(CAPIThreads, AKernelIsFreedDuringLaunches) {
  for (int round = 0; round < 10; ++round) {
    Kernel kernel = loadOneKey();
    fa_kernel *handle = kernel.handle;
    std::atomic<int> wrong{0};
    std::atomic<bool> isFreed{false};
    inThreads(4, [&](int n) {
      if (n == 0) {
        wrong += fa_kernel_free(handle) != FA_OK;
        isFreed = true;
        return;
      }
      Kernel same;
      same.handle = handle;
      OneKey arrays(2);
      for (bool last = false; !last;) {
        last = isFreed;
        Answer answer = launch(same, arrays.inputs(), arrays.results());
        wrong += !answer.ok() && answer.code != FA_ERROR_HANDLE;
        wrong += last && answer.ok();
      }
      same.handle = nullptr;
    });
    kernel.handle = nullptr;
    EXPECT_EQ(wrong, 0);
  }
}

} // namespace
