//===- Failure.cpp - fa_error, and the border of the C API ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Failure.h"

#include <atomic>
#include <pthread.h>

namespace facapi {

namespace {

std::atomic<bool> isUsed{false}, isForked{false};

/// What fa_error_* read of a handle that may be none.
const Failure &failureOf(const fa_error *error,
                         std::shared_ptr<Object> &keeper) {
  static const Failure *none = new Failure(
      FA_ERROR_HANDLE, "the fa_error is null, was freed or is of another kind "
                       "or another library");
  std::string problem;
  keeper = findHandle(Kind::Error, error, problem);
  return keeper ? static_cast<const Failure &>(*keeper) : *none;
}

} // namespace

Failure toFailure(const farun::Error &error, std::string argument) {
  Failure failure(fa_status(error.code), error.message, std::move(argument));
  failure.location = error.location.str();
  size_t begin = error.message.find('\n');
  if (begin == std::string::npos)
    return failure;
  failure.message = error.message.substr(0, begin);
  farun::Error first = error;
  first.message = failure.message;
  failure.diagnostics.push_back(first.str());
  while (begin != std::string::npos) {
    size_t end = error.message.find('\n', begin + 1);
    failure.diagnostics.push_back(
        error.message.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  return failure;
}

fa_status report(fa_error **error, Failure failure) noexcept {
  fa_status code = failure.code;
  if (!error)
    return code;
  try {
    *error = static_cast<fa_error *>(insertHandle(
        Kind::Error, std::make_shared<Failure>(std::move(failure))));
  } catch (...) {
    *error = nullptr; // without memory the code says it all
  }
  return code;
}

fa_status reportException(fa_error **error) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return report(error, Failure(FA_ERROR_MEMORY, "out of memory"));
  } catch (const std::exception &exception) {
    return report(error, Failure(FA_ERROR_INTERNAL,
                                 std::string("a defect of the library: ") +
                                     exception.what()));
  } catch (...) {
    return report(error, Failure(FA_ERROR_INTERNAL, "a defect of the library"));
  }
}

Outcome beginWork() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { isForked = isUsed.load(); });
  (void)registered;
  if (isForked)
    return Failure(
        FA_ERROR_FORK,
        "this process was forked from one that had used the library; "
        "start it anew ('spawn'), or use the library in the child "
        "first");
  isUsed = true;
  return std::nullopt;
}

} // namespace facapi

using namespace facapi;

fa_status fa_error_code(const fa_error *error) {
  std::shared_ptr<Object> keeper;
  return failureOf(error, keeper).code;
}

const char *fa_error_message(const fa_error *error) {
  std::shared_ptr<Object> keeper;
  return failureOf(error, keeper).message.c_str();
}

const char *fa_error_argument(const fa_error *error) {
  std::shared_ptr<Object> keeper;
  return failureOf(error, keeper).argument.c_str();
}

const char *fa_error_location(const fa_error *error) {
  std::shared_ptr<Object> keeper;
  return failureOf(error, keeper).location.c_str();
}

size_t fa_error_diagnostic_count(const fa_error *error) {
  std::shared_ptr<Object> keeper;
  return failureOf(error, keeper).diagnostics.size();
}

const char *fa_error_diagnostic(const fa_error *error, size_t index) {
  std::shared_ptr<Object> keeper;
  const Failure &failure = failureOf(error, keeper);
  return index < failure.diagnostics.size() ? failure.diagnostics[index].c_str()
                                            : "";
}

fa_status fa_error_free(fa_error *error) {
  return !error || eraseHandle(Kind::Error, error) ? FA_OK : FA_ERROR_HANDLE;
}
