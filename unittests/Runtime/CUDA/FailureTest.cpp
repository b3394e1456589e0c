//===- FailureTest.cpp - every call of the driver fails once --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sequence of calls is run once for each of them, which then fails: the
// failure is told with the call's name, and nothing is left behind. First for
// the device alone, then for a whole fa-launch.
//
//===----------------------------------------------------------------------===//
#include "FakeDriver.h"

#include "fa/Runner/CommandLine.h"
#include "fa/Runtime/RegisterDevices.h"

#include <gtest/gtest.h>

#include <new>
#include <set>

using namespace farun;
using namespace farun::test;

namespace {

const char *kNothing = R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry nothing(.param .align 64 .b8 map[128]) { ret; }
)";

/// Every kind of call of a device; the first error.
Status useDevice() {
  DeviceRegistry registry;
  registerAllDevices(registry);
  Expected<std::unique_ptr<Device>> opened = registry.open("cuda", {});
  if (!opened)
    return opened.takeError();
  Device &device = **opened;
  if (Status status = device.load(kNothing, "nothing.ptx"); !status)
    return status;
  Expected<DeviceAddress> buffer =
      device.allocate(4096, "tensor", BufferAccess::ReadWrite);
  if (!buffer)
    return buffer.takeError();
  std::vector<uint8_t> bytes(4096);
  if (Status status = device.write(*buffer, bytes.data(), 4096); !status)
    return status;
  TensorMapRequest request;
  request.address = *buffer;
  request.extents = {64, 32};
  request.strides = {128};
  request.box = {64, 8};
  request.swizzle = TensorSwizzle::Bytes128;
  Expected<LaunchArgument> map = device.encodeTensorMap(request);
  if (!map)
    return map.takeError();
  LaunchGeometry geometry;
  geometry.grid = geometry.cluster = {16, 1, 1};
  geometry.sharedBytes = 100 * 1024;
  Expected<LaunchOutcome> outcome = device.launch("nothing", geometry, {*map});
  if (!outcome)
    return outcome.takeError();
  if (outcome->failure)
    return *outcome->failure;
  if (Status status = device.checkAddress(*buffer, "tensor"); !status)
    return status;
  outcome = device.launchInStream("nothing", geometry, {*map}, nullptr,
                                  /*wait=*/false);
  if (!outcome)
    return outcome.takeError();
  if (Status status = device.read(*buffer, bytes.data(), 4096); !status)
    return status;
  device.release(*buffer);
  return device.close();
}

/// Fails call 1, 2, ... until a sequence has no such call any more. `use` gives
/// what was said, empty when all was right; `failed` gets the calls' names.
template <typename Use>
void failEach(FakeDriver &fake, Use use, std::set<std::string> &failed) {
  int n = 1;
  for (;; ++n) {
    ASSERT_LT(n, 10000);
    std::string fail = std::to_string(n) + "=999";
    FakeSetup setup;
    setup.fail = fail.c_str();
    fake.reset(setup);
    std::string said = use();
    std::string call = fake.failedCall();
    SCOPED_TRACE("call " + std::to_string(n) + ", " + call + ": " + said);
    EXPECT_EQ(fake.misuses(), "");
    EXPECT_EQ(fake.leaks(), "");
    if (call.empty()) {
      EXPECT_EQ(said, "");
      break;
    }
    EXPECT_NE(said.find(call +
                        " failed with CUDA_ERROR_UNKNOWN (unknown error) "
                        "while "),
              std::string::npos);
    failed.insert(call);
  }
  // All functions but cuTensorMapEncodeTiled and what it takes to ask for more
  // are in every sequence.
  EXPECT_GE(failed.size(), 24u);
  EXPECT_GT(n, 30);
}

TEST(Failure, EachCallOfADevice) {
  FakeDriver fake(FA_FAKE_CUDA);
  ASSERT_TRUE(fake.isThere());
  std::set<std::string> failed;
  failEach(
      fake,
      [&] {
        Status status = useDevice();
        if (status)
          return std::string();
        EXPECT_EQ(status.error().code, ErrorCode::Device);
        return status.error().message;
      },
      failed);
  // Each function that there is was called, and failed.
  std::set<std::string> all;
#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS) all.insert("cu" #NAME);
#include "../../../lib/Runtime/CUDA/DriverFunctions.def"
  EXPECT_EQ(failed, all);
}

/// What the host's own work throws leaves no context current, in a call that
/// has made one so.
TEST(Failure, ContextIsLeftBehindAnException) {
  FakeDriver fake(FA_FAKE_CUDA);
  ASSERT_TRUE(fake.isThere());
  for (const char *call :
       {"cuMemAlloc", "cuMemcpyHtoD", "cuLaunchKernelEx", "cuMemcpyDtoH"}) {
    std::string fail = std::string(call) + "=throw";
    FakeSetup setup;
    setup.fail = fail.c_str();
    fake.reset(setup);
    EXPECT_THROW((void)useDevice(), std::bad_alloc) << call;
    EXPECT_EQ(fake.failedCall(), call);
    // As many contexts were left as were entered.
    EXPECT_EQ(fake.misuses(), "") << call;
    EXPECT_EQ(fake.leaks().find("still current"), std::string::npos)
        << call << ": " << fake.leaks();
  }
}

/// The tool in this process: its exit code and what it wrote to stderr.
int launch(std::vector<std::string> arguments, std::string &out,
           std::string &err) {
  DeviceRegistry registry;
  registerAllDevices(registry);
  arguments.insert(arguments.begin(), {"fa-launch"});
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int code = runTool(int(arguments.size()), argv.data(), registry, nullptr);
  out = testing::internal::GetCapturedStdout();
  err = testing::internal::GetCapturedStderr();
  return code;
}

const std::string kPackage = std::string(FA_TEST_INPUTS) + "/one-key.fapkg";

TEST(Failure, EachCallOfFALaunch) {
  FakeDriver fake(FA_FAKE_CUDA);
  ASSERT_TRUE(fake.isThere());
  std::string out, err;
  std::set<std::string> failed;
  failEach(
      fake,
      [&] {
        int code = launch(
            {kPackage, "--dim=Sq=8", "--device=cuda", "--bench=1"}, out, err);
        EXPECT_EQ(code, err.empty() ? 0 : 3);
        return err;
      },
      failed);
  EXPECT_NE(out.find("run: one_key on cuda for sm_80"), std::string::npos);
  EXPECT_NE(out.find("check: ok"), std::string::npos);
  EXPECT_EQ(out.find("FAILED"), std::string::npos);
}

/// Launch n takes n quarters of a millisecond on the fake: the checked one is
/// the first, three are warm-ups.
TEST(FALaunchOnCUDA, TimesRuns) {
  FakeDriver fake(FA_FAKE_CUDA);
  ASSERT_TRUE(fake.isThere());
  std::string out, err;
  EXPECT_EQ(
      launch({kPackage, "--dim=Sq=8", "--device=auto", "--bench=4"}, out, err),
      0)
      << err;
  EXPECT_EQ(out.rfind("device: cuda, Fake GPU, compute capability 9.0, driver "
                      "of CUDA 12.8\n",
                      0),
            0u)
      << out;
  // 8 rows of one key: 2 (1 + 1) operations each; 8 + 1 + 1 + 8 halves and 8
  // floats. The median is 1.625 ms.
  EXPECT_NE(out.find("bench: 4 runs min=1.25 ms median=1.625 ms max=2 ms "
                     "1.969e-08 TFLOP/s 4.185e-05 GB/s\n"),
            std::string::npos)
      << out;
  EXPECT_EQ(launch({"--device=help"}, out, err), 0);
  EXPECT_EQ(
      out.rfind("cuda       an NVIDIA GPU through its driver; ready: Fake "
                "GPU, compute capability 9.0, driver of CUDA 12.8\n",
                0),
      0u)
      << out;
  EXPECT_EQ(fake.misuses(), "");
  EXPECT_EQ(fake.leaks(), "");
}

TEST(FALaunchOnCUDA, ExitCodes) {
  FakeDriver fake(FA_FAKE_CUDA);
  ASSERT_TRUE(fake.isThere());
  std::string out, err;
  // A fault of the kernel is no failure of the device.
  FakeSetup setup;
  setup.fail = "cuEventSynchronize=719";
  fake.reset(setup);
  EXPECT_EQ(launch({kPackage, "--dim=Sq=8", "--device=cuda"}, out, err), 4);
  EXPECT_NE(err.find("error: the kernel one_key was stopped by "
                     "CUDA_ERROR_LAUNCH_FAILED"),
            std::string::npos)
      << err;
  EXPECT_EQ(launch({kPackage, "--dim=Sq=8", "--device=cuda", "--order=reverse"},
                   out, err),
            2);
  EXPECT_EQ(err, "error: --order=reverse is about the PTX machine, and the "
                 "device cuda is a GPU; --device=emulator takes it\n");
  EXPECT_EQ(fake.leaks(), "");
}

} // namespace
