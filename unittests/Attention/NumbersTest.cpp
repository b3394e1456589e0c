//===- NumbersTest.cpp - results known by hand ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small attentions whose every intermediate can be written down, through PTX:
// the results and the state after each block, as the kernel stored it. With
// scale = ln 2 and whole scores the weights are powers of two, so m, l and u
// are exact in every order of summation.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include "fa/Reference/Attention.h"
#include "fa/Reference/Tolerance.h"

#include <algorithm>
#include <cmath>

using namespace farun;
using namespace farun::test;

namespace {

constexpr const char *kLn2Scale = "scale(0.6931471805599453)";
constexpr double kLn2 = 0.6931471805599453;

/// Both places of m, l and u between blocks.
class State : public testing::TestWithParam<const char *> {
protected:
  std::string schedule(const std::string &tiles) const {
    return tiles + ",state=" + GetParam();
  }
};

/// Scores 1, 0 in the first block of 16 keys (whose other keys are masked) and
/// 2 in the second; values 10, 20 | 30.
Trial workedExample(Form form) {
  Values k(17, 0), v(17, 0), mask(17, 0);
  k[0] = 1, k[16] = 2;
  v[0] = 10, v[1] = 20, v[16] = 30;
  mask[0] = mask[1] = mask[16] = 1;
  Trial trial = Trial::ofRows(form, {1}, k, v);
  trial.set("mask", mask);
  return trial;
}

TEST_P(State, WorkedExample) {
  Form form{.clauses = kLn2Scale,
            .mask = "1x1x1x?",
            .isTraced = true,
            .schedule = schedule(kLeastTiles)};
  for (const char *type : {"f16", "bf16"})
    for (const char *outType : {"f32", ""}) {
      form.type = type;
      form.outType = outType;
      RunResult result = workedExample(form).trace(0).expect(
          {outType[0] ? float(160.0 / 7)
                      : roundTo(*parseElementType(type), 160.0 / 7)},
          {float(std::log(7.0))});
      ASSERT_EQ(result.outputs.size(), 2u);

      ASSERT_EQ(result.trace.size(), 2u);
      const TraceBlock &first = result.trace[0], &second = result.trace[1];
      EXPECT_EQ(first.block, 0);
      EXPECT_EQ(first.m, float(kLn2));
      EXPECT_EQ(first.l, 1.5f);
      EXPECT_EQ(first.u[0], 20.0f);
      EXPECT_EQ(first.u[1], -20.0f);
      EXPECT_EQ(second.block, 1);
      EXPECT_EQ(second.m, float(2 * kLn2));
      EXPECT_EQ(second.l, 1.75f);
      EXPECT_EQ(second.u[0], 40.0f);

      // 160/7 up to the last rounding, and not 65/3, the mean of the blocks.
      const Array &out = result.outputs[0];
      if (outType[0])
        EXPECT_FLOAT_EQ(float(out.get(0)), float(160.0 / 7));
      else
        EXPECT_EQ(out.get(0), roundTo(out.type, 160.0 / 7));
      EXPECT_GT(out.get(0), 65.0 / 3 + 1);
      EXPECT_FLOAT_EQ(float(result.outputs[1].get(0)), float(std::log(7.0)));
    }
}

TEST_P(State, SmallSoftmax) {
  // Scores 0, 1, 2: shifting all of them moves LSE and nothing else.
  for (double shift : {0.0, 1000.0}) {
    Form form{.clauses = "scale(1.0)", .schedule = schedule(kLeastTiles)};
    Trial trial =
        Trial::ofRows(form, {1}, {shift, shift + 1, shift + 2}, {10, 20, 30});
    double lse = shift + 2.407605964444380;
    RunResult result = trial.expect({25.75}, {float(lse)});
    EXPECT_EQ(outColumn(result), Values{25.75});

    form.outType = "f32";
    Trial::ofRows(form, {1}, {shift, shift + 1, shift + 2}, {10, 20, 30})
        .expect({25.752104}, {float(lse)});
  }
}

/// Q, K in {-1, 0, 1} and V in [-8, 8], whole numbers.
Trial wholeNumbers(const Form &form, const Extent5 &extents) {
  Trial trial(form, extents);
  auto whole = [&](const char *role, int64_t seed, int64_t reach) {
    Values values;
    for (int64_t n = 0; n < elementCount(trial.shapeOf(role)); ++n)
      values.push_back(
          double((n * 7919 + seed * 104729 + n / 3) % (2 * reach + 1) - reach));
    trial.set(role, values);
  };
  whole("query", 1, 1);
  whole("key", 2, 1);
  whole("value", 3, 8);
  return trial;
}

TEST_P(State, WholeNumbersAreExact) {
  Extent5 extents{2, 4, 2, 37, 45};
  for (const char *type : {"f16", "bf16"}) {
    Form form{.type = type,
              .outType = "f32",
              .clauses = std::string(kLn2Scale) + " masks "
                                                  "[#fa.causal<bottom_right>]",
              .isTraced = true,
              .schedule = schedule("tile_q=32,tile_kv=16,warps=2")};
    Trial trial = wholeNumbers(form, extents);
    Array q = trial.input("query"), k = trial.input("key"),
          v = trial.input("value");
    for (int64_t row : {0, 36, 37, 100, 148 + 5, 295}) {
      int64_t plane = row / 37, i = row % 37, b = plane / 4, h = plane % 4;
      int64_t kv = b * 2 + h / 2, visible = i + 45 - 37 + 1;
      RunResult result = trial.trace(row).run();
      // The blocks that any row of this tile of 32 sees.
      int64_t lastRow = std::min<int64_t>(i / 32 * 32 + 31, 36);
      ASSERT_EQ(result.trace.size(), size_t((lastRow + 9 + 15) / 16));
      for (const TraceBlock &block : result.trace) {
        int64_t keys = std::min((block.block + 1) * 16, visible);
        std::vector<double> scores;
        for (int64_t j = 0; j < keys; ++j) {
          double score = 0;
          for (int64_t d = 0; d < 16; ++d)
            score += q.get(row * 16 + d) * k.get((kv * 45 + j) * 16 + d);
          scores.push_back(score);
        }
        double m = *std::max_element(scores.begin(), scores.end());
        double l = 0, u = 0;
        for (int64_t j = 0; j < keys; ++j) {
          double weight = std::exp2(scores[size_t(j)] - m);
          l += weight;
          u += weight * v.get((kv * 45 + j) * 16 + 5);
        }
        EXPECT_FLOAT_EQ(block.m, float(m * kLn2)) << row;
        EXPECT_EQ(block.l, l) << row << " block " << block.block;
        EXPECT_EQ(block.u[5], u) << row << " block " << block.block;
        if (keys != visible)
          continue;
        EXPECT_FLOAT_EQ(float(result.outputs[0].get(row * 16 + 5)),
                        float(u / l));
        EXPECT_FLOAT_EQ(float(result.outputs[1].get(row)),
                        float(m * kLn2 + std::log(l)));
      }
    }
  }
}

TEST_P(State, EachBlockOfTheTraceIsThePrefixOfTheKeys) {
  // u / l and m + ln l after a block are O and LSE of the keys so far.
  Form form{.outType = "f32",
            .headDim = 40,
            .valueDim = 24,
            .isTraced = true,
            .schedule = schedule("tile_q=32,tile_kv=32,warps=1")};
  for (int64_t row : {0, 70, 139}) {
    Trial trial(form, {1, 2, 1, 70, 101});
    RunResult result = trial.seed(11).trace(row).run();
    ASSERT_EQ(result.trace.size(), 4u);
    Array q = trial.input("query"), k = trial.input("key"),
          v = trial.input("value");
    for (const TraceBlock &block : result.trace) {
      faref::Problem problem;
      problem.query = q.view();
      problem.key = k.view();
      problem.value = v.view();
      problem.scale = trial.entry().attention.scale;
      problem.key.shape[2] = problem.value.shape[2] =
          std::min<int64_t>(101, 32 * (block.block + 1));
      faref::Options options;
      options.withEvidence = true;
      auto prefix = faref::attention(problem, options);
      ASSERT_TRUE(bool(prefix));
      faref::Bounds bounds =
          faref::tolerance(*prefix, false, ElementType::F16, ElementType::F32);
      EXPECT_NEAR(block.m + std::log(block.l), prefix->lse[size_t(row)],
                  bounds.lse[size_t(row)]);
      for (size_t d = 0; d < 24; ++d)
        EXPECT_NEAR(block.u[d] / block.l, prefix->out[size_t(row) * 24 + d],
                    bounds.out[size_t(row) * 24 + d])
            << "block " << block.block << " column " << d;
    }
  }
}

TEST(Exact, OneVisibleKeyGivesItsValue) {
  // Row i sees key 5 i + 3 (mod Sk) alone: O is that row of V, bit for bit.
  Extent5 extents{1, 2, 2, 70, 101};
  for (const char *type : {"f16", "bf16"}) {
    Form form{.type = type, .headDim = 32, .valueDim = 32, .mask = "1x1x?x?"};
    Trial trial(form, extents);
    Values mask(70 * 101, 0);
    for (int64_t i = 0; i < 70; ++i)
      mask[size_t(i * 101 + (5 * i + 3) % 101)] = 1;
    RunResult result = trial.seed(5).set("mask", mask).run();
    Array v = trial.input("value");
    ASSERT_EQ(result.outputs.size(), 2u);
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < 70; ++i)
        for (int64_t d = 0; d < 32; ++d)
          ASSERT_EQ(result.outputs[0].get((h * 70 + i) * 32 + d),
                    v.get((h * 101 + (5 * i + 3) % 101) * 32 + d))
              << "row " << i << " column " << d;
  }
}

TEST(Exact, EqualScoresGiveTheMean) {
  // Row i sees keys 0 to i, of values 2 j: the mean is i.
  for (const char *type : {"f16", "bf16"}) {
    Form form{.type = type, .clauses = "masks [#fa.causal<top_left>]"};
    Trial trial(form, {1, 1, 1, 128, 128});
    trial.setAll("query", 0);
    Values v;
    for (int64_t n = 0; n < 128 * 16; ++n)
      v.push_back(double(2 * (n / 16)) * (n % 2 ? -1 : 1));
    RunResult result = trial.set("value", v).run();
    Values column = outColumn(result);
    ASSERT_EQ(column.size(), 128u);
    for (size_t i = 0; i < column.size(); ++i)
      EXPECT_EQ(column[i], double(i));
  }
}

INSTANTIATE_TEST_SUITE_P(, State, testing::Values("registers", "shared"),
                         [](const auto &info) { return info.param; });

} // namespace
