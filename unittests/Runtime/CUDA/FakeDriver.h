//===- FakeDriver.h - what tests ask of the fake CUDA driver ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fake is a library of the driver's name that runs kernels on the PTX
// machine. It checks each call as the driver does and more: a call that the
// driver would take without a word, as a second free, is a misuse here.
//
// In the environment of a process: FA_FAKE_CUDA_FAIL is what FakeSetup::fail
// is, and FA_FAKE_CUDA_LOG a file that gets log, misuses and leaks at the end.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_RUNTIME_CUDA_FAKEDRIVER_H
#define FA_UNITTESTS_RUNTIME_CUDA_FAKEDRIVER_H

#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace farun::test {

struct FakeSetup {
  /// "17=700": call 17, counted from 1, fails with CUresult 700. "cuMemFree=2"
  /// or "cuMemFree#3=2": the first or third call of that name does. With
  /// "throw" for the result it throws, as the host's own work around it may. ""
  /// none.
  const char *fail = "";
  int gpus = 1, major = 9, minor = 0;
};

/// The exported control functions of the fake, and FA_CUDA_DRIVER set to it.
class FakeDriver {
public:
  explicit FakeDriver(const char *path, const FakeSetup &setup = {})
      : library(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    setenv("FA_CUDA_DRIVER", path, 1);
    if (library)
      reset(setup);
  }
  ~FakeDriver() { unsetenv("FA_CUDA_DRIVER"); }

  bool isThere() const { return library != nullptr; }
  /// Forgets all that was.
  void reset(const FakeSetup &setup) {
    function<void(const FakeSetup *)>("fakeCudaReset")(&setup);
  }
  /// A line a call; handles by kind and number: "cuMemFree buffer1".
  std::string log() const { return text("fakeCudaLog"); }
  /// The name of the call that was made to fail, empty before it came.
  std::string failedCall() const { return text("fakeCudaFailedCall"); }
  /// A line for each; empty when all is well.
  std::string misuses() const { return text("fakeCudaMisuses"); }
  std::string leaks() const { return text("fakeCudaLeaks"); }

  template <typename Signature> Signature *function(const char *name) const {
    return reinterpret_cast<Signature *>(dlsym(library, name));
  }

private:
  std::string text(const char *name) const {
    return function<const char *()>(name)();
  }
  void *library;
};

} // namespace farun::test

#endif // FA_UNITTESTS_RUNTIME_CUDA_FAKEDRIVER_H
