//===- ManifestTest.cpp - manifests, whole and damaged --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Manifest.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace farun;

namespace {

Manifest example() {
  Entry entry;
  entry.name = "attention";
  entry.operands = {{"query",
                     OperandKind::Input,
                     ElementType::F16,
                     {1, 8, kDynamic, 64},
                     {"B", "Hq", "Sq", "D"}},
                    {"key",
                     OperandKind::Input,
                     ElementType::F16,
                     {1, 8, kDynamic, 64},
                     {"B", "Hkv", "Sk", "D"},
                     {{"value", {"B", "Hkv", "Sk", "Dv"}}}},
                    {"out",
                     OperandKind::Output,
                     ElementType::F16,
                     {1, 8, kDynamic, 64},
                     {"B", "Hq", "Sq", "Dv"}}};
  entry.attention.scale = 0.125;
  entry.attention.softcap = 30.0;
  StructuralMask causal;
  causal.isBottomRight = true;
  causal.prefix = 64;
  StructuralMask window;
  window.kind = StructuralMask::Kind::Window;
  window.left = 127;
  window.right = 0;
  entry.attention.masks = {causal, window};
  entry.attention.schedule = {128,      64,   4, 2,    "registers", 1,
                              "shared", true, 4, true, 2,           8};
  Parameter pointer;
  pointer.operand = 0;
  pointer.type = "ptr";
  Parameter extent;
  extent.kind = ParameterKind::Extent;
  extent.extent = "Sq";
  extent.type = "i32";
  Parameter stride;
  stride.kind = ParameterKind::Stride;
  stride.operand = 2;
  stride.dim = 2;
  stride.type = "i64";
  entry.parameters = {pointer, extent, stride};
  Launch launch;
  launch.kernel = "attention_kernel";
  launch.arguments = {0, 1, 2};
  launch.sharedBytes = "49152";
  launch.grid = {"ceildiv(Sq, 128)", "Hq", "B"};
  launch.block = {"128", "1", "1"};
  entry.launches = {launch};
  entry.sharedBytes = "49152";
  Manifest manifest;
  manifest.target = "sm_80";
  manifest.ptx = "kernel.ptx";
  manifest.source = "%o = fa.attention ...";
  manifest.entries = {entry};
  return manifest;
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string messageOf(const std::string &text) {
  Expected<Manifest> result = parseManifest(text, "m.json");
  return result ? "no error" : result.error().str();
}

TEST(Manifest, RoundTripsToTheSameBytes) {
  std::string text = manifestToJson(example());
  Expected<Manifest> back = parseManifest(text, "m.json");
  ASSERT_TRUE(bool(back)) << back.error().str();
  EXPECT_EQ(manifestToJson(*back), text);
  const Entry &entry = back->entries[0];
  EXPECT_EQ(entry.operands[0].shape[2], kDynamic);
  EXPECT_EQ(entry.attention.softcap, 30.0);
  EXPECT_EQ(entry.attention.masks[0].prefix, 64);
  EXPECT_TRUE(entry.attention.masks[1].isBottomRight == false);
  EXPECT_EQ(entry.attention.masks[1].left, 127);
  EXPECT_EQ(entry.launches[0].grid[0], "ceildiv(Sq, 128)");
  EXPECT_EQ(entry.launches[0].block[0], "128");
  EXPECT_EQ(entry.parameters[2].dim, 2);
  EXPECT_EQ(entry.parameters[1].extent, "Sq");
  EXPECT_EQ(entry.operands[1].roleText(), "key, value");
  EXPECT_TRUE(entry.operands[1].hasRole("value"));
  EXPECT_EQ(entry.operands[1].uses()[1].dims[3], "Dv");
}

/// s * 0.5, or -inf where i < j; and i >= j.
Manifest withRegions() {
  Manifest manifest = example();
  RegionValue half;
  half.number = 0.5;
  RegionValue product;
  product.op = RegionOp::MulF;
  product.arguments = {0, 5};
  RegionValue low;
  low.number = -std::numeric_limits<double>::infinity();
  RegionValue isSeen;
  isSeen.op = RegionOp::CmpSge;
  isSeen.type = ElementType::I1;
  isSeen.arguments = {3, 4};
  RegionValue chosen;
  chosen.op = RegionOp::Select;
  chosen.arguments = {8, 6, 7};
  manifest.entries[0].attention.score = {{half, product, low, isSeen, chosen},
                                         9};
  isSeen.arguments = {2, 3};
  manifest.entries[0].attention.visible = {{isSeen}, 4};
  return manifest;
}

TEST(Manifest, RegionsRoundTrip) {
  std::string text = manifestToJson(withRegions());
  Expected<Manifest> back = parseManifest(text, "m.json");
  ASSERT_TRUE(bool(back)) << back.error().str();
  EXPECT_EQ(manifestToJson(*back), text);
  const Attention &attention = back->entries[0].attention;
  EXPECT_EQ(attention.score->values[0].number, 0.5);
  EXPECT_EQ(attention.score->values[2].number,
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(attention.visible->values[0].op, RegionOp::CmpSge);
}

TEST(Manifest, WrongRegionsAreNamed) {
  std::string text = manifestToJson(withRegions());
  for (auto [from, to, message] :
       {std::tuple("arith.mulf", "arith.mulg",
                   "score.values[1].op' is 'arith.mulg', which is no op of a "
                   "region"),
        {"\"result\": 9", "\"result\": 10",
         "score.result' is 10; accepted are 0 to 9"},
        {"\"result\": 9", "\"result\": 8",
         "score.result' is a value of another type than f32"},
        {"\"result\": 4", "\"result\": 3",
         "visible.result' is a value of another type than i1"},
        {"\"type\": \"f32\"", "\"type\": \"f64\"",
         "score.values[0].type' is 'f64'; accepted are i1, i32, i64, f32, f16, "
         "bf16"}})
    EXPECT_NE(messageOf(replaced(text, from, to)).find(message),
              std::string::npos)
        << messageOf(replaced(text, from, to));
}

TEST(Manifest, KeysOfASchedule) {
  std::string text = manifestToJson(example());
  Schedule schedule =
      parseManifest(text, "m.json")->entries[0].attention.schedule;
  EXPECT_EQ(schedule.stages, 2);
  EXPECT_TRUE(schedule.pingpong);
  EXPECT_EQ(schedule.cluster, 2);
  EXPECT_EQ(schedule.polynomial, 8);
  // What is not there is what the attribute means then.
  for (std::string key : {"\"pingpong\": true,", "\"cluster\": 2,"})
    text.erase(text.find(key), key.size());
  schedule = parseManifest(text, "m.json")->entries[0].attention.schedule;
  EXPECT_FALSE(schedule.pingpong);
  EXPECT_EQ(schedule.cluster, 1);
  EXPECT_EQ(schedule.polynomial, 8);

  // Every kernel has these.
  auto messageWith = [](auto change) {
    auto json = nlohmann::ordered_json::parse(manifestToJson(example()));
    change(json["entries"][0]["attention"]["schedule"]);
    return messageOf(json.dump());
  };
  const std::string where =
      "m.json: error: in the manifest, 'entries[0].attention.schedule.";
  for (std::string key : {"tile_q", "tile_kv", "warps", "stages", "state"})
    EXPECT_EQ(messageWith([&](auto &json) { json.erase(key); }),
              where + key + "' is missing");
    // Nothing is no value.
#define FA_SCHEDULE_NULL(key, accepted)                                        \
  EXPECT_EQ(messageWith([](auto &json) { json[#key] = nullptr; }),             \
            where + #key + "' must be " accepted ", found null");
#define FA_SCHEDULE_NULL_NUMBER(key, ...)                                      \
  FA_SCHEDULE_NULL(key, "a whole number")
#define FA_SCHEDULE_NULL_WORD(key, ...) FA_SCHEDULE_NULL(key, "a string")
#define FA_SCHEDULE_NULL_FLAG(key, ...) FA_SCHEDULE_NULL(key, "true or false")
  FA_SCHEDULE_KEYS(FA_SCHEDULE_NULL_NUMBER, FA_SCHEDULE_NULL_WORD,
                   FA_SCHEDULE_NULL_FLAG)
#undef FA_SCHEDULE_NULL
#undef FA_SCHEDULE_NULL_NUMBER
#undef FA_SCHEDULE_NULL_WORD
#undef FA_SCHEDULE_NULL_FLAG
  for (int producers : {1, 2, 3})
    EXPECT_EQ(messageWith([&](auto &json) { json["producers"] = producers; }),
              where + "producers' is " + std::to_string(producers) +
                  "; accepted are 0 and 4");
  EXPECT_EQ(messageWith([](auto &json) { json["producers"] = 4; }), "no error");
}

TEST(Manifest, ScaleOperandIsNull) {
  Manifest manifest = example();
  Entry &entry = manifest.entries[0];
  entry.attention.scale = NAN;
  entry.operands.insert(
      entry.operands.begin() + 2,
      {"scale", OperandKind::Scalar, ElementType::F32, {}, {}});
  entry.parameters[2].operand = 3;
  std::string text = manifestToJson(manifest);
  EXPECT_NE(text.find("\"scale\": null"), std::string::npos);
  EXPECT_TRUE(
      std::isnan(parseManifest(text, "m.json")->entries[0].attention.scale));
}

/// The example with a tensor map of the keys, whose f16 rows it moves by 64.
Manifest tensorMapExample() {
  Manifest manifest = example();
  Parameter map;
  map.kind = ParameterKind::TensorMap;
  map.operand = 1;
  map.type = "tensormap";
  map.box = {1, 2, 96, 64};
  map.swizzle = TensorSwizzle::Bytes128;
  manifest.entries[0].parameters.push_back(map);
  manifest.entries[0].launches[0].arguments.push_back(3);
  return manifest;
}

TEST(Manifest, TensorMapsRoundTrip) {
  for (TensorSwizzle swizzle :
       {TensorSwizzle::None, TensorSwizzle::Bytes32, TensorSwizzle::Bytes64,
        TensorSwizzle::Bytes128}) {
    Manifest manifest = tensorMapExample();
    Parameter &map = manifest.entries[0].parameters[3];
    map.swizzle = swizzle;
    if (int64_t span = swizzleSpan(swizzle))
      map.box[3] = span / 2;
    std::string text = manifestToJson(manifest);
    EXPECT_NE(text.find("\"swizzle\": \"" + std::string(name(swizzle)) + '"'),
              std::string::npos);
    Expected<Manifest> back = parseManifest(text, "m.json");
    ASSERT_TRUE(bool(back)) << back.error().str();
    EXPECT_EQ(back->entries[0].parameters, manifest.entries[0].parameters);
    EXPECT_EQ(manifestToJson(*back), text);
  }
}

TEST(Manifest, DamagedTensorMapsAreLocated) {
  struct Row {
    const char *key, *to, *says;
  };
  const std::string where = "m.json: error: in the manifest, "
                            "'entries[0].parameters[3]";
  for (const Row &row : {
           Row{"operand", "7", ".operand' is 7; accepted are 0 to 3"},
           Row{"operand", "null", ".operand' is needed for this kind"},
           Row{"operand", "2", ".operand' is 2, an operand of kind 'scalar'"},
           Row{"dim", "1",
               "' has the key 'dim'; accepted are kind, operand, box, swizzle, "
               "type"},
           Row{"type", "\"ptr\"", ".type' is 'ptr'; accepted are tensormap"},
           Row{"swizzle", "null", ".swizzle' must be a string, found null"},
           Row{"swizzle", "\"256B\"",
               ".swizzle' is '256B'; accepted are none, 32B, 64B, 128B"},
           Row{"swizzle", "\"64B\"",
               ".box[3]' makes rows of 128 bytes; accepted are multiples of 16 "
               "up to the swizzle's 64"},
           Row{"box", "64", ".box' must be a list, found 64"},
           Row{"box", "[1, 2, 64]",
               ".box' has 3 numbers; the operand has 4 dimensions"},
           Row{"box", "[1, 0, 96, 64]", ".box[1]' is 0; accepted are 1 to 256"},
           Row{"box", "[1, 2, 257, 64]",
               ".box[2]' is 257; accepted are 1 to 256"},
           Row{"box", "[1, 2, 9.5, 64]",
               ".box[2]' must be a whole number, found 9.5"},
           Row{"box", "[1, 2, 96, 60]",
               ".box[3]' makes rows of 120 bytes; accepted are multiples of 16 "
               "up to the swizzle's 128"},
           Row{"box", "[1, 2, 96, 72]",
               ".box[3]' makes rows of 144 bytes; accepted are multiples of 16 "
               "up to the swizzle's 128"},
       }) {
    Manifest manifest = tensorMapExample();
    Entry &entry = manifest.entries[0];
    entry.operands.insert(
        entry.operands.begin() + 2,
        {"factor", OperandKind::Scalar, ElementType::F32, {}, {}});
    entry.parameters[2].operand = 3;
    nlohmann::ordered_json json =
        nlohmann::ordered_json::parse(manifestToJson(manifest));
    json["entries"][0]["parameters"][3][row.key] =
        nlohmann::ordered_json::parse(row.to);
    EXPECT_EQ(messageOf(json.dump()), where + row.says);
  }

  Manifest manifest = tensorMapExample();
  manifest.entries[0].parameters[3].swizzle = TensorSwizzle::None;
  manifest.entries[0].parameters[3].box[3] = 4;
  EXPECT_EQ(messageOf(manifestToJson(manifest)),
            where + ".box[3]' makes rows of 8 bytes; accepted are multiples of "
                    "16");
  // TMA knows five dimensions.
  manifest = tensorMapExample();
  manifest.entries[0].operands.insert(manifest.entries[0].operands.begin() + 2,
                                      {"extra",
                                       OperandKind::Input,
                                       ElementType::F16,
                                       {1, 1, 1, 1, 1, 64},
                                       {"1", "1", "1", "1", "1", "D"}});
  manifest.entries[0].parameters[2].operand = 3;
  manifest.entries[0].parameters[3].operand = 2;
  manifest.entries[0].parameters[3].box = {1, 1, 1, 1, 1, 64};
  EXPECT_EQ(messageOf(manifestToJson(manifest)),
            where + ".operand' is 2, an operand of 6 dimensions; accepted are "
                    "1 to 5");
  // A box belongs to a tensor map.
  EXPECT_EQ(messageOf(replaced(manifestToJson(tensorMapExample()),
                               "\"kind\": \"pointer\"",
                               "\"kind\": \"pointer\", \"box\": [1]"))
                .find("'entries[0].parameters[0]' has the key 'box'; accepted "
                      "are kind, operand, dim, type"),
            std::string("m.json: error: in the manifest, ").size());
}

TEST(Manifest, DamageIsLocated) {
  std::string good = manifestToJson(example());
  EXPECT_EQ(messageOf("{"), "m.json:1:2: error: the manifest is not JSON");
  EXPECT_EQ(messageOf("{\n  \"format\": 1,\n  x"),
            "m.json:3:3: error: the manifest is not JSON");
  EXPECT_EQ(messageOf("[1e999]").find("error: the manifest is not JSON"), 8u);
  EXPECT_EQ(messageOf("[]"),
            "m.json: error: in the manifest, 'format' is missing");
  // A document nested deeper than any stack; not one of brackets in a string.
  EXPECT_EQ(
      messageOf(replaced(good, "\"sm_80\"",
                         std::string(200000, '[') + std::string(200000, ']'))),
      "m.json:3:76: error: the manifest is nested deeper than any that "
      "is right");
  EXPECT_EQ(messageOf(replaced(good, "%o =", "\\\"" + std::string(99, '['))),
            "no error");

  // What is repeated of it is short, and whole letters of UTF-8.
  EXPECT_EQ(messageOf(replaced(good, "sm_80", std::string(100000, 'x'))),
            "m.json: error: in the manifest, 'target' is '" +
                std::string(61, 'x') +
                "...', which names no target (sm_80, "
                "...)");
  std::string accents = "x";
  for (int n = 0; n < 100; ++n)
    accents += "\xc3\xa9";
  EXPECT_EQ(messageOf(replaced(good, "sm_80", accents)),
            "m.json: error: in the manifest, 'target' is '" +
                accents.substr(0, 61) +
                "...', which names no target (sm_80, "
                "...)");

  struct Row {
    const char *from, *to, *says;
  };
  const std::string entry = "in the manifest, 'entries[0]";
  for (
      const Row &row : {
          Row{"\"format\": 1", "\"format\": 2",
              "the manifest has format 2; accepted is 1"},
          Row{"\"source\"", "\"sauce\"",
              "in the manifest, the document has the key 'sauce'; accepted "
              "are format, target, ptx, source, entries"},
          Row{"\"sm_80\"", "\"avx512\"",
              "in the manifest, 'target' is 'avx512', which names no target "
              "(sm_80, ...)"},
          Row{"\"name\": \"attention\"", "\"name\": \"\"",
              ".name' must not be empty"},
          Row{"\"name\": \"attention\"", "\"name\": 7",
              ".name' must be a string, found 7"},
          // Operands.
          Row{"\"f16\"", "\"f17\"",
              ".operands[0].type' is 'f17', which is no element type"},
          Row{"\"f16\"", "\"i32\"",
              ".operands[0].type' is 'i32'; accepted for the operand 'query' "
              "is a float"},
          Row{"\"input\"", "\"output\"",
              ".operands[0].kind' is 'output'; accepted for the operand "
              "'query' is input"},
          Row{"\"value\"", "\"key\"",
              ".operands[1].also[0].role' is 'key', and so is "
              "'entries[0].operands[1].role'"},
          Row{"\"query\"", "\"question\"",
              ".operands' has no operand of the role 'query'"},
          Row{"\"Hq\"", "\"Hkv\"",
              ".operands[0].dims[1]' is 'Hkv', which names no dimension of "
              "the operand 'query'"},
          Row{"\"Hq\"", "\"Sq\"", ".operands[0].dims[2]' is 'Sq' once more"},
          Row{"8,", "-8,",
              ".operands[0].shape[1]' is -8; accepted are 0 to 1099511627776"},
          Row{"8,", "8.5,",
              ".operands[0].shape[1]' must be a whole number, found 8.5"},
          Row{"8,", "9,",
              ".operands[2].dims[1]' is 'Hq' of extent 8; by "
              "'entries[0].operands[0].dims[1]' it is 9"},
          Row{"8,", "",
              ".operands[0].dims' has 4 names; 'shape' has 3 extents"},
          // Attention.
          Row{"0.125", "1e39",
              ".attention.scale' is beyond f32: |scale| log2 e must be finite"},
          Row{"30.0", "0", ".attention.softcap' must be above 0"},
          Row{"30.0", "1e39",
              ".attention.softcap' must be above 0 and, like its reciprocal, "
              "finite in f32"},
          Row{"30.0", "1e-39", ".attention.softcap' must be above 0"},
          Row{"30.0", "-1.5", ".attention.softcap' must be above 0"},
          Row{"0.125", "null",
              ".attention.scale' must be a number, since no operand carries "
              "it"},
          Row{"\"causal\"", "\"casual\"",
              ".attention.masks[0].kind' is 'casual'; accepted are causal, "
              "window, chunk"},
          Row{"\"prefix\"", "\"prefixes\"",
              ".attention.masks[0]' has the key 'prefixes'; accepted are kind, "
              "alignment, prefix"},
          Row{"\"bhsd\"", "\"bshd\"",
              ".attention.layout' is 'bshd', and the operand 'query' has its "
              "dimensions in the other order"},
          Row{"\"zero\"", "\"one\"",
              ".attention.empty_row' is 'one'; accepted are zero, nan, "
              "uniform"},
          Row{"\"tile_q\": 128", "\"tile_q\": -1",
              ".attention.schedule.tile_q' is -1; accepted are 0 to 65536"},
          Row{"\"tile_q\": 128", "\"tile_q\": 99999999999999999999",
              ".attention.schedule.tile_q' is 1e+20; accepted are 0 to 65536"},
          Row{"\"tile_q\": 128", "\"tile_q\": -18446744073709551616",
              ".attention.schedule.tile_q' is -1.8446744073709552e+19; "
              "accepted are 0 to 65536"},
          Row{"\"tile_q\": 128", "\"tile_q\": 128.5",
              ".attention.schedule.tile_q' must be a whole number, found "
              "128.5"},
          Row{"\"query\": \"shared\"", "\"query\": \"global\"",
              ".attention.schedule.query' is 'global'; accepted are shared, "
              "registers"},
          Row{"\"pingpong\": true", "\"pingpong\": 1",
              ".attention.schedule.pingpong' must be true or false, found 1"},
          Row{"\"cluster\": 2", "\"cluster\": 3",
              ".attention.schedule.cluster' is 3; accepted are 1 to 2"},
          Row{"\"polynomial\"", "\"polynom\"",
              ".attention.schedule' has the key 'polynom'; accepted are "
              "tile_q, tile_kv, warps, stages, state, splits, query, pingpong, "
              "producers, persistent, cluster, polynomial"},
          // Parameters.
          Row{"\"pointer\"", "\"address\"",
              ".parameters[0].kind' is 'address'; accepted are pointer, "
              "extent, stride, scalar, workspace, tensormap, trace"},
          Row{"\"ptr\"", "\"i8\"",
              ".parameters[0].type' is 'i8'; accepted are ptr"},
          Row{"\"operand\": 0", "\"operand\": 7",
              ".parameters[0].operand' is 7; accepted are 0 to 2"},
          Row{"\"operand\": 0", "\"operand\": null",
              ".parameters[0].operand' is needed for this kind"},
          Row{"\"dim\": \"Sq\"", "\"dim\": \"pages\"",
              ".parameters[1].dim' is 'pages', which no operand has"},
          Row{"\"dim\": 2", "\"dim\": 4",
              ".parameters[2].dim' is 4; accepted are 0 to 3"},
          // Launches.
          Row{"0,\n            1,\n            2",
              "0,\n            1,\n            3",
              ".launches[0].arguments[2]' is 3; accepted are 0 to 2"},
          Row{"0,\n            1,\n            2",
              "0,\n            1,\n            -1",
              ".launches[0].arguments[2]' is -1; accepted are 0 to 2"},
          Row{"ceildiv(Sq, 128)", "ceildiv(Sq 128)",
              ".launches[0].grid[0]' is no size: expected ','"},
          Row{"ceildiv(Sq, 128)", "ceildiv(N, 128)",
              ".launches[0].grid[0]' is no size: unknown name 'N'"},
          Row{"ceildiv(Sq, 128)", "ceildiv(Tq, 128)",
              ".launches[0].grid[0]' is no size: the extent Tq, which no "
              "operand has,"},
          Row{"ceildiv(Sq, 128)", "-1 * 4",
              ".launches[0].grid[0]' is -4; accepted are 0 to 2147483647"},
          Row{"\"cluster\": [", "\"clusters\": [",
              ".launches[0]' has the key 'clusters'; accepted are kernel, "
              "arguments, shared_bytes, grid, block, cluster"},
          Row{"\"shared_bytes\": 49152", "\"shared_bytes\": 2147483648",
              ".launches[0].shared_bytes' is 2147483648; accepted are 0 to "
              "232448"},
          Row{"\"workspace_bytes\": 0", "\"workspace_bytes\": 2147483648",
              ".workspace_bytes' is 2147483648, and no parameter is of kind "
              "workspace; accepted is 0"},
      }) {
    std::string message = messageOf(replaced(good, row.from, row.to));
    std::string wanted = row.says[0] == '.' ? entry + row.says : row.says;
    EXPECT_EQ(message.rfind("m.json: error: " + wanted, 0), 0u)
        << message << "\n"
        << wanted;
  }
}

TEST(Manifest, EntriesHaveNamesOfTheirOwn) {
  Manifest manifest = example();
  manifest.entries.push_back(manifest.entries[0]);
  EXPECT_EQ(messageOf(manifestToJson(manifest)),
            "m.json: error: in the manifest, 'entries[1].name' is 'attention', "
            "which an entry before it has");
  manifest.entries.clear();
  EXPECT_EQ(messageOf(manifestToJson(manifest)),
            "m.json: error: in the manifest, 'entries' has no entry");
}

TEST(Manifest, EntryByNameOrTheOnlyOne) {
  Manifest manifest = example();
  EXPECT_EQ((*findEntry(manifest, ""))->name, "attention");
  EXPECT_EQ(findEntry(manifest, "other").error().message,
            "the entry 'other' names no function; there are attention");
  manifest.entries.push_back(manifest.entries[0]);
  manifest.entries[1].name = "second";
  EXPECT_EQ(findEntry(manifest, "").error().message,
            "the entry must be named: there are attention, second");
  EXPECT_EQ((*findEntry(manifest, "second"))->name, "second");
}

} // namespace
