//===- ScoresTest.cpp - what changes a score, end to end ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Soft cap, ALiBi, bias and sink: alone, in pairs and all together, with masks
// and lengths, around the tiles; then numbers that show their order and units.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cmath>
#include <numbers>

using namespace farun;
using namespace farun::test;

namespace {

struct Row {
  const char *name;
  bool hasCap, hasAlibi, hasBias, hasSink;
};

constexpr Row kRows[] = {
    {"cap", true, false, false, false},
    {"alibi", false, true, false, false},
    {"bias", false, false, true, false},
    {"sink", false, false, false, true},
    {"cap_alibi", true, true, false, false},
    {"cap_bias", true, false, true, false},
    {"cap_sink", true, false, false, true},
    {"alibi_bias", false, true, true, false},
    {"alibi_sink", false, true, false, true},
    {"bias_sink", false, false, true, true},
    {"all", true, true, true, true},
};

class Scores : public testing::TestWithParam<Row> {};

TEST_P(Scores, AroundTheTiles) {
  const Row &row = GetParam();
  const char *masks[] = {"", " masks [#fa.causal<top_left>]",
                         " masks [#fa.causal<bottom_right>, "
                         "#fa.window<bottom_right, left = 40, right = 9>]"};
  // Types, masks and the rest in turns: each pair of them in some row.
  const char *types[] = {"f16", "bf16", "f32"};
  int n = int(&row - kRows);
  for (const char *mask : masks) {
    const char *type = types[++n % 3];
    Form form{.type = type,
              .headDim = 32,
              .valueDim = 32,
              .clauses = std::string(row.hasCap ? "softcap(1.5)" : "") + mask,
              .bias = row.hasBias ? "?x?x?x?" : "",
              .biasType = n % 2 ? "f32" : type,
              .hasAlibi = row.hasAlibi,
              .hasSink = row.hasSink,
              .hasScaleOperand = n % 4 == 0,
              .hasKVLengths = n % 5 == 0};
    for (const char *state : {",state=registers", ",state=shared"})
      for (auto [queries, keys] :
           {std::pair(1, 33), {65, 31}, {70, 101}, {70, 96}}) {
        form.schedule = kSmallTiles + std::string(state);
        Trial trial(form, {2, 6, 2, queries, keys});
        if (form.hasScaleOperand)
          trial.set("scale", {0.3});
        trial.seed(uint64_t(n)).run();
        if (HasFailure())
          return;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(, Scores, testing::ValuesIn(kRows),
                         [](const auto &info) { return info.param.name; });

/// One query, a number a key.
Form rowForm(const std::string &clauses) {
  return {.outType = "f32", .clauses = clauses, .schedule = kLeastTiles};
}

TEST(Cases, B70_BiasIsAddedAfterTheScale) {
  Form form = rowForm("scale(0.5)");
  form.bias = "?";
  Trial::ofRows(form, {2}, {1, 0}, {1, 0})
      .set("bias", {0, 3})
      .expect({0.119203});
}

TEST(Cases, B76_TheCapComesBeforeTheMask) {
  Form form = rowForm("scale(1.0) softcap(2.0)");
  form.mask = "?";
  Trial::ofRows(form, {1}, {1, 9}, {1, 100})
      .set("mask", {1, 0})
      .expect({1}, {0.924234});
}

TEST(Cases, CapThenAlibiThenBias) {
  // x = 2 tanh(8 / 2) - 0.5 * distance + bias.
  Form form = rowForm("scale(1.0) softcap(2.0)");
  form.hasAlibi = true;
  form.bias = "?";
  double x[3];
  for (int j = 0; j < 3; ++j)
    x[j] = 2 * std::tanh(8.0 * j / 2) - 0.5 * (2 - j) + (j == 0 ? 3 : 0);
  double sum = 0, out = 0;
  for (int j = 0; j < 3; ++j) {
    sum += std::exp(x[j]);
    out += std::exp(x[j]) * (j + 1);
  }
  Trial::ofRows(form, {1}, {0, 8, 16}, {1, 2, 3})
      .set("alibi", {0.5})
      .set("bias", {3, 0, 0})
      .expect({out / sum}, {std::log(sum)});
}

TEST(Cases, AlibiCountsAsTheCausalMask) {
  // Two queries, four keys: from the first with top_left, from the last else.
  auto run = [](const std::string &masks, const Values &expected) {
    Form form = rowForm("scale(1.0) " + masks);
    form.hasAlibi = true;
    Trial::ofRows(form, {0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0})
        .set("alibi", {std::log(2.0)})
        .expect(expected);
  };
  // Weights 2^-|i + offset - j|.
  run("", {0.25 / 2.25, 0.125 / 1.875});
  run("masks [#fa.causal<bottom_right>]", {0.25 / 1.75, 0.125 / 1.875});
  run("masks [#fa.causal<top_left>]", {1, 0.5 / 1.5});
}

TEST(Cases, B82_TheSinkIsOneMoreKey) {
  Form form = rowForm("scale(1.0)");
  form.hasSink = true;
  form.mask = "?";
  auto run = [&](const Form &form, const Values &mask) {
    return Trial::ofRows(form, {0}, {0, 0, 0, 0}, {1, 2, 3, 4})
        .set("mask", mask)
        .set("sink", {1});
  };
  run(form, {0, 0, 1, 1}).expect({1.483591}, {1.551445});
  run(form, {0, 0, 0, 0}).expect({0}, {1});
  Form capped = form;
  capped.clauses = "scale(0.5) softcap(2.0)";
  run(capped, {0, 0, 1, 1}).expect({1.483591}, {1.551445});
  run(capped, {1, 1, 1, 1}).set("sink", {300}).expect({0}, {300});
  // Far above and far below the scores, and none at all.
  run(form, {1, 1, 1, 1}).set("sink", {300}).expect({0}, {300});
  run(form, {1, 1, 1, 1}).set("sink", {-300}).expect({2.5}, {std::log(4.0)});
  // An infinite value stays so, however small its share is.
  Trial::ofRows(form, {0}, {0, 0, 0, 0}, {1, 2, kInf, 4})
      .set("mask", {1, 1, 1, 1})
      .set("sink", {300})
      .expect({kInf}, {300});
  run(form, {1, 1, 1, 1}).set("sink", {-kInf}).expect({2.5}, {std::log(4.0)});
  run(form, {0, 0, 0, 0}).set("sink", {-kInf}).expect({0}, {-kInf});
  run(form, {1, 1, 1, 1}).set("sink", {kNaN}).expect({kNaN}, {kNaN});
  // In base 2 it is no f32, and counts as the largest that is one.
  constexpr double kLargest =
      std::numeric_limits<float>::max() * std::numbers::ln2;
  run(form, {1, 1, 1, 1}).set("sink", {3e38}).expect({0}, {kLargest});
  run(form, {1, 1, 1, 1}).set("sink", {-3e38}).expect({2.5}, {std::log(4.0)});
  run(form, {0, 0, 0, 0}).set("sink", {-3e38}).expect({0}, {-kLargest});
  run(form, {1, 1, 1, 1}).set("sink", {kInf}).expect({kNaN}, {kNaN});
}

TEST(Cases, B39_B82_KeysInPartsAreRefused) {
  // Heads and sinks of kernels that cut the keys into parts are not compiled.
  Form form{.hasSink = true,
            .schedule = kSmallTiles + std::string(",splits=2")};
  std::string error = compileError(form);
  EXPECT_NE(error.find("'schedule with splits above 1' is not supported yet"),
            std::string::npos)
      << error;
}

TEST(Cases, B07_AFiniteBiasIsABias) {
  // The lowest number of f32 on keys 0 to 127 of 441: attention over the rest.
  constexpr double kLowest = -std::numeric_limits<float>::max();
  Form plain{.type = "f32", .headDim = 8, .valueDim = 8}, form = plain;
  form.bias = "?";
  Trial biased(form, {1, 1, 1, 4, 441});
  Values bias(441, 0);
  std::fill_n(bias.begin(), 128, kLowest);
  RunResult result = biased.seed(2).set("bias", bias).run();
  Trial rest(plain, {1, 1, 1, 4, 313});
  rest.set("query", biased.input("query").values());
  for (const char *role : {"key", "value"}) {
    Values all = biased.input(role).values();
    rest.set(role, Values(all.begin() + 128 * 8, all.end()));
  }
  expectNear(outColumn(result), outColumn(rest.run()));

  // On every key. The bound of a row grows with its scores, so what comes out
  // is compared by itself.
  Form rows = rowForm("scale(1.0)");
  rows.bias = "?";
  Trial all = Trial::ofRows(rows, {1}, {1, 2, 3, 4}, {1, 2, 3, 4});
  for (auto [level, out] : {std::pair(-65504.0, 3.492653), {-1e30, 2.5}})
    expectNear(outColumn(all.setAll("bias", level).expect({out})), {out}, 1e-3);
}

TEST(Cases, AKnownFewKeysBesideWhatIsReadInPairs) {
  // No block is full, which is known when the kernel is compiled.
  for (int64_t keys : {1, 15, 32, 33})
    for (bool isBias : {true, false}) {
      std::string plane = "?x" + std::to_string(keys);
      Form form{.mask = isBias ? "" : plane,
                .bias = isBias ? plane : "",
                .biasType = "f16",
                .schedule = "",
                .extents = {-1, -1, -1, -1, keys}};
      Trial(form, {1, 2, 1, 16, keys}).seed(5).run();
    }
}

TEST(Cases, TheSteepestSlopeIsNothingAtItsOwnKey) {
  Form form = rowForm("scale(0.25)");
  form.hasAlibi = true;
  RunResult result = Trial::ofRows(form, {1}, {4}, {2})
                         .set("alibi", {3.0e38})
                         .expect({2}, {1});
  expectNear(outColumn(result), {2}, 1e-3);
  expectNear(lseOf(result), {1}, 1e-5);
}

TEST(Cases, FiniteScoresBeyondF32InBaseTwo) {
  // They count as the largest that is one, and weigh the same in their row.
  constexpr double kLowest = -std::numeric_limits<float>::max();
  const double end = kLowest * std::log(2.0);
  for (const char *biasType : {"f32", "bf16"}) {
    double lowest = biasType[0] == 'f' ? kLowest : -0x1.fep127;
    Form form = rowForm("scale(1.0)");
    form.bias = "?x?";
    form.biasType = biasType;
    auto rows = [&](const Values &bias, const Values &out, const Values &lse) {
      Trial trial = Trial::ofRows(form, {1, 1}, {1, 2, 3, 4}, {1, 2, 3, 4})
                        .set("bias", bias);
      RunResult result = trial.expect(out, lse);
      expectNear(outColumn(result), out, 1e-3);
      expectNear(lseOf(result), lse, 1e-5);
    };
    rows({lowest, lowest, lowest, lowest, -kInf, -kInf, lowest, -kInf},
         {2.5, 3}, {end, end});
    rows({lowest, 0, lowest, -kInf, -lowest, 0, -kInf, -lowest}, {2, 2.5},
         {2, -end});
  }
  Form region = rowForm("score { ^bb0(%s: f32, %b: index, %h: index, "
                        "%i: index, %j: index): %c = arith.constant -3.0e38 : "
                        "f32 fa.yield %c : f32 }");
  Trial::ofRows(region, {1}, {1, 2, 3, 4}, {1, 2, 3, 4}).expect({2.5}, {end});
}

TEST(Cases, ScoresThatTheScaleMakesInfinite) {
  // Beyond 2.36e38 in size; +inf makes its row NaN, -inf hides its key.
  Form form = rowForm("scale(1.0e38)");
  auto row = [&](const Values &keys, double out, double lse) {
    Trial::ofRows(form, {1}, keys, {1, 2}).expect({out}, {lse});
  };
  row({2, 1}, 1, 2e38);
  row({3, 1}, kNaN, kNaN);
  row({-3, 1}, 2, 1e38);
  row({-3, -4}, 0, -kInf);
}

TEST(Cases, FiniteScoresBeyondF32InFullBlocks) {
  // Rows by turns: lowest in every block, in all but the last, in none.
  constexpr int64_t kRows = 64, kKeys = 128, kFirst = 96;
  constexpr double kLowest = -std::numeric_limits<float>::max();
  const double end = kLowest * std::log(2.0);
  for (const char *state : {",state=registers", ",state=shared"}) {
    Form form{.outType = "f32",
              .bias = "?x?",
              .schedule = kSmallTiles + std::string(state)};
    Trial trial(form, {1, 1, 1, kRows, kKeys});
    Values bias;
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = 0; j < kKeys; ++j)
        bias.push_back(i % 3 == 0 || (i % 3 == 1 && j < kFirst) ? kLowest : 0);
    trial.seed(4).setAll("query", 0).set("bias", bias);
    Values value = trial.input("value").values(), out, lse;
    auto mean = [&](int64_t first) {
      double sum = 0;
      for (int64_t j = first; j < kKeys; ++j)
        sum += value[size_t(j * form.valueDim)];
      return sum / double(kKeys - first);
    };
    for (int64_t i = 0; i < kRows; ++i) {
      out.push_back(mean(i % 3 == 1 ? kFirst : 0));
      lse.push_back(i % 3 == 0 ? end : std::log(i % 3 == 1 ? 32.0 : 128.0));
    }
    RunResult result = trial.expect(out, lse);
    expectNear(outColumn(result), out, 1e-3);
    expectNear(lseOf(result), lse, 1e-5);
  }
}

TEST(Cases, B66_BiasOfAnotherType) {
  for (auto [type, biasType] : {std::pair("bf16", "f32"),
                                {"f16", "f32"},
                                {"f32", "f16"},
                                {"f16", "bf16"}}) {
    Form form{.type = type,
              .headDim = 8,
              .valueDim = 8,
              .bias = "1x?x?x?",
              .biasType = biasType};
    Trial(form, {2, 4, 4, 8, 8}).seed(7).run();
  }
}

TEST(Cases, B68_OddBiasRows) {
  for (const char *type : {"f16", "bf16"}) {
    Form form{.bias = "1x1x?x?", .biasType = type};
    for (int64_t keys : {5, 7, 33, 43}) {
      Trial trial(form, {1, 2, 2, 4, keys});
      std::vector<std::byte> dense = bits(trial.seed(7).run());
      // A slice of a wider tensor, and stored by columns.
      for (const Shape &strides :
           {Shape{4 * 77, 4 * 77, 77, 1}, Shape{4 * keys, 4 * keys, 1, 4}}) {
        Trial other = trial;
        EXPECT_TRUE(bits(other.strides("bias", strides).run()) == dense)
            << type << " " << keys;
      }
    }
  }
}

TEST(Cases, B72_BiasOfOneHead) {
  // Batches with q = 1 and 2 share a bias [1, 1, 1, 2].
  Form form = rowForm("scale(1.0)");
  form.bias = "1x1x1x?";
  Trial trial(form, {2, 1, 1, 1, 2});
  auto firstColumn = [&](const Values &rows) {
    Values wide;
    for (double row : rows)
      for (int d = 0; d < 16; ++d)
        wide.push_back(d == 0 ? row : 0);
    return wide;
  };
  auto wholeRows = [&](const Values &rows) {
    Values wide;
    for (double row : rows)
      wide.insert(wide.end(), 16, row);
    return wide;
  };
  trial.set("query", firstColumn({1, 2}))
      .set("key", firstColumn({1, 0, 1, 0}))
      .set("value", wholeRows({1, 2, 1, 3}));
  trial.set("bias", {0, 0}).expect({1.268941, 1.238406});
  double e = std::exp(1.0);
  trial.set("bias", {0, std::log(2.0)})
      .expect({(e + 4) / (e + 2), (e * e + 6) / (e * e + 2)});
}

TEST(Cases, B74_BiasOfAnotherLengthIsRefused) {
  Form form{.bias = "10x8", .extents = {-1, -1, -1, 10, -1}};
  std::string message = Trial(form, {1, 1, 1, 10, 5}).refusal();
  EXPECT_NE(message.find("8"), std::string::npos) << message;
  EXPECT_NE(message.find("5"), std::string::npos) << message;
}

TEST(Cases, B78_CappedScores) {
  Trial::ofRows(rowForm("scale(1.0) softcap(2.0)"), {1}, {1, 3}, {1, 2})
      .expect({1.708077});
}

TEST(Cases, B80_SlopesAreData) {
  // Eight heads at once and by fours: a slope is what the operand says.
  Form form{.hasAlibi = true, .hasLSE = false};
  Trial all(form, {1, 8, 8, 40, 50});
  Values slopes;
  for (int head = 0; head < 8; ++head)
    slopes.push_back(std::exp2(-head - 1));
  RunResult whole = all.seed(3).set("alibi", slopes).run();
  ASSERT_EQ(whole.outputs.size(), 1u);
  std::vector<std::byte> parts;
  for (int half : {0, 1}) {
    Trial some(form, {1, 4, 4, 40, 50});
    auto halfOf = [&](const Values &values) {
      auto size = long(values.size() / 2);
      return Values(values.begin() + half * size,
                    values.begin() + (half + 1) * size);
    };
    some.set("alibi", halfOf(slopes));
    for (const char *role : {"query", "key", "value"})
      some.set(role, halfOf(all.input(role).values()));
    for (std::byte byte : bits(some.run()))
      parts.push_back(byte);
  }
  EXPECT_TRUE(parts == whole.outputs[0].bytes);
}

TEST(Cases, B10_EveryClauseKeyByKey) {
  // Infinite values at keys that few rows see: all rows beside these are begun
  // again, and their scores and what hides them say the same there.
  Form form{.clauses = "scale(-0.4) softcap(1.5) masks "
                       "[#fa.window<bottom_right, left = 30, right = 9>]",
            .mask = "?x1x?x?",
            .bias = "?x?x?x?",
            .hasAlibi = true,
            .hasSink = true,
            .hasSegments = true,
            .hasKVLengths = true};
  Extent5 extents{2, 4, 2, 70, 60};
  for (const char *state : {",state=registers", ",state=shared"}) {
    form.schedule = kSmallTiles + std::string(state);
    Trial trial(form, extents);
    Values values = trial.seed(8).input("value").values();
    for (size_t plane = 0; plane < 4; ++plane)
      for (size_t key : {0, 25, 44})
        values[(plane * 60 + key) * 16 + key % 16] = plane % 2 ? kInf : kNaN;
    trial.set("value", values)
        .set("kv_lengths", {60, 51})
        .set("alibi", {0.5, 0.25, -0.125, 2});
    RunResult result = trial.run();
    Values column = outColumn(result);
    EXPECT_TRUE(std::isfinite(column[69]));
  }
}

TEST(Cases, B05_MaskedRowsWithASinkAnywhere) {
  Form form{.clauses = "masks [#fa.causal<bottom_right>]",
            .mask = "?x1",
            .hasSink = true};
  for (int first : {0, 10, 18}) {
    Values mask(32, 1);
    for (int row = first; row < first + 14; ++row)
      mask[size_t(row)] = 0;
    Trial trial(form, {1, 1, 1, 32, 48});
    RunResult result = trial.seed(5).set("mask", mask).set("sink", {0.3}).run();
    Values lse = lseOf(result);
    for (int row = first; row < first + 14; ++row)
      EXPECT_NEAR(lse[size_t(row)], 0.3, 1e-6) << first << " " << row;
  }
}

TEST(Cases, SinkOfRowsThatAreBegunAgain) {
  // The mean of values whose sum overflows, then the sink's share of it.
  Form form = rowForm("scale(1.0)");
  form.type = "f32";
  form.hasSink = true;
  Trial::ofRows(form, {0}, {0, 0, 0, 0}, {3e38, 3e38, 3e38, 3e38})
      .set("sink", {std::log(4.0)})
      .run();
}

TEST(Cases, BiasMayHideAndMayBeNaN) {
  // -inf hides its key, also from all; NaN stays in its row, if it is seen.
  Form form = rowForm("scale(1.0)");
  form.bias = "?x?";
  form.mask = "?";
  auto run = [&](const Values &bias, const Values &mask) {
    return Trial::ofRows(form, {0, 0}, {0, 0, 0}, {1, 2, 6})
        .set("bias", bias)
        .set("mask", mask);
  };
  run({0, -kInf, 0, -kInf, -kInf, -kInf}, {1, 1, 1})
      .expect({3.5, 0}, {std::log(2.0), -kInf});
  run({0, 0, kNaN, 0, kNaN, 0}, {1, 1, 0})
      .expect({1.5, kNaN}, {std::log(2.0), kNaN});
}

TEST(Cases, B64_BiasesOfEveryBroadcast) {
  for (const char *shape : {"?", "?x?", "1x1x?x?", "?x1x1x?", "1x?x?x?",
                            "?x1x?x?", "?x1x1", "?x?x?x1"})
    for (const char *type : {"f16", "bf16", "f32"}) {
      Form form{.bias = shape, .biasType = type};
      Trial(form, {2, 3, 3, 34, 37}).seed(6).run();
      if (HasFailure())
        return;
    }
}

TEST(Cases, CapOfLargeAndSmallScores) {
  // Far inside and far outside of the cap, f32: tanh keeps its digits.
  for (const char *clauses :
       {"scale(1.0e-3) softcap(50.0)", "scale(100.0) softcap(50.0)",
        "scale(-2.0) softcap(0.01)"}) {
    Form form{.type = "f32", .headDim = 16, .valueDim = 16, .clauses = clauses};
    Trial(form, {1, 2, 1, 40, 50}).seed(4).run();
  }
}

TEST(Cases, AScoreOf0StaysBesideAScaleFarAboveTheCap) {
  // Scale over cap is no f32, nor is twice log2 e over the last cap.
  auto outOf = [](double score, double cap) {
    double high = std::exp(cap * std::tanh(score / cap));
    return (1 + 2 * high) / (1 + high);
  };
  for (const char *type : {"f16", "f32"})
    for (bool isOperand : {false, true}) {
      Form form =
          rowForm(isOperand ? "softcap(0.5)" : "scale(2.0e38) softcap(0.5)");
      form.type = type;
      form.outType = "f32";
      form.hasScaleOperand = isOperand;
      auto run = [&](double key, const Values &expected) {
        Trial trial = Trial::ofRows(form, {1}, {0, key}, {1, 2});
        if (isOperand)
          trial.set("scale", {2.0e38});
        trial.expect(expected);
      };
      run(1, {outOf(1e9, 0.5)});
      // A score of 1, of a product near the least f32.
      if (form.type == "f32")
        run(5.0e-39, {outOf(1, 0.5)});
    }
  Trial::ofRows(rowForm("scale(1.0) softcap(3.0e-39)"), {1}, {0, 1}, {1, 2})
      .expect({1.5});
}

} // namespace
