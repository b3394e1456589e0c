//===- LaunchTest.cpp - a package through the C API -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs no compiler: what a build without MLIR, and one with sanitizers, has.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace capitest;

namespace {

TEST(CAPIKernel, TellsWhatItNeeds) {
  Kernel kernel = loadOneKey();
  EXPECT_EQ(text(fa_kernel_target, kernel.handle), "sm_80");
  EXPECT_EQ(text(fa_kernel_source, kernel.handle), "written by hand");
  EXPECT_NE(text(fa_kernel_ptx, kernel.handle).find(".entry one_key"),
            std::string::npos);
  auto manifest =
      nlohmann::json::parse(text(fa_kernel_manifest, kernel.handle));
  EXPECT_EQ(manifest["entries"][0]["name"], "one_key");

  size_t count = 0, entry = 9;
  EXPECT_TRUE(ask(fa_kernel_entry_count, kernel.handle, &count).ok());
  EXPECT_EQ(count, 1u);
  EXPECT_TRUE(ask(fa_kernel_find_entry, kernel.handle, "one_key", &entry).ok());
  EXPECT_EQ(entry, 0u);
  Answer answer = ask(fa_kernel_find_entry, kernel.handle, "two", &entry);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "entry");
  EXPECT_TRUE(ask(fa_kernel_warning_count, kernel.handle, &count).ok());
  EXPECT_EQ(count, 0u);
  EXPECT_TRUE(ask(fa_kernel_stage_count, kernel.handle, &count).ok());
  EXPECT_EQ(count, 0u);

  fa_entry_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_TRUE(ask(fa_kernel_entry, kernel.handle, size_t(0), &info).ok());
  EXPECT_STREQ(info.name, "one_key");
  EXPECT_EQ(info.operand_count, 5u);
  EXPECT_EQ(info.input_count, 3u);
  EXPECT_EQ(info.result_count, 2u);
  EXPECT_EQ(info.parameter_count, 6u);
  EXPECT_EQ(info.launch_count, 1u);
  EXPECT_STREQ(info.workspace_bytes, "0");
}

TEST(CAPIKernel, TellsOfItsParts) {
  Kernel kernel = loadOneKey();
  fa_operand_info operand = {};
  operand.struct_size = sizeof(operand);
  ASSERT_TRUE(
      ask(fa_kernel_operand, kernel.handle, size_t(0), size_t(3), &operand)
          .ok());
  EXPECT_STREQ(operand.role, "out");
  EXPECT_EQ(operand.kind, FA_OPERAND_RESULT);
  EXPECT_EQ(operand.dtype, FA_F16);
  ASSERT_EQ(operand.rank, 4);
  EXPECT_EQ(operand.shape[2], FA_DYNAMIC);
  EXPECT_STREQ(operand.dims[3], "Dv");

  fa_parameter_info parameter = {};
  parameter.struct_size = sizeof(parameter);
  ASSERT_TRUE(
      ask(fa_kernel_parameter, kernel.handle, size_t(0), size_t(5), &parameter)
          .ok());
  EXPECT_STREQ(parameter.kind, "extent");
  EXPECT_STREQ(parameter.extent, "Sq");
  EXPECT_STREQ(parameter.type, "i32");
  EXPECT_EQ(parameter.operand, -1);

  fa_launch_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_TRUE(
      ask(fa_kernel_launch_info, kernel.handle, size_t(0), size_t(0), &info)
          .ok());
  EXPECT_STREQ(info.kernel, "one_key");
  EXPECT_EQ(info.argument_count, 6u);
  EXPECT_EQ(info.arguments[5], 5);
  EXPECT_STREQ(info.block[0], "min(1024, 32 * ceildiv(Sq, 32))");
  EXPECT_STREQ(info.grid[2], "1");

  Answer answer =
      ask(fa_kernel_operand, kernel.handle, size_t(0), size_t(5), &operand);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.message, "operand 5 is none of 5, counted from 0");
  EXPECT_EQ(
      ask(fa_kernel_operand, kernel.handle, size_t(1), size_t(0), &operand)
          .argument,
      "entry");
  EXPECT_EQ(
      ask(fa_kernel_parameter, kernel.handle, size_t(0), size_t(6), &parameter)
          .message,
      "parameter 6 is none of 6, counted from 0");
  EXPECT_EQ(
      ask(fa_kernel_launch_info, kernel.handle, size_t(0), size_t(1), &info)
          .message,
      "launch 1 is none of 1, counted from 0");
  EXPECT_EQ(ask(fa_kernel_entry, kernel.handle, size_t(0),
                static_cast<fa_entry_info *>(nullptr))
                .message,
            "the pointer to fa_entry_info is null");
  EXPECT_EQ(
      ask(fa_kernel_ptx, kernel.handle, static_cast<const char **>(nullptr))
          .argument,
      "ptx");
  operand.struct_size = 8;
  EXPECT_EQ(
      ask(fa_kernel_operand, kernel.handle, size_t(0), size_t(0), &operand)
          .code,
      FA_ERROR_VERSION);
}

TEST(CAPIKernel, WhatCannotBeLoadedIsSaid) {
  fa_kernel *kernel = reinterpret_cast<fa_kernel *>(uintptr_t(1));
  Answer answer = ask(fa_kernel_load, FA_TEST_INPUTS "/no-such.fapkg", &kernel);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "path");
  EXPECT_NE((answer.message + answer.location).find("no-such.fapkg"),
            std::string::npos);
  EXPECT_EQ(kernel, nullptr);
}

TEST(CAPIKernel, SavedIsLoaded) {
  Kernel kernel = loadOneKey(), again;
  std::string path =
      testing::TempDir() + "capi-saved-" + std::to_string(getpid()) + ".fapkg";
  ASSERT_TRUE(ask(fa_kernel_save, kernel.handle, path.c_str()).ok());
  ASSERT_TRUE(ask(fa_kernel_load, path.c_str(), &again.handle).ok());
  EXPECT_EQ(text(fa_kernel_ptx, kernel.handle),
            text(fa_kernel_ptx, again.handle));
  for (const char *name : {"/kernel.ptx", "/manifest.json"})
    EXPECT_EQ(unlink((path + name).c_str()), 0);
  EXPECT_EQ(rmdir(path.c_str()), 0);
  Answer answer = ask(fa_kernel_save, kernel.handle, "/no/such/folder/a.fapkg");
  EXPECT_FALSE(answer.ok());
  EXPECT_EQ(answer.argument, "path");
}

/// One key: each row of O is the value, LSE is the score.
void expectRight(const OneKey &arrays) {
  for (int64_t n = 0; n < arrays.out.size(); ++n) {
    EXPECT_EQ(arrays.out.get(n), -2.5) << n;
    EXPECT_NEAR(arrays.lse.get(n), 0.5 * 0.75 * arrays.query.get(n), 1e-6);
  }
}

TEST(CAPILaunch, OnDenseArrays) {
  Kernel kernel = loadOneKey();
  for (int64_t queries : {1, 5, 40}) {
    OneKey arrays(queries);
    Answer answer = launch(kernel, arrays.inputs(), arrays.results());
    ASSERT_TRUE(answer.ok()) << answer.message;
    expectRight(arrays);
  }
}

/// Backwards, in steps, and broadcast; results into every second element, the
/// others untouched.
TEST(CAPILaunch, OnStridedArrays) {
  Kernel kernel = loadOneKey();
  OneKey arrays(6);
  Tensor wideQuery(FA_F16, {12}), wideOut(FA_F16, {12}), wideLse(FA_F32, {12});
  wideQuery.fill(4);
  for (int64_t n = 0; n < 12; ++n) {
    wideOut.set(n, 7);
    wideLse.set(n, 7);
  }
  const std::vector<int64_t> shape = {1, 1, 6, 1}, rows = {1, 1, 6};
  const std::vector<int64_t> back = {99, -99, -2, 1}, step = {0, 0, 2, 1},
                             backRows = {5, 5, -2};
  std::vector<fa_array> inputs = arrays.inputs();
  inputs[0] = wideQuery.view(shape, back, 11);
  ASSERT_TRUE(
      launch(kernel, inputs,
             {wideOut.view(shape, step, 0), wideLse.view(rows, backRows, 10)})
          .ok());
  for (int64_t n = 0; n < 6; ++n) {
    EXPECT_EQ(wideOut.get(2 * n), -2.5);
    EXPECT_EQ(wideOut.get(2 * n + 1), 7);
    EXPECT_NEAR(wideLse.get(10 - 2 * n), 0.375 * wideQuery.get(11 - 2 * n),
                1e-6);
    EXPECT_EQ(wideLse.get(11 - 2 * n), 7);
  }
  // One query six times.
  const std::vector<int64_t> still = {0, 0, 0, 0};
  inputs[0] = wideQuery.view(shape, still, 3);
  ASSERT_TRUE(launch(kernel, inputs, arrays.results()).ok());
  for (int64_t n = 0; n < 6; ++n)
    EXPECT_NEAR(arrays.lse.get(n), 0.375 * wideQuery.get(3), 1e-6);
}

TEST(CAPILaunch, WrongArraysAreNamed) {
  Kernel kernel = loadOneKey();
  OneKey arrays(4);
  Tensor wrongType(FA_F32, {1, 1, 4, 1}), wrongRank(FA_F16, {1, 4, 1});
  Tensor twoKeys(FA_F16, {1, 1, 2, 1}), fiveRows(FA_F16, {1, 1, 5, 1});
  const std::vector<int64_t> shape = {1, 1, 4, 1}, huge = {1, 1, INT64_MAX, 1},
                             negative = {1, 1, -1, 1}, still = {1, 1, 0, 1},
                             far = {1, 1, INT64_MAX / 2, 1};
  fa_array null = arrays.query.array(), type = null, negativeType = null,
           rank = null, place = null, negativePlace = null, noShape = null,
           nowhere = null, few = null;
  null.data = nullptr;
  type.dtype = fa_dtype(77);
  negativeType.dtype = fa_dtype(-1);
  rank.rank = 9;
  place.memory = FA_MEMORY_DEVICE;
  noShape.shape = nullptr;
  nowhere.memory = fa_memory(2);
  negativePlace.memory = FA_MEMORY_INT32;
  few.rank = -1;
  // The log-sum-exps in the memory of out, behind its first element.
  fa_array inOut = arrays.lse.array();
  inOut.data = arrays.out.bytes.data() + 2;
  struct Row {
    int index; ///< of the operand that is replaced, results counted on
    fa_array array;
    const char *argument, *says;
  };
  for (const Row &row : std::vector<Row>{
           {0, wrongType.array(), "query",
            "query has dtype f32; accepted is f16"},
           {0, wrongRank.array(), "query",
            "query has shape 1x4x1; accepted are 4 dimensions (B, Hq, Sq, D)"},
           {1, twoKeys.array(), "key", "the extent Sk is 1"},
           {2, twoKeys.array(), "value", "the extent Sk is 1"},
           {3, fiveRows.array(), "out",
            "the result out has shape 1x1x5x1; by the inputs it is 1x1x4x1"},
           {4, arrays.query.array(), "lse",
            "lse has dtype f16; accepted is f32"},
           {0, null, "query", "the data of query is null"},
           {0, type, "query", "query has the unknown dtype 77"},
           {0, negativeType, "query", "query has the unknown dtype -1"},
           {0, negativePlace, "query",
            "query has the unknown memory -2147483648"},
           {1, rank, "key", "key has rank 9; accepted are 0 to 8"},
           {1, few, "key", "key has rank -1; accepted are 0 to 8"},
           {0, place, "query",
            "query lies in device memory and key in host memory"},
           {2, nowhere, "value",
            "value has the unknown memory 2; accepted are 0 (host) and 1 "
            "(device)"},
           {0, noShape, "query", "the shape of query is null"},
           {0, arrays.query.view(huge, still, 0), "query", "at most 2^40"},
           {0, arrays.query.view(negative, still, 0), "query", "is -1"},
           {0, arrays.query.view(shape, far, 0), "query",
            "the strides of query leave the address space"},
           {3, arrays.out.view(shape, still, 0), "out",
            "two elements of the result out may lie at one address"},
           {3, arrays.query.array(), "out", "the result out overlaps query"},
           {4, inOut, "lse",
            "the result lse overlaps the result out; its memory must be its "
            "own"},
       }) {
    std::vector<fa_array> inputs = arrays.inputs(), results = arrays.results();
    (row.index < 3 ? inputs[size_t(row.index)]
                   : results[size_t(row.index - 3)]) = row.array;
    Answer answer = launch(kernel, inputs, results);
    EXPECT_FALSE(answer.ok()) << row.says;
    EXPECT_EQ(answer.argument, row.argument) << answer.message;
    EXPECT_NE(answer.message.find(row.says), std::string::npos)
        << answer.message << "\nis not: " << row.says;
  }
}

TEST(CAPILaunch, WrongCountsAndNullsAreNamed) {
  Kernel kernel = loadOneKey();
  OneKey arrays(4);
  Answer answer = launch(kernel, {arrays.query.array()}, arrays.results());
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.message,
            "1 inputs were given; there are 3: query, key, value");
  answer = launch(kernel, arrays.inputs(), {});
  EXPECT_EQ(answer.argument, "result_count");
  const fa_array *none = nullptr;
  EXPECT_EQ(ask(fa_kernel_launch, kernel.handle, "one_key", none, size_t(3),
                none, size_t(2),
                static_cast<const fa_launch_options *>(nullptr),
                static_cast<fa_run **>(nullptr))
                .message,
            "the inputs are null");
  std::vector<fa_array> inputs = arrays.inputs();
  EXPECT_EQ(ask(fa_kernel_launch, kernel.handle, "one_key",
                const_cast<const fa_array *>(inputs.data()), size_t(3), none,
                size_t(2), static_cast<const fa_launch_options *>(nullptr),
                static_cast<fa_run **>(nullptr))
                .message,
            "the results are null");
  EXPECT_EQ(ask(fa_kernel_launch, kernel.handle, "no_key", none, size_t(3),
                none, size_t(2),
                static_cast<const fa_launch_options *>(nullptr),
                static_cast<fa_run **>(nullptr))
                .argument,
            "entry");
}

/// Options, counters, check and report of one run.
TEST(CAPILaunch, OptionsAreThoseOfTheTools) {
  Kernel kernel = loadOneKey();
  OneKey arrays(40);
  const char *words[] = {"--sanitize=all", "order=reverse", "threads=2",
                         "counters"};
  fa_launch_options options = {};
  options.device = "emulator";
  options.options = words;
  options.option_count = 4;
  options.check = 1;
  fa_run *run = nullptr;
  Answer answer =
      launch(kernel, arrays.inputs(), arrays.results(), options, &run);
  ASSERT_TRUE(answer.ok()) << answer.message;
  auto counters = nlohmann::json::parse(text(fa_run_counters, run));
  EXPECT_GT(counters["global"]["loaded_bytes"].get<double>(), 0);
  auto report = nlohmann::json::parse(text(fa_run_report, run));
  EXPECT_EQ(report["device"], "emulator");
  EXPECT_EQ(report["extents"]["Sq"], 40);
  fa_comparison comparison = {};
  comparison.struct_size = sizeof(comparison);
  ASSERT_TRUE(ask(fa_run_comparison, run, size_t(1), &comparison).ok());
  EXPECT_TRUE(comparison.ok);
  EXPECT_EQ(comparison.count, 40);
  EXPECT_EQ(comparison.rank, 3);
  EXPECT_STREQ(comparison.problem, "");
  EXPECT_EQ(ask(fa_run_comparison, run, size_t(2), &comparison).message,
            "comparison 2 is none of 2, counted from 0");
  EXPECT_EQ(ask(fa_run_comparison, run, size_t(0),
                static_cast<fa_comparison *>(nullptr))
                .message,
            "the pointer to fa_comparison is null");
  const char **noText = nullptr;
  EXPECT_EQ(ask(fa_run_report, run, noText).argument, "json");
  EXPECT_EQ(ask(fa_run_counters, run, noText).argument, "json");
  EXPECT_EQ(fa_run_free(run), FA_OK);
  EXPECT_EQ(fa_run_free(run), FA_ERROR_HANDLE);
}

TEST(CAPILaunch, AStreamIsForDeviceMemory) {
  Kernel kernel = loadOneKey();
  OneKey arrays(4);
  fa_launch_options options = {};
  options.device = "emulator";
  options.stream = &options;
  Answer answer = launch(kernel, arrays.inputs(), arrays.results(), options);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "stream");
  EXPECT_EQ(answer.message,
            "a stream is for arrays in device memory, and these "
            "lie in host memory");
}

TEST(CAPILaunch, WhatWasNotCheckedHasNoComparison) {
  Kernel kernel = loadOneKey();
  OneKey arrays(4);
  fa_launch_options options = {};
  options.device = "emulator";
  fa_run *run = nullptr;
  ASSERT_TRUE(
      launch(kernel, arrays.inputs(), arrays.results(), options, &run).ok());
  fa_comparison comparison = {};
  comparison.struct_size = sizeof(comparison);
  Answer answer = ask(fa_run_comparison, run, size_t(0), &comparison);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_NE(answer.message.find("not to check"), std::string::npos)
      << answer.message;
  EXPECT_EQ(fa_run_free(run), FA_OK);
}

TEST(CAPILaunch, WrongOptionsAreNamed) {
  Kernel kernel = loadOneKey();
  OneKey arrays(4);
  struct Row {
    const char *option, *argument, *says;
  };
  for (const Row &row : std::vector<Row>{
           {"thread=2", "options", "the option 'thread' is unknown"},
           {"threads=-1", "threads", "needs a whole number"},
           {"threads=", "threads", "needs a whole number"},
           {"threads=99999999999999999999", "threads", "needs a whole number"},
           {"order", "order", "the option order needs a value"},
           {"order=backwards", "options", "unknown order 'backwards'"},
           {"sanitize=dust", "options", "--sanitize=dust"},
           {"sanitize=help", "sanitize", "fa_devices() lists the checkers"},
           {"counters=file.json", "counters", "a file is written by the tools"},
           {nullptr, "options", "an option is null"}}) {
    fa_launch_options options = {};
    options.options = &row.option;
    options.option_count = 1;
    Answer answer = launch(kernel, arrays.inputs(), arrays.results(), options);
    EXPECT_EQ(answer.code, FA_ERROR_INPUT) << row.says;
    EXPECT_EQ(answer.argument, row.argument) << answer.message;
    EXPECT_NE(answer.message.find(row.says), std::string::npos)
        << answer.message;
  }
  fa_launch_options noOptions = {};
  noOptions.option_count = 1;
  Answer nulls = launch(kernel, arrays.inputs(), arrays.results(), noOptions);
  EXPECT_EQ(nulls.message, "the options are null");
  EXPECT_EQ(nulls.argument, "options");
  fa_launch_options options = {};
  options.device = "abacus";
  Answer answer = launch(kernel, arrays.inputs(), arrays.results(), options);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "device");
  options.device = "cuda";
  answer = launch(kernel, arrays.inputs(), arrays.results(), options);
  EXPECT_EQ(answer.code, FA_ERROR_DEVICE);
  EXPECT_EQ(answer.argument, "device");
}

/// A kernel that is stopped leaves the results as they were, and the next
/// launch is right again.
TEST(CAPILaunch, FaultsLeaveResultsAlone) {
  Kernel kernel = loadOneKey();
  OneKey arrays(40);
  arrays.out.fill(8);
  std::vector<unsigned char> before = arrays.out.bytes;
  const char *limit = "max-instructions=3";
  fa_launch_options options = {};
  options.options = &limit;
  options.option_count = 1;
  fa_run *run = nullptr;
  Answer answer =
      launch(kernel, arrays.inputs(), arrays.results(), options, &run);
  EXPECT_EQ(answer.code, FA_ERROR_FAULT);
  EXPECT_NE(answer.message.find("after 3 warp"), std::string::npos)
      << answer.message;
  EXPECT_FALSE(answer.diagnostics.empty());
  EXPECT_EQ(run, nullptr);
  EXPECT_EQ(arrays.out.bytes, before);
  EXPECT_TRUE(launch(kernel, arrays.inputs(), arrays.results()).ok());
  expectRight(arrays);
}

/// The reference device computes by the oracle.
TEST(CAPILaunch, OnTheReferenceDevice) {
  Kernel kernel = loadOneKey();
  OneKey arrays(3);
  fa_launch_options options = {};
  options.device = "reference";
  ASSERT_TRUE(launch(kernel, arrays.inputs(), arrays.results(), options).ok());
  expectRight(arrays);
}

/// A child of a process that had used the library is told so, and may still
/// look and free.
TEST(CAPIProcess, ForkedChildrenAreRefused) {
  Kernel kernel = loadOneKey();
  OneKey arrays(2);
  ASSERT_TRUE(launch(kernel, arrays.inputs(), arrays.results()).ok());
  pid_t child = fork();
  if (child == 0) {
    Answer answer = launch(kernel, arrays.inputs(), arrays.results());
    bool isRight = answer.code == FA_ERROR_FORK &&
                   answer.message.find("forked") != std::string::npos &&
                   text(fa_kernel_target, kernel.handle) == "sm_80" &&
                   fa_kernel_free(kernel.handle) == FA_OK;
    _exit(isRight ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(launch(kernel, arrays.inputs(), arrays.results()).ok());
}

} // namespace
