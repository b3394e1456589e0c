//===- UniformTest.cpp - empty rows that give the mean, end to end --------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that see no key, of every origin, with empty_row = uniform: the mean of
// V over the keys of the sequence, and no other row changes.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cmath>

using namespace farun;
using namespace farun::test;

namespace {

constexpr const char *kUniform = "empty_row = \"uniform\"";

struct Row {
  const char *name;
  const char *clauses;
  bool hasMask, hasSegments, hasLengths;
};

constexpr Row kRows[] = {
    {"more_queries_than_keys", "masks [#fa.causal<bottom_right>]", false, false,
     false},
    {"dense_mask", "", true, false, false},
    {"segments", "masks [#fa.causal<top_left>]", false, true, false},
    {"lengths",
     "masks [#fa.window<bottom_right, left = 5, right = 0>, "
     "#fa.window<top_left, left = 3, right = 9>]",
     false, false, true},
    {"all", "masks [#fa.chunk<bottom_right, size = 20>]", true, true, true},
};

class Uniform : public testing::TestWithParam<Row> {};

TEST_P(Uniform, AroundTheTiles) {
  const Row &row = GetParam();
  uint64_t seed = 0;
  for (const char *type : {"bf16", "f32"})
    for (const char *state : {",state=registers", ",state=shared"}) {
      Form form{.type = type,
                .headDim = 24,
                .valueDim = 40,
                .clauses = row.clauses,
                .attributes = kUniform,
                .mask = row.hasMask ? "?x1x?x1" : "",
                .hasSegments = row.hasSegments,
                .hasQLengths = row.hasLengths,
                .hasKVLengths = row.hasLengths,
                .schedule = kSmallTiles + std::string(state)};
      for (auto [queries, keys] :
           {std::pair(1, 0), {3, 1}, {65, 31}, {101, 70}}) {
        Trial(form, {2, 6, 2, queries, keys}).seed(++seed).run();
        if (HasFailure())
          return;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, Uniform, testing::ValuesIn(kRows),
                         [](const auto &info) { return info.param.name; });

Form rowForm() {
  return {.type = "f32",
          .clauses = "scale(1.0)",
          .attributes = kUniform,
          .mask = "?x?",
          .schedule = kLeastTiles};
}

TEST(Cases, B01_UniformRows) {
  // Row 0 sees nothing: the mean of all four. Row 1 sees key 2 alone.
  Trial::ofRows(rowForm(), {0, 0}, {0, 0, 0, 0}, {1, 2, 4, 9})
      .set("mask", {0, 0, 0, 0, 0, 0, 1, 0})
      .expect({4, 4}, {-kInf, 0});
}

TEST(Cases, UniformIsOverTheKeysOfTheSequence) {
  // Two of four keys are valid, one of two queries; the other one is padding.
  Form form = rowForm();
  form.hasQLengths = form.hasKVLengths = true;
  Trial::ofRows(form, {0, 0}, {0, 0, 0, 0}, {1, 2, 100, kNaN})
      .set("mask", Values(8, 0))
      .set("q_lengths", {1})
      .set("kv_lengths", {2})
      .expect({1.5, 0}, {-kInf, -kInf});
  Trial::ofRows(form, {0, 0}, {0, 0, 0, 0}, {1, 2, 3, 4})
      .set("mask", Values(8, 0))
      .set("q_lengths", {2})
      .set("kv_lengths", {0})
      .expect({0, 0}, {-kInf, -kInf});
}

TEST(Cases, AUniformMeanMayNotOverflowAndMayBeInfinite) {
  Values none(4, 0);
  Form form = rowForm();
  Trial::ofRows(form, {0}, {0, 0, 0, 0}, {3e38, 3e38, 3e38, 3e38})
      .set("mask", none)
      .run();
  Trial::ofRows(form, {0}, {0, 0, 0, 0}, {1, kInf, 2, 3})
      .set("mask", none)
      .expect({kInf});
}

TEST(Cases, ASinkFillsAUniformRow) {
  Form form = rowForm();
  form.hasSink = true;
  Trial::ofRows(form, {0}, {0, 0}, {1, 3})
      .set("mask", {0, 0})
      .set("sink", {0.5})
      .expect({0}, {0.5});
  Trial::ofRows(form, {0}, {0, 0}, {1, 3})
      .set("mask", {0, 0})
      .set("sink", {-kInf})
      .expect({2}, {-kInf});
}

TEST(Cases, ABiasThatHidesAllGivesTheMean) {
  Form form = rowForm();
  form.bias = "?";
  Trial::ofRows(form, {0}, {0, 0}, {1, 3})
      .set("mask", {1, 1})
      .set("bias", {-kInf, -kInf})
      .expect({2}, {-kInf});
}

} // namespace
