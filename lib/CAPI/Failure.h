//===- Failure.h - how a call of the C API fails ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside, a call returns an Outcome: nothing, or what went wrong. call() is
// the border: it turns that, and every exception, into a status and an
// fa_error.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_FAILURE_H
#define FA_LIB_CAPI_FAILURE_H

#include "Handle.h"

#include "fa-c/FA.h"
#include "fa/Support/Expected.h"

#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace facapi {

/// What an fa_error holds.
struct Failure : Object {
  fa_status code = FA_ERROR_INTERNAL;
  std::string message, argument, location;
  std::vector<std::string> diagnostics;

  Failure() = default;
  Failure(fa_status code, std::string message, std::string argument = "")
      : code(code), message(std::move(message)), argument(std::move(argument)) {
  }
};

using Outcome = std::optional<Failure>;

inline Failure inputFailure(std::string message, std::string argument = "") {
  return Failure(FA_ERROR_INPUT, std::move(message), std::move(argument));
}

/// Of the other libraries; a message of several lines is one and diagnostics.
Failure toFailure(const farun::Error &error, std::string argument = "");

/// Puts a failure into *error, if there is one to put it into.
fa_status report(fa_error **error, Failure failure) noexcept;
fa_status reportException(fa_error **error) noexcept;

/// Runs the body of a function of the C API.
template <typename Body> fa_status call(fa_error **error, Body body) noexcept {
  if (error)
    *error = nullptr;
  try {
    if (Outcome failure = body())
      return report(error, std::move(*failure));
    return FA_OK;
  } catch (...) {
    return reportException(error);
  }
}

/// The object of a handle; null leaves a failure in `outcome`.
template <typename T>
std::shared_ptr<T> get(Kind kind, const void *handle, Outcome &outcome) {
  std::string problem;
  std::shared_ptr<Object> object = findHandle(kind, handle, problem);
  if (!object)
    outcome = Failure(FA_ERROR_HANDLE, problem);
  return std::static_pointer_cast<T>(object);
}

/// A struct of the caller in full length; what it does not have yet is 0.
/// `oldest` is the size that the first version of it had.
template <typename T>
Outcome readStruct(const T *given, const char *name, size_t oldest, T &value) {
  std::memset(&value, 0, sizeof(T));
  if (!given)
    return std::nullopt;
  size_t size = given->struct_size;
  if (size < oldest || size > sizeof(T))
    return Failure(FA_ERROR_VERSION, "struct_size of " + std::string(name) +
                                         " is " + std::to_string(size) +
                                         "; this library knows " +
                                         std::to_string(oldest) + " to " +
                                         std::to_string(sizeof(T)));
  std::memcpy(&value, given, size);
  return std::nullopt;
}

/// Fills a struct of the caller as far as it goes.
template <typename T>
Outcome writeStruct(T *given, const char *name, size_t oldest, T value) {
  if (!given)
    return inputFailure("the pointer to " + std::string(name) + " is null");
  T asked;
  if (Outcome failure = readStruct(given, name, oldest, asked))
    return failure;
  value.struct_size = asked.struct_size;
  std::memcpy(given, &value, asked.struct_size);
  return std::nullopt;
}

/// Where a result goes must be said.
inline Outcome checkPlace(const void *place, const char *name) {
  if (place)
    return std::nullopt;
  return inputFailure("the pointer for the " + std::string(name) + " is null",
                      name);
}

/// Marks that this process has used what does not survive fork(), or refuses
/// in a child.
Outcome beginWork();

} // namespace facapi

#endif // FA_LIB_CAPI_FAILURE_H
