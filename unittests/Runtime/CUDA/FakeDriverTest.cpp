//===- FakeDriverTest.cpp - the fake sees what is done wrong --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A judge that accepts everything proves nothing: each rule of the fake is
// broken here once.
//
//===----------------------------------------------------------------------===//
#include "FakeDriver.h"

#include "../../../lib/Runtime/CUDA/Driver.h"

#include <gtest/gtest.h>

using namespace farun;
using namespace farun::cuda;
using namespace farun::test;

namespace {

const char *kKernel = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class FakeDriverTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(fake.isThere());
    Expected<Driver> loaded = Driver::load();
    ASSERT_TRUE(bool(loaded)) << loaded.error().str();
    driver.emplace(std::move(*loaded));
  }
  /// Up to a current context.
  void begin() {
    ASSERT_EQ(driver->Init.pointer(0), kSuccess);
    ASSERT_EQ(driver->DeviceGet.pointer(&device, 0), kSuccess);
    ASSERT_EQ(driver->DevicePrimaryCtxRetain.pointer(&context, device),
              kSuccess);
    ASSERT_EQ(driver->CtxPushCurrent.pointer(context), kSuccess);
  }
  void end() {
    Context popped = nullptr;
    EXPECT_EQ(driver->CtxPopCurrent.pointer(&popped), kSuccess);
    EXPECT_EQ(driver->DevicePrimaryCtxRelease.pointer(device), kSuccess);
  }
  Function load() {
    EXPECT_EQ(
        driver->ModuleLoadDataEx.pointer(&module, kKernel, 0, nullptr, nullptr),
        kSuccess);
    Function function = nullptr;
    EXPECT_EQ(driver->ModuleGetFunction.pointer(&function, module, "k"),
              kSuccess);
    return function;
  }
  DevicePointer allocate(size_t bytes) {
    DevicePointer address = 0;
    EXPECT_EQ(driver->MemAlloc.pointer(&address, bytes), kSuccess);
    return address;
  }

  FakeDriver fake{FA_FAKE_CUDA};
  std::optional<Driver> driver;
  DeviceOrdinal device = -1;
  Context context = nullptr;
  Module module = nullptr;
};

TEST_F(FakeDriverTest, OrderOfCalls) {
  int count = 0;
  EXPECT_EQ(driver->DeviceGetCount.pointer(&count), 3);
  ASSERT_EQ(driver->Init.pointer(0), kSuccess);
  DevicePointer address = 0;
  EXPECT_EQ(driver->MemAlloc.pointer(&address, 16), 201);
  EXPECT_EQ(driver->DeviceGet.pointer(&device, 1), 101);
  EXPECT_EQ(driver->CtxPushCurrent.pointer(nullptr), 201);
  EXPECT_EQ(fake.misuses(), "cuDeviceGetCount: before cuInit\n"
                            "cuMemAlloc: without a current context\n"
                            "cuDeviceGet: no such GPU\n"
                            "cuCtxPushCurrent: no context of ours\n");
}

TEST_F(FakeDriverTest, Memory) {
  begin();
  DevicePointer address = allocate(64);
  char bytes[65] = {};
  EXPECT_EQ(driver->MemcpyHtoD.pointer(address, bytes, 64), kSuccess);
  EXPECT_EQ(driver->MemcpyHtoD.pointer(address + 1, bytes, 64), kInvalidValue);
  EXPECT_EQ(driver->MemcpyDtoH.pointer(bytes, address, 65), kInvalidValue);
  EXPECT_EQ(driver->MemsetD8.pointer(address + 65, 0, 1), kInvalidValue);
  EXPECT_EQ(driver->MemFree.pointer(address + 16), kInvalidValue);
  EXPECT_EQ(fake.leaks(), "buffer1 of 64 bytes\nthe context, 1 times\na "
                          "context is still current\n");
  EXPECT_EQ(driver->MemFree.pointer(address), kSuccess);
  EXPECT_EQ(driver->MemFree.pointer(address), kInvalidValue);
  EXPECT_EQ(driver->MemcpyHtoD.pointer(address, bytes, 1), kInvalidValue);
  EXPECT_EQ(fake.misuses(), "cuMemcpyHtoD: outside of every buffer\n"
                            "cuMemcpyDtoH: outside of every buffer\n"
                            "cuMemsetD8: outside of every buffer\n"
                            "cuMemFree: no buffer begins there\n"
                            "cuMemFree: no buffer begins there\n"
                            "cuMemcpyHtoD: outside of every buffer\n");
  end();
  EXPECT_EQ(fake.leaks(), "");
}

TEST_F(FakeDriverTest, ThingsThatAreNotThere) {
  begin();
  Function function = load();
  Module none = reinterpret_cast<Module>(uintptr_t(16));
  EXPECT_EQ(driver->ModuleGetFunction.pointer(&function, none, "k"), 400);
  EXPECT_EQ(driver->ModuleGetFunction.pointer(&function, module, "l"), 500);
  EXPECT_EQ(driver->ModuleUnload.pointer(none), 400);
  EXPECT_EQ(driver->ModuleUnload.pointer(module), kSuccess);
  // A function ends with its module.
  size_t offset, bytes;
  EXPECT_EQ(driver->FuncGetParamInfo.pointer(function, 0, &offset, &bytes),
            400);
  Event event = nullptr, other = nullptr;
  EXPECT_EQ(driver->EventCreate.pointer(&event, 0), kSuccess);
  EXPECT_EQ(driver->EventCreate.pointer(&other, 0), kSuccess);
  EXPECT_EQ(driver->EventSynchronize.pointer(event), 400);
  float time = 0;
  EXPECT_EQ(driver->EventRecord.pointer(event, nullptr), kSuccess);
  EXPECT_EQ(driver->EventElapsedTime.pointer(&time, event, other), 400);
  EXPECT_EQ(driver->EventDestroy.pointer(event), kSuccess);
  EXPECT_EQ(driver->EventDestroy.pointer(event), 400);
  EXPECT_EQ(fake.misuses(),
            "cuModuleGetFunction: no module\ncuModuleUnload: no module\n"
            "cuFuncGetParamInfo: no function\n"
            "cuEventSynchronize: an event that was not recorded\n"
            "cuEventElapsedTime: an event that was not recorded\n"
            "cuEventDestroy: no event\n");
  Context popped = nullptr;
  EXPECT_EQ(driver->CtxPopCurrent.pointer(&popped), kSuccess);
  EXPECT_EQ(driver->DevicePrimaryCtxRelease.pointer(device), 201);
  EXPECT_NE(fake.misuses().find("cuDevicePrimaryCtxRelease: it still holds"),
            std::string::npos);
}

TEST_F(FakeDriverTest, Launches) {
  begin();
  Function function = load();
  DevicePointer out = allocate(4);
  uint32_t value = 7;
  void *parameters[] = {&out, &value};
  auto launch = [&](const LaunchConfig &config) {
    return driver->LaunchKernelEx.pointer(&config, function, parameters,
                                          nullptr);
  };
  LaunchConfig good{{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 0};
  EXPECT_EQ(launch(good), kSuccess);
  EXPECT_EQ(driver->MemcpyDtoH.pointer(&value, out, 4), kSuccess);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(fake.misuses(), "");
  LaunchConfig bad = good;
  bad.grid[1] = 0;
  EXPECT_EQ(launch(bad), kInvalidValue);
  bad = good;
  bad.block[0] = 1025;
  EXPECT_EQ(launch(bad), kInvalidValue);
  bad = good;
  bad.sharedBytes = 48 * 1024 + 1;
  EXPECT_EQ(launch(bad), kInvalidValue);
  ClusterAttribute cluster;
  cluster.x = 2;
  bad = good;
  bad.attributes = &cluster;
  bad.attributeCount = 1;
  bad.grid[0] = 3;
  EXPECT_EQ(launch(bad), kInvalidValue);
  cluster.x = bad.grid[0] = 16;
  EXPECT_EQ(launch(bad), kInvalidValue);
  EXPECT_EQ(fake.misuses(),
            "cuLaunchKernelEx: a grid of 1,0,1\n"
            "cuLaunchKernelEx: a block of 1025,1,1\n"
            "cuLaunchKernelEx: 49153 bytes of shared memory where 49152 were "
            "allowed\n"
            "cuLaunchKernelEx: a cluster of 2,1,1 in a grid of 3,1,1\n"
            "cuLaunchKernelEx: a cluster of 16 that was not allowed\n");
  EXPECT_EQ(driver->FuncSetAttribute.pointer(function, kMaxDynamicSharedBytes,
                                             227 * 1024 + 1),
            kInvalidValue);
  // A fault shows where somebody waits, and from there on everywhere.
  out += 4096;
  EXPECT_EQ(launch(good), kSuccess);
  EXPECT_EQ(driver->MemcpyDtoH.pointer(&value, out - 4096, 4), kIllegalAddress);
}

/// What is in a stream runs when somebody waits.
TEST_F(FakeDriverTest, Streams) {
  FakeSetup two;
  two.gpus = 2;
  fake.reset(two);
  begin();
  auto create =
      fake.function<Result(cuda::Stream *, unsigned)>("cuStreamCreate");
  auto synchronize = fake.function<Result(cuda::Stream)>("cuStreamSynchronize");
  auto destroy = fake.function<Result(cuda::Stream)>("cuStreamDestroy_v2");
  Function function = load();
  DevicePointer out = allocate(4);
  uint32_t value = 7;
  void *parameters[] = {&out, &value};
  LaunchConfig config{{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 0};
  ASSERT_EQ(create(&config.stream, 0), kSuccess);
  auto launch = [&] {
    return driver->LaunchKernelEx.pointer(&config, function, parameters,
                                          nullptr);
  };
  EXPECT_EQ(launch(), kSuccess);
  EXPECT_EQ(driver->ModuleUnload.pointer(module), 400);
  EXPECT_EQ(synchronize(config.stream), kSuccess);
  EXPECT_EQ(fake.misuses(), "cuModuleUnload: a kernel of it may still run\n");
  value = 0;
  EXPECT_EQ(driver->MemcpyDtoH.pointer(&value, out, 4), kSuccess);
  EXPECT_EQ(value, 7u);
  // Of another context, or of none any more.
  DeviceOrdinal second = -1;
  Context other = nullptr, popped = nullptr;
  ASSERT_EQ(driver->DeviceGet.pointer(&second, 1), kSuccess);
  ASSERT_EQ(driver->DevicePrimaryCtxRetain.pointer(&other, second), kSuccess);
  ASSERT_EQ(driver->CtxPushCurrent.pointer(other), kSuccess);
  EXPECT_EQ(launch(), 400);
  EXPECT_EQ(synchronize(config.stream), 400);
  cuda::Stream stream = std::exchange(config.stream, nullptr);
  EXPECT_EQ(launch(), kInvalidValue);
  EXPECT_EQ(driver->CtxPopCurrent.pointer(&popped), kSuccess);
  EXPECT_EQ(driver->DevicePrimaryCtxRelease.pointer(second), kSuccess);
  EXPECT_EQ(destroy(stream), kSuccess);
  EXPECT_EQ(destroy(stream), 400);
  EXPECT_EQ(fake.misuses(), "cuModuleUnload: a kernel of it may still run\n"
                            "cuLaunchKernelEx: no stream of this context\n"
                            "cuStreamSynchronize: no stream of this context\n"
                            "cuLaunchKernelEx: buffer1 is of another GPU\n"
                            "cuStreamDestroy: no stream\n");
  EXPECT_EQ(driver->ModuleUnload.pointer(module), kSuccess);
  EXPECT_EQ(driver->MemFree.pointer(out), kSuccess);
  end();
  EXPECT_EQ(fake.leaks(), "");
}

TEST_F(FakeDriverTest, PointerAttributes) {
  begin();
  DevicePointer address = allocate(64);
  unsigned type = 0;
  int ordinal = -1;
  auto ask = [&](void *value, int attribute, DevicePointer at) {
    return driver->PointerGetAttribute.pointer(value, attribute, at);
  };
  EXPECT_EQ(ask(&type, kPointerMemoryType, address + 63), kSuccess);
  EXPECT_EQ(type, kMemoryTypeDevice);
  EXPECT_EQ(ask(&ordinal, kPointerDeviceOrdinal, address), kSuccess);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(ask(&type, kPointerMemoryType, address + 64), kInvalidValue);
  EXPECT_EQ(ask(&type, kPointerMemoryType, uint64_t(&type)), kInvalidValue);
  EXPECT_EQ(fake.misuses(), "");
  EXPECT_EQ(ask(&type, 1000, address), kInvalidValue);
  EXPECT_EQ(fake.misuses(), "cuPointerGetAttribute: no such attribute\n");
}

TEST_F(FakeDriverTest, TensorMaps) {
  begin();
  DevicePointer address = allocate(1024);
  alignas(128) char bytes[192] = {};
  auto encode = [&](char *map, DevicePointer at, uint64_t stride) {
    uint64_t extents[] = {16, 8};
    uint32_t box[] = {16, 8}, steps[] = {1, 1};
    return driver->TensorMapEncodeTiled.pointer(
        reinterpret_cast<cuda::TensorMap *>(map), 6, 2,
        reinterpret_cast<void *>(at), extents, &stride, box, steps, 0, 0, 0, 0);
  };
  EXPECT_EQ(encode(bytes, address, 32), kSuccess);
  EXPECT_EQ(encode(bytes + 32, address, 32), kInvalidValue);
  EXPECT_EQ(encode(bytes, address - 64, 32), kInvalidValue);
  EXPECT_EQ(encode(bytes, address, 40), kInvalidValue);
  EXPECT_EQ(fake.misuses(),
            "cuTensorMapEncodeTiled: the map is not aligned to 64 bytes\n"
            "cuTensorMapEncodeTiled: the tensor is in no buffer\n"
            "cuTensorMapEncodeTiled: tensor map: stride 40 of dimension 1 is "
            "not a multiple of 16\n");
}

TEST_F(FakeDriverTest, FailsAsItIsTold) {
  for (auto [fail, at] :
       {std::pair("3=2", 3), {"cuInit=2", 1}, {"cuInit#2=2", 2}, {"4=2", 0}}) {
    FakeSetup setup;
    setup.fail = fail;
    fake.reset(setup);
    for (int n = 1; n <= 3; ++n)
      EXPECT_EQ(driver->Init.pointer(0), n == at ? 2 : 0) << fail << " " << n;
    EXPECT_EQ(fake.failedCall(), at ? "cuInit" : "");
  }
  EXPECT_EQ(fake.log(), "cuInit 0\ncuInit 0\ncuInit 0\n");
}

} // namespace
