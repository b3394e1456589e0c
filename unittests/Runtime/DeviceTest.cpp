//===- DeviceTest.cpp - what every device that runs PTX must do -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conformance suite over the registry: a new back end passes it as it is. A
// device that is not available says why; the CUDA device also runs on the fake
// driver (CUDA/FakeDriver.h).
//
//===----------------------------------------------------------------------===//
#include "fa/Runtime/RegisterDevices.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace farun;

namespace {

/// out[tid] = in[tid] + add; with `wrong`, one element too far.
const char *kAdd = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 in, .param .u64 out, .param .u32 add,
                    .param .u32 shift)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r1, [add];
    ld.param.u32 %r5, [shift];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mul.wide.u32 %rd6, %r5, 4;
    add.s64 %rd5, %rd5, %rd6;
    ld.global.u32 %r3, [%rd4];
    add.u32 %r4, %r3, %r1;
    st.global.u32 [%rd5], %r4;
    ret;
}
)";

class DeviceTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    registerAllDevices(registry);
    std::string name = GetParam();
    if (name == "fake-cuda") {
      name = "cuda";
      setenv("FA_CUDA_DRIVER", FA_FAKE_CUDA, 1);
    }
    Expected<std::unique_ptr<Device>> opened = registry.open(name, {});
    if (!opened) {
      ASSERT_EQ(opened.error().code, ErrorCode::Device);
      GTEST_SKIP() << opened.error().message;
    }
    device = std::move(*opened);
    ASSERT_TRUE(bool(device->load(kAdd, "add.ptx")));
  }

  void TearDown() override {
    device = nullptr;
    if (GetParam() == "fake-cuda")
      unsetenv("FA_CUDA_DRIVER");
  }

  DeviceAddress allocate(uint64_t bytes, const char *name,
                         BufferAccess access = BufferAccess::ReadWrite) {
    Expected<DeviceAddress> address = device->allocate(bytes, name, access);
    EXPECT_TRUE(bool(address));
    return address ? *address : 0;
  }
  LaunchOutcome launch(DeviceAddress in, DeviceAddress out, uint32_t add,
                       uint32_t shift) {
    LaunchGeometry geometry;
    geometry.block = {8, 1, 1};
    Expected<LaunchOutcome> outcome =
        device->launch("add", geometry,
                       {LaunchArgument::of(in), LaunchArgument::of(out),
                        LaunchArgument::of(add), LaunchArgument::of(shift)});
    EXPECT_TRUE(bool(outcome));
    return outcome ? *outcome : LaunchOutcome();
  }

  DeviceRegistry registry;
  std::unique_ptr<Device> device;
};

TEST_P(DeviceTest, RunsAKernel) {
  std::vector<uint32_t> values = {1, 2, 3, 4, 5, 6, 7, 8};
  DeviceAddress in = allocate(32, "in", BufferAccess::ReadOnly);
  DeviceAddress out = allocate(64, "out");
  EXPECT_EQ(in % 256, 0u);
  ASSERT_TRUE(bool(device->write(in, values.data(), 32)));
  LaunchOutcome outcome = launch(in, out, 10, 2);
  ASSERT_FALSE(outcome.failure) << outcome.failure->str();
  std::vector<uint32_t> found(16);
  ASSERT_TRUE(bool(device->read(out, found.data(), 64)));
  for (uint32_t n = 0; n < 16; ++n)
    EXPECT_EQ(found[n], n < 2 || n >= 10 ? 0xffffffffu : values[n - 2] + 10);
  if (device->findsOutOfBounds()) {
    EXPECT_EQ(device->firstUnwritten(out, 64), std::optional<uint64_t>(0));
    EXPECT_EQ(device->firstUnwritten(out + 8, 32), std::nullopt);
    EXPECT_EQ(device->firstUnwritten(out + 8, 33), std::optional<uint64_t>(32));
  }
  device->release(in);
  device->release(out);
}

TEST_P(DeviceTest, AStoreBehindABufferStopsTheKernel) {
  if (!device->findsOutOfBounds())
    GTEST_SKIP() << "this device leaves it to the runner's guards";
  std::vector<uint32_t> values(8);
  DeviceAddress in = allocate(32, "in"), out = allocate(32, "out");
  ASSERT_TRUE(bool(device->write(in, values.data(), 32)));
  LaunchOutcome outcome = launch(in, out, 0, 1);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->code, ErrorCode::Fault);
  EXPECT_EQ(outcome.failure->location.file, "add.ptx");
  EXPECT_GT(outcome.failure->location.line, 0);
  EXPECT_FALSE(outcome.diagnostics.empty());
}

TEST_P(DeviceTest, AStoreToAReadOnlyBufferStopsTheKernel) {
  if (!device->findsOutOfBounds())
    GTEST_SKIP() << "this device leaves it to the runner's guards";
  std::vector<uint32_t> values(8);
  DeviceAddress in = allocate(32, "in", BufferAccess::ReadOnly);
  ASSERT_TRUE(bool(device->write(in, values.data(), 32)));
  LaunchOutcome outcome = launch(in, in, 0, 0);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->code, ErrorCode::Fault);
}

TEST_P(DeviceTest, WrongProgramsAndLaunchesAreInput) {
  Status status = device->load("this is no PTX", "no.ptx");
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().code, ErrorCode::Input);
  EXPECT_EQ(status.error().location.file, "no.ptx");
  ASSERT_TRUE(bool(device->load(kAdd, "add.ptx")));
  Expected<LaunchOutcome> missing = device->launch("subtract", {}, {});
  EXPECT_TRUE(!missing ||
              (missing->failure && missing->failure->code == ErrorCode::Input));
  Expected<LaunchOutcome> short_ = device->launch("add", {}, {});
  EXPECT_TRUE(!short_ ||
              (short_->failure && short_->failure->code == ErrorCode::Input));
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest,
                         testing::Values("cuda", "emulator", "fake-cuda"));

TEST(Registry, NamesAndReasons) {
  DeviceRegistry registry;
  EXPECT_EQ(registry.open("auto", {}).error().message,
            "no device is available");
  DeviceEntry absent;
  absent.name = "absent";
  absent.preference = 1;
  absent.whyUnavailable = [] { return std::string("it was sold"); };
  registry.add(absent);
  EXPECT_EQ(registry.open("auto", {}).error().message,
            "no device is available (absent: it was sold)");
  EXPECT_EQ(registry.open("absent", {}).error().message,
            "the device absent is not available: it was sold");
  EXPECT_EQ(registry.open("absent", {}).error().code, ErrorCode::Device);
  EXPECT_EQ(registry.open("other", {}).error().message,
            "'other' names no device; accepted are auto, absent");
  EXPECT_EQ(registry.open("other", {}).error().code, ErrorCode::Input);
  registerAllDevices(registry);
  EXPECT_EQ((*registry.open("reference", {}))->runsPTX(), false);
}

/// Every option is obeyed or refused by name: the oracle runs no kernel that
/// one could be about.
TEST(Devices, ReferenceRefusesEveryOptionOfAKernel) {
  DeviceRegistry registry;
  registerAllDevices(registry);
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
    Expected<std::unique_ptr<Device>> device =
        registry.open("reference", options);
    ASSERT_FALSE(bool(device)) << option.name;
    EXPECT_EQ(device.error().code, ErrorCode::Input);
    EXPECT_EQ(device.error().message.rfind(option.name, 0), 0u)
        << device.error().message;
    EXPECT_NE(device.error().message.find("the device reference runs none"),
              std::string::npos);
  }
  // What a report counts on its own is no wish of the user's.
  DeviceOptions report;
  report.counters = true;
  EXPECT_TRUE(bool(registry.open("reference", report)));
}

TEST(Devices, TheEmulatorJudgesEveryOption) {
  DeviceRegistry registry;
  registerAllDevices(registry);
  auto refusal = [&](auto set) {
    DeviceOptions options;
    set(options);
    Expected<std::unique_ptr<Device>> device =
        registry.open("emulator", options);
    return device ? std::string("no error") : device.error().str();
  };
  EXPECT_EQ(refusal([](DeviceOptions &o) { o.threads = 1025; }),
            "error: --threads=1025 is too many; accepted are 0 to 1024");
  EXPECT_EQ(refusal([](DeviceOptions &o) { o.order = "sideways"; }),
            "error: --order: unknown order 'sideways'; expected round-robin, "
            "reverse, random:SEED or random:FIRST..LAST");
  EXPECT_EQ(refusal([](DeviceOptions &o) { o.tensorModel = "abacus"; }),
            "error: --tensor-model=abacus is unknown; accepted is fma (f32 "
            "chains), ampere or hopper");
  EXPECT_EQ(refusal([](DeviceOptions &o) { o.approx = "no"; }),
            "error: --approx=no is unknown; accepted is exact (correctly "
            "rounded) or adversarial:SEED");
  EXPECT_EQ(refusal([](DeviceOptions &o) {
              o.sanitize = "luck";
            }).rfind("error: --sanitize=luck: 'luck' names no checker", 0),
            0u);
}

} // namespace
