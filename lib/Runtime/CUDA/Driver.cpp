//===- Driver.cpp - the CUDA driver, found at run time --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <cstdlib>
#include <dlfcn.h>

namespace farun::cuda {

namespace {

constexpr const char *kLibrary = "libcuda.so.1";
constexpr const char *kVariable = "FA_CUDA_DRIVER";

template <typename Pointer>
bool find(void *library, const char *symbol, Pointer &pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(library, symbol));
  return pointer != nullptr;
}

} // namespace

Expected<Driver> Driver::load() {
  const char *given = std::getenv(kVariable);
  std::string path = given && *given ? given : kLibrary;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && path == kLibrary)
    return deviceError(std::string("the CUDA driver library ") + kLibrary +
                       " was not found");
  if (!library) {
    const char *reason = dlerror();
    return deviceError("the CUDA driver library of " + std::string(kVariable) +
                       " cannot be opened: " + (reason ? reason : path));
  }
  Driver driver;
  std::string missing;
  auto bind = [&](const char *symbol, auto &pointer) {
    if (!find(library, symbol, pointer) && missing.empty())
      missing = symbol;
  };
  bind("cuGetErrorName", driver.getErrorName);
  bind("cuGetErrorString", driver.getErrorString);
#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS)                           \
  bind("cu" #NAME #SUFFIX, driver.NAME.pointer);
#include "DriverFunctions.def"
  if (missing.empty())
    return driver;
  return deviceError("the CUDA driver library " + path + " has no " + missing +
                     "; a driver of CUDA 12.4 or newer is needed");
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName(result, &name) != kSuccess || !name)
    return "the unknown result " + std::to_string(result);
  if (getErrorString(result, &text) != kSuccess || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

Error Driver::failure(const char *name, Result result,
                      const std::string &doing) const {
  return deviceError(std::string(name) + " failed with " + describe(result) +
                     " while " + doing);
}

} // namespace farun::cuda
