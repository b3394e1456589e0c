//===- Diagnostic.h - located messages and Expected -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the PTX machine says when a program or a launch is wrong. Nothing in it
// throws or aborts on a user's file: a function that can fail returns
// Expected<T>, a run returns a Report that holds Diagnostics.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_DIAGNOSTIC_H
#define FA_EMULATOR_DIAGNOSTIC_H

#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ptxvm {

/// A place in a text file; line and column count from 1, 0 is "unknown".
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  /// "file:line:column", leaving out what is unknown.
  std::string str() const;
};

/// Three numbers, x fastest: an index or an extent of a grid or a block.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Dim3 &other) const = default;
};

/// Where in a running kernel something was found. `warp` and `lane` are -1
/// when the message is about the whole CTA or the whole warp.
struct ExecutionPoint {
  std::string kernel;
  Dim3 cta{0, 0, 0};
  int warp = -1;
  int lane = -1;
};

enum class Severity { Error, Warning };

struct Diagnostic {
  Severity severity = Severity::Error;
  /// Who found it: "parser", "decoder", "launch", "out-of-bounds", a checker's
  /// name, ...
  std::string origin;
  std::string message;
  /// The PTX line.
  SourceLocation location;
  /// The line of the kernel's own source, from `.loc`, when there is one.
  SourceLocation source;
  /// The line into which that one was inlined, when it was.
  SourceLocation inlinedAt;
  /// Set for what is found while a kernel runs.
  std::vector<ExecutionPoint> points;

  /// One line: "file:line:col: error: message [origin; kernel k, CTA
  /// (0,0,0), warp 1, lane 2]".
  std::string str() const;
};

/// A value or the reason why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : storage(std::move(value)) {}
  Expected(Diagnostic error) : storage(std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() { return std::get<0>(storage); }
  const T &operator*() const { return std::get<0>(storage); }
  T *operator->() { return &std::get<0>(storage); }
  const T *operator->() const { return &std::get<0>(storage); }
  const Diagnostic &error() const { return std::get<1>(storage); }

private:
  std::variant<T, Diagnostic> storage;
};

} // namespace ptxvm

#endif // FA_EMULATOR_DIAGNOSTIC_H
