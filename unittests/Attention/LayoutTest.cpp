//===- LayoutTest.cpp - operands as they lie in memory --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operand is addressed by its own strides: permuted, packed, reversed,
// expanded, misaligned, with gaps. The elements are the same as in the dense
// run, so the bits of the results must be; the runner finds a store into a gap.
// Names carry the labels of docs/Testing.md.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <utility>

using namespace farun;
using namespace farun::test;

namespace {

/// Strides of a [B, H, S, D] operand that is stored [B, S, H, D].
Shape storedBSHD(const Shape &shape) {
  return {shape[1] * shape[2] * shape[3], shape[3], shape[1] * shape[3], 1};
}

class Layouts : public testing::Test {
protected:
  Layouts() : trial(form, {2, 4, 2, 70, 101}) {
    trial.seed(12);
    dense = bits(trial.run());
  }

  /// The same elements by other strides.
  void expectSame(const char *what,
                  std::vector<std::pair<std::string, Shape>> strides) {
    Trial other = trial;
    for (const auto &[role, values] : strides)
      other.strides(role, values);
    EXPECT_TRUE(bits(other.run()) == dense) << what;
  }

  Form form{.headDim = 40, .valueDim = 48};
  Trial trial;
  std::vector<std::byte> dense;
};

TEST_F(Layouts, B52_PermutedOperands) {
  const char *roles[] = {"query", "key", "value", "out"};
  for (unsigned set = 1; set < 16; ++set) {
    std::vector<std::pair<std::string, Shape>> strides;
    for (unsigned n = 0; n < 4; ++n)
      if (set >> n & 1)
        strides.push_back({roles[n], storedBSHD(trial.shapeOf(roles[n]))});
    expectSame(("permuted set " + std::to_string(set)).c_str(), strides);
  }
}

TEST_F(Layouts, B54_SlicesOfOneProjection) {
  // [S, B, Hq Q | Hkv K | Hkv V], as strides; V and O are wider than Q and K.
  int64_t row = 4 * 40 + 2 * 40 + 2 * 48;
  expectSame("packed", {{"query", {row, 40, 2 * row, 1}},
                        {"key", {row, 40, 2 * row, 1}},
                        {"value", {row, 48, 2 * row, 1}}});
  // Interleaved for each group: 2 Q, K, V.
  int64_t group = 2 * 40 + 40 + 48;
  expectSame("interleaved", {{"key", {2 * group, group, 4 * group, 1}},
                             {"value", {2 * group, group, 4 * group, 1}},
                             {"out", {4 * 48, 48, 2 * 4 * 48, 1}}});
}

TEST_F(Layouts, B58_NegativeStrides) {
  expectSame("keys reversed", {{"key", {2 * 101 * 40, 101 * 40, -40, 1}}});
  expectSame("columns reversed", {{"query", {4 * 70 * 40, 70 * 40, 40, -1}},
                                  {"key", {2 * 101 * 40, 101 * 40, 40, -1}}});
  expectSame("all reversed", {{"query", {-4 * 70 * 40, -70 * 40, -40, -1}},
                              {"key", {-2 * 101 * 40, -101 * 40, -40, -1}},
                              {"value", {-2 * 101 * 48, -101 * 48, -48, -1}},
                              {"out", {-4 * 70 * 48, -70 * 48, -48, -1}},
                              {"lse", {-4 * 70, -70, -1}}});
}

TEST_F(Layouts, InnerStrideAboveOne) {
  expectSame("every other element",
             {{"query", {4 * 70 * 80, 70 * 80, 80, 2}},
              {"key", {2 * 101 * 120, 101 * 120, 120, 3}},
              {"value", {2 * 101 * 96, 101 * 96, 96, 2}},
              {"out", {4 * 70 * 144, 70 * 144, 144, 3}},
              {"lse", {4 * 70 * 5, 70 * 5, 5}}});
  // D runs slowest: K is stored transposed.
  expectSame("transposed", {{"query", {4 * 40 * 70, 40 * 70, 1, 70}},
                            {"key", {2 * 40 * 101, 40 * 101, 1, 101}},
                            {"value", {2 * 48 * 101, 48 * 101, 1, 101}},
                            {"out", {4 * 48 * 70, 48 * 70, 1, 70}}});
}

TEST_F(Layouts, MisalignedRows) {
  // Row pitches that fit no 16, 8 or 4 bytes, then bases that do not: a
  // reversed batch puts batch 0 behind an odd number of elements.
  for (int64_t pad : {1, 2, 4}) {
    int64_t d = 40 + pad, dv = 48 + pad;
    expectSame("pitch", {{"query", {4 * 70 * d, 70 * d, d, 1}},
                         {"key", {2 * 101 * d, 101 * d, d, 1}},
                         {"value", {2 * 101 * dv, 101 * dv, dv, 1}},
                         {"out", {4 * 70 * dv, 70 * dv, dv, 1}}});
    expectSame("base", {{"query", {-(4 * 70 * 40 + pad), 70 * 40, 40, 1}},
                        {"key", {-(2 * 101 * 40 + pad), 101 * 40, 40, 1}},
                        {"value", {-(2 * 101 * 48 + pad), 101 * 48, 48, 1}},
                        {"out", {-(4 * 70 * 48 + pad), 70 * 48, 48, 1}}});
    expectSame("heads",
               {{"key", {2 * (101 * 40 + pad), 101 * 40 + pad, 40, 1}},
                {"value", {2 * (101 * 48 + pad), 101 * 48 + pad, 48, 1}}});
  }
}

TEST_F(Layouts, LSEByItsStrides) {
  expectSame("lse", {{"lse", {3, 2 * 3, 4 * 2 * 3}}});
}

TEST(Cases, B51_StridesOfOneMeanNothing) {
  Form form{.mask = "?x?x?x?"};
  Trial trial(form, {1, 1, 1, 4, 5});
  std::vector<std::byte> dense = bits(trial.seed(2).run());
  for (int64_t unused : {int64_t(1) << 40, int64_t(0), int64_t(-7)}) {
    Trial other = trial;
    other.strides("query", {unused, unused, 16, 1})
        .strides("key", {unused, unused, 16, 1})
        .strides("value", {-unused, unused, 16, 1})
        .strides("mask", {unused, -unused, 5, 1})
        .strides("out", {unused, unused, 16, 1})
        .strides("lse", {unused, unused, 1});
    EXPECT_TRUE(bits(other.run()) == dense) << unused;
  }
}

TEST(Cases, B56_EveryExtentOne) {
  Form form{.schedule = kLeastTiles};
  Trial trial(form, {1, 1, 1, 1, 1});
  std::vector<std::byte> dense = bits(trial.run());
  for (int64_t inner : {1, 2, 7}) {
    Trial other = trial;
    for (const char *role : {"query", "key", "value", "out"})
      other.strides(role, {7, 7, 7, inner});
    EXPECT_TRUE(bits(other.strides("lse", {7, 7, 7}).run()) == dense) << inner;
  }
}

TEST(Cases, B60_ExpandedHeads) {
  // K and V of head stride 0, keys at 1 modulo 32, a mask with a few holes.
  Form form{.type = "bf16", .mask = "?x1x?x?"};
  for (int64_t keys : {1, 33, 65}) {
    Trial trial(form, {1, 4, 4, 3, keys});
    for (const char *role : {"key", "value"}) {
      Values one = fill(keys * 16, 5), all;
      for (int head = 0; head < 4; ++head)
        all.insert(all.end(), one.begin(), one.end());
      trial.set(role, all);
    }
    Values mask(size_t(3 * keys), 1);
    for (size_t n = 1; n < mask.size(); n += 5)
      mask[n] = 0;
    std::vector<std::byte> dense = bits(trial.set("mask", mask).run());
    trial.strides("key", {keys * 16, 0, 16, 1})
        .strides("value", {keys * 16, 0, 16, 1});
    EXPECT_TRUE(bits(trial.run()) == dense) << keys;
  }
  // Everything expanded: one key and one value row, stride 0 along keys too.
  Trial trial(Form{.type = "bf16"}, {2, 4, 4, 3, 40});
  trial.setAll("key", 0.5).setAll("value", 3);
  std::vector<std::byte> dense = bits(trial.run());
  trial.strides("key", {0, 0, 0, 0}).strides("value", {0, 0, 0, 1});
  EXPECT_TRUE(bits(trial.run()) == dense);
}

TEST(Cases, B64_MasksOfEveryBroadcast) {
  constexpr int64_t kB = 2, kH = 3, kSq = 34, kSk = 37;
  Form full{.mask = "?x?x?x?"};
  Extent5 extents{kB, kH, kH, kSq, kSk};
  for (const char *shape : {"?", "?x?", "1x1x?x?", "?x1x1x?", "1x?x?x?",
                            "?x1x?x?", "?x1x1", "?x?x?x1", "1", "1x?x1x?"}) {
    Form form;
    form.mask = shape;
    Trial trial(form, extents);
    Values narrow = trial.seed(6).input("mask").values(), wide;
    Shape dims = trial.shapeOf("mask");
    dims.insert(dims.begin(), 4 - dims.size(), 1);
    for (int64_t b = 0; b < kB; ++b)
      for (int64_t h = 0; h < kH; ++h)
        for (int64_t i = 0; i < kSq; ++i)
          for (int64_t j = 0; j < kSk; ++j) {
            int64_t n = b % dims[0];
            n = n * dims[1] + h % dims[1];
            n = n * dims[2] + i % dims[2];
            n = n * dims[3] + j % dims[3];
            wide.push_back(narrow[size_t(n)]);
          }
    RunResult result = trial.run();
    Trial expanded(full, extents);
    EXPECT_TRUE(bits(expanded.seed(6).set("mask", wide).run()) == bits(result))
        << shape;
  }
}

TEST(Cases, B68_OddMaskRows) {
  Form form{.mask = "?x?x?x?"};
  for (int64_t keys : {5, 7, 33, 43, 64}) {
    Trial trial(form, {2, 2, 2, 4, keys});
    std::vector<std::byte> dense = bits(trial.seed(7).run());
    // A slice of a wider tensor, columns reversed, stored by columns.
    for (const Shape &strides :
         {Shape{2 * 4 * 77, 4 * 77, 77, 1}, Shape{8 * keys, 4 * keys, keys, -1},
          Shape{8 * keys, 4 * keys, 1, 4}}) {
      Trial other = trial;
      EXPECT_TRUE(bits(other.strides("mask", strides).run()) == dense) << keys;
    }
  }
}

TEST(Cases, B68_MaskWithMasksAndLengths) {
  for (const char *clauses :
       {"masks [#fa.causal<bottom_right>]", "masks [#fa.causal<top_left>]"})
    for (const char *state : {",state=registers", ",state=shared"}) {
      Form form{.type = "bf16",
                .headDim = 32,
                .valueDim = 32,
                .clauses = clauses,
                .mask = "?x1x?x?",
                .hasKVLengths = true,
                .schedule = std::string(kSmallTiles) + state};
      for (auto [queries, keys] : {std::pair(65, 97), {97, 65}, {1, 33}})
        Trial(form, {2, 3, 1, queries, keys}).seed(uint64_t(keys)).run();
    }
}

TEST(Cases, B74_MaskOfAnotherLengthIsRefused) {
  Form form{.mask = "10x8", .extents = {-1, -1, -1, 10, -1}};
  std::string message = Trial(form, {1, 1, 1, 10, 5}).refusal();
  EXPECT_NE(message.find("8"), std::string::npos) << message;
  EXPECT_NE(message.find("5"), std::string::npos) << message;
}

TEST(Cases, B108_LayoutBSHD) {
  // The layout word and the strides say the same.
  Extent5 extents{2, 6, 2, 35, 70};
  for (const char *clauses : {"", "masks [#fa.causal<bottom_right>]"}) {
    Form bhsd{.headDim = 24, .valueDim = 40, .clauses = clauses};
    Form bshd = bhsd;
    bshd.isBSHD = true;
    Trial left(bhsd, extents), right(bshd, extents);
    for (const char *role : {"query", "key", "value"}) {
      Shape shape = right.shapeOf(role);
      Array values = left.seed(3).input(role);
      Values turned;
      for (int64_t b = 0; b < shape[0]; ++b)
        for (int64_t s = 0; s < shape[1]; ++s)
          for (int64_t h = 0; h < shape[2]; ++h)
            for (int64_t d = 0; d < shape[3]; ++d)
              turned.push_back(values.get(
                  ((b * shape[2] + h) * shape[1] + s) * shape[3] + d));
      right.set(role, turned);
      left.strides(role, storedBSHD(left.shapeOf(role)));
    }
    left.strides("out", storedBSHD(left.shapeOf("out")));
    RunResult a = left.run(), b = right.run();
    ASSERT_EQ(b.outputs.size(), 2u);
    EXPECT_EQ(b.outputs[0].shape, (Shape{2, 35, 6, 40}));
    EXPECT_TRUE(a.outputs[1].bytes == b.outputs[1].bytes);
    for (int64_t n = 0; n < a.outputs[0].size(); ++n) {
      std::vector<int64_t> at = indexOf(n, a.outputs[0].shape);
      ASSERT_EQ(
          a.outputs[0].get(n),
          b.outputs[0].get(((at[0] * 35 + at[2]) * 6 + at[1]) * 40 + at[3]))
          << indexText(at);
    }
    // O as a slice of wider rows, heads apart.
    Trial sliced = right;
    sliced.strides("out", {35 * 6 * 64, 6 * 64, 64, 1});
    EXPECT_TRUE(bits(sliced.run()) == bits(b));
  }
}

} // namespace
