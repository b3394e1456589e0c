//===- TensorMapTest.cpp - operands as tensor maps ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that moves one box of the keys to the results by TMA, from a
// manifest and arrays in many layouts, and that sees zeros where the keys can
// have no tensor map. Then the rule itself, case by case.
//
//===----------------------------------------------------------------------===//
#include "HostDevice.h"

#include "fa/Runner/Launch.h"
#include "fa/Runner/Runner.h"
#include "fa/Runtime/RegisterDevices.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace farun;
using namespace farun::test;

namespace {

/// Eight rows of 16 f16: as many as the results have.
const std::vector<int64_t> kBox = {1, 1, 8, 16};

/// Fills the results with 1 where the tensor map of the keys is zeros.
std::string copyKernel(int column, int row, int head, int batch) {
  std::string isMap;
  for (int n = 1; n < 16; ++n)
    isMap += "  ld.param.u64 %rd5, [k_from+" + std::to_string(8 * n) +
             "];\n  or.b64 %rd4, %rd4, %rd5;\n";
  std::string at = std::to_string(column) + ", " + std::to_string(row) + ", " +
                   std::to_string(head) + ", " + std::to_string(batch);
  return R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 k_out, .param .align 64 .b8 k_from[128],
                     .param .align 64 .b8 k_to[128])
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<10>;
  .reg .pred %p<4>;
  .shared .align 1024 .b8 tile[256];
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd4, [k_from];
)" + isMap +
         R"(
  setp.ne.u64 %p1, %rd4, 0;
  @%p1 bra TENSOR;
  ld.param.u64 %rd1, [k_out];
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, 0x3c003c00;
  st.global.v2.u32 [%rd1], {%r2, %r2};
  ret;
TENSOR:
  setp.ne.u32 %p2, %r1, 0;
  @%p2 ret;
  mov.b64 %rd1, k_from;
  cvta.param.u64 %rd2, %rd1;
  mov.b64 %rd1, k_to;
  cvta.param.u64 %rd3, %rd1;
  mov.u32 %r3, tile;
  mbarrier.init.shared.b64 [bar], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
  cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd2, {)" +
         at + R"(}], [bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
  @!%p3 bra WAIT;
  mov.u32 %r5, 0;
  cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%rd3, {%r5, %r5, %r5, %r5}], [%r3];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)";
}

/// The results have `batches` batches.
Program copyProgram(const std::string &ptx, TensorSwizzle swizzle,
                    int64_t batches = 2) {
  Program program = attentionProgram();
  Entry &entry = program.manifest.entries[0];
  entry.parameters.clear();
  entry.parameters.push_back({ParameterKind::Pointer, 4, -1, "", "ptr"});
  entry.parameters.push_back(
      {ParameterKind::TensorMap, 1, -1, "", "tensormap", kBox, swizzle});
  entry.parameters.push_back({ParameterKind::TensorMap,
                              4,
                              -1,
                              "",
                              "tensormap",
                              {batches, 4 / batches, 2, 16}});
  Launch &launch = entry.launches[0];
  launch.kernel = "copy";
  launch.arguments = {0, 1, 2};
  launch.sharedBytes = "0";
  launch.grid = {"1", "1", "1"};
  launch.block = {"32", "1", "1"};
  program.manifest.target = "sm_90a";
  program.ptx = ptx;
  program.ptxName = "copy.ptx";
  return program;
}

/// Keys of 2x2x20x24 unless `shape` says otherwise, and results of 2x2x2x16,
/// which are the 128 elements of a box.
struct Copy {
  std::vector<int64_t> shape = {2, 2, 20, 24};
  std::vector<int64_t> strides;
  int column = 0, row = 0, head = 0, batch = 0;
  TensorSwizzle swizzle = TensorSwizzle::None;

  Array keys() const {
    Array array(ElementType::F16, shape);
    for (int64_t n = 0; n < array.size(); ++n)
      array.set(n, double(n % 2039) + 1);
    return array;
  }

  RunSpec spec() const {
    RunSpec spec;
    spec.check = false;
    spec.dims = {{"B", shape[0]}, {"Hq", 4 / shape[0]}, {"Sq", 2}, {"Dv", 16}};
    spec.inputs[1] = keys();
    if (!strides.empty())
      spec.strides[1] = strides;
    return spec;
  }

  std::vector<double> run(const std::string &on = "emulator") const {
    Program program =
        copyProgram(copyKernel(column, row, head, batch), swizzle, shape[0]);
    // What the reader takes is what runs.
    Expected<Manifest> manifest =
        parseManifest(manifestToJson(program.manifest), "m.json");
    EXPECT_TRUE(bool(manifest)) << manifest.error().str();
    program.manifest = *manifest;
    DeviceRegistry registry;
    registerAllDevices(registry);
    std::unique_ptr<Device> device = std::move(*registry.open(on, {}));
    Expected<RunResult> result = farun::run(program, spec(), *device);
    if (!result) {
      ADD_FAILURE() << result.error().str();
      return {};
    }
    EXPECT_FALSE(result->failure) << result->failure->str();
    return result->outputs.empty() ? std::vector<double>()
                                   : result->outputs[0].values();
  }

  /// The box by a loop over its elements; zeros outside.
  std::vector<double> expected() const {
    Array array = keys();
    std::vector<int64_t> dense = denseStrides(shape);
    std::vector<double> values(128);
    for (int64_t i = 0; i < 8; ++i)
      for (int64_t d = 0; d < 16; ++d) {
        int64_t at[4] = {batch, head, row + i, column + d}, index = 0;
        bool isInside = true;
        for (size_t n = 0; n < 4; ++n) {
          isInside &= at[n] >= 0 && at[n] < shape[n];
          index += at[n] * dense[n];
        }
        int64_t to = i * 16 + d;
        // The 16-byte halves of a row change places in every other 128 bytes.
        if (swizzle == TensorSwizzle::Bytes32 && to / 64 % 2)
          to ^= 8;
        values[size_t(to)] = isInside ? array.get(index) : 0.0;
      }
    return values;
  }
};

const std::vector<double> kOnes(128, 1.0);

TEST(TensorMap, ABoxInside) {
  Copy copy;
  copy.column = 5;
  copy.row = 3;
  copy.head = 1;
  copy.batch = 1;
  EXPECT_EQ(copy.run(), copy.expected());
  copy.swizzle = TensorSwizzle::Bytes32;
  EXPECT_EQ(copy.run(), copy.expected());
}

TEST(TensorMap, TailsAreFilledWithZeros) {
  for (auto [column, row] : {std::pair(16, 16), std::pair(0, 19),
                             std::pair(-4, -3), std::pair(24, 0)}) {
    Copy copy;
    copy.column = column;
    copy.row = row;
    EXPECT_EQ(copy.run(), copy.expected()) << column << " " << row;
  }
}

TEST(TensorMap, LayoutsByStride) {
  Copy copy;
  copy.row = 14;
  copy.head = 1;
  copy.batch = 1;
  // [B, S, H, D], and rows with a gap.
  copy.strides = {20 * 2 * 24, 24, 2 * 24, 1};
  EXPECT_EQ(copy.run(), copy.expected());
  copy.strides = {2 * 20 * 32, 20 * 32, 32, 1};
  EXPECT_EQ(copy.run(), copy.expected());
}

TEST(TensorMap, TheStrideOfOneSaysNothing) {
  Copy copy;
  copy.shape = {1, 2, 20, 24};
  copy.row = 2;
  copy.head = 1;
  for (int64_t absurd :
       {int64_t(3), int64_t(0), int64_t(-1), int64_t(1) << 60}) {
    copy.strides = {absurd, 20 * 24, 24, 1};
    EXPECT_EQ(copy.run(), copy.expected()) << absurd;
  }
}

TEST(TensorMap, WhatCanHaveNoneIsZeros) {
  Copy copy;
  // Rows of 20 elements are 40 bytes.
  copy.shape = {2, 2, 20, 20};
  EXPECT_EQ(copy.run(), kOnes);
  // Expanded over heads, reversed, transposed.
  copy.shape = {2, 2, 20, 24};
  copy.strides = {20 * 24, 0, 24, 1};
  EXPECT_EQ(copy.run(), kOnes);
  copy.strides = {2 * 20 * 24, 20 * 24, -24, 1};
  EXPECT_EQ(copy.run(), kOnes);
  copy.strides = {2 * 20 * 24, 20 * 24, 1, 24};
  EXPECT_EQ(copy.run(), kOnes);
  // No keys.
  copy.strides = {};
  copy.shape = {2, 2, 0, 24};
  EXPECT_EQ(copy.run(), kOnes);
}

/// The same request through the CUDA device, on the fake driver.
TEST(TensorMap, TheDriverEncodesThemToo) {
  setenv("FA_CUDA_DRIVER", FA_FAKE_CUDA, 1);
  Copy copy;
  copy.column = 16;
  copy.row = 14;
  copy.head = 1;
  copy.strides = {20 * 2 * 24, 24, 2 * 24, 1};
  copy.swizzle = TensorSwizzle::Bytes32;
  EXPECT_EQ(copy.run("cuda"), copy.expected());
  copy.strides = {20 * 24, 0, 24, 1};
  EXPECT_EQ(copy.run("cuda"), kOnes);
  unsetenv("FA_CUDA_DRIVER");
}

TEST(TensorMap, TheRule) {
  Parameter parameter;
  parameter.kind = ParameterKind::TensorMap;
  parameter.box = {1, 64, 32};
  parameter.swizzle = TensorSwizzle::Bytes64;
  auto describe = [&](DeviceAddress address, std::vector<int64_t> shape,
                      std::vector<int64_t> strides) {
    return describeTensor(parameter, ElementType::BF16, address, shape,
                          strides);
  };
  auto refusal = [&](DeviceAddress address, std::vector<int64_t> shape,
                     std::vector<int64_t> strides) {
    Expected<TensorMapRequest> none = describe(address, shape, strides);
    return none ? "has a map" : none.takeError().message;
  };
  Expected<TensorMapRequest> request =
      describe(0x1010, {7, 100, 40}, {4000, 40, 1});
  ASSERT_TRUE(bool(request));
  EXPECT_EQ(request->type, ElementType::BF16);
  EXPECT_EQ(request->address, 0x1010u);
  EXPECT_EQ(request->extents, (std::vector<uint64_t>{40, 100, 7}));
  EXPECT_EQ(request->strides, (std::vector<uint64_t>{80, 8000}));
  EXPECT_EQ(request->box, (std::vector<uint32_t>{32, 64, 1}));
  EXPECT_EQ(request->swizzle, TensorSwizzle::Bytes64);

  constexpr int64_t k2To32 = int64_t(1) << 32, k2To39 = int64_t(1) << 39;
  const std::string extents = "; a tensor map takes 1 to 2^32",
                    strides =
                        "; a tensor map takes positive multiples of 16 bytes "
                        "below 2^40";
  EXPECT_TRUE(bool(describe(0x1000, {1, 1, k2To32}, {1, 1, 1})));
  EXPECT_EQ(refusal(0x1000, {1, 1, k2To32 + 1}, {1, 1, 1}),
            "its extent in dimension 2 is 4294967297" + extents);
  EXPECT_EQ(refusal(0x1008, {7, 100, 40}, {4000, 40, 1}),
            "its address is off 16 bytes by 8; a tensor map takes multiples of "
            "16");
  EXPECT_EQ(refusal(0x1000, {7, 0, 40}, {4000, 40, 1}),
            "its extent in dimension 1 is 0" + extents);
  EXPECT_EQ(refusal(0x1000, {7, 100, 40}, {4000, 40, 2}),
            "its stride in dimension 2 is 2 elements; a tensor map takes 1 "
            "there");
  EXPECT_TRUE(bool(describe(0x1000, {7, 100, 1}, {4000, 40, 2})));
  EXPECT_EQ(refusal(0x1000, {7, 100, 40}, {4000, 41, 1}),
            "its stride in dimension 1 is 82 bytes" + strides);
  EXPECT_EQ(refusal(0x1000, {7, 100, 40}, {4000, 0, 1}),
            "its stride in dimension 1 is 0 bytes" + strides);
  EXPECT_EQ(refusal(0x1000, {7, 100, 40}, {4000, -40, 1}),
            "its stride in dimension 1 is -80 bytes" + strides);
  EXPECT_TRUE(bool(describe(0x1000, {7, 100, 40}, {k2To39 - 8, 40, 1})));
  EXPECT_EQ(refusal(0x1000, {7, 100, 40}, {k2To39, 40, 1}),
            "its stride in dimension 0 is 1099511627776 bytes" + strides);
  EXPECT_EQ(refusal(0x1000, {7, 100, 40}, {INT64_MAX, 40, 1}),
            "its stride in dimension 0 is 9223372036854775807 elements" +
                strides);
  // What nobody steps along becomes something that every device takes.
  request = describe(0x1000, {1, 1, 40}, {INT64_MAX, 0, 1});
  ASSERT_TRUE(bool(request));
  EXPECT_EQ(request->strides, (std::vector<uint64_t>{16, 16}));
}

TEST(TensorMap, TypesByTheDriversNumbers) {
  using T = ElementType;
  for (auto [type, number] : {std::pair(T::U8, 0u),
                              {T::I8, 0u},
                              {T::I1, 0u},
                              {T::F8E4M3FN, 0u},
                              {T::F8E5M2, 0u},
                              {T::U16, 1u},
                              {T::I16, 1u},
                              {T::U32, 2u},
                              {T::I32, 3u},
                              {T::U64, 4u},
                              {T::I64, 5u},
                              {T::F16, 6u},
                              {T::F32, 7u},
                              {T::F64, 8u},
                              {T::BF16, 9u}})
    EXPECT_EQ(tensorDataType(type), number) << name(type);
}

TEST(TensorMap, ADeviceThatHasNoneSaysSo) {
  HostDevice device;
  Copy copy;
  Expected<RunResult> result =
      run(copyProgram("", TensorSwizzle::None), copy.spec(), device);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.error().code, ErrorCode::Device);
  EXPECT_EQ(result.error().message,
            "argument 1 (key): the device host has no tensor maps");
  EXPECT_EQ(device.liveBuffers(), 0u);
}

/// What the machine refuses is told with the operand.
TEST(TensorMap, ARefusalNamesTheOperand) {
  DeviceRegistry registry;
  registerAllDevices(registry);
  std::unique_ptr<Device> device = std::move(*registry.open("emulator", {}));
  Program program = copyProgram(copyKernel(0, 0, 0, 0), TensorSwizzle::Bytes32);
  // A compiler's mistake, which no reader has seen.
  program.manifest.entries[0].parameters[1].box[3] = 64;
  Expected<RunResult> result = run(program, Copy().spec(), *device);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(
      result.error().message,
      "argument 1 (key): tensor map: a row of the box has 128 bytes, more "
      "than the swizzle's 32");
}

} // namespace
