//===- DeviceMemoryTest.cpp - launches on arrays on a GPU -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program with memory and streams of its own, on the fake driver, which runs
// what is in a stream when somebody waits, and writes down each call.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include "../Runtime/CUDA/FakeDriver.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace capitest;
using farun::test::FakeDriver;
using farun::test::FakeSetup;

namespace {

/// What a program with GPUs does: contexts, copies, streams.
class Gpus {
public:
  explicit Gpus(int count, const char *fail = "") {
    FakeSetup setup;
    setup.gpus = count;
    setup.fail = fail;
    fake.reset(setup);
    EXPECT_EQ(call<unsigned>("cuInit", 0), 0);
    for (int n = 0; n < count; ++n) {
      int device = 0;
      void *context = nullptr;
      EXPECT_EQ((call<int *, int>("cuDeviceGet", &device, n)), 0);
      EXPECT_EQ(
          (call<void **, int>("cuDevicePrimaryCtxRetain", &context, device)),
          0);
      devices.push_back(device);
      contexts.push_back(context);
    }
    enter(0);
  }
  ~Gpus() {
    for (auto [address, ordinal] : buffers)
      EXPECT_EQ(call<uint64_t>("cuMemFree_v2", address), 0);
    if (stream) {
      EXPECT_EQ(call<void *>("cuStreamDestroy_v2", stream), 0);
    }
    leave();
    for (int device : devices)
      EXPECT_EQ(call<int>("cuDevicePrimaryCtxRelease_v2", device), 0);
    EXPECT_EQ(fake.misuses(), "");
    EXPECT_EQ(fake.leaks(), "");
  }

  template <typename... Parameters>
  int call(const char *name, Parameters... parameters) {
    return fake.function<int(Parameters...)>(name)(parameters...);
  }
  void enter(int ordinal) {
    EXPECT_EQ(call<void *>("cuCtxPushCurrent_v2", contexts[size_t(ordinal)]),
              0);
  }
  void leave() {
    void *popped = nullptr;
    EXPECT_EQ(call<void **>("cuCtxPopCurrent_v2", &popped), 0);
  }

  /// The array on a GPU, over a copy of its elements.
  fa_array upload(const fa_array &array, size_t bytes, int ordinal = 0) {
    uint64_t address = 0;
    enter(ordinal);
    EXPECT_EQ((call<uint64_t *, size_t>("cuMemAlloc_v2", &address, bytes)), 0);
    EXPECT_EQ((call<uint64_t, const void *, size_t>("cuMemcpyHtoD_v2", address,
                                                    array.data, bytes)),
              0);
    leave();
    buffers.push_back({address, ordinal});
    fa_array moved = array;
    moved.data = reinterpret_cast<void *>(address);
    moved.memory = FA_MEMORY_DEVICE;
    return moved;
  }
  fa_array upload(const Tensor &tensor, int ordinal = 0) {
    return upload(tensor.array(), tensor.bytes.size(), ordinal);
  }
  void download(const fa_array &array, Tensor &tensor) {
    EXPECT_EQ((call<void *, uint64_t, size_t>(
                  "cuMemcpyDtoH_v2", tensor.bytes.data(),
                  reinterpret_cast<uint64_t>(array.data), tensor.bytes.size())),
              0);
  }
  void *makeStream() {
    EXPECT_EQ((call<void **, unsigned>("cuStreamCreate", &stream, 0)), 0);
    return stream;
  }
  /// What was said to the driver since the last time.
  std::string said() {
    std::string log = fake.log(), news = log.substr(seen);
    seen = log.size();
    return news;
  }

  FakeDriver fake{FA_FAKE_CUDA};

private:
  std::vector<int> devices;
  std::vector<void *> contexts;
  std::vector<std::pair<uint64_t, int>> buffers;
  void *stream = nullptr;
  size_t seen = 0;
};

/// The operands of one-key on a GPU.
struct OneKeyOnDevice {
  OneKeyOnDevice(Gpus &gpus, int64_t queries, int ordinal = 0)
      : host(queries), inputs{gpus.upload(host.query, ordinal),
                              gpus.upload(host.key, ordinal),
                              gpus.upload(host.value, ordinal)},
        results{gpus.upload(host.out, ordinal),
                gpus.upload(host.lse, ordinal)} {}
  void expectRight(Gpus &gpus) {
    gpus.download(results[0], host.out);
    gpus.download(results[1], host.lse);
    for (int64_t n = 0; n < host.out.size(); ++n) {
      EXPECT_EQ(host.out.get(n), -2.5) << n;
      EXPECT_NEAR(host.lse.get(n), 0.375 * host.query.get(n), 1e-6);
    }
  }

  OneKey host;
  std::vector<fa_array> inputs, results;
};

fa_launch_options onDevice(const char *name, void *stream = nullptr) {
  fa_launch_options options = {};
  options.device = name;
  options.stream = stream;
  return options;
}

size_t countOf(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1))
    ++count;
  return count;
}

/// No copy, no allocation, no wait: the second launch is one call of a kernel.
TEST(CAPIDeviceMemory, LaunchesInAStream) {
  Gpus gpus(1);
  Kernel kernel = loadOneKey();
  OneKeyOnDevice arrays(gpus, 40);
  void *stream = gpus.makeStream();
  for (int n = 0; n < 2; ++n) {
    gpus.said();
    Answer answer =
        launch(kernel, arrays.inputs, arrays.results, onDevice("cuda", stream));
    ASSERT_TRUE(answer.ok()) << answer.message;
    std::string said = gpus.said();
    for (const char *never : {"cuMemAlloc", "cuMemcpy", "cuMemset", "cuMemFree",
                              "Synchronize", "cuEvent"})
      EXPECT_EQ(said.find(never), std::string::npos) << never << "\n" << said;
    EXPECT_EQ(countOf(said, "cuModuleLoadDataEx"), n == 0 ? 1u : 0u);
    EXPECT_EQ(countOf(said, "cuLaunchKernelEx"), 1u);
    EXPECT_NE(said.find("40 in stream1\n"), std::string::npos) << said;
  }
  arrays.expectRight(gpus);
  // The kernel goes when nothing of it is in a stream any more.
  ASSERT_TRUE(
      launch(kernel, arrays.inputs, arrays.results, onDevice("cuda", stream))
          .ok());
  EXPECT_EQ(fa_kernel_free(std::exchange(kernel.handle, nullptr)), FA_OK);
  EXPECT_NE(gpus.said().find("cuCtxSynchronize\ncuModuleUnload"),
            std::string::npos);
}

/// "auto" is a GPU where there is one; NULL is its default stream; a run waits.
TEST(CAPIDeviceMemory, ARunWaits) {
  Gpus gpus(1);
  Kernel kernel = loadOneKey();
  OneKeyOnDevice arrays(gpus, 5);
  fa_run *run = nullptr;
  Answer answer = launch(kernel, arrays.inputs, arrays.results, {}, &run);
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_EQ(countOf(gpus.said(), "cuEventSynchronize"), 1u);
  auto report = nlohmann::json::parse(text(fa_run_report, run));
  EXPECT_EQ(report["device"], "cuda");
  EXPECT_EQ(report["extents"]["Sq"], 5);
  EXPECT_GT(report["seconds"]["device"].get<double>(), 0);
  EXPECT_EQ(fa_run_free(run), FA_OK);
  arrays.expectRight(gpus);
}

/// The kernel of the package knows dense arrays alone.
TEST(CAPIDeviceMemory, StridesThatNobodyPasses) {
  Gpus gpus(1);
  Kernel kernel = loadOneKey();
  OneKeyOnDevice arrays(gpus, 6);
  const std::vector<int64_t> three = {1, 1, 3, 1}, rows = {1, 1, 3},
                             step = {0, 99, 2, 7}, dense = {0, 99, 1, 7};
  std::vector<fa_array> inputs = arrays.inputs, results = arrays.results;
  inputs[0].shape = results[0].shape = three.data();
  results[1].shape = rows.data();
  inputs[0].strides = step.data();
  Answer answer = launch(kernel, inputs, results);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "query");
  EXPECT_EQ(answer.message,
            "argument 0 (query) has stride 2 in dimension 2, and the kernels "
            "of one_key take a dense one, 1");
  inputs[0].strides = dense.data();
  EXPECT_TRUE(launch(kernel, inputs, results).ok());
}

TEST(CAPIDeviceMemory, ASecondGPU) {
  Gpus gpus(2);
  Kernel kernel = loadOneKey();
  OneKeyOnDevice arrays(gpus, 3, 1);
  Answer answer =
      launch(kernel, arrays.inputs, arrays.results, onDevice("cuda:1"));
  ASSERT_TRUE(answer.ok()) << answer.message;
  arrays.expectRight(gpus);
  answer = launch(kernel, arrays.inputs, arrays.results, onDevice("cuda"));
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "query");
  EXPECT_EQ(answer.message, "query is on cuda:1, and the launch is on cuda");
  answer = launch(kernel, arrays.inputs, arrays.results, onDevice("cuda:2"));
  EXPECT_EQ(answer.code, FA_ERROR_DEVICE);
  EXPECT_EQ(answer.argument, "device");
  EXPECT_EQ(answer.message, "the device cuda:2 is not available: the CUDA "
                            "driver shows 2 GPUs, counted from 0");
  answer = launch(kernel, arrays.inputs, arrays.results, onDevice("cuda:two"));
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "device");
}

TEST(CAPIDeviceMemory, MistakesAreNamed) {
  Gpus gpus(2);
  Kernel kernel = loadOneKey();
  OneKeyOnDevice arrays(gpus, 4);
  Tensor odd(FA_F16, {1, 1, 5, 1});
  fa_array onSecond = gpus.upload(arrays.host.key, 1);
  fa_array asHost = arrays.host.key.array();
  asHost.memory = FA_MEMORY_DEVICE; // which it is not
  fa_array unaligned = arrays.inputs[0], tooLong = arrays.inputs[0];
  unaligned.data = static_cast<char *>(unaligned.data) + 1;
  // The tensor's last element lies behind its buffer.
  const std::vector<int64_t> far = {0, 0, 16, 1};
  tooLong.strides = far.data();
  fa_array inQuery = arrays.results[0];
  inQuery.data = arrays.inputs[0].data;
  struct Row {
    size_t index; ///< of the operand that is replaced, results counted on
    fa_array array;
    const char *argument, *says;
  };
  for (const Row &row : std::vector<Row>{
           {1, arrays.host.key.array(), "query",
            "query lies in device memory and key in host memory; the arrays of "
            "a launch lie in one, scalars in host memory"},
           {4, arrays.host.lse.array(), "query",
            "query lies in device memory and lse in host memory"},
           {1, onSecond, "key", "key is on cuda:1, and the launch is on cuda"},
           {1, asHost, "key", ", which is in no memory of a GPU"},
           {0, unaligned, "query",
            "query is not aligned to its elements of 2 bytes"},
           {0, tooLong, "query", "the last byte of query is at 0x"},
           {3, inQuery, "out", "the result out overlaps query"}}) {
    std::vector<fa_array> inputs = arrays.inputs, results = arrays.results;
    (row.index < 3 ? inputs[row.index] : results[row.index - 3]) = row.array;
    Answer answer = launch(kernel, inputs, results, onDevice("cuda"));
    EXPECT_EQ(answer.code, FA_ERROR_INPUT) << row.says;
    EXPECT_EQ(answer.argument, row.argument) << answer.message;
    EXPECT_NE(answer.message.find(row.says), std::string::npos)
        << answer.message << "\nis not: " << row.says;
  }
  EXPECT_EQ(countOf(gpus.said(), "cuLaunchKernelEx"), 0u);
}

TEST(CAPIDeviceMemory, WhatIsForHostMemoryIsNamed) {
  Gpus gpus(1);
  Kernel kernel = loadOneKey();
  OneKeyOnDevice arrays(gpus, 4);
  fa_launch_options options = onDevice("cuda");
  options.check = 1;
  Answer answer = launch(kernel, arrays.inputs, arrays.results, options);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "check");
  options = onDevice("cuda");
  options.trace = 1;
  answer = launch(kernel, arrays.inputs, arrays.results, options);
  EXPECT_EQ(answer.argument, "trace");
  answer = launch(kernel, arrays.inputs, arrays.results, onDevice("emulator"));
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "query");
  EXPECT_EQ(answer.message, "query lies in device memory, and the device "
                            "emulator takes arrays in host memory");
  const fa_array *none = nullptr;
  answer = ask(fa_kernel_reference, kernel.handle,
               static_cast<const char *>(nullptr),
               static_cast<const fa_array *>(arrays.inputs.data()), size_t(3),
               static_cast<const fa_array *>(arrays.results.data()), size_t(2),
               none, size_t(0));
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "query");
  fa_comparison comparison = {};
  comparison.struct_size = sizeof(comparison);
  EXPECT_EQ(ask(fa_compare, static_cast<const fa_array *>(&arrays.results[0]),
                static_cast<const fa_array *>(&arrays.results[0]), none,
                &comparison)
                .argument,
            "found");
}

/// A driver's failure is told with its name and leaves the kernel usable.
TEST(CAPIDeviceMemory, FailuresOfTheDriver) {
  for (const char *fail : {"cuLaunchKernelEx=400", "cuPointerGetAttribute=400",
                           "cuPointerGetAttribute#2=400"}) {
    Gpus gpus(1, fail);
    Kernel kernel = loadOneKey();
    OneKeyOnDevice arrays(gpus, 4);
    Answer answer =
        launch(kernel, arrays.inputs, arrays.results, onDevice("cuda"));
    EXPECT_EQ(answer.code, FA_ERROR_DEVICE);
    std::string call(fail, std::string(fail).find_first_of("#="));
    EXPECT_EQ(answer.message.rfind(call + " failed with "
                                          "CUDA_ERROR_INVALID_HANDLE (invalid "
                                          "resource handle) while ",
                                   0),
              0u)
        << answer.message;
    EXPECT_TRUE(
        launch(kernel, arrays.inputs, arrays.results, onDevice("cuda")).ok());
    arrays.expectRight(gpus);
  }
}

} // namespace
