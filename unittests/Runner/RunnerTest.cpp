//===- RunnerTest.cpp - whole runs on a kernel that may be broken ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Runner.h"

#include "HostDevice.h"

#include "fa/Runner/Report.h"

#include <gtest/gtest.h>

using namespace farun;
using namespace farun::test;

namespace {

RunSpec dynamicSpec() {
  RunSpec spec;
  spec.dims = {{"B", 2},  {"Hq", 4}, {"Hkv", 2}, {"Sq", 7},
               {"Sk", 9}, {"D", 8},  {"Dv", 5}};
  spec.seed = 3;
  return spec;
}

RunResult runWith(HostDevice &device, const RunSpec &spec) {
  Expected<RunResult> result = run(attentionProgram(), spec, device);
  EXPECT_TRUE(bool(result)) << (result ? "" : result.error().str());
  return result ? std::move(*result) : RunResult();
}

std::string refusal(const RunSpec &spec) {
  HostDevice device;
  Expected<RunResult> result = run(attentionProgram(), spec, device);
  if (result)
    return "no error";
  EXPECT_EQ(result.error().code, ErrorCode::Input);
  EXPECT_EQ(device.liveBuffers(), 0u);
  return result.error().message;
}

TEST(Runner, AGridMayNameTheMultiprocessors) {
  HostDevice device;
  Program program = attentionProgram();
  program.manifest.entries[0].launches[0].grid = {"min(Sq, SMs)", "B + SMs",
                                                  "1"};
  Expected<RunResult> result = run(program, dynamicSpec(), device);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(device.lastGeometry.grid, (std::array<uint32_t, 3>{3, 5, 1}));
}

TEST(Runner, ARightKernelPasses) {
  HostDevice device;
  RunResult result = runWith(device, dynamicSpec());
  EXPECT_EQ(result.exitCode(), 0);
  ASSERT_EQ(result.comparisons.size(), 2u);
  for (const Comparison &comparison : result.comparisons)
    EXPECT_TRUE(comparison.ok) << comparison.str();
  EXPECT_EQ(result.comparisons[0].str().rfind("check: ok max_error=", 0), 0u);
  ASSERT_EQ(result.outputs.size(), 2u);
  EXPECT_EQ(result.outputs[0].shape, (std::vector<int64_t>{2, 4, 7, 5}));
  EXPECT_EQ(device.lastGeometry.grid, (std::array<uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(device.lastGeometry.sharedBytes, 49152u);
  EXPECT_EQ(device.liveBuffers(), 0u);
  EXPECT_EQ(result.counters[0].second, 4.0);
}

TEST(Runner, AProgramIsLoadedUnlessTheDeviceHasIt) {
  HostDevice device;
  RunSpec spec = dynamicSpec();
  runWith(device, spec);
  EXPECT_EQ(device.loaded.size(), 1u);
  spec.isLoaded = true;
  EXPECT_EQ(runWith(device, spec).exitCode(), 0);
  EXPECT_EQ(device.loaded.size(), 1u);
}

TEST(Runner, EveryBrokenKernelIsFound) {
  struct Row {
    Fault fault;
    int exitCode;
    const char *says;
  };
  for (
      const Row &row : {
          Row{Fault::IgnoreCausal, 1, "check: FAILED"},
          Row{Fault::IgnoreLengths, 1, "check: FAILED"},
          // The output keeps its NaN.
          Row{Fault::SkipLastRow, 1, "found=nan"},
          Row{Fault::OffByTwoBounds, 1, "at=[0,0,0,0]"},
          Row{Fault::WriteBehind, 4,
              "error: the kernel wrote at byte +0 behind the end of result 0 "
              "(out)"},
          Row{Fault::WriteBefore, 4,
              "error: the kernel wrote at byte -2 before the start of result 0 "
              "(out)"},
          Row{Fault::WriteInput, 4,
              "error: the kernel wrote to the read-only elements of argument 1 "
              "(key)"},
          Row{Fault::Stopped, 4, "k.ptx:7:1: error: deadlock"},
      }) {
    HostDevice device;
    device.fault = row.fault;
    RunResult result = runWith(device, dynamicSpec());
    EXPECT_EQ(result.exitCode(), row.exitCode) << row.says;
    std::string text = result.failure ? result.failure->str() : "";
    for (const Comparison &comparison : result.comparisons)
      text += comparison.str() + "\n";
    EXPECT_NE(text.find(row.says), std::string::npos) << text;
    // A stopped kernel has no results.
    EXPECT_EQ(result.outputs.empty(), row.exitCode == 4);
  }
}

TEST(Runner, StridedOperandsGiveTheSameAnswer) {
  HostDevice device;
  RunSpec spec = dynamicSpec();
  std::vector<double> dense = runWith(device, spec).outputs[0].values();
  // Q stored [B,S,H,D] with gaps, K reversed along keys and along D, V
  // expanded over nothing but padded rows, O stored [B,S,H,Dv] with a gap.
  spec.strides[0] = {7 * 4 * 11, 11, 4 * 11, 1};
  spec.strides[1] = {2 * 9 * 8, 9 * 8, -8, -1};
  spec.strides[2] = {2 * 9 * 6, 9 * 6, 6, 1};
  spec.strides[4] = {7 * 4 * 6, 6, 4 * 6, 1};
  RunResult result = runWith(device, spec);
  EXPECT_EQ(result.exitCode(), 0);
  EXPECT_EQ(result.outputs[0].values(), dense);
}

TEST(Runner, StridesThatNoKernelHearsOfAreRefused) {
  HostDevice device;
  RunSpec spec = dynamicSpec();
  Program program = attentionProgram();
  std::vector<Parameter> &parameters = program.manifest.entries[0].parameters;
  auto refusal = [&]() -> std::string {
    Expected<RunResult> result = run(program, spec, device);
    return result ? "no error" : result.error().message;
  };
  spec.strides[1] = {2 * 9 * 8, 9 * 8, 8};
  EXPECT_EQ(refusal(), "argument 1 (key) has 3 strides, its shape has 4 "
                       "dimensions");
  // Padded rows, of which the kernel is told; then it is not.
  spec.strides[1] = {2 * 9 * 10, 9 * 10, 10, 1};
  EXPECT_EQ(refusal(), "no error");
  for (Parameter &parameter : parameters)
    if (parameter.kind == ParameterKind::Stride && parameter.operand == 1)
      parameter.operand = 2;
  EXPECT_EQ(refusal(), "argument 1 (key) has stride 180 in dimension 0, and "
                       "the kernels of attention take a dense one, 144");
  // What a dense array has, and any number where there is one index.
  spec.strides[1] = {2 * 9 * 8, 9 * 8, 8, 1};
  EXPECT_EQ(refusal(), "no error");
  spec.dims["B"] = 1;
  spec.strides[1][0] = -3;
  EXPECT_EQ(refusal(), "no error");
  size_t count = program.manifest.entries[0].operands.size();
  spec.strides[int(count)] = {1};
  EXPECT_EQ(refusal(), "strides are given for operand " +
                           std::to_string(count) + ", and attention has " +
                           std::to_string(count));
}

TEST(Runner, AStoreBetweenElementsIsFound) {
  HostDevice device;
  device.fault = Fault::WriteBefore;
  RunSpec spec = dynamicSpec();
  // A reversed column order puts "before column 0" behind the last one of a
  // padded row.
  spec.strides[4] = {4 * 7 * 8, 7 * 8, 8, -1};
  spec.dims["B"] = 1;
  RunResult result = runWith(device, spec);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->message,
            "the kernel wrote between the elements of result 0 (out)");
  EXPECT_EQ(result.exitCode(), 4);
}

TEST(Runner, TraceShowsTheWorkedExample) {
  // Logits ln 2, 0 | ln 4, -: scale 0.5, so q.k is twice that.
  HostDevice device;
  RunSpec spec;
  double ln2 = std::log(2.0);
  spec.inputs[0] = Array(ElementType::F16, {1, 1, 1, 1}, {1});
  spec.inputs[1] =
      Array(ElementType::F16, {1, 1, 4, 1}, {2 * ln2, 0, 4 * ln2, 0});
  spec.inputs[2] = Array(ElementType::F16, {1, 1, 4, 1}, {10, 20, 30, 0});
  spec.inputs[3] = Array(ElementType::I32, {1}, {3});
  spec.traceRow = 0;
  RunResult result = runWith(device, spec);
  EXPECT_EQ(result.exitCode(), 0);
  ASSERT_EQ(result.trace.size(), 2u);
  EXPECT_EQ(result.trace[0].block, 0);
  EXPECT_NEAR(result.trace[0].m, ln2, 5e-4);
  EXPECT_NEAR(result.trace[0].l, 1.5, 1e-3);
  EXPECT_NEAR(result.trace[0].u[0], 20, 1e-2);
  EXPECT_NEAR(result.trace[1].m, 2 * ln2, 5e-4);
  EXPECT_NEAR(result.trace[1].l, 1.75, 1e-3);
  EXPECT_NEAR(result.trace[1].u[0], 40, 2e-2);
  EXPECT_NEAR(result.outputs[0].get(0), 160.0 / 7, 2e-2);
  TraceBlock block{0, 0.6931472f, 1.5f, {20.0f, -0.0f}};
  EXPECT_EQ(block.str(), "trace: block=0 m=0.6931472 l=1.5 u=[20, -0]");
}

TEST(Runner, TraceRequestsAreChecked) {
  RunSpec spec = dynamicSpec();
  spec.traceRow = 56;
  EXPECT_EQ(refusal(spec),
            "the row to trace, 56, is none of 56, counted from 0");
  spec.traceRow = 0;
  Program program = attentionProgram();
  program.manifest.entries[0].parameters.resize(29);
  program.manifest.entries[0].launches[0].arguments.resize(29);
  HostDevice device;
  EXPECT_EQ(run(program, spec, device).error().message,
            "the state of a row cannot be traced: attention was compiled "
            "without its trace");
}

TEST(Runner, ExtentsComeFromEverySource) {
  RunSpec spec;
  spec.dims = {{"Hkv", 1}, {"Dv", 2}};
  spec.shapes[0] = {1, 3, 4, 8};
  spec.inputs[1] = Array(ElementType::F16, {1, 1, 6, 8});
  HostDevice device;
  RunResult result = runWith(device, spec);
  EXPECT_EQ(result.extents["Sk"], 6);
  EXPECT_EQ(result.outputs[0].shape, (std::vector<int64_t>{1, 3, 4, 2}));
}

TEST(Runner, ConflictsAndOpenExtentsNameTheRole) {
  RunSpec spec = dynamicSpec();
  spec.dims.erase("Sk");
  EXPECT_EQ(refusal(spec), "the extent Sk of argument 1 (key) is open: give "
                           "--dim=Sk=VALUE, --shape or --input");
  spec = dynamicSpec();
  spec.inputs[2] = Array(ElementType::F16, {2, 2, 10, 5});
  spec.inputNames[2] = "--input=2=v.npy";
  EXPECT_EQ(refusal(spec),
            "the extent Sk is 9 by --dim=Sk=9 and 10 by --input=2=v.npy");
  spec.inputs[2] = Array(ElementType::F16, {2, 2, 9});
  EXPECT_EQ(refusal(spec), "argument 2 (value) has 4 dimensions (B, Hkv, Sk, "
                           "Dv), and --input=2=v.npy has shape 2x2x9");
  spec = dynamicSpec();
  spec.inputs[4] = Array(ElementType::F16, {1});
  EXPECT_EQ(refusal(spec),
            "--input=4 names no argument; attention has 4, counted from 0");
  spec = dynamicSpec();
  spec.dims["Tq"] = 4;
  EXPECT_EQ(refusal(spec), "--dim=Tq: attention has no such extent; it has B, "
                           "Hq, Sq, D, Hkv, Sk, Dv");
  spec = dynamicSpec();
  spec.dims["S"] = 4;
  EXPECT_NE(refusal(spec).find("--dim=S names no extent"), std::string::npos);
  spec = dynamicSpec();
  spec.dims["Sq"] = -1;
  EXPECT_NE(refusal(spec).find("must not be negative"), std::string::npos);
  spec.dims["Sq"] = 7;
  spec.dims["B"] = int64_t(1) << 40;
  EXPECT_EQ(refusal(spec), "argument 0 (query) has more than 2^40 elements");
}

TEST(Runner, ValuesOutOfRangeAreRefusedBeforeTheLaunch) {
  RunSpec spec = dynamicSpec();
  spec.inputs[3] = Array(ElementType::I32, {2}, {4, 10});
  EXPECT_EQ(refusal(spec), "kv_lengths[1] is 10, outside 0..9");
  spec.check = false;
  EXPECT_EQ(refusal(spec), "kv_lengths[1] is 10, outside 0..9");
  spec = dynamicSpec();
  spec.inputs[0] = Array(ElementType::F32, {2, 4, 7, 8});
  EXPECT_EQ(refusal(spec), "argument 0 (query) has type f16, found f32");
}

TEST(Runner, PositionsOf32Bits) {
  for (const char *name : {"Sq", "Sk"}) {
    RunSpec spec = dynamicSpec();
    spec.dims[name] = (int64_t(1) << 31) - 128;
    EXPECT_EQ(
        refusal(spec),
        std::string("the extent ") + name + " is 2147483520 by --dim=" + name +
            "=2147483520; positions are of 32 bits in the kernels, and at "
            "most 2147418112 is accepted");
  }
}

TEST(Runner, HeadsThatDoNotDivideNameTheirSources) {
  RunSpec spec = dynamicSpec();
  spec.dims.erase("Hkv");
  spec.shapes[1] = {2, 3, 9, 8};
  EXPECT_EQ(
      refusal(spec),
      "the extent Hq is 4 by --dim=Hq=4 and Hkv is 3 by --shape=1=2x3x9x8; "
      "Hq must be a positive multiple of Hkv");
  spec.shapes[1] = {2, 0, 9, 8};
  EXPECT_EQ(
      refusal(spec),
      "the extent Hq is 4 by --dim=Hq=4 and Hkv is 0 by --shape=1=2x0x9x8; "
      "Hq must be a positive multiple of Hkv");
}

TEST(Runner, AttentionWithoutHeadsIsRefusedAsTheVerifierDoes) {
  RunSpec spec = dynamicSpec();
  spec.dims["Hq"] = 0;
  for (int kvHeads : {0, 2}) {
    spec.dims["Hkv"] = kvHeads;
    std::string count = std::to_string(kvHeads);
    EXPECT_EQ(refusal(spec), "the extent Hq is 0 by --dim=Hq=0 and Hkv is " +
                                 count + " by --dim=Hkv=" + count +
                                 "; Hq must be a positive multiple of Hkv");
  }
}

TEST(Runner, WhatCannotFitIsRefusedBeforeItIsFilled) {
  RunSpec spec = dynamicSpec();
  spec.dims["B"] = int64_t(1) << 31;
  EXPECT_EQ(refusal(spec).rfind("the operands and results of attention need "
                                "2624.0 GiB with B=2147483648 D=8",
                                0),
            0u)
      << refusal(spec);
  Program program = attentionProgram();
  program.manifest.entries[0].workspaceBytes = "B * 1099511627776";
  HostDevice device;
  Expected<RunResult> result = run(program, dynamicSpec(), device);
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(result.error().message.rfind("the operands, results and workspace "
                                         "of attention need 2048.0 GiB with",
                                         0),
            0u)
      << result.error().message;
  program.manifest.entries[0].workspaceBytes = "B - 3";
  EXPECT_EQ(run(program, dynamicSpec(), device).error().message,
            "the workspace of attention needs -1 bytes ('B - 3')");
}

TEST(Runner, ScalesBeyondF32AreRefused) {
  Program program = attentionProgram();
  Entry &entry = program.manifest.entries[0];
  entry.attention.scale = NAN;
  // Behind the last argument, so that no parameter's operand moves.
  entry.operands[3] = {"scale", OperandKind::Scalar, ElementType::F32, {}, {}};
  RunSpec spec = dynamicSpec();
  auto refusalOf = [&](float scale) {
    HostDevice device;
    spec.inputs.insert_or_assign(3, Array(ElementType::F32, {}, {scale}));
    Expected<RunResult> result = run(program, spec, device);
    return result ? std::string("no error") : result.error().message;
  };
  const char *accepted = "; accepted is what |scale| log2 e keeps finite in "
                         "f32, up to 2.3586e+38";
  EXPECT_EQ(refusalOf(INFINITY),
            std::string("argument 3 (scale) is inf") + accepted);
  EXPECT_EQ(refusalOf(NAN),
            std::string("argument 3 (scale) is nan") + accepted);
  EXPECT_EQ(refusalOf(-2.4e38f),
            std::string("argument 3 (scale) is -2.4e+38") + accepted);
  spec.inputNames[3] = "--input=3=s.npy";
  EXPECT_EQ(refusalOf(3e38f),
            std::string("argument 3 (scale) is 3e+38 by --input=3=s.npy") +
                accepted);
}

/// One array for K and V, or for all three: its dimensions have several names.
TEST(Runner, OneArgumentInSeveralRoles) {
  Program program = attentionProgram();
  Entry &entry = program.manifest.entries[0];
  entry.operands[0].also = {{"key", {"B", "Hkv", "Sk", "D"}},
                            {"value", {"B", "Hkv", "Sk", "Dv"}}};
  entry.operands.erase(entry.operands.begin() + 1, entry.operands.begin() + 3);
  for (Parameter &parameter : entry.parameters)
    if (parameter.operand >= 0)
      parameter.operand = std::max(0, parameter.operand - 2);
  HostDevice device;
  RunSpec spec;
  spec.dims = {{"B", 2}, {"Hq", 2}, {"Sk", 6}, {"Dv", 8}};
  Expected<RunResult> result = run(program, spec, device);
  ASSERT_TRUE(bool(result)) << result.error().str();
  EXPECT_EQ(result->exitCode(), 0);
  EXPECT_EQ(result->shapes[0], (std::vector<int64_t>{2, 2, 6, 8}));
  EXPECT_EQ(result->extents, (Extents{{"B", 2},
                                      {"D", 8},
                                      {"Dv", 8},
                                      {"Hkv", 2},
                                      {"Hq", 2},
                                      {"Sk", 6},
                                      {"Sq", 6}}));
  spec.dims["Sq"] = 5;
  EXPECT_EQ(run(program, spec, device).error().message,
            "the extent Sk is 6 by --dim=Sk=6 and 5 by --dim=Sq=5, as Sq of "
            "argument 0 (query, key, value)");
  spec.dims.erase("Sq");
  spec.dims.erase("Sk");
  EXPECT_EQ(run(program, spec, device).error().message,
            "the extent Sq of argument 0 (query, key, value) is open: give "
            "--dim=Sq=VALUE, --shape or --input");
}

TEST(Runner, EmptyGridsAreNotLaunched) {
  RunSpec spec = dynamicSpec();
  spec.dims["Sq"] = 0;
  HostDevice device;
  RunResult result = runWith(device, spec);
  EXPECT_EQ(result.launches, 0);
  EXPECT_EQ(result.exitCode(), 0);
  EXPECT_EQ(result.outputs[0].shape, (std::vector<int64_t>{2, 4, 0, 5}));
}

TEST(Runner, B27_ZeroKeys) {
  RunSpec spec = dynamicSpec();
  spec.dims["Sk"] = 0;
  HostDevice device;
  RunResult result = runWith(device, spec);
  EXPECT_EQ(result.exitCode(), 0);
  EXPECT_EQ(result.outputs[0].values(), std::vector<double>(280, 0.0));
}

TEST(Runner, B45_GridLimits) {
  RunSpec spec = dynamicSpec();
  spec.dims = {{"B", 65536}, {"Hq", 1}, {"Hkv", 1}, {"Sq", 1},
               {"Sk", 1},    {"D", 1},  {"Dv", 1}};
  EXPECT_EQ(refusal(spec), "the launch of kernel attention_kernel needs "
                           "grid.y = 65536; the limit is 65535");
}

TEST(Runner, SeedsRepeatAndDiffer) {
  HostDevice device;
  RunSpec spec = dynamicSpec();
  std::vector<double> first = runWith(device, spec).outputs[0].values();
  EXPECT_EQ(runWith(device, spec).outputs[0].values(), first);
  spec.seed = 4;
  EXPECT_NE(runWith(device, spec).outputs[0].values(), first);
}

TEST(Runner, TrafficCountsWhatIsNeeded) {
  // One query block of one row, causal bottom_right: row i needs the blocks of
  // two keys up to key i + 2; B Hq rows of Q and O and LSE once.
  HostDevice device;
  RunSpec spec = dynamicSpec();
  spec.dims = {{"B", 1},  {"Hq", 1}, {"Hkv", 1}, {"Sq", 2},
               {"Sk", 4}, {"D", 8},  {"Dv", 8}};
  spec.inputs[3] = Array(ElementType::I32, {1}, {4});
  Traffic traffic = runWith(device, spec).traffic;
  double once = 2 * 8 * 2 + 4 + 2 * 8 * 2 + 2 * 4;
  EXPECT_EQ(traffic.bound, once + (4 + 4) * (8 + 8) * 2);
  EXPECT_EQ(traffic.naiveStored, 2 * 4 * 2);
  EXPECT_EQ(traffic.naive, once + 4 * (8 + 8) * 2 + 4 * 16);
}

TEST(Runner, TimesAreSummedUp) {
  Timing timing;
  timing.seconds = {1e-3, 2e-3, 4e-3};
  timing.operations = 3e9;
  timing.bytes = 5e6;
  EXPECT_EQ(timing.median(), 2e-3);
  EXPECT_EQ(timing.str(), "bench: 3 runs min=1 ms median=2 ms max=4 ms 1.5 "
                          "TFLOP/s 2.5 GB/s");
  timing.seconds.push_back(6e-3);
  EXPECT_EQ(timing.median(), 3e-3);
  // An empty grid is not launched.
  timing.seconds = {0};
  EXPECT_EQ(timing.str(),
            "bench: 1 runs min=0 ms median=0 ms max=0 ms 0 TFLOP/s 0 GB/s");
  // A device without a clock of its own is not timed.
  HostDevice device;
  RunSpec spec = dynamicSpec();
  spec.benchRuns = 3;
  RunResult result = runWith(device, spec);
  EXPECT_FALSE(result.timing);
  EXPECT_EQ(result.launches, 1);
}

TEST(Runner, ReportHoldsEverything) {
  HostDevice device;
  RunSpec spec = dynamicSpec();
  spec.traceRow = 3;
  spec.inputs[3] = Array(ElementType::I32, {2}, {9, 9});
  std::string text = reportJson(runWith(device, spec));
  EXPECT_EQ(countersJson(runWith(device, spec)),
            R"({
  "ctas": 4,
  "global": {
    "loaded_bytes": 64,
    "stored_bytes": 32
  }
}
)");
  for (const char *piece :
       {"\"entry\": \"attention\"", "\"device\": \"host\"", "\"Sk\": 9",
        "\"role\": \"kv_lengths\"", "\"tile_kv\": 2", "\"result\": \"lse\"",
        "\"ok\": true", "\"block\": 0", "\"ctas\": 4", "\"exit_code\": 0",
        "\"naive_stored_bytes\": 1008"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
}

} // namespace
