//===- PackageTest.cpp - packages and random inputs -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostDevice.h"

#include "fa/Runner/InputGenerator.h"
#include "fa/Support/Npy.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace farun;
using namespace farun::test;

namespace {

TEST(Package, SavesAndLoads) {
  std::string folder = testing::TempDir() + "fa-package-test.fapkg";
  Program program = attentionProgram();
  ASSERT_TRUE(bool(savePackage(program, folder)));
  Expected<Program> back = loadPackage(folder);
  ASSERT_TRUE(bool(back)) << back.error().str();
  EXPECT_EQ(back->ptx, program.ptx);
  EXPECT_EQ(manifestToJson(back->manifest), manifestToJson(program.manifest));

  // A manifest may not reach out of its package.
  std::string text = manifestToJson(program.manifest);
  text.replace(text.find("kernel.ptx"), 10, "../../x.ptx");
  ASSERT_TRUE(bool(writeFileText(folder + "/manifest.json", text)));
  EXPECT_NE(loadPackage(folder).error().message.find("must name a file"),
            std::string::npos);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(loadPackage(folder).error().message,
            "is no package: a folder with manifest.json is needed");
}

TEST(InputGenerator, NormalAndLegal) {
  Entry entry = attentionProgram().manifest.entries[0];
  entry.operands.push_back(
      {"mask", OperandKind::Input, ElementType::I1, {kDynamic}, {"Sk"}});
  entry.operands.push_back(
      {"segments", OperandKind::Input, ElementType::I32, {kDynamic}, {"Sk"}});
  RunSpec spec;
  spec.dims = {{"B", 200}, {"Hq", 1}, {"Hkv", 1}, {"Sq", 50},
               {"Sk", 10}, {"D", 2},  {"Dv", 2}};
  Expected<Binding> binding = bindExtents(entry, spec);
  ASSERT_TRUE(bool(binding));
  Array q = *generateInput(entry, 0, *binding, 1);
  double mean = 0, square = 0;
  for (double x : q.values()) {
    mean += x / double(q.size());
    square += x * x / double(q.size());
  }
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(square, 1, 0.05);
  double largest = 0;
  for (double length : generateInput(entry, 3, *binding, 1)->values()) {
    EXPECT_GE(length, 0);
    EXPECT_LE(length, 10);
    largest = std::max(largest, length);
  }
  EXPECT_EQ(largest, 10);
  double visible = 0;
  for (double bit : generateInput(entry, 6, *binding, 1)->values())
    visible += bit;
  EXPECT_GT(visible, 0);
  EXPECT_LT(visible, 10);
  EXPECT_EQ(generateInput(entry, 7, *binding, 1).error().message,
            "argument 7 (segments) has no random values: give "
            "--input=7=FILE.npy");
}

} // namespace
