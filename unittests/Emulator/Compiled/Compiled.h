//===- Compiled.h - kernels that other compilers made -*- C++ -*- ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs PTX of test/Emulator/CUDA (by nvcc) and test/Emulator/LLVM (by llc) on
// the machine: once plainly, then with all checkers and many orders. Every run
// must give what the test expects and no report.
//
//   forAll("CUDA/Inputs/tiles", {"sm_80"}, [](Session &r) {
//     uint64_t x = r.in(numbers), y = r.out<float>(n);
//     r.launch("transpose_f32", {1}, {32, 8}, 0, x, y);
//     EXPECT_EQ(r.read<float>(y), transposed);
//   });
//
// The environment variable FA_COMPILED_PTX names a folder to take instead of
// test/Emulator, for PTX of another compiler.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_COMPILED_H
#define FA_UNITTESTS_EMULATOR_COMPILED_H

#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Device.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace ptxvm::test {

/// One launch of a device of its own.
class Session {
public:
  Session(const Module &module, const std::string &mode);

  template <typename T> uint64_t in(const std::vector<T> &values) {
    return fill(values.data(), values.size() * sizeof(T), true);
  }
  /// The kernel may write it.
  template <typename T> uint64_t inout(const std::vector<T> &values) {
    return fill(values.data(), values.size() * sizeof(T), false);
  }
  template <typename T> uint64_t out(size_t count) {
    return device.alloc(count * sizeof(T), name());
  }
  template <typename T> std::vector<T> read(uint64_t address) {
    std::vector<T> values(device.findAllocation(address)->bytes / sizeof(T));
    device.read(address, values.data(), values.size() * sizeof(T));
    return values;
  }

  /// Expects the launch to be right and to say nothing.
  template <typename... Args>
  void launch(const std::string &kernel, Dim3 grid, Dim3 block,
              uint32_t sharedBytes, const Args &...args) {
    Report r = tryLaunch(kernel, grid, block, sharedBytes, args...);
    for (const Diagnostic &d : r.diagnostics)
      ADD_FAILURE() << kernel << ": " << d.str();
    ASSERT_EQ(r.status, Status::Ok) << kernel;
  }
  template <typename... Args>
  Report tryLaunch(const std::string &kernel, Dim3 grid, Dim3 block,
                   uint32_t sharedBytes, const Args &...args) {
    return device.launch(module, kernel, {grid, block, cluster, sharedBytes},
                         {Argument::of(args)...});
  }

  Device device;
  Dim3 cluster;

private:
  uint64_t fill(const void *from, uint64_t bytes, bool isReadOnly);
  std::string name() { return "buffer" + std::to_string(buffers++); }

  const Module &module;
  std::unique_ptr<CheckerSet> checkers;
  unsigned buffers = 0;
};

/// Files are NAME.ARCH.ptx.
Expected<Module> load(const std::string &file, const std::string &arch);

void forAll(const std::string &file, const std::vector<std::string> &arches,
            const std::function<void(Session &)> &body);

/// Numbers that are the same in every run.
inline std::vector<int> integers(size_t count, int least, int most,
                                 unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> pick(least, most);
  std::vector<int> values(count);
  for (int &v : values)
    v = pick(random);
  return values;
}
/// Multiples of 1/8, so that sums are exact in every order.
inline std::vector<float> eighths(size_t count, unsigned seed = 1) {
  std::vector<float> values;
  for (int v : integers(count, -64, 64, seed))
    values.push_back(float(v) / 8);
  return values;
}

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_COMPILED_H
