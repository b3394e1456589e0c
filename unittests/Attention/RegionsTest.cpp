//===- RegionsTest.cpp - score and visibility regions end to end ----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regions that people write: biases by distance, caps of their own, tables by
// head or by position, documents, chunks, causal and sliding masks; alone and
// with the other clauses, around the tiles. The oracle reads them from the
// manifest.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cmath>
#include <numbers>

using namespace farun;
using namespace farun::test;

namespace {

std::string score(const std::string &body) {
  return " score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: "
         "index):\n" +
         body + " }";
}
std::string visible(const std::string &body) {
  return " visible { ^bb0(%b: index, %h: index, %i: index, %j: index):\n" +
         body + " }";
}

/// s + 0.05 (i - j)
const std::string kDistance = score(R"(
  %d = arith.subi %i, %j : index
  %n = arith.index_cast %d : index to i64
  %x = arith.sitofp %n : i64 to f32
  %c = arith.constant 0.05 : f32
  %p = arith.mulf %x, %c : f32
  %r = arith.addf %s, %p : f32
  fa.yield %r : f32)");
/// 2 tanh(s / 2), then exp, log and their kin around it
const std::string kFunctions = score(R"(
  %two = arith.constant 2.0 : f32
  %u = arith.divf %s, %two : f32
  %t = math.tanh %u : f32
  %e = math.exp %t : f32
  %l = math.log %e : f32
  %a = math.absf %l : f32
  %w = math.sqrt %a : f32
  %f = math.floor %s : f32
  %m = arith.minimumf %w, %f : f32
  %o = arith.cmpf ogt, %s, %two : f32
  %c = arith.select %o, %m, %l : f32
  fa.yield %c : f32)");
/// s times a number of the head, plus one of (head, i, j)
const std::string kTables = score(R"(
  %g = memref.load %gain[%h] : memref<?xf32>
  %x = arith.mulf %s, %g : f32
  %t = memref.load %table[%h, %i, %j] : memref<?x?x?xf16>
  %w = arith.extf %t : f16 to f32
  %r = arith.addf %x, %w : f32
  fa.yield %r : f32)");
/// Without the product of Q and K.
const std::string kConstant = score(R"(
  %r = arith.constant 0.5 : f32
  fa.yield %r : f32)");
/// s + i / (101 - j): behind the last of 101 keys it would divide by 0.
const std::string kQuotient = score(R"(
  %n = arith.constant 101 : index
  %d = arith.subi %n, %j : index
  %y = arith.floordivsi %i, %d : index
  %z = arith.remsi %i, %d : index
  %p = arith.addi %y, %z : index
  %w = arith.index_cast %p : index to i64
  %x = arith.sitofp %w : i64 to f32
  %r = arith.addf %s, %x : f32
  fa.yield %r : f32)");
/// -inf hides a key as a mask does.
const std::string kHidden = score(R"(
  %c = arith.cmpi sge, %i, %j : index
  %n = arith.constant 0xFF800000 : f32
  %r = arith.select %c, %s, %n : f32
  fa.yield %r : f32)");

const std::string kCausal = visible(R"(
  %c = arith.cmpi sge, %i, %j : index
  fa.yield %c : i1)");
/// Every third diagonal, and all in head 1.
const std::string kDiagonals = visible(R"(
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %d = arith.subi %i, %j : index
  %f = arith.floordivsi %d, %three : index
  %m = arith.muli %f, %three : index
  %e = arith.cmpi eq, %m, %d : index
  %g = arith.cmpi eq, %h, %one : index
  %c = arith.ori %e, %g : i1
  fa.yield %c : i1)");
/// Chunks of 16 that see themselves and the one before.
const std::string kChunks = visible(R"(
  %n = arith.constant 16 : index
  %one = arith.constant 1 : index
  %a = arith.divui %i, %n : index
  %z = arith.divui %j, %n : index
  %d = arith.subi %a, %z : index
  %low = arith.constant 0 : index
  %x = arith.cmpi sge, %d, %low : index
  %y = arith.cmpi sle, %d, %one : index
  %c = arith.andi %x, %y : i1
  fa.yield %c : i1)");
/// Numbers beyond 32 bits.
const std::string kWide = visible(R"(
  %a = arith.constant 100000007 : index
  %n = arith.constant 5 : index
  %z = arith.constant 0 : index
  %p = arith.muli %i, %a : index
  %u = arith.muli %p, %a : index
  %t = arith.addi %u, %j : index
  %m = arith.remui %t, %n : index
  %c = arith.cmpi ne, %m, %z : index
  fa.yield %c : i1)");
/// Documents, by a table of the caller's.
const std::string kDocuments = visible(R"(
  %x = memref.load %documents[%b, %i] : memref<?x?xi32>
  %y = memref.load %documents[%b, %j] : memref<?x?xi32>
  %c = arith.cmpi eq, %x, %y : i32
  fa.yield %c : i1)");
/// A window whose width comes with the launch.
const std::string kWidth = visible(R"(
  %d = arith.subi %i, %j : index
  %c = arith.cmpi slt, %d, %width : index
  fa.yield %c : i1)");

/// On tensors a region reads by tensor.extract.
std::string onTensors(std::string text) {
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  replace("memref.load", "tensor.extract");
  replace("memref<", "tensor<");
  return text;
}

struct Row {
  const char *name;
  std::string clauses;
  bool hasBias = false, hasAlibi = false, hasKVLengths = false;
};

const std::vector<Row> &rows() {
  static const std::vector<Row> list = {
      {"distance", kDistance},
      {"functions", kFunctions},
      {"constant", kConstant},
      {"quotient", kQuotient},
      {"hidden", kHidden},
      {"causal", kCausal},
      {"diagonals", kDiagonals},
      {"chunks", kChunks},
      {"wide", kWide},
      {"both", kDistance + kChunks},
      {"with_others",
       "scale(-0.3) softcap(1.5) masks [#fa.causal<bottom_right>]" + kDistance +
           kDiagonals,
       true, true, true},
      // What is not linear shows what comes before and behind it.
      {"functions_with_others", "scale(2.0) softcap(3.0)" + kFunctions, true,
       true, true},
  };
  return list;
}

class Regions : public testing::TestWithParam<Row> {};

TEST_P(Regions, AroundTheTiles) {
  const Row &row = GetParam();
  uint64_t seed = 0;
  const char *states[] = {",state=registers", ",state=shared"};
  for (const char *type : {"f16", "f32"}) {
    Form form{.type = type,
              .clauses = row.clauses,
              .bias = row.hasBias ? "?x?x?x?" : "",
              .hasAlibi = row.hasAlibi,
              .hasKVLengths = row.hasKVLengths,
              .schedule = kSmallTiles + std::string(states[type[1] == '3'])};
    for (auto [queries, keys] : {std::pair(1, 1), {65, 31}, {70, 101}}) {
      Trial(form, {2, 6, 2, queries, keys}).seed(++seed).run();
      if (HasFailure())
        return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Regions, testing::ValuesIn(rows()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// What a block knows of a region
//===----------------------------------------------------------------------===//

/// One operation whose interval decides which blocks are read and which are
/// full, in blocks of 16 keys.
struct Bounds {
  const char *name;
  const char *body;
};

constexpr Bounds kBounds[] = {
    {"sum", R"(
  %n = arith.constant 40 : index
  %s = arith.addi %i, %j : index
  %c = arith.cmpi slt, %s, %n : index)"},
    {"difference", R"(
  %n = arith.constant 5 : index
  %d = arith.subi %i, %j : index
  %c = arith.cmpi sge, %d, %n : index)"},
    {"negative_multiple", R"(
  %m = arith.constant -2 : index
  %n = arith.constant -7 : index
  %p = arith.muli %i, %m : index
  %s = arith.addi %p, %j : index
  %c = arith.cmpi sle, %s, %n : index)"},
    {"product", R"(
  %n = arith.constant 30 : index
  %m = arith.constant 24 : index
  %a = arith.subi %i, %m : index
  %z = arith.subi %j, %m : index
  %p = arith.muli %a, %z : index
  %c = arith.cmpi sgt, %p, %n : index)"},
    {"quotient_of_negative", R"(
  %n = arith.constant 16 : index
  %z = arith.constant 0 : index
  %d = arith.subi %j, %i : index
  %u = arith.floordivsi %d, %n : index
  %c = arith.cmpi sge, %u, %z : index)"},
    {"truncated_quotient", R"(
  %n = arith.constant 16 : index
  %z = arith.constant 0 : index
  %d = arith.subi %i, %j : index
  %u = arith.divsi %d, %n : index
  %c = arith.cmpi sge, %u, %z : index)"},
    {"unsigned_quotient", R"(
  %n = arith.constant 16 : index
  %m = arith.constant 3 : index
  %d = arith.subi %j, %i : index
  %u = arith.divui %d, %n : index
  %c = arith.cmpi slt, %u, %m : index)"},
    {"rest", R"(
  %n = arith.constant 40 : index
  %m = arith.constant 20 : index
  %s = arith.addi %i, %j : index
  %r = arith.remsi %s, %n : index
  %c = arith.cmpi slt, %r, %m : index)"},
    {"rest_of_all", R"(
  %n = arith.constant 16 : index
  %m = arith.constant 14 : index
  %t = arith.constant 3 : index
  %s = arith.addi %j, %t : index
  %r = arith.remui %s, %n : index
  %c = arith.cmpi sle, %r, %m : index)"},
    {"last_of_each_block", R"(
  %n = arith.constant 16 : index
  %m = arith.constant 15 : index
  %r = arith.remui %j, %n : index
  %c = arith.cmpi eq, %r, %m : index)"},
    {"rest_of_negative", R"(
  %n = arith.constant 16 : index
  %z = arith.constant 0 : index
  %d = arith.subi %i, %j : index
  %r = arith.remsi %d, %n : index
  %c = arith.cmpi sge, %r, %z : index)"},
    {"unsigned_rest_of_negative", R"(
  %n = arith.constant 7 : index
  %m = arith.constant 3 : index
  %d = arith.subi %i, %j : index
  %r = arith.remui %d, %n : index
  %c = arith.cmpi sge, %r, %m : index)"},
    {"smaller", R"(
  %n = arith.constant 20 : index
  %m = arith.minsi %i, %j : index
  %c = arith.cmpi sge, %m, %n : index)"},
    {"larger", R"(
  %n = arith.constant 40 : index
  %m = arith.maxsi %i, %j : index
  %c = arith.cmpi sle, %m, %n : index)"},
    {"same_chunk", R"(
  %n = arith.constant 28 : index
  %a = arith.divui %i, %n : index
  %z = arith.divui %j, %n : index
  %c = arith.cmpi eq, %a, %z : index)"},
    {"other_chunk", R"(
  %n = arith.constant 24 : index
  %a = arith.divui %i, %n : index
  %z = arith.divui %j, %n : index
  %c = arith.cmpi ne, %a, %z : index)"},
    {"unsigned_window", R"(
  %n = arith.constant 20 : index
  %d = arith.subi %i, %j : index
  %c = arith.cmpi ult, %d, %n : index)"},
    {"unsigned_to_a_negative_number", R"(
  %n = arith.constant 20 : index
  %d = arith.subi %i, %j : index
  %e = arith.subi %j, %n : index
  %c = arith.cmpi ule, %d, %e : index)"},
    {"unsigned_to_the_row", R"(
  %c = arith.cmpi ule, %j, %i : index)"},
    {"unsigned_to_the_key", R"(
  %d = arith.subi %i, %j : index
  %c = arith.cmpi ugt, %j, %d : index)"},
    {"unsigned_and_negative", R"(
  %n = arith.constant -20 : index
  %d = arith.subi %i, %j : index
  %c = arith.cmpi ugt, %d, %n : index)"},
    {"unsigned_beyond", R"(
  %n = arith.constant 20 : i32
  %d = arith.subi %i, %j : index
  %w = arith.index_cast %d : index to i32
  %c = arith.cmpi uge, %w, %n : i32)"},
    {"both", R"(
  %n = arith.constant 20 : index
  %x = arith.cmpi sge, %i, %j : index
  %y = arith.cmpi sge, %j, %n : index
  %c = arith.andi %x, %y : i1)"},
    {"either", R"(
  %n = arith.constant 20 : index
  %x = arith.cmpi sgt, %i, %j : index
  %y = arith.cmpi slt, %j, %n : index
  %c = arith.ori %x, %y : i1)"},
    {"one_of_two", R"(
  %n = arith.constant 20 : index
  %m = arith.constant 33 : index
  %x = arith.cmpi sge, %i, %n : index
  %y = arith.cmpi sge, %j, %m : index
  %c = arith.xori %x, %y : i1)"},
    {"not", R"(
  %t = arith.constant true
  %x = arith.cmpi sgt, %j, %i : index
  %c = arith.xori %x, %t : i1)"},
    {"number_of_truths", R"(
  %n = arith.constant 20 : index
  %one = arith.constant 1 : i32
  %x = arith.cmpi sge, %i, %j : index
  %y = arith.cmpi sge, %j, %n : index
  %a = arith.extui %x : i1 to i32
  %z = arith.extui %y : i1 to i32
  %s = arith.addi %a, %z : i32
  %c = arith.cmpi eq, %s, %one : i32)"},
    {"wraps_in_32_bits", R"(
  %f = arith.constant 1073741824 : i32
  %z = arith.constant 0 : i32
  %w = arith.index_cast %i : index to i32
  %p = arith.muli %w, %f : i32
  %c = arith.cmpi sge, %p, %z : i32)"},
    {"narrowed_to_32_bits", R"(
  %f = arith.constant 1073741824 : index
  %z = arith.constant 0 : i32
  %p = arith.muli %j, %f : index
  %w = arith.index_cast %p : index to i32
  %c = arith.cmpi sge, %w, %z : i32)"},
    {"bit_with_a_sign", R"(
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %n = arith.constant -20 : i32
  %b1 = arith.index_cast %h : index to i1
  %e = arith.extsi %b1 : i1 to i32
  %t = arith.muli %e, %two : i32
  %d = arith.addi %t, %one : i32
  %w = arith.index_cast %j : index to i32
  %x = arith.divsi %w, %d : i32
  %c = arith.cmpi sge, %x, %n : i32)"},
    {"bit_of_64_bits", R"(
  %n = arith.constant 1.0e+15 : f32
  %w = arith.index_cast %j : index to i32
  %b1 = arith.trunci %w : i32 to i1
  %e = arith.extsi %b1 : i1 to i64
  %u = arith.uitofp %e : i64 to f32
  %c = arith.cmpf olt, %u, %n : f32)"},
    {"odd_heads", R"(
  %n = arith.constant 2 : index
  %one = arith.constant 1 : index
  %r = arith.remui %h, %n : index
  %x = arith.cmpi eq, %r, %one : index
  %y = arith.cmpi sge, %i, %j : index
  %c = arith.ori %x, %y : i1)"},
};

class RegionBounds : public testing::TestWithParam<Bounds> {};

TEST_P(RegionBounds, LeaveOutNothingThatIsSeen) {
  // The last full blocks run where the partial ones do and are asked all the
  // same, so what may be wrongly full comes in front of them.
  std::string body = GetParam().body + std::string("\n  fa.yield %c : i1");
  Form form{.clauses = visible(body), .schedule = kLeastTiles};
  for (auto [queries, keys] : {std::pair(70, 70), {33, 85}})
    Trial(form, {1, 2, 1, queries, keys}).seed(uint64_t(keys)).run();
}

INSTANTIATE_TEST_SUITE_P(, RegionBounds, testing::ValuesIn(kBounds),
                         [](const auto &info) { return info.param.name; });

TEST(RegionCases, B84_AScalarTimesTheScore) {
  Form form{.outType = "f32",
            .clauses = "scale(1.0)" + score(R"(
  %r = arith.mulf %s, %t : f32
  fa.yield %r : f32)"),
            .captured = ", %t: f32",
            .schedule = kLeastTiles};
  Trial trial = Trial::ofRows(form, {1}, {1, 0}, {1, 2});
  trial.set("region0", {1}).expect({1.268941});
  trial.set("region0", {-3})
      .expect({(std::exp(-3.0) + 2) / (std::exp(-3.0) + 1)});
}

TEST(RegionCases, ReadTables) {
  Form form{.clauses = onTensors(kTables),
            .captured = ", %gain: tensor<?xf32>, %table: tensor<?x?x?xf16>"};
  for (auto [queries, keys] : {std::pair(1, 1), {65, 31}, {70, 101}})
    Trial(form, {2, 6, 2, queries, keys})
        .dim("region0.0", 6)
        .dim("region1.0", 6)
        .dim("region1.1", queries)
        .dim("region1.2", keys)
        .seed(uint64_t(keys))
        .run();
}

TEST(RegionCases, ReadNothingBehindTheLastRowAndKey) {
  // The tables end with the rows and the keys; a tile of 64 by 32 does not.
  Form form{.clauses = onTensors(kDocuments),
            .captured = ", %documents: tensor<?x?xi32>"};
  Values documents;
  for (int n = 0; n < 2 * 70; ++n)
    documents.push_back(n / 9);
  Trial(form, {2, 3, 1, 70, 70})
      .dim("region0.0", 2)
      .dim("region0.1", 70)
      .set("region0", documents)
      .run();
}

TEST(RegionCases, BlocksThatATableHidesAreLeftOut) {
  // Documents of 40 rows, found by their numbers in memory.
  Form form{.clauses = onTensors(kDocuments),
            .captured = ", %documents: tensor<?x?xi32>",
            .schedule = "tile_q=32,tile_kv=16,warps=2"};
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  auto reads = [&](int length) {
    Values documents;
    for (int n = 0; n < 240; ++n)
      documents.push_back(5 - n / length);
    RunResult result = Trial(form, {1, 2, 1, 240, 240})
                           .dim("region0.0", 1)
                           .dim("region0.1", 240)
                           .set("region0", documents)
                           .run(*device);
    return counter(result, "shared.ldmatrix.instructions");
  };
  double all = reads(240);
  EXPECT_LT(reads(40), 0.5 * all);
  EXPECT_LT(reads(120), 0.7 * all);
}

TEST(RegionCases, ChunksBehindTheLastKeyAreEmpty) {
  // The second block of rows begins with keys that there are not.
  Form form{.clauses = "masks [#fa.chunk<top_left, size = 16>]" + kCausal,
            .schedule = kLeastTiles};
  for (int keys : {0, 1, 3})
    Trial(form, {1, 1, 1, kLeastRows + 1, keys}).run();
}

TEST(RegionCases, TakeAScalarOfTheLaunch) {
  Form form{.clauses = kWidth, .captured = ", %width: index"};
  Trial trial(form, {1, 2, 1, 70, 70});
  Values lse[2];
  for (int width : {9, 40})
    lse[width > 9] = lseOf(trial.set("region0", {double(width)}).run());
  EXPECT_NE(lse[0], lse[1]);
}

TEST(RegionCases, ByHand) {
  // Row 0 sees key 0, row 1 both; s - 1 on the diagonal below.
  Form form{.outType = "f32",
            .clauses = "scale(1.0)" + kCausal + score(R"(
  %one = arith.constant 1.0 : f32
  %d = arith.cmpi sgt, %i, %j : index
  %x = arith.subf %s, %one : f32
  %r = arith.select %d, %x, %s : f32
  fa.yield %r : f32)"),
            .schedule = kLeastTiles};
  double low = std::exp(-1.0);
  Trial::ofRows(form, {0, 0}, {0, 0}, {1, 3})
      .expect({1, (low + 3) / (low + 1)}, {0, std::log(1 + low)});
}

TEST(RegionCases, SayTheSameAsTheClauses) {
  // Bit for bit where the arithmetic is the same: visibility is a select.
  Form clause{.clauses = "masks [#fa.causal<top_left>]"};
  Form region{.clauses = kCausal};
  Extent5 extents{1, 3, 1, 70, 101};
  EXPECT_EQ(bits(Trial(region, extents).seed(3).run()),
            bits(Trial(clause, extents).seed(3).run()));
}

TEST(RegionCases, BlocksThatARegionHidesAreLeftOut) {
  // As many tiles are read for products as with the structural mask.
  DeviceOptions options;
  options.counters = true;
  std::unique_ptr<Device> device = openEmulator(options);
  auto reads = [&](const std::string &clauses) {
    Form form{.clauses = clauses, .schedule = "tile_q=32,tile_kv=16,warps=2"};
    RunResult result = Trial(form, {1, 1, 1, 130, 130}).run(*device);
    return counter(result, "shared.ldmatrix.instructions");
  };
  double all = reads("");
  double causal = reads("masks [#fa.causal<top_left>]");
  EXPECT_LT(causal, 0.7 * all);
  EXPECT_EQ(reads(kCausal), causal);
  EXPECT_LT(reads(kChunks), 0.6 * all);
}

TEST(RegionCases, B10_NaNInAHiddenKeyHasNoInfluence) {
  Form form{.clauses = kCausal};
  Trial trial(form, {1, 1, 1, 40, 40});
  for (const char *role : {"key", "value"}) {
    Values poisoned = trial.input(role).values();
    std::fill(poisoned.begin() + 20 * 16, poisoned.begin() + 21 * 16, kNaN);
    trial.set(role, poisoned);
  }
  Values lse = lseOf(trial.run());
  EXPECT_TRUE(std::isfinite(lse[19]));
  EXPECT_TRUE(std::isnan(lse[20]));
}

TEST(RegionCases, TakeNumbersBelowTheNormalOnes) {
  // A hundredth of ln(2^-130 q k), which is about -90; nothing is hidden.
  Form form{.outType = "f32",
            .clauses = "scale(1.0)" + score(R"(
  %tiny = arith.constant 7.346839692639297e-40 : f32
  %t = arith.mulf %s, %tiny : f32
  %l = math.log %t : f32
  %part = arith.constant 0.01 : f32
  %r = arith.mulf %l, %part : f32
  fa.yield %r : f32)"),
            .schedule = kLeastTiles};
  double more = std::pow(3.0, 0.01);
  Trial::ofRows(form, {1}, {1, 3}, {1, 5})
      .expect({(1 + 5 * more) / (1 + more)},
              {std::log(1 + more) - 1.3 * std::numbers::ln2});
  form.clauses = "scale(1.0)" + score(R"(
  %tiny = arith.constant 7.346839692639297e-40 : f32
  %t = arith.mulf %s, %tiny : f32
  %l = math.rsqrt %t : f32
  %unit = arith.constant 2.7105054312137611e-20 : f32
  %r = arith.mulf %l, %unit : f32
  fa.yield %r : f32)");
  double low = std::exp(0.5), high = std::exp(1.0);
  Trial::ofRows(form, {1}, {1, 4}, {1, 5})
      .expect({(high + 5 * low) / (high + low)}, {std::log(high + low)});
}

TEST(RegionCases, FunctionsOfShortNumbers) {
  // In f32 and rounded: 2^-11 of 1.6487 is seen in f16, 2^-8 in bf16.
  for (const char *type : {"f16", "bf16"})
    for (const char *function : {"exp", "exp2", "log", "log2", "sqrt", "rsqrt",
                                 "tanh", "absf", "floor", "ceil"}) {
      Form form{.outType = "f32",
                .clauses = "scale(1.0)" + score(std::string(R"(
  %t = arith.truncf %s : f32 to )") + type + "\n  %e = math." +
                                                function + " %t : " + type +
                                                "\n  %r = arith.extf %e : " +
                                                type + R"( to f32
  fa.yield %r : f32)"),
                .schedule = kLeastTiles};
      Trial::ofRows(form, {1}, {0.5, 2.25}, {1, 3}).run();
    }
}

TEST(RegionCases, ABitWithASignIsMinusOne) {
  // The oracle and by hand: row 1 asks key 0 alone.
  Form form{.outType = "f32",
            .clauses = "scale(1.0)" + score(R"(
  %one = arith.constant 1 : index
  %d = arith.cmpi eq, %j, %one : index
  %x = arith.sitofp %d : i1 to f32
  %y = arith.uitofp %d : i1 to f32
  %t = arith.addf %s, %x : f32
  %r = arith.subf %t, %y : f32
  fa.yield %r : f32)"),
            .schedule = kLeastTiles};
  double low = std::exp(-2.0);
  Trial::ofRows(form, {0}, {0, 0}, {1, 3})
      .expect({(1 + 3 * low) / (1 + low)}, {std::log(1 + low)});
  form.clauses = "scale(1.0)" + visible(R"(
  %no = arith.constant false
  %zero = arith.constant 0 : index
  %first = arith.cmpi eq, %j, %zero : index
  %below = arith.cmpi slt, %first, %no : i1
  %least = arith.minsi %first, %no : i1
  %both = arith.andi %below, %least : i1
  fa.yield %both : i1)");
  Trial::ofRows(form, {0}, {0, 0}, {1, 3}).expect({1}, {0});
}

TEST(RegionCases, WhatTheirTypesCannotHoldIsInfinite) {
  // e^(20 s) is no f32 at s = 5, and at s = 4 it is 5.5e34.
  Form form{.outType = "f32",
            .clauses = "scale(1.0)" + score(R"(
  %c = arith.constant 20.0 : f32
  %t = arith.mulf %s, %c : f32
  %r = math.exp %t : f32
  fa.yield %r : f32)"),
            .schedule = kLeastTiles};
  Trial::ofRows(form, {1}, {5, 0}, {1, 3}).expect({kNaN}, {kNaN});
  Trial::ofRows(form, {1}, {4, 0}, {1, 3}).run();
  // And it stays so: 3e38 + 3e38 - 3e38.
  form.clauses = "scale(1.0)" + score(R"(
  %c = arith.constant 3.0e38 : f32
  %t = arith.mulf %s, %c : f32
  %u = arith.addf %t, %t : f32
  %w = arith.subf %u, %t : f32
  %r = arith.divf %w, %c : f32
  fa.yield %r : f32)");
  Trial::ofRows(form, {1}, {1, 0}, {1, 3}).expect({kNaN}, {kNaN});
}

TEST(RegionCases, WhatIsNotCompiledIsNamed) {
  Form form{.clauses = score("  %r = math.erf %s : f32\n  fa.yield %r : f32")};
  EXPECT_NE(compileError(form).find("'math.erf' op in the score region is not "
                                    "supported yet"),
            std::string::npos);
}

} // namespace
