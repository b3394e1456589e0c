//===- CUDADeviceTest.cpp - the CUDA device on the fake driver ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What it says to the driver, and what it makes of the answers.
//
//===----------------------------------------------------------------------===//
#include "FakeDriver.h"

#include "fa/Runtime/RegisterDevices.h"

#include <gtest/gtest.h>

using namespace farun;
using namespace farun::test;

namespace {

/// Thread t writes `value` to element t, which of 8 must be there.
const char *kStore = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 value)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class CUDADeviceTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(fake.isThere());
    registerAllDevices(registry);
  }
  void TearDown() override {
    EXPECT_EQ(fake.misuses(), "");
    EXPECT_EQ(fake.leaks(), "");
  }
  std::unique_ptr<Device> open() {
    Expected<std::unique_ptr<Device>> device = registry.open("cuda", {});
    EXPECT_TRUE(bool(device)) << device.error().str();
    return device ? std::move(*device) : nullptr;
  }
  std::string refusal(const DeviceOptions &options = {}) {
    Expected<std::unique_ptr<Device>> device = registry.open("cuda", options);
    return device ? "no error" : device.error().message;
  }
  FakeDriver fake{FA_FAKE_CUDA};
  DeviceRegistry registry;
};

TEST_F(CUDADeviceTest, SaysToTheDriver) {
  std::unique_ptr<Device> device = open();
  ASSERT_TRUE(bool(device->load(kStore, "store.ptx")));
  ASSERT_TRUE(bool(device->load(kStore, "store.ptx")));
  DeviceAddress out = *device->allocate(4096, "out", BufferAccess::ReadWrite);
  uint32_t words[1024] = {};
  ASSERT_TRUE(bool(device->write(out, words, 4096)));
  LaunchGeometry geometry;
  geometry.grid = {16, 1, 1};
  geometry.block = {8, 1, 1};
  geometry.cluster = {16, 1, 1};
  geometry.sharedBytes = 100 * 1024;
  Expected<LaunchOutcome> outcome = device->launch(
      "store", geometry,
      {LaunchArgument::of(out + 1024), LaunchArgument::of(uint32_t(5))});
  ASSERT_TRUE(bool(outcome)) << outcome.error().str();
  EXPECT_FALSE(outcome->failure);
  EXPECT_EQ(outcome->seconds, 0.25e-3);
  ASSERT_TRUE(bool(device->read(out, words, 4096)));
  EXPECT_EQ(words[255], 0u);
  EXPECT_EQ(words[256], 5u);
  EXPECT_EQ(words[263], 5u);
  EXPECT_EQ(words[264], 0u);
  device->release(out);
  EXPECT_TRUE(bool(device->close()));
  EXPECT_TRUE(bool(device->close()));
  std::string finding = "cuInit 0\ncuDriverGetVersion\ncuDeviceGetCount\n"
                        "cuDeviceGet 0\ncuDeviceGetName\n"
                        "cuDeviceGetAttribute 75\ncuDeviceGetAttribute 76\n"
                        "cuDeviceGetAttribute 97\ncuDeviceGetAttribute 16\n";
  std::string push = "cuCtxPushCurrent\n", pop = "cuCtxPopCurrent\n";
  EXPECT_EQ(fake.log(),
            finding + finding + "cuDevicePrimaryCtxRetain\n" + //
                push + "cuModuleLoadDataEx " +
                std::to_string(std::string(kStore).size()) + " bytes\n" + pop +
                push + "cuMemAlloc 4096\ncuMemsetD8 buffer1 255 4096\n" + pop +
                push + "cuMemcpyHtoD buffer1 4096\n" + pop + //
                push +
                "cuModuleGetFunction module1 store\n"
                "cuFuncGetParamInfo function1 0\n"
                "cuFuncGetParamInfo function1 1\n"
                "cuFuncGetParamInfo function1 2\n"
                "cuFuncSetAttribute function1 8 102400\n"
                "cuFuncSetAttribute function1 14 1\n"
                "cuEventCreate 0\ncuEventCreate 0\ncuEventRecord event1\n"
                "cuLaunchKernelEx function1 grid 16,1,1 block 8,1,1 cluster "
                "16,1,1 shared 102400: buffer1+1024 5\n"
                "cuEventRecord event2\ncuEventSynchronize event2\n"
                "cuEventElapsedTime event1 event2\n"
                "cuEventDestroy event2\ncuEventDestroy event1\n" +
                pop + push + "cuMemcpyDtoH buffer1 4096\n" + pop + push +
                "cuMemFree buffer1\n" + pop + push +
                "cuModuleUnload module1\n" + pop +
                "cuDevicePrimaryCtxRelease\n");
}

TEST_F(CUDADeviceTest, SaysWhatItIs) {
  std::unique_ptr<Device> device = open();
  EXPECT_EQ(device->name(), "cuda");
  EXPECT_EQ(device->model(),
            "Fake GPU, compute capability 9.0, driver of CUDA 12.8");
  EXPECT_EQ(device->multiprocessors(), 2);
  EXPECT_TRUE(device->hasRealTime());
  EXPECT_FALSE(device->findsOutOfBounds());
  for (const DeviceEntry &entry : registry.devices())
    if (entry.name == "cuda") {
      EXPECT_EQ(entry.whyUnavailable(), std::nullopt);
      EXPECT_EQ(entry.model(), device->model());
    }
  // "auto" takes a GPU where one answers.
  EXPECT_EQ((*registry.open("auto", {}))->name(), "cuda");
}

/// In a stream of somebody else's, and before its end.
TEST_F(CUDADeviceTest, LaunchesInAStream) {
  std::unique_ptr<Device> device = open();
  ASSERT_TRUE(bool(device->load(kStore, "store.ptx")));
  DeviceAddress out = *device->allocate(32, "out", BufferAccess::ReadWrite);
  LaunchGeometry geometry;
  geometry.block = {8, 1, 1};
  auto launch = [&](bool wait) {
    std::string before = fake.log();
    Expected<LaunchOutcome> outcome = device->launchInStream(
        "store", geometry,
        {LaunchArgument::of(out), LaunchArgument::of(uint32_t(5))}, nullptr,
        wait);
    EXPECT_TRUE(outcome && !outcome->failure);
    EXPECT_EQ(outcome->seconds > 0, wait);
    return fake.log().substr(before.size());
  };
  EXPECT_EQ(launch(false), "cuCtxPushCurrent\n"
                           "cuModuleGetFunction module1 store\n"
                           "cuFuncGetParamInfo function1 0\n"
                           "cuFuncGetParamInfo function1 1\n"
                           "cuFuncGetParamInfo function1 2\n"
                           "cuLaunchKernelEx function1 grid 1,1,1 block 8,1,1 "
                           "cluster 1,1,1 shared 0: buffer1 5\n"
                           "cuCtxPopCurrent\n");
  EXPECT_NE(launch(true).find("cuEventSynchronize"), std::string::npos);
  device->release(out);
  // The module is given back when no kernel of it may run any more.
  std::string before = fake.log();
  EXPECT_TRUE(bool(device->close()));
  EXPECT_EQ(fake.log().substr(before.size()),
            "cuCtxPushCurrent\ncuCtxSynchronize\ncuModuleUnload module1\n"
            "cuCtxPopCurrent\ncuDevicePrimaryCtxRelease\n");
}

TEST_F(CUDADeviceTest, AddressesOfOthers) {
  fake.reset({"", 2, 9, 0});
  std::unique_ptr<Device> first = open();
  Expected<std::unique_ptr<Device>> second = registry.open("cuda:1", {});
  ASSERT_TRUE(bool(second)) << second.error().str();
  EXPECT_EQ(first->name(), "cuda");
  EXPECT_EQ((*second)->name(), "cuda:1");
  EXPECT_EQ((*registry.open("cuda:0", {}))->name(), "cuda");
  DeviceAddress ours = *first->allocate(64, "ours", BufferAccess::ReadWrite);
  DeviceAddress theirs =
      *(*second)->allocate(64, "theirs", BufferAccess::ReadWrite);
  EXPECT_TRUE(bool(first->checkAddress(ours + 63, "query")));
  EXPECT_TRUE(bool((*second)->checkAddress(theirs, "query")));
  EXPECT_EQ(first->checkAddress(theirs, "query").error().message,
            "query is on cuda:1, and the launch is on cuda");
  EXPECT_EQ((*second)->checkAddress(ours, "query").error().message,
            "query is on cuda, and the launch is on cuda:1");
  EXPECT_EQ(first->checkAddress(16, "query").error().message,
            "query is at 0x10, which is in no memory of a GPU");
  EXPECT_EQ(first->checkAddress(16, "query").error().code, ErrorCode::Input);
  first->release(ours);
  (*second)->release(theirs);
  Expected<std::unique_ptr<Device>> third = registry.open("cuda:2", {});
  ASSERT_FALSE(bool(third));
  EXPECT_EQ(third.error().code, ErrorCode::Device);
  EXPECT_EQ(third.error().message, "the device cuda:2 is not available: the "
                                   "CUDA driver shows 2 GPUs, counted from 0");
  for (const char *name : {"cuda:", "cuda:x", "cuda:-1", "cuda:1 ",
                           "cuda:99999"
                           "999999",
                           "emulator:0"})
    EXPECT_EQ(registry.open(name, {}).error().code, ErrorCode::Input) << name;
  for (const DeviceEntry &entry : registry.devices())
    if (entry.name == "cuda") {
      EXPECT_EQ(entry.count(), 2);
      EXPECT_EQ(entry.at(1).model(), (*second)->model());
    }
}

TEST_F(CUDADeviceTest, TargetsByComputeCapability) {
  struct Row {
    int major, minor;
    const char *target;
  };
  for (const Row &row :
       {Row{8, 0, "sm_80"}, Row{8, 6, "sm_86"}, Row{8, 7, "sm_87"},
        Row{8, 9, "sm_89"}, Row{9, 0, "sm_90a"}, Row{10, 0, "sm_90"},
        Row{12, 0, "sm_120"}, Row{12, 1, "sm_120"}}) {
    fake.reset({"", 1, row.major, row.minor});
    EXPECT_EQ(open()->defaultTarget(), row.target);
  }
  fake.reset({"", 1, 7, 5});
  EXPECT_EQ(refusal(), "the device cuda is not available: Fake GPU has compute "
                       "capability 7.5; 8.0 or newer is needed");
}

TEST_F(CUDADeviceTest, WithoutAGpuOrADriver) {
  fake.reset({"", 0, 9, 0});
  EXPECT_EQ(refusal(), "the device cuda is not available: the CUDA driver "
                       "shows no GPU");
  fake.reset({"cuInit=100", 1, 9, 0});
  EXPECT_EQ(refusal(),
            "the device cuda is not available: cuInit failed with "
            "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected) while "
            "starting the driver");
  // "auto" goes on, a name does not.
  fake.reset({"cuInit=100", 1, 9, 0});
  EXPECT_EQ((*registry.open("auto", {}))->name(), "emulator");
  // A number that no driver has written about.
  fake.reset({"cuDeviceGetCount=12345", 1, 9, 0});
  EXPECT_EQ(refusal(), "the device cuda is not available: cuDeviceGetCount "
                       "failed with the unknown result 12345 while asking "
                       "which GPUs there are");
  setenv("FA_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  EXPECT_EQ(refusal().rfind("the device cuda is not available: the CUDA driver "
                            "library of FA_CUDA_DRIVER cannot be opened: "
                            "/nowhere/libcuda.so.1: ",
                            0),
            0u)
      << refusal();
  setenv("FA_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_EQ(refusal(), "the device cuda is not available: the CUDA driver "
                       "library libm.so.6 has no cuGetErrorName; a driver of "
                       "CUDA 12.4 or newer is needed");
}

TEST_F(CUDADeviceTest, RefusesEveryOptionOfTheMachine) {
  for (const DeviceOption &option : deviceOptionTable()) {
    DeviceOptions options;
    std::visit(
        [&](auto member) {
          using Value = std::decay_t<decltype(options.*member)>;
          if constexpr (std::is_same_v<Value, std::string>)
            options.*member = "none";
          else
            options.*member = 3;
        },
        option.value);
    std::string message = refusal(options);
    EXPECT_EQ(message.rfind(option.name, 0), 0u) << message;
    EXPECT_NE(message.find(" is about the PTX machine, and the device cuda is "
                           "a GPU; --device=emulator takes it"),
              std::string::npos)
        << message;
  }
  DeviceOptions report;
  report.counters = true;
  EXPECT_TRUE(bool(registry.open("cuda", report)));
}

TEST_F(CUDADeviceTest, ProgramsThatItDoesNotTake) {
  std::unique_ptr<Device> device = open();
  Status status = device->load("this is no PTX", "no.ptx");
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().code, ErrorCode::Input);
  EXPECT_EQ(status.error().location.file, "no.ptx");
  // With what the translator said.
  EXPECT_EQ(status.error().message,
            "cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX (a PTX JIT "
            "compilation failed) while translating PTX for Fake GPU: expected "
            "a directive at module level");
  EXPECT_EQ(device->launch("store", {}, {}).error().message,
            "no module is loaded");
  device = nullptr;
  fake.reset({"cuModuleLoadDataEx=222", 1, 9, 0});
  status = open()->load(kStore, "store.ptx");
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().code, ErrorCode::Device);
}

TEST_F(CUDADeviceTest, LaunchesThatItDoesNotTake) {
  std::unique_ptr<Device> device = open();
  ASSERT_TRUE(bool(device->load(kStore, "store.ptx")));
  auto refusal = [&](std::vector<LaunchArgument> arguments,
                     uint32_t sharedBytes) {
    LaunchGeometry geometry;
    geometry.sharedBytes = sharedBytes;
    Expected<LaunchOutcome> outcome =
        device->launch("store", geometry, arguments);
    if (!outcome || !outcome->failure)
      return std::string("no failure");
    EXPECT_EQ(outcome->failure->code, ErrorCode::Input);
    return outcome->failure->message;
  };
  LaunchArgument word = LaunchArgument::of(uint64_t(0)),
                 half = LaunchArgument::of(uint32_t(0));
  EXPECT_EQ(refusal({word}, 0), "the kernel store takes more than the 1 "
                                "arguments that it is given");
  EXPECT_EQ(refusal({word, half, half}, 0),
            "the kernel store takes 2 arguments, found 3");
  EXPECT_EQ(refusal({word, word}, 0),
            "argument 1 of the kernel store has 4 bytes, found 8");
  EXPECT_EQ(refusal({word, half}, 227 * 1024 + 1),
            "the kernel store needs 232449 bytes of shared memory; a block has "
            "up to 232448 on Fake GPU");
  Expected<LaunchOutcome> missing = device->launch("load", {}, {});
  ASSERT_TRUE(missing && missing->failure);
  EXPECT_EQ(missing->failure->code, ErrorCode::Input);
  EXPECT_EQ(missing->failure->message, "the program has no kernel load");
}

TEST_F(CUDADeviceTest, TensorMaps) {
  std::unique_ptr<Device> device = open();
  DeviceAddress tensor =
      *device->allocate(4096, "tensor", BufferAccess::ReadOnly);
  TensorMapRequest request;
  request.address = tensor;
  request.type = ElementType::BF16;
  request.extents = {64, 8, 4};
  request.strides = {256, 1024};
  request.box = {32, 8, 1};
  request.swizzle = TensorSwizzle::Bytes64;
  Expected<LaunchArgument> map = device->encodeTensorMap(request);
  ASSERT_TRUE(bool(map)) << map.error().str();
  EXPECT_EQ(map->bytes.size(), 128u);
  EXPECT_NE(map->bytes, std::vector<uint8_t>(128));
  // One dimension has no stride.
  request.extents = {64};
  request.strides = {};
  request.box = {32};
  EXPECT_TRUE(bool(device->encodeTensorMap(request)));
  std::string log = fake.log();
  EXPECT_NE(
      log.find("cuTensorMapEncodeTiled buffer1 type 9 swizzle 2: 64/32 "
               "8/8@256 4/1@1024\n"
               "cuTensorMapEncodeTiled buffer1 type 9 swizzle 2: 64/32\n"),
      std::string::npos)
      << log;
  // What the driver refuses is told as any other failure.
  request.box = {24};
  request.swizzle = TensorSwizzle::Bytes32;
  EXPECT_EQ(device->encodeTensorMap(request).error().message,
            "cuTensorMapEncodeTiled failed with CUDA_ERROR_INVALID_VALUE "
            "(invalid argument) while describing a tensor");
  EXPECT_NE(fake.misuses().find("more than the swizzle's 32"),
            std::string::npos);
  device = nullptr;
  EXPECT_EQ(fake.leaks(), "");
  fake.reset({});
}

TEST_F(CUDADeviceTest, AFaultStopsTheKernelAndTheDevice) {
  std::unique_ptr<Device> device = open();
  ASSERT_TRUE(bool(device->load(kStore, "store.ptx")));
  DeviceAddress out = *device->allocate(16, "out", BufferAccess::ReadWrite);
  LaunchGeometry geometry;
  geometry.block = {8, 1, 1};
  Expected<LaunchOutcome> outcome = device->launch(
      "store", geometry,
      {LaunchArgument::of(out), LaunchArgument::of(uint32_t(5))});
  ASSERT_TRUE(bool(outcome));
  ASSERT_TRUE(outcome->failure);
  EXPECT_EQ(outcome->failure->code, ErrorCode::Fault);
  EXPECT_EQ(outcome->failure->message,
            "the kernel store was stopped by CUDA_ERROR_ILLEGAL_ADDRESS (an "
            "illegal memory access was encountered); --device=emulator can say "
            "where");
  uint32_t word = 0;
  EXPECT_EQ(device->read(out, &word, 4).error().code, ErrorCode::Device);
  device->release(out);
  EXPECT_FALSE(bool(device->close()));
}

TEST_F(CUDADeviceTest, TheFirstFailureToGiveBackIsKept) {
  std::unique_ptr<Device> device = open();
  DeviceAddress first = *device->allocate(16, "a", BufferAccess::ReadWrite);
  DeviceAddress second = *device->allocate(16, "b", BufferAccess::ReadWrite);
  DeviceAddress third = *device->allocate(16, "c", BufferAccess::ReadWrite);
  (void)third; // close() gives back what nobody released
  device->release(first);
  // A second free of a buffer is what the driver complains about.
  device->release(first);
  device->release(second);
  Status status = device->close();
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().message,
            "cuMemFree failed with CUDA_ERROR_INVALID_VALUE (invalid argument) "
            "while giving back a buffer");
  EXPECT_EQ(fake.misuses(), "cuMemFree: no buffer begins there\n");
  EXPECT_EQ(fake.leaks(), "");
  fake.reset({});
}

} // namespace
