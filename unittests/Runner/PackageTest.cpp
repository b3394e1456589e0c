//===- PackageTest.cpp - packages and random inputs -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostDevice.h"

#include "fa/Runner/InputGenerator.h"
#include "fa/Support/Npy.h"
#include "fa/Support/OutputFile.h"
#include "fa/Support/Package.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace farun;
using namespace farun::test;

namespace {

TEST(Package, WritesAndReads) {
  std::string folder = testing::TempDir() + "fa-package-test.fapkg";
  std::filesystem::remove_all(folder);
  Program program = attentionProgram();
  ASSERT_TRUE(bool(writePackage(program.manifest, program.ptx, folder)));
  Expected<Program> back = loadPackage(folder);
  ASSERT_TRUE(bool(back)) << back.error().str();
  EXPECT_EQ(back->ptx, program.ptx);
  EXPECT_EQ(manifestToJson(back->manifest), manifestToJson(program.manifest));

  // A manifest may not reach out of its package, and its PTX file is there.
  std::string manifestPath = folder + "/manifest.json";
  auto refusal = [&](const std::string &name) {
    std::string text = manifestToJson(program.manifest);
    text.replace(text.find("kernel.ptx"), 10, name);
    EXPECT_TRUE(bool(writeFileText(manifestPath, text)));
    Expected<Program> result = loadPackage(folder);
    return result ? std::string("no error") : result.error().str();
  };
  for (const char *name : {"../../x.ptx", ".", "..", "/x.ptx", "a/b.ptx"})
    EXPECT_EQ(refusal(name), manifestPath +
                                 ": error: in the manifest, 'ptx' is '" + name +
                                 "' and must name a file of the package");
  EXPECT_EQ(refusal("other.ptx"),
            manifestPath + ": error: in the manifest, 'ptx' is 'other.ptx', a "
                           "file of the package that cannot be opened: No such "
                           "file or directory");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(loadPackage(folder).error().message,
            "is no package: a folder with manifest.json is needed");
}

/// The assembler is the last to fail; what was there stays.
TEST(Package, AFailureLeavesWhatWasThere) {
  std::string folder = testing::TempDir() + "fa-package-kept";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  Program program = attentionProgram();
  for (const char *name : {"/p.fapkg", "/k.ptx"}) {
    std::string path = folder + name;
    ASSERT_TRUE(bool(writePackage(program.manifest, "// first", path)));
    Status failed =
        writePackage(program.manifest, "// second", path,
                     [](const std::string &, const std::string &) -> Status {
                       return deviceError("no assembler");
                     });
    ASSERT_FALSE(bool(failed));
    EXPECT_EQ(failed.error().message, "no assembler");
  }
  EXPECT_EQ(*readFileText(folder + "/p.fapkg/kernel.ptx"), "// first");
  EXPECT_EQ(*readFileText(folder + "/k.ptx"), "// first");
  size_t count = 0;
  for (auto it = std::filesystem::directory_iterator(folder);
       it != std::filesystem::directory_iterator(); ++it)
    ++count;
  EXPECT_EQ(count, 3u); // p.fapkg, k.ptx, k.json
  EXPECT_EQ(checkPackagePath(folder).error().message,
            "cannot be written: it exists and is no package");
  EXPECT_EQ(checkPackagePath(folder + "/no/x.ptx").error().message,
            "cannot be written: No such file or directory");
  EXPECT_TRUE(bool(checkPackagePath(folder + "/p.fapkg")));
  std::filesystem::remove_all(folder);
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
