//===- AttentionTest.cpp - the oracle against worked values ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values worked by hand, then cases of the published kinds of fault; Bnn is
// the number of the case.
//
//===----------------------------------------------------------------------===//
#include "Case.h"

#include "../../lib/Reference/Philox.h"

using namespace faref;
using namespace faref::test;

namespace {

const double kLn2 = std::log(2.0);

TEST(Attention, WeightsTwoOneFour) {
  // Logits ln 2, 0, ln 4 give weights 2 : 1 : 4.
  Case c({1}, {kLn2, 0, 2 * kLn2}, {10, 20, 30}, ElementType::F64);
  Result result = c.run();
  expectNear(result.out, {160.0 / 7.0}, 1e-14);
  expectNear(result.lse, {std::log(7.0)}, 1e-14);
  // Rescaling u but not l would give 65/3.
  EXPECT_GT(std::abs(result.out[0] - 65.0 / 3.0), 1.0);
}

TEST(Attention, ScoresZeroOneTwo) {
  Result result = Case({1}, {0, 1, 2}, {10, 20, 30}).run();
  expectNear(result.out, {25.752104}, 1e-7);
  Result shifted = Case({1}, {1000, 1001, 1002}, {10, 20, 30}).run();
  expectNear(shifted.out, {25.752104}, 1e-7);
  expectNear(shifted.lse, {result.lse[0] + 1000}, 1e-12);
}

TEST(Attention, EmptyRowsByRequest) {
  for (auto [emptyRow, out, lse] :
       {std::tuple(EmptyRow::Zero, 0.0, -kInf),
        std::tuple(EmptyRow::NaN, kNaN, kNaN),
        std::tuple(EmptyRow::Uniform, 4.0, -kInf)}) {
    Case c({1}, {1, 2, 3}, {3, 5, 100});
    c.kvLengths({2}).mask({3}, {0, 0, 0});
    c.problem.emptyRow = emptyRow;
    Result result = c.run(/*withEvidence=*/true);
    expectNear(result.out, {out});
    expectNear(result.lse, {lse});
  }
}

TEST(Attention, PaddingQueriesAreZeroWhateverEmptyRowSays) {
  Case c({1, 1, 1}, {0, 0}, {1, 3});
  c.qLengths({2});
  c.problem.emptyRow = EmptyRow::NaN;
  expectNear(c.run().out, {2, 2, 0});
  expectNear(c.run().lse, {kLn2, kLn2, -kInf});
}

TEST(Attention, BottomRightAlignsLastValidQueryWithLastValidKey) {
  Case c({0, 0, 0, 0}, {0, 0, 0, 0, 0}, {1, 2, 3, 4, 5});
  c.qLengths({2}).kvLengths({4}).causal(true);
  expectNear(c.run().out, {2, 2.5, 0, 0});
}

TEST(Attention, PrefixWindowChunk) {
  Values zeros(5, 0.0), v = {1, 2, 4, 8, 16};
  Case prefix(zeros, zeros, v);
  prefix.causal(false, /*prefix=*/3);
  expectNear(prefix.run().out, {7.0 / 3, 7.0 / 3, 7.0 / 3, 3.75, 6.2});
  Case chunk(zeros, zeros, v);
  farun::StructuralMask mask;
  mask.kind = farun::StructuralMask::Kind::Chunk;
  mask.size = 2;
  chunk.problem.masks = {mask};
  expectNear(chunk.run().out, {1.5, 1.5, 6, 6, 16});
}

TEST(Attention, SegmentsSeeTheirOwn) {
  Case c({0, 0, 0}, {0, 0, 0, 0}, {1, 2, 4, 8});
  c.segments({-7, 9, 5}, {9, -7, 6, -7});
  expectNear(c.run().out, {5, 1, 0});
  expectNear(c.run().lse, {kLn2, 0, -kInf});
  c.segments({0, 0}, {0, 0, 0, 0});
  EXPECT_EQ(c.refusal(), "q_segments has shape 1x2 and must be 1x3");
  c.problem.qSegments.reset();
  EXPECT_EQ(c.refusal(),
            "kv_segments is given alone; segments are of queries and keys");
}

TEST(Attention, PhiloxGivesThePublishedNumbers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0, 0),
            (Philox4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u),
            (Philox4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       0xa4093822, 0x299f31d0),
            (Philox4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Attention, DropoutTakesWeightsAndLeavesTheSum) {
  // The first word of counter (j, 0, 0, 0) and key 0 decides; for j = 0 it is
  // 6627e8d5, just below 0.399.
  auto run = [](double probability) {
    Case c({0}, {0, 0}, {1, 0});
    c.problem.dropout = Dropout{probability, 0};
    Result result = c.run();
    expectNear(result.lse, {kLn2});
    return result.out[0];
  };
  double border = double(0x6627e8d5u) * 0x1p-32;
  EXPECT_DOUBLE_EQ(run(border), 0.5 / (1 - border));
  EXPECT_EQ(run(border + 0x1p-32), 0);
  EXPECT_EQ(run(0), 0.5);
  EXPECT_EQ(run(1), 0);
}

TEST(Attention, BothLayoutsAgree) {
  int64_t b = 2, hq = 4, hkv = 2, sq = 3, sk = 5, d = 4;
  Case heads({b, hq, sq, d}, fill(b * hq * sq * d, 1), {b, hkv, sk, d},
             fill(b * hkv * sk * d, 2), {b, hkv, sk, d},
             fill(b * hkv * sk * d, 3));
  heads.causal(true);
  Result expected = heads.run();
  // The same elements, stored sequence first.
  auto swapped = [](const Array &a) {
    Array result(a.type, {a.shape[0], a.shape[2], a.shape[1], a.shape[3]});
    for (int64_t n = 0; n < a.size(); ++n) {
      int64_t x = n % a.shape[3], s = n / a.shape[3] % a.shape[2];
      int64_t h = n / (a.shape[3] * a.shape[2]) % a.shape[1];
      int64_t batch = n / (a.shape[3] * a.shape[2] * a.shape[1]);
      result.set(outIndex(result.shape, true, batch, h, s, x), a.get(n));
    }
    return result;
  };
  Case rows({1}, {1}, {1});
  rows.causal(true);
  std::vector<ArrayView *> slots = {&rows.problem.query, &rows.problem.key,
                                    &rows.problem.value};
  size_t n = 0;
  for (const Array &array : heads.arrays) {
    rows.arrays.push_back(swapped(array));
    *slots[n++] = rows.arrays.back().view();
  }
  rows.problem.isBSHD = true;
  Result result = rows.run();
  EXPECT_EQ(result.outShape, (Shape{b, sq, hq, d}));
  expectNear(result.lse, expected.lse, 1e-14);
  for (int64_t batch = 0; batch < b; ++batch)
    for (int64_t h = 0; h < hq; ++h)
      for (int64_t i = 0; i < sq; ++i)
        for (int64_t x = 0; x < d; ++x)
          EXPECT_EQ(
              result
                  .out[size_t(outIndex(result.outShape, true, batch, h, i, x))],
              expected.out[size_t(
                  outIndex(expected.outShape, false, batch, h, i, x))]);
}

TEST(Attention, ThreadsDoNotChangeABit) {
  Case c({1, 2, 70, 16}, fill(2 * 70 * 16, 1), {1, 1, 300, 16},
         fill(300 * 16, 2), {1, 1, 300, 16}, fill(300 * 16, 3));
  c.causal(true);
  Options one, many;
  one.threads = 1;
  many.threads = 3;
  EXPECT_EQ(attention(c.problem, one)->out, attention(c.problem, many)->out);
}

//===----------------------------------------------------------------------===//
// Fully masked rows
//===----------------------------------------------------------------------===//

TEST(Attention, B01_RowsMaskedEverywhere) {
  for (ElementType type : {ElementType::F32, ElementType::F16}) {
    Case c({1, 1, 8, 8}, fill(64, 1), {1, 1, 8, 8}, fill(64, 2), {1, 1, 8, 8},
           fill(64, 3), type);
    Values visible(64), additive(64, -kInf);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        visible[size_t(8 * i + j)] = 1;
        additive[size_t(8 * i + j)] = 0;
      }
    c.mask({8, 8}, visible);
    Result masked = c.run();
    Case visibleOnly({1, 1, 4, 8}, fill(32, 1), {1, 1, 4, 8}, fill(32, 2),
                     {1, 1, 4, 8}, fill(32, 3), type);
    expectNear({masked.out.begin(), masked.out.begin() + 32},
               visibleOnly.run().out, 1e-14);
    for (int n = 0; n < 64; ++n)
      EXPECT_FALSE(std::isnan(masked.out[size_t(n)]));
    for (int n = 32; n < 64; ++n)
      EXPECT_EQ(masked.out[size_t(n)], 0.0);
    for (int i = 4; i < 8; ++i)
      EXPECT_EQ(masked.lse[size_t(i)], -kInf);
    c.problem.mask.reset();
    c.bias({8, 8}, additive);
    EXPECT_EQ(c.run().out, masked.out);
    EXPECT_EQ(c.run().lse, masked.lse);
  }
}

TEST(Attention, B03_NoClampOfTheRowSum) {
  Case c({5, 1}, {-200, 0}, {99, 7});
  c.mask({2, 2}, {0, 0, 0, 1});
  Case d({1, 1}, {0, -200}, {99, 7});
  d.mask({2, 2}, {0, 0, 0, 1});
  expectNear(c.run().out, {0, 7});
  expectNear(c.run().lse, {-kInf, 0});
  expectNear(d.run().out, {0, 7});
  expectNear(d.run().lse, {-kInf, -200});
}

TEST(Attention, B05_SinkFillsMaskedRowsWhereverTheyStand) {
  for (int first : {0, 10, 18}) {
    Case c({1, 1, 32, 16}, fill(512, 1), {1, 1, 16, 16}, fill(256, 2),
           {1, 1, 16, 16}, fill(256, 3));
    Values mask(32 * 16, 1.0);
    std::fill_n(mask.begin() + first * 16, 14 * 16, 0.0);
    c.mask({32, 16}, mask);
    c.problem.sink = c.add(ElementType::F32, {1}, {0.3});
    Result result = c.run();
    for (int i = first; i < first + 14; ++i) {
      EXPECT_NEAR(result.lse[size_t(i)], 0.3, 1e-7);
      EXPECT_EQ(result.out[size_t(16 * i)], 0.0);
    }
  }
}

TEST(Attention, B07_AFiniteBiasIsNoMask) {
  double lowest = std::numeric_limits<float>::lowest();
  Values bias(441, 0.0);
  std::fill_n(bias.begin(), 128, lowest);
  Values k = fill(441 * 8, 2), v = fill(441 * 8, 3);
  Case biased({1, 1, 4, 8}, fill(32, 1), {1, 1, 441, 8}, k, {1, 1, 441, 8}, v);
  biased.bias({441}, bias);
  Case rest({1, 1, 4, 8}, fill(32, 1), {1, 1, 313, 8},
            Values(k.begin() + 128 * 8, k.end()), {1, 1, 313, 8},
            Values(v.begin() + 128 * 8, v.end()));
  expectNear(biased.run().out, rest.run().out, 1e-12);
  Case all({1}, {1, 2, 3, 4}, {1, 2, 3, 4});
  all.bias({4}, Values(4, lowest));
  expectNear(all.run().out, {2.5});
  Case half({1}, {1, 2, 3, 4}, {1, 2, 3, 4});
  half.bias({4}, Values(4, -65504.0));
  expectNear(half.run().out, {3.492653});
}

//===----------------------------------------------------------------------===//
// Infinite, NaN and huge logits; odd scales
//===----------------------------------------------------------------------===//

TEST(Attention, B08_NoFiniteStandInForMinusInfinity) {
  Case c({-300}, {200, 201}, {1, 5});
  expectNear(c.run().out, {1});
  expectNear(c.run().lse, {-60000});
  for (double level : {-1e4, -4.9e4, -5.1e4, -1e6})
    expectNear(Case({1}, {level, level - 300}, {1, 5}).run().out, {1});
  expectNear(Case({1}, {-1e30, -2e30}, {1, 5}).run().out, {1});
}

TEST(Attention, B10_NaNInAMaskedKeyHasNoInfluence) {
  Values numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  for (double poison : {1e10, kNaN, kInf}) {
    for (bool inValue : {false, true})
      for (bool structural : {false, true}) {
        Values k = numbers, v = numbers;
        (inValue ? v : k)[5] = poison;
        Case c({1, 1, 2, 4}, numbers, {1, 1, 2, 4}, k, {1, 1, 2, 4}, v);
        if (structural)
          c.kvLengths({1});
        else
          c.mask({1, 2}, {1, 0});
        expectNear(c.run(true).out, {0, 1, 2, 3, 0, 1, 2, 3});
      }
  }
}

TEST(Attention, VisibleNaNOrInfinityStaysInItsRow) {
  Case c({1, 1, 2, 2}, {1, 0, 0, 1}, {1, 1, 2, 2}, {0, 1, 0, kNaN},
         {1, 1, 2, 1}, {1, 3});
  c.causal(false);
  expectNear(c.run().out, {1, kNaN});
  expectNear(c.run().lse, {0, kNaN});
  expectNear(Case({1, 0.5}, {kInf, 0}, {1, 3}).run().out, {kNaN, kNaN});
  // -inf is a weight of 0.
  expectNear(Case({1}, {-kInf, 0}, {1, 3}).run().out, {3});
}

TEST(Attention, B12_HugeEqualScores) {
  for (double scale : {0.1, 0.125, 1 / std::sqrt(128.0)}) {
    Case c({1e6}, {1e6, 1e6, 1e6, 1e6}, {1, 2, 3, 6});
    EXPECT_EQ(c.scale(scale).run().out[0], 3.0);
  }
}

TEST(Attention, B14_ScaleZeroAndNegative) {
  Case zero({5}, {1, 9, 1}, {1, 3, 100});
  zero.scale(0).kvLengths({2});
  expectNear(zero.run().out, {2});
  expectNear(zero.run().lse, {kLn2});
  Case negative({1}, {1, 3}, {1, 3});
  negative.scale(-1);
  expectNear(negative.run().out, {1.238406});
  expectNear(negative.run().lse, {-0.873072});
  Case large({1}, {100, 0}, {1, 3});
  large.scale(-1);
  expectNear(large.run().out, {3});
  expectNear(large.run().lse, {0});
}

//===----------------------------------------------------------------------===//
// Causal with different lengths
//===----------------------------------------------------------------------===//

TEST(Attention, B16_MoreQueriesThanKeys) {
  Values ones(4, 1.0);
  Case bottom(ones, {0, 1}, {1, 3});
  bottom.causal(true);
  expectNear(bottom.run().out, {0, 0, 1, 2.462117});
  expectNear(bottom.run().lse, {-kInf, -kInf, 0, 1.313262});
  Case top(ones, {0, 1}, {1, 3});
  top.causal(false);
  expectNear(top.run().out, {1, 2.462117, 2.462117, 2.462117});
}

TEST(Attention, B18_QueryLengthDiffersFromKeyLength) {
  Case c({1, -1}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4});
  c.scale(0.5);
  expectNear(c.run().out, {2.905633, 1.094367});
  expectNear(c.run().lse, {2.847102, 0.847102});
}

TEST(Attention, B20_FrontierFromTheValidLength) {
  Case c({2, 1, 3, 1}, Values(6, 0.0), {2, 1, 4, 1}, Values(8, 0.0),
         {2, 1, 4, 1}, {1, 2, 3, 4, 1, 2, 3, 4});
  c.kvLengths({4, 2}).causal(true);
  expectNear(c.run().out, {1.5, 2, 2.5, 0, 1, 1.5});
  Values lse = c.run().lse;
  expectNear({lse.begin() + 3, lse.end()}, {-kInf, 0, kLn2});
}

//===----------------------------------------------------------------------===//
// Lengths, heads, strides
//===----------------------------------------------------------------------===//

TEST(Attention, B27_ZeroKeysZeroQueriesZeroBatch) {
  for (bool causal : {false, true}) {
    Case c({2, 3, 5, 8}, fill(240, 1), {2, 3, 0, 8}, {}, {2, 3, 0, 8}, {});
    if (causal)
      c.causal(true);
    Result result = c.run(true);
    EXPECT_EQ(result.outShape, (Shape{2, 3, 5, 8}));
    EXPECT_EQ(result.out, Values(240, 0.0));
    EXPECT_EQ(result.lse, Values(30, -kInf));
  }
  Case noBatch({0, 3, 5, 8}, {}, {0, 3, 4, 8}, {}, {0, 3, 4, 8}, {});
  EXPECT_TRUE(noBatch.run(true).out.empty());
  Case noQueries({2, 3, 0, 8}, {}, {2, 3, 1, 8}, fill(48, 1), {2, 3, 1, 8},
                 fill(48, 1));
  EXPECT_EQ(noQueries.run().outShape, (Shape{2, 3, 0, 8}));
}

TEST(Attention, B31_TheWholeHeadDimensionTakesPart) {
  Case c({1, 1, 1, 4}, {0, 0, 2, 0}, {1, 1, 2, 4}, {0, 0, 1, 0, 0, 0, -1, 0},
         {1, 1, 2, 1}, {1, 3});
  expectNear(c.scale(0.5).run().out, {1.238406});
}

TEST(Attention, B39_EveryHeadRatio) {
  for (auto [hq, hkv] :
       {std::pair(12, 4), std::pair(6, 2), std::pair(9, 3), std::pair(5, 1),
        std::pair(7, 1), std::pair(28, 4), std::pair(14, 2)}) {
    Values v;
    for (int h = 0; h < hkv; ++h)
      v.insert(v.end(), 5 * 2, double(h));
    Case c({1, hq, 2, 8}, fill(hq * 16, 1), {1, hkv, 5, 8}, fill(hkv * 40, 2),
           {1, hkv, 5, 2}, v);
    Result result = c.run();
    for (int h = 0; h < hq; ++h)
      for (int n = 0; n < 4; ++n)
        EXPECT_NEAR(result.out[size_t(h * 4 + n)], h / (hq / hkv), 1e-14);
  }
}

TEST(Attention, B41_HeadsThatDoNotDivide) {
  for (auto [hq, hkv] : {std::pair(33, 2), std::pair(3, 2), std::pair(3, 0),
                         std::pair(0, 0), std::pair(0, 2)}) {
    Case c({1, hq, 1, 1}, fill(hq, 1), {1, hkv, 1, 1}, fill(hkv, 1),
           {1, hkv, 1, 1}, fill(hkv, 1));
    EXPECT_EQ(c.refusal(), "query heads must be a positive multiple of "
                           "key/value heads: " +
                               std::to_string(hq) + " and " +
                               std::to_string(hkv));
  }
}

TEST(Attention, B52_AxisPermutationsEqualCopies) {
  int64_t b = 2, s = 3, h = 2, d = 4;
  Shape dense = {b, h, s, d};
  Values elements[3] = {fill(48, 1), fill(48, 2), fill(48, 3)};
  Case copies(dense, elements[0], dense, elements[1], dense, elements[2]);
  Result expected = copies.run();
  for (int which = 0; which < 8; ++which) {
    Case c(dense, elements[0], dense, elements[1], dense, elements[2]);
    ArrayView *views[3] = {&c.problem.query, &c.problem.key, &c.problem.value};
    for (int n = 0; n < 3; ++n) {
      if (!(which >> n & 1))
        continue;
      // Stored [B, S, H, D], seen [B, H, S, D].
      Array stored(ElementType::F32, {b, s, h, d});
      for (int64_t x = 0; x < 48; ++x)
        stored.set(
            outIndex(stored.shape, true, x / 24, x / 12 % 2, x / 4 % 3, x % 4),
            elements[n][size_t(x)]);
      c.arrays.push_back(stored);
      *views[n] = c.arrays.back().view();
      views[n]->shape = dense;
      views[n]->strides = {s * h * d, d, h * d, 1};
    }
    EXPECT_EQ(c.run().out, expected.out) << which;
  }
}

TEST(Attention, B58_NegativeStrides) {
  Case forward({1, 1, 1, 2}, {1, 2}, {1, 1, 3, 2}, {1, 2, 3, 4, 5, 6},
               {1, 1, 3, 1}, {1, 2, 4});
  Case reversed({1, 1, 1, 2}, {1, 2}, {1, 1, 3, 2}, {5, 6, 3, 4, 1, 2},
                {1, 1, 3, 1}, {1, 2, 4});
  ArrayView &key = reversed.problem.key;
  key.data += 4 * sizeof(float);
  key.strides[2] = -2;
  EXPECT_EQ(reversed.run().out, forward.run().out);
}

TEST(Attention, B60_HeadsExpandedByStrideZero) {
  for (int64_t sk : {1, 33, 65}) {
    Values k = fill(sk * 16, 2), v = fill(sk * 16, 3), mask(size_t(sk), 1.0);
    for (size_t j = 1; j < mask.size(); j += 7)
      mask[j] = 0;
    Values k4, v4;
    for (int h = 0; h < 4; ++h) {
      k4.insert(k4.end(), k.begin(), k.end());
      v4.insert(v4.end(), v.begin(), v.end());
    }
    Case copies({1, 4, 2, 16}, fill(128, 1), {1, 4, sk, 16}, k4, {1, 4, sk, 16},
                v4, ElementType::BF16);
    Case views({1, 4, 2, 16}, fill(128, 1), {1, 1, sk, 16}, k, {1, 1, sk, 16},
               v, ElementType::BF16);
    for (ArrayView *view : {&views.problem.key, &views.problem.value}) {
      view->shape[1] = 4;
      view->strides[1] = 0;
    }
    EXPECT_EQ(views.mask({sk}, mask).run().out,
              copies.mask({sk}, mask).run().out);
  }
}

//===----------------------------------------------------------------------===//
// Masks and score clauses
//===----------------------------------------------------------------------===//

TEST(Attention, B64_MasksBroadcastFromTheRight) {
  int64_t b = 2, h = 3, sq = 2, sk = 5;
  auto make = [&] {
    return std::make_unique<Case>(Shape{b, h, sq, 4}, fill(b * h * sq * 4, 1),
                                  Shape{b, h, sk, 4}, fill(b * h * sk * 4, 2),
                                  Shape{b, h, sk, 4}, fill(b * h * sk * 4, 3));
  };
  for (const Shape &shape :
       {Shape{sk}, Shape{sq, sk}, Shape{1, 1, sq, sk}, Shape{b, 1, 1, sk},
        Shape{1, h, sq, sk}, Shape{b, 1, sq, sk}, Shape{h, 1, 1},
        Shape{b, h, sq, 1}, Shape{h, sq, sk}, Shape{}}) {
    int64_t count = farun::elementCount(shape);
    Values mask, full;
    for (int64_t n = 0; n < count; ++n)
      mask.push_back(n % 3 != 1);
    // Expanded by hand.
    Shape padded(4 - shape.size(), 1);
    padded.insert(padded.end(), shape.begin(), shape.end());
    for (int64_t n = 0; n < b * h * sq * sk; ++n) {
      int64_t index[4] = {n / (h * sq * sk), n / (sq * sk) % h, n / sk % sq,
                          n % sk};
      int64_t at = 0;
      for (int d = 0; d < 4; ++d)
        at = at * padded[size_t(d)] + (padded[size_t(d)] == 1 ? 0 : index[d]);
      full.push_back(mask[size_t(at)]);
    }
    auto broadcast = make(), expanded = make();
    EXPECT_EQ(broadcast->mask(shape, mask).run().out,
              expanded->mask({b, h, sq, sk}, full).run().out)
        << farun::shapeText(shape);
  }
  // Rank 3 is (H, Sq, Sk), never (B, Sq, Sk).
  EXPECT_EQ(make()->mask({b, sq, sk}, Values(20, 1.0)).refusal(),
            "mask of shape 2x2x5 does not broadcast to 2x3x2x5");
}

TEST(Attention, B74_MaskOrLengthLongerThanTheKeys) {
  Case mask({1, 1, 10, 1}, fill(10, 1), {1, 1, 5, 1}, fill(5, 1), {1, 1, 5, 1},
            fill(5, 1));
  mask.mask({10, 8}, Values(80, 1.0));
  EXPECT_EQ(mask.refusal(), "mask of shape 10x8 does not broadcast to "
                            "1x1x10x5");
  Case length({1, 1, 10, 1}, fill(10, 1), {1, 1, 5, 1}, fill(5, 1),
              {1, 1, 5, 1}, fill(5, 1));
  EXPECT_EQ(length.kvLengths({8}).refusal(),
            "kv_lengths[0] is 8, outside 0..5");
  EXPECT_EQ(length.kvLengths({-1}).refusal(),
            "kv_lengths[0] is -1, outside 0..5");
  EXPECT_EQ(length.kvLengths({1, 1}).refusal(),
            "kv_lengths has shape 2 and must have 1 elements (B)");
}

TEST(Attention, B70_BiasIsAddedAfterTheScale) {
  Case c({1, 1, 1, 4}, {2, 0, 0, 0}, {1, 1, 2, 4}, {1, 0, 0, 0, 0, 0, 0, 0},
         {1, 1, 2, 1}, {1, 0});
  c.scale(0.5).bias({2}, {0, 3});
  expectNear(c.run().out, {0.119203});
}

TEST(Attention, B76_SoftcapBeforeTheMask) {
  Case c({1}, {1, 9}, {1, 100});
  c.problem.softcap = 2.0;
  c.mask({2}, {1, 0});
  expectNear(c.run().out, {1});
  expectNear(c.run().lse, {0.924234});
}

TEST(Attention, B82_TheSinkEntersOnceUnscaledUncapped) {
  auto run = [](const Values &visible, bool scaled) {
    Case c({0}, {0, 0, 0, 0}, {1, 2, 3, 4});
    c.mask({4}, visible);
    c.problem.sink = c.add(ElementType::F32, {1}, {1.0});
    if (scaled) {
      c.scale(0.5);
      c.problem.softcap = 2.0;
    }
    Result result = c.run();
    return Values{result.out[0], result.lse[0]};
  };
  expectNear(run({0, 0, 1, 1}, false), {1.483591, 1.551445});
  expectNear(run({0, 0, 1, 1}, true), {1.483591, 1.551445});
  expectNear(run({0, 0, 0, 0}, false), {0, 1});
}

TEST(Attention, AlibiCountsDistanceFromTheAlignedQuery) {
  // One query, three keys, bottom_right by default: distances 2, 1, 0.
  Case c({0}, {0, 0, 0}, {1, 2, 4});
  c.problem.alibi = c.add(ElementType::F32, {1}, {std::log(2.0)});
  expectNear(c.run().out, {(0.25 * 1 + 0.5 * 2 + 4) / 1.75}, 1e-6);
  // top_left by the causal mask: distances 0, 1, 2 and only key 0 visible.
  c.causal(false);
  expectNear(c.run().out, {1});
}

TEST(Attention, B85_B87_WindowBoundsAreInclusiveDistances) {
  auto run = [](int64_t left, int64_t right) {
    Case c(Values(5, 0.0), Values(5, 0.0), {1, 2, 4, 8, 16});
    farun::StructuralMask mask;
    mask.kind = farun::StructuralMask::Kind::Window;
    mask.left = left;
    mask.right = right;
    c.problem.masks = {mask};
    return c.run().out;
  };
  for (int64_t left : {-1, 4, 5, 100})
    expectNear(run(left, 0), {1, 1.5, 7.0 / 3, 3.75, 6.2});
  expectNear(run(1, 0), {1, 1.5, 3, 6, 12});
  expectNear(run(2, 0), {1, 1.5, 7.0 / 3, 14.0 / 3, 28.0 / 3});
  expectNear(run(0, 0), {1, 2, 4, 8, 16});
}

TEST(Attention, B102_LSEOfARowWithoutKeysIsMinusInfinity) {
  EXPECT_EQ(Case({1}, {}, {}).run().lse[0], -kInf);
  Case blocked({1}, {1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_EQ(blocked.mask({4}, {0, 0, 0, 0}).run().lse[0], -kInf);
}

TEST(Attention, MismatchedOperandsAreRefusedByName) {
  EXPECT_EQ(Case({1, 1, 1, 2}, {1, 2}, {1, 1, 1, 1}, {1}, {1, 1, 1, 1}, {1})
                .refusal(),
            "query and key differ in head dimension: 2 and 1");
  EXPECT_EQ(Case({2, 1, 1, 1}, {1, 2}, {1, 1, 1, 1}, {1}, {1, 1, 1, 1}, {1})
                .refusal(),
            "query and key differ in batch: 2 and 1");
  EXPECT_EQ(Case({1}, {1, 2}, {1}).refusal(),
            "key and value differ in shape: 1x1x2x1 and 1x1x1x1");
}

} // namespace
