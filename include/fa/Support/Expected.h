//===- Expected.h - a value or a located error ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every library without MLIR reports failure by value: Expected<T> holds a T
// or an Error, and an Error knows the exit code that a tool ends with. Nothing
// is printed here and nothing is thrown across a library border.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_EXPECTED_H
#define FA_SUPPORT_EXPECTED_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace farun {

/// What went wrong; the values are the exit codes of the tools.
enum class ErrorCode : int {
  Comparison = 1, ///< a result differs from what was expected
  Input = 2,      ///< bad flag, file, argument or unsupported opcode
  Device = 3,     ///< a device or an external tool is missing or failed
  Fault = 4,      ///< a checker, a deadlock or the instruction limit
};

/// Where in a user's file or command line. An empty file means "no place".
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:line:column", leaving out what is unknown.
  std::string str() const {
    std::string text = file;
    if (line > 0)
      text += ":" + std::to_string(line);
    if (line > 0 && column > 0)
      text += ":" + std::to_string(column);
    return text;
  }
};

/// One lower-case sentence that names the operand or option, what was found
/// and what is accepted.
struct Error {
  ErrorCode code = ErrorCode::Input;
  std::string message;
  Location location;

  /// "file:line: error: message", as it goes to stderr.
  std::string str() const {
    std::string where = location.str();
    return where.empty() ? "error: " + message : where + ": error: " + message;
  }
};

inline Error inputError(std::string message, Location location = {}) {
  return {ErrorCode::Input, std::move(message), std::move(location)};
}
inline Error deviceError(std::string message) {
  return {ErrorCode::Device, std::move(message), {}};
}

/// A T or an Error. Test it before use:
///   Expected<Array> array = readNpy(path);
///   if (!array)
///     return array.takeError();
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return get(); }
  const T &operator*() const { return get(); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &get(); }
  T &get() {
    assert(*this && "value of a failed Expected");
    return std::get<0>(state);
  }
  const T &get() const {
    assert(*this && "value of a failed Expected");
    return std::get<0>(state);
  }
  const Error &error() const { return std::get<1>(state); }
  Error takeError() { return std::move(std::get<1>(state)); }

private:
  std::variant<T, Error> state;
};

/// Success or an Error.
template <> class [[nodiscard]] Expected<void> {
public:
  Expected() = default;
  Expected(Error error) : failed(true), problem(std::move(error)) {}

  explicit operator bool() const { return !failed; }
  const Error &error() const { return problem; }
  Error takeError() { return std::move(problem); }

private:
  bool failed = false;
  Error problem;
};

using Status = Expected<void>;

} // namespace farun

#endif // FA_SUPPORT_EXPECTED_H
