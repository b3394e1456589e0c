//===- Mutations.h - right kernels made wrong -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mutation changes the PTX text of a right kernel at one place; a checker
// must find it, by name. To add one, add a row:
//
//   {"noBarrier", drop("bar.sync"), "race"},
//   {"wrongParity", replace("[%full], %parity", "[%full], %other"),
//   "async-wait"}
//
// and, for a new kernel, a Subject: its text and how it is launched. The text
// that a mutation looks for must be there, or the test fails; `nth` counts its
// occurrences from 1, all of them are meant by kAll. Lines stay where they are.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_MUTATIONS_H
#define FA_UNITTESTS_EMULATOR_MUTATIONS_H

#include "fa/Emulator/Checkers.h"

#include <functional>
#include <optional>
#include <set>
#include <string>

namespace ptxvm::test {

/// A kernel that no checker finds fault with.
struct Subject {
  std::string ptx;    ///< the text of the file
  std::string kernel; ///< the entry
  LaunchShape shape;
  /// Makes the buffers and the arguments.
  std::function<std::vector<Argument>(Device &)> arguments;
};

/// The changed text, or nothing when there is no place for the change.
using Mutation = std::function<std::optional<std::string>(const std::string &)>;
constexpr unsigned kAll = 0;

/// Removes the statement (up to its ';') that holds `text`, with its guard.
Mutation drop(std::string text, unsigned nth = 1);
/// Puts `by` in place of `text`.
Mutation replace(std::string text, std::string by, unsigned nth = 1);
/// Takes the guard "@%p " away from the statement that holds `text`.
Mutation unguard(std::string text, unsigned nth = 1);
/// Writes the statement that holds `text` twice.
Mutation repeat(std::string text, unsigned nth = 1);
/// Moves the statement that holds `text` in front of the one with `before`.
Mutation moveUp(std::string text, std::string before, unsigned nth = 1);
/// One after the other.
Mutation both(Mutation first, Mutation second);
/// Puts another statement in the place of the one that holds `text`.
Mutation rewrite(std::string text, std::string statement, unsigned nth = 1);
/// Writes `extra` in front of the statement that holds `text`.
Mutation insertBefore(std::string text, std::string extra, unsigned nth = 1);

struct MutationCase {
  const char *name;
  Mutation mutate;
  /// The checker that must find it (Diagnostic::origin); others may, too. With
  /// "numbers" the kernel is right by the rules and computes something else:
  /// the buffers must differ from what the unchanged kernel leaves.
  std::string checker;
  std::string message = ""; ///< part of what it must say
};
inline void PrintTo(const MutationCase &c, std::ostream *os) { *os << c.name; }

/// All checkers on.
Report runChecked(const Subject &subject, const std::string &ptx,
                  const std::string &order);
/// Fails the test unless the mutated kernel is found out in one of some orders.
void expectCaught(const Subject &subject, const MutationCase &c);
/// For a fault that the checker is known not to find: fails the test when it
/// does, so that the list of those stays true.
void expectMissed(const Subject &subject, const MutationCase &c);
/// Fails the test unless the kernel passes all checkers under 20 seeds, with
/// the same bits.
void expectClean(const Subject &subject);

/// The text of a file in unittests/Emulator/Inputs.
std::string readInput(const std::string &name);
/// A file that nvcc made of test/Emulator/CUDA, with one entry: the others are
/// blank, so that `nth` counts in this one.
std::string readCompiled(const std::string &file, const std::string &entry);

/// Makes a buffer that holds `values`.
template <typename T>
uint64_t makeBuffer(Device &device, const char *name,
                    const std::vector<T> &values, bool isReadOnly = true) {
  uint64_t at = device.alloc(values.size() * sizeof(T), name, isReadOnly);
  device.write(at, values.data(), values.size() * sizeof(T));
  return at;
}
/// Small whole numbers, the same ones every time.
template <typename T>
std::vector<T> someNumbers(size_t count, uint32_t limit, uint32_t seed = 1) {
  std::vector<T> values(count);
  for (T &v : values) {
    seed = seed * 1664525 + 1013904223;
    v = T((seed >> 16) % limit);
  }
  return values;
}

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_MUTATIONS_H
