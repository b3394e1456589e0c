//===- Driver.h - the CUDA driver, found at run time ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing links against the driver: its library is opened when a device is
// asked for. FA_CUDA_DRIVER in the environment names another file than
// libcuda.so.1. Every call goes through call(), which makes an error of what
// fails.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_RUNTIME_CUDA_DRIVER_H
#define FA_LIB_RUNTIME_CUDA_DRIVER_H

#include "DriverTypes.h"

#include "fa/Support/Expected.h"

namespace farun::cuda {

/// A function of the driver, by the name that its documentation has.
template <typename... Parameters> struct Call {
  const char *name;
  Result (*pointer)(Parameters...) = nullptr;
};

template <typename Signature> struct CallOf;
template <typename... Parameters> struct CallOf<Result(Parameters...)> {
  using Type = Call<Parameters...>;
};

class Driver {
public:
  /// Opens the library, which stays open: a driver that has threads of its own
  /// cannot be unloaded.
  static Expected<Driver> load();

#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS)                           \
  CallOf<Result PARAMETERS>::Type NAME{"cu" #NAME};
#include "DriverFunctions.def"

  /// Calls it. `doing` ends the sentence "cuX failed with Y while ...".
  template <typename... Parameters, typename... Arguments>
  Status call(const Call<Parameters...> &function, const std::string &doing,
              Arguments... arguments) const {
    Result result = function.pointer(arguments...);
    if (result == kSuccess)
      return {};
    return failure(function.name, result, doing);
  }

  /// "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (out of memory) while
  /// allocating 4096 bytes".
  Error failure(const char *name, Result result,
                const std::string &doing) const;
  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string describe(Result result) const;

private:
  Driver() = default;

  Result (*getErrorName)(Result, const char **) = nullptr;
  Result (*getErrorString)(Result, const char **) = nullptr;
};

} // namespace farun::cuda

#endif // FA_LIB_RUNTIME_CUDA_DRIVER_H
