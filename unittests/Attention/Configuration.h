//===- Configuration.h - random attentions, and smaller ones ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A configuration is a list of choices, one of each question: which type, which
// mask, how many keys. Choice 0 is the plainest everywhere, so a failing
// configuration is made smaller by putting 0 in the place of one choice after
// the other while it still fails. Each is legal: one that the compiler refuses
// is as wrong as one that it computes wrongly.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_ATTENTION_CONFIGURATION_H
#define FA_UNITTESTS_ATTENTION_CONFIGURATION_H

#include "Kernel.h"

namespace farun::test {

/// The questions, and the largest choice of each.
#define FA_TEST_QUESTIONS(QUESTION)                                            \
  QUESTION(Type, 2)                                                            \
  QUESTION(OutType, 2)                                                         \
  QUESTION(HeadDim, 8)                                                         \
  QUESTION(ValueDim, 8)                                                        \
  QUESTION(Scale, 6)                                                           \
  QUESTION(Softcap, 2)                                                         \
  QUESTION(Score, 1)                                                           \
  QUESTION(Alibi, 1)                                                           \
  QUESTION(Bias, 3)                                                            \
  QUESTION(Causal, 3)                                                          \
  QUESTION(Window, 3)                                                          \
  QUESTION(Chunk, 2)                                                           \
  QUESTION(Mask, 3)                                                            \
  QUESTION(Visible, 2)                                                         \
  QUESTION(Segments, 1)                                                        \
  QUESTION(QLengths, 1)                                                        \
  QUESTION(KVLengths, 1)                                                       \
  QUESTION(Sink, 1)                                                            \
  QUESTION(Dropout, 3)                                                         \
  QUESTION(EmptyRow, 2)                                                        \
  QUESTION(NoLSE, 1)                                                           \
  QUESTION(Layout, 1)                                                          \
  QUESTION(Strides, 3)                                                         \
  QUESTION(Exact, 2)                                                           \
  QUESTION(Target, 1)                                                          \
  QUESTION(Picked, 1)                                                          \
  QUESTION(Tiles, 3)                                                           \
  QUESTION(State, 1)                                                           \
  QUESTION(Query, 1)                                                           \
  QUESTION(Roles, 3)                                                           \
  QUESTION(Blocks, 2)                                                          \
  QUESTION(Polynomial, 4)                                                      \
  QUESTION(Batch, 1)                                                           \
  QUESTION(Group, 3)                                                           \
  QUESTION(KVHeads, 1)                                                         \
  QUESTION(Queries, 200)                                                       \
  QUESTION(Keys, 250)                                                          \
  QUESTION(StaticBatch, 1)                                                     \
  QUESTION(StaticHeads, 1)                                                     \
  QUESTION(StaticKVHeads, 1)                                                   \
  QUESTION(StaticQueries, 1)                                                   \
  QUESTION(StaticKeys, 1)                                                      \
  QUESTION(Shared, 2)

class Configuration {
public:
  /// The choices that follow from a seed.
  explicit Configuration(uint64_t seed);
  /// What name() gives, or a seed alone: its own choices. Nothing for texts
  /// that are neither.
  static std::optional<Configuration> read(const std::string &text);

  /// "17:HeadDim=2,Keys=30": the seed, and the choices that are not 0.
  std::string name() const;
  bool operator==(const Configuration &) const = default;

  Form form() const;
  Extent5 extents() const;
  const char *target() const;

  /// Compiles and runs on the emulator; compared with the oracle.
  Expected<RunResult> run() const;
  /// What is wrong with that, "" when nothing is.
  std::string problem() const;
  /// The smallest configuration with a problem that single steps lead to.
  Configuration shrink() const;

  /// The line of a shell by which `tool`, an fa-run, does the same; empty where
  /// it has no options for these inputs or strides.
  std::string toolLine(const std::string &tool) const;
  /// How to run it again, and what it is.
  std::string str() const;

private:
  enum Question {
#define FA_TEST_QUESTION(NAME, MOST) NAME,
    FA_TEST_QUESTIONS(FA_TEST_QUESTION)
#undef FA_TEST_QUESTION
        NumQuestions
  };
  struct Row {
    const char *name;
    int64_t most;
  };
  static const std::array<Row, NumQuestions> kQuestions;

  int64_t operator[](Question question) const {
    return choices[size_t(question)];
  }
  bool isHalf() const { return (*this)[Type] != 2; }
  bool isWide() const { return (*this)[HeadDim] > 6 || (*this)[ValueDim] > 6; }
  bool hasRoles() const;
  /// 1: K and V are one tensor, 2: Q is it too. Not where each has numbers of
  /// its own.
  int64_t shared() const { return (*this)[Exact] ? 0 : (*this)[Shared]; }
  std::string outType() const;
  std::string scale() const;
  std::string schedule() const;
  Status prepare(const Entry &entry, RunSpec &spec) const;
  Array exactInput(const Operand &operand, const Shape &shape) const;

  uint64_t seed = 0;
  std::array<int64_t, NumQuestions> choices = {};
};

/// Those of the seeds [first, first + count), or the one that the environment's
/// FA_TEST_CONFIGURATION names.
std::vector<Configuration> configurationsToRun(uint64_t first, int count);

/// Runs them; the first one with a problem is made small and fails the test.
void checkConfigurations(uint64_t first, int count);

} // namespace farun::test

#endif // FA_UNITTESTS_ATTENTION_CONFIGURATION_H
