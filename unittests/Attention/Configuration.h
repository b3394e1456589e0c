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
// the other while it still fails.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_ATTENTION_CONFIGURATION_H
#define FA_UNITTESTS_ATTENTION_CONFIGURATION_H

#include "Kernel.h"

namespace farun::test {

class Configuration {
public:
  /// The choices that follow from a seed.
  explicit Configuration(uint64_t seed);

  Form form() const;
  Extent5 extents() const;
  const char *target() const;

  /// Compiles and runs on the emulator: what is wrong, "" when nothing is.
  std::string problem() const;
  /// The smallest configuration with a problem that single steps lead to.
  Configuration shrink() const;
  /// How to run it again, and what it is.
  std::string str() const;

private:
  enum Question {
    Type,
    OutType,
    HeadDim,
    ValueDim,
    Scale,
    Softcap,
    Score,
    Alibi,
    Bias,
    Causal,
    Window,
    Chunk,
    Mask,
    Visible,
    Segments,
    QLengths,
    KVLengths,
    Sink,
    Dropout,
    EmptyRow,
    Layout,
    Target,
    Tiles,
    State,
    Batch,
    Group,
    KVHeads,
    Queries,
    Keys,
    Polynomial,
    StaticBatch,
    StaticHeads,
    StaticKVHeads,
    StaticQueries,
    StaticKeys,
    NumQuestions
  };
  int64_t operator[](Question question) const {
    return choices[size_t(question)];
  }

  uint64_t seed;
  std::array<int64_t, NumQuestions> choices = {};
};

/// Runs the configurations of the seeds [first, first + count); the first one
/// with a problem is made small and fails the test.
void checkConfigurations(uint64_t first, int count);

} // namespace farun::test

#endif // FA_UNITTESTS_ATTENTION_CONFIGURATION_H
