//===- ManifestTest.cpp - manifests, whole and damaged --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Manifest.h"

#include <gtest/gtest.h>

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
                    {"out",
                     OperandKind::Output,
                     ElementType::F16,
                     {1, 8, kDynamic, 64},
                     {"B", "Hq", "Sq", "Dv"}}};
  entry.attention.scale = 0.125;
  StructuralMask causal;
  causal.isBottomRight = true;
  causal.prefix = 64;
  StructuralMask window;
  window.kind = StructuralMask::Kind::Window;
  window.left = 127;
  window.right = 0;
  entry.attention.masks = {causal, window};
  entry.attention.schedule = {128, 64, 4, 2, 1, "registers"};
  Parameter pointer;
  pointer.operand = 0;
  pointer.type = "ptr";
  Parameter extent;
  extent.kind = ParameterKind::Extent;
  extent.extent = "Sq";
  extent.type = "i32";
  Parameter stride;
  stride.kind = ParameterKind::Stride;
  stride.operand = 1;
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
  EXPECT_EQ(entry.attention.masks[0].prefix, 64);
  EXPECT_TRUE(entry.attention.masks[1].isBottomRight == false);
  EXPECT_EQ(entry.attention.masks[1].left, 127);
  EXPECT_EQ(entry.launches[0].grid[0], "ceildiv(Sq, 128)");
  EXPECT_EQ(entry.launches[0].block[0], "128");
  EXPECT_EQ(entry.parameters[2].dim, 2);
  EXPECT_EQ(entry.parameters[1].extent, "Sq");
}

TEST(Manifest, ScaleOperandIsNull) {
  Manifest manifest = example();
  manifest.entries[0].attention.scale = NAN;
  std::string text = manifestToJson(manifest);
  EXPECT_NE(text.find("\"scale\": null"), std::string::npos);
  EXPECT_TRUE(
      std::isnan(parseManifest(text, "m.json")->entries[0].attention.scale));
}

TEST(Manifest, DamageIsLocated) {
  std::string good = manifestToJson(example());
  EXPECT_EQ(messageOf("{"), "m.json: error: the manifest is not JSON");
  EXPECT_EQ(messageOf("[]"),
            "m.json: error: in the manifest, 'format' is missing");
  EXPECT_EQ(messageOf(replaced(good, "\"format\": 1", "\"format\": 2")),
            "m.json: error: the manifest has format 2; accepted is 1");
  EXPECT_EQ(messageOf(replaced(good, "\"f16\"", "\"f17\"")),
            "m.json: error: in the manifest, 'entries[0].operands[0].type' is "
            "'f17', which is no element type");
  EXPECT_EQ(messageOf(replaced(good, "\"pointer\"", "\"address\"")),
            "m.json: error: in the manifest, 'entries[0].parameters[0].kind' "
            "is 'address'; accepted are pointer, extent, stride, scalar, "
            "workspace, tensormap, trace");
  EXPECT_NE(
      messageOf(replaced(good, "ceildiv(Sq, 128)", "ceildiv(Sq 128)"))
          .find("'entries[0].launches[0].grid[0]' is no size: expected ','"),
      std::string::npos);
  EXPECT_NE(messageOf(replaced(good, "\"operand\": 0", "\"operand\": 7"))
                .find("'entries[0].parameters[0].operand' is 7, outside 0..1"),
            std::string::npos);
  EXPECT_NE(messageOf(replaced(good, "\"source\"", "\"sauce\""))
                .find("'source' is missing"),
            std::string::npos);
}

TEST(Manifest, EntryByNameOrTheOnlyOne) {
  Manifest manifest = example();
  EXPECT_EQ((*findEntry(manifest, ""))->name, "attention");
  EXPECT_EQ(findEntry(manifest, "other").error().message,
            "--entry=other names no function; there are attention");
  manifest.entries.push_back(manifest.entries[0]);
  manifest.entries[1].name = "second";
  EXPECT_EQ(findEntry(manifest, "").error().message,
            "--entry is needed: there are attention, second");
  EXPECT_EQ((*findEntry(manifest, "second"))->name, "second");
}

} // namespace
