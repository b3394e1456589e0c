//===- Harness.h - the C API in the tests' words ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Through the C header alone: what a user has.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_CAPI_HARNESS_H
#define FA_UNITTESTS_CAPI_HARNESS_H

#include "fa-c/FA.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace capitest {

/// What a call came to; frees the error.
struct Answer {
  fa_status code = FA_OK;
  std::string message, argument, location;
  std::vector<std::string> diagnostics;

  bool ok() const { return code == FA_OK; }
};

/// Calls `function(arguments..., &error)` and looks at the error.
template <typename Function, typename... Arguments>
Answer ask(Function function, Arguments... arguments) {
  Answer answer;
  fa_error *error = nullptr;
  answer.code = function(arguments..., &error);
  if (!error)
    return answer;
  if (fa_error_code(error) != answer.code)
    answer.message = "the error has another code than the call";
  else
    answer.message = fa_error_message(error);
  answer.argument = fa_error_argument(error);
  answer.location = fa_error_location(error);
  for (size_t n = 0; n < fa_error_diagnostic_count(error); ++n)
    answer.diagnostics.push_back(fa_error_diagnostic(error, n));
  fa_error_free(error);
  return answer;
}

/// One string of a handle.
template <typename Function, typename Handle>
std::string text(Function function, Handle *handle) {
  const char *place = nullptr;
  Answer answer = ask(function, handle, &place);
  return answer.ok() ? place : "error: " + answer.message;
}

/// A dense array that owns its bytes.
class Tensor {
public:
  Tensor(fa_dtype dtype, std::vector<int64_t> shape);

  fa_array array() const;
  /// The same memory with other extents and strides, from element `offset` on.
  fa_array view(const std::vector<int64_t> &shape,
                const std::vector<int64_t> &strides, int64_t offset) const;

  template <typename T> T *as() { return reinterpret_cast<T *>(bytes.data()); }
  /// Of an f16 or f32 tensor.
  void set(int64_t index, double value);
  double get(int64_t index) const;
  /// N(0,1) or so, the same everywhere.
  void fill(uint64_t seed);
  int64_t size() const { return count; }

  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;

private:
  fa_dtype dtype;
  int64_t count = 1;
};

/// Freed with the object.
struct Kernel {
  Kernel() = default;
  Kernel(Kernel &&other) noexcept : handle(std::exchange(other.handle, {})) {}
  Kernel &operator=(Kernel &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Kernel() { fa_kernel_free(handle); }
  fa_kernel *handle = nullptr;
};

/// A package whose one kernel gives one key's value; needs no compiler.
Kernel loadOneKey();

/// The same with a loop in front that ends in some hours.
Kernel loadEndless();

/// The operands of one-key for `queries` rows, and its results.
struct OneKey {
  explicit OneKey(int64_t queries);
  std::vector<fa_array> inputs() const;
  std::vector<fa_array> results() const;
  Tensor query, key, value, out, lse;
};

/// Launches on all of it; zeroed options by default.
Answer launch(const Kernel &kernel, const std::vector<fa_array> &inputs,
              const std::vector<fa_array> &results,
              fa_launch_options options = {}, fa_run **run = nullptr);

} // namespace capitest

#endif // FA_UNITTESTS_CAPI_HARNESS_H
