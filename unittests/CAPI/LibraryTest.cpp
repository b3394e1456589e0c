//===- LibraryTest.cpp - versions, names, devices, errors, handles --------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace capitest;

extern "C" int runFromC(void);

namespace {

TEST(CAPILibrary, C11ProgramsUseIt) { EXPECT_EQ(runFromC(), 0); }

TEST(CAPILibrary, AnotherVersionIsRefused) {
  EXPECT_EQ(fa_abi_version(), FA_ABI_VERSION);
  EXPECT_TRUE(ask(fa_abi_check, FA_ABI_VERSION).ok());
  Answer answer = ask(fa_abi_check, FA_ABI_VERSION + 1);
  EXPECT_EQ(answer.code, FA_ERROR_VERSION);
  EXPECT_EQ(answer.message, "the program was built for version 2 of the C API; "
                            "this library has version 1");
}

TEST(CAPILibrary, NamesAndSizes) {
  EXPECT_STREQ(fa_version(), "0.1.0");
  EXPECT_STREQ(fa_dtype_name(FA_BF16), "bf16");
  EXPECT_STREQ(fa_dtype_name(FA_F8E4M3FN), "f8E4M3FN");
  EXPECT_STREQ(fa_dtype_name(FA_NONE), "");
  EXPECT_EQ(fa_dtype_size(FA_U64), 8u);
  EXPECT_EQ(fa_dtype_size(FA_I1), 1u);
  EXPECT_EQ(fa_dtype_size(fa_dtype(99)), 0u);
  EXPECT_EQ(fa_dtype_size(FA_DTYPE_INT32), 0u);
  EXPECT_STREQ(fa_dtype_name(fa_dtype(-1)), "");
  EXPECT_STREQ(fa_status_name(FA_ERROR_CANCELLED), "cancelled");
  EXPECT_STREQ(fa_status_name(fa_status(99)), "");
  EXPECT_STREQ(fa_status_name(fa_status(-1)), "");
  EXPECT_STREQ(fa_status_name(FA_STATUS_INT32), "");
}

TEST(CAPILibrary, DevicesSayWhatTheyCan) {
  const char *text = nullptr;
  ASSERT_TRUE(ask(fa_devices, &text).ok());
  auto json = nlohmann::json::parse(text);
  bool hasEmulator = false;
  for (const auto &device : json["devices"]) {
    EXPECT_EQ(device["available"].get<bool>(), device["reason"] == "");
    if (device["name"] != "emulator")
      continue;
    hasEmulator = true;
    EXPECT_TRUE(device["available"]);
    EXPECT_TRUE(device["runs_ptx"]);
    EXPECT_EQ(device["default_target"], "sm_80");
    EXPECT_GT(device["checkers"].size(), 3u);
  }
  EXPECT_TRUE(hasEmulator);
  EXPECT_EQ(json["default_device"], "emulator");
  EXPECT_EQ(json["llvm_version"], fa_llvm_version());
  EXPECT_EQ(json["targets"].empty(), std::string(fa_llvm_version()).empty());
  bool hasThreads = false;
  for (const auto &option : json["options"])
    hasThreads |= option["name"] == "threads";
  EXPECT_TRUE(hasThreads);
}

TEST(CAPILibrary, Expressions) {
  const char *names[] = {"Sq", "Hq"};
  int64_t values[] = {129, 4}, value = 0;
  EXPECT_TRUE(
      ask(fa_evaluate, "ceildiv(Sq, 128) * Hq", names, values, 2, &value).ok());
  EXPECT_EQ(value, 8);
  Answer answer = ask(fa_evaluate, "Sk", names, values, 2, &value);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "expression");
  EXPECT_EQ(ask(fa_evaluate, static_cast<const char *>(nullptr), names, values,
                2, &value)
                .argument,
            "expression");
  EXPECT_EQ(
      ask(fa_evaluate, "Sq", names, values, 2, static_cast<int64_t *>(nullptr))
          .argument,
      "value");
  const char *const *noNames = nullptr;
  const int64_t *noValues = nullptr;
  EXPECT_EQ(ask(fa_evaluate, "Sq", noNames, values, 2, &value).message,
            "the names or values are null");
  EXPECT_EQ(ask(fa_evaluate, "Sq", names, noValues, 2, &value).message,
            "the names or values are null");
  names[1] = nullptr;
  EXPECT_EQ(ask(fa_evaluate, "Sq", names, values, 2, &value).message,
            "name 1 is null");
  EXPECT_TRUE(ask(fa_evaluate, "3", noNames, noValues, 0, &value).ok());
}

/// Any handle at all: none may be followed.
TEST(CAPIHandle, StrayOnesAreRefused) {
  const char *text = nullptr;
  auto refusal = [&](const void *handle) {
    Answer answer =
        ask(fa_kernel_ptx, static_cast<const fa_kernel *>(handle), &text);
    EXPECT_EQ(answer.code, FA_ERROR_HANDLE);
    return answer.message;
  };
  EXPECT_EQ(refusal(nullptr), "the fa_kernel is null");
  int stray = 0;
  EXPECT_EQ(refusal(&stray), "the fa_kernel is no handle of this library");
  EXPECT_EQ(refusal(reinterpret_cast<void *>(~uint64_t(0))),
            "the fa_kernel is no handle of this library");
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(fa_kernel_free(reinterpret_cast<fa_kernel *>(&stray)),
            FA_ERROR_HANDLE);
  EXPECT_EQ(fa_run_free(reinterpret_cast<fa_run *>(&stray)), FA_ERROR_HANDLE);
  EXPECT_EQ(fa_error_free(reinterpret_cast<fa_error *>(&stray)),
            FA_ERROR_HANDLE);
  EXPECT_EQ(fa_kernel_free(nullptr), FA_OK);
  EXPECT_EQ(fa_run_free(nullptr), FA_OK);
  EXPECT_EQ(fa_error_free(nullptr), FA_OK);
}

TEST(CAPIHandle, FreedAndMistakenOnesAreRefused) {
  Kernel kernel = loadOneKey();
  fa_kernel *handle = kernel.handle;
  EXPECT_EQ(ask(fa_run_report, reinterpret_cast<const fa_run *>(handle),
                static_cast<const char **>(nullptr))
                .message,
            "expected an fa_run, found an fa_kernel");
  EXPECT_EQ(fa_run_free(reinterpret_cast<fa_run *>(handle)), FA_ERROR_HANDLE);
  EXPECT_EQ(fa_kernel_free(handle), FA_OK);
  kernel.handle = nullptr;
  EXPECT_EQ(fa_kernel_free(handle), FA_ERROR_HANDLE);
  // A new kernel may have the old one's memory, never its handle.
  Kernel next = loadOneKey();
  EXPECT_NE(next.handle, handle);
  size_t count = 0;
  EXPECT_EQ(ask(fa_kernel_entry_count, handle, &count).message,
            "the fa_kernel was freed");
  EXPECT_EQ(ask(fa_kernel_entry_count, next.handle, &count).code, FA_OK);
}

/// A second copy of the library in the process, as two wheels would bring it.
TEST(CAPIHandle, ThoseOfAnotherLibraryAreRefused) {
  namespace fs = std::filesystem;
  fs::path copy = fs::path(testing::TempDir()) /
                  ("capi-copy-" + std::to_string(getpid()) + ".so");
  fs::copy_file(FA_C_LIBRARY, copy, fs::copy_options::overwrite_existing);
  void *other = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  fs::remove(copy);
  ASSERT_NE(other, nullptr) << dlerror();
  auto load = reinterpret_cast<decltype(&fa_kernel_load)>(
      dlsym(other, "fa_kernel_load"));
  auto release = reinterpret_cast<decltype(&fa_kernel_free)>(
      dlsym(other, "fa_kernel_free"));
  ASSERT_TRUE(load && release && load != fa_kernel_load);
  fa_kernel *foreign = nullptr;
  ASSERT_EQ(load(FA_TEST_INPUTS "/one-key.fapkg", &foreign, nullptr), FA_OK);
  const char *text = nullptr;
  Answer answer =
      ask(fa_kernel_ptx, static_cast<const fa_kernel *>(foreign), &text);
  EXPECT_EQ(answer.code, FA_ERROR_HANDLE);
  EXPECT_EQ(answer.message, "the fa_kernel is no handle of this library");
  EXPECT_EQ(fa_kernel_free(foreign), FA_ERROR_HANDLE);
  EXPECT_EQ(release(foreign), FA_OK);
  // What it gave without a handle lives on: the library is never unloaded.
  const char *version =
      reinterpret_cast<decltype(&fa_version)>(dlsym(other, "fa_version"))();
  EXPECT_EQ(dlclose(other), 0);
  EXPECT_STREQ(version, fa_version());
  EXPECT_EQ(load(nullptr, &foreign, nullptr), FA_ERROR_INPUT);
}

TEST(CAPIHandle, DeadErrorsAnswer) {
  fa_error *error = nullptr;
  EXPECT_EQ(fa_kernel_load(nullptr, nullptr, &error), FA_ERROR_INPUT);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(fa_error_message(error), "the pointer for the kernel is null");
  EXPECT_STREQ(fa_error_argument(error), "kernel");
  EXPECT_STREQ(fa_error_location(error), "");
  EXPECT_STREQ(fa_error_diagnostic(error, 0), "");
  EXPECT_EQ(fa_error_free(error), FA_OK);
  EXPECT_EQ(fa_error_code(error), FA_ERROR_HANDLE);
  EXPECT_NE(std::string(fa_error_message(error)).find("was freed"),
            std::string::npos);
  EXPECT_EQ(fa_error_diagnostic_count(error), 0u);
  EXPECT_EQ(fa_error_free(error), FA_ERROR_HANDLE);
  EXPECT_EQ(fa_error_code(nullptr), FA_ERROR_HANDLE);
}

/// Without a place for the error the code is all, and on success the place is
/// cleared.
TEST(CAPIHandle, ErrorsAreOptional) {
  EXPECT_EQ(fa_abi_check(0, nullptr), FA_ERROR_VERSION);
  fa_error *error = reinterpret_cast<fa_error *>(uintptr_t(1));
  EXPECT_EQ(fa_abi_check(FA_ABI_VERSION, &error), FA_OK);
  EXPECT_EQ(error, nullptr);
}

} // namespace
