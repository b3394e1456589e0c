//===- Replay.cpp - a fuzz target as a test -------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every run of the tests does of fuzzing: the inputs of the corpus, then a
// fixed number of mutations of them. The same every time, on every machine.
//
//===----------------------------------------------------------------------===//
#include "FuzzTarget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace {
using Bytes = std::vector<uint8_t>;

/// The inputs in the order of their names.
std::vector<Bytes> readCorpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(FA_FUZZ_CORPUS))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> inputs;
  for (const auto &path : paths) {
    std::ifstream in(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in),
                        std::istreambuf_iterator<char>());
  }
  return inputs;
}

struct Random {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  size_t below(size_t n) { return n ? size_t(next() % n) : 0; }
};

/// One change: of a byte, of a bit, a part cut out, doubled, or taken from
/// another input.
void mutate(Bytes &input, const std::vector<Bytes> &corpus, Random &random) {
  size_t at = random.below(input.size() + 1);
  size_t length = 1 + random.below(random.below(4) ? 8 : 64);
  auto from = input.begin() + long(at);
  auto to = from + long(std::min(length, input.size() - at));
  switch (random.below(6)) {
  case 0:
    if (at < input.size())
      input[at] = uint8_t(random.next());
    break;
  case 1:
    if (at < input.size())
      input[at] ^= uint8_t(1u << random.below(8));
    break;
  case 2:
    input.erase(from, to);
    break;
  case 3: {
    Bytes part(from, to);
    input.insert(input.begin() + long(random.below(input.size() + 1)),
                 part.begin(), part.end());
    break;
  }
  case 4: {
    const Bytes &other = corpus[random.below(corpus.size())];
    size_t start = random.below(other.size() + 1);
    size_t count = std::min(length, other.size() - start);
    input.insert(from, other.begin() + long(start),
                 other.begin() + long(start + count));
    break;
  }
  default:
    for (size_t n = random.below(16); n-- > 0;)
      input.push_back(uint8_t(random.next()));
  }
}
} // namespace

TEST(FA_FUZZ_SUITE, CorpusIsAnswered) {
  std::vector<Bytes> corpus = readCorpus();
  ASSERT_FALSE(corpus.empty()) << FA_FUZZ_CORPUS;
  for (const Bytes &input : corpus)
    EXPECT_EQ(LLVMFuzzerTestOneInput(input.data(), input.size()), 0);
}

/// What is left of an input when a disk was full.
TEST(FA_FUZZ_SUITE, PrefixesAreAnswered) {
  for (const Bytes &input : readCorpus()) {
    size_t step = 1 + input.size() / 64;
    for (size_t size = 0; size < input.size(); size += step)
      EXPECT_EQ(LLVMFuzzerTestOneInput(input.data(), size), 0);
  }
}

TEST(FA_FUZZ_SUITE, MutationsAreAnswered) {
  std::vector<Bytes> corpus = readCorpus();
  ASSERT_FALSE(corpus.empty()) << FA_FUZZ_CORPUS;
  Random random{0x9E3779B97F4A7C15};
  for (unsigned n = 0; n < FA_FUZZ_RUNS; ++n) {
    Bytes input = corpus[random.below(corpus.size())];
    for (size_t changes = 1 + random.below(6); changes-- > 0;)
      mutate(input, corpus, random);
    EXPECT_EQ(LLVMFuzzerTestOneInput(input.data(), input.size()), 0);
  }
}
