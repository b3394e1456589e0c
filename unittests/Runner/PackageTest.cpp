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
  auto refusal = [](const std::string &path) {
    Status status = checkPackagePath(path);
    return status ? "none" : status.error().message;
  };
  EXPECT_EQ(refusal(folder), "cannot be written: it exists and holds 'k.json', "
                             "which is of no package");
  EXPECT_EQ(refusal(folder + "/no/x.ptx"),
            "cannot be written: No such file or directory");
  EXPECT_EQ(refusal(folder + "/p.fapkg"), "none");
  std::filesystem::remove_all(folder);
}

/// Whatever a package does not hold itself stays where it is.
class ForeignFiles : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "fa-package-foreign-" +
             testing::UnitTest::GetInstance()->current_test_info()->name() +
             "/";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "web");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// The error of writing there, with "FOLDER" for the folder.
  std::string write(const std::string &path, bool hasCubin = false) {
    AssembleFunction assemble = [](const std::string &,
                                   const std::string &cubin) {
      return writeFileText(cubin, "code");
    };
    Status status = writePackage(program.manifest, program.ptx, folder + path,
                                 hasCubin ? assemble : AssembleFunction());
    OutputFiles outputs;
    Status before = expectPackage(outputs, folder + path, "-o", hasCubin);
    EXPECT_EQ(bool(status), bool(before));
    if (status)
      return "none";
    EXPECT_EQ(status.error().str(), before.error().str());
    std::string text = status.error().str();
    return text.replace(text.find(folder), folder.size(), "FOLDER/");
  }
  void put(const std::string &path, const std::string &text) {
    ASSERT_TRUE(bool(writeFileText(folder + path, text)));
  }
  std::string get(const std::string &path) {
    Expected<std::string> text = readFileText(folder + path);
    return text ? *text : text.error().message;
  }

  Program program = attentionProgram();
  std::string folder;
};

TEST_F(ForeignFiles, AFolderWithAManifestOfSomethingElse) {
  put("web/manifest.json", "{\"name\": \"a page\"}");
  EXPECT_EQ(write("web"),
            "FOLDER/web: error: cannot be written: it exists and is no "
            "package, by its manifest.json: in the manifest, 'format' is "
            "missing");
  put("web/index.html", "page");
  EXPECT_EQ(write("web/"),
            "FOLDER/web: error: cannot be written: it exists and holds "
            "'index.html', which is of no package");
  EXPECT_EQ(get("web/manifest.json"), "{\"name\": \"a page\"}");
  EXPECT_EQ(get("web/index.html"), "page");
}

TEST_F(ForeignFiles, APackageWithAGuest) {
  EXPECT_EQ(write("p.fapkg", /*hasCubin=*/true), "none");
  put("p.fapkg/notes", "mine");
  EXPECT_EQ(write("p.fapkg"),
            "FOLDER/p.fapkg: error: cannot be written: it exists and holds "
            "'notes', which is of no package");
  EXPECT_EQ(get("p.fapkg/notes"), "mine");
  std::filesystem::remove(folder + "p.fapkg/notes");
  // Without a guest it is replaced, the machine code too.
  EXPECT_EQ(write("p.fapkg"), "none");
  EXPECT_FALSE(std::filesystem::exists(folder + "p.fapkg/kernel.cubin"));
  std::filesystem::create_directory(folder + "p.fapkg/kernel.cubin");
  put("p.fapkg/kernel.cubin/notes", "mine");
  EXPECT_EQ(write("p.fapkg"),
            "FOLDER/p.fapkg: error: cannot be written: it exists and holds "
            "'kernel.cubin', which is of no package");
  EXPECT_EQ(get("p.fapkg/kernel.cubin/notes"), "mine");
}

TEST_F(ForeignFiles, NeighboursOfAPTXFile) {
  put("cc.json", "[1, 2]");
  EXPECT_EQ(write("cc.ptx"),
            "FOLDER/cc.json: error: cannot be written: it would be the "
            "manifest of cc.ptx, and what it is now is none: in the manifest, "
            "'format' is missing");
  EXPECT_EQ(get("cc.json"), "[1, 2]");
  EXPECT_FALSE(std::filesystem::exists(folder + "cc.ptx"));
  put("dd.cubin", "code of another");
  EXPECT_EQ(write("dd.ptx", /*hasCubin=*/true),
            "FOLDER/dd.cubin: error: cannot be written: it exists, and dd.json "
            "does not, which would say that it is of a package");
  EXPECT_EQ(get("dd.cubin"), "code of another");
  // Without --cubin it is not touched, and ours are replaced.
  EXPECT_EQ(write("ee.ptx", /*hasCubin=*/true), "none");
  EXPECT_EQ(write("ee.ptx", /*hasCubin=*/true), "none");
}

TEST_F(ForeignFiles, LinksAndTheFolderItself) {
  EXPECT_EQ(write("p.fapkg"), "none");
  std::filesystem::create_directory_symlink("p.fapkg", folder + "link");
  EXPECT_EQ(write("link"), "none");
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "link"));
  EXPECT_EQ(get("p.fapkg/kernel.ptx"), program.ptx);
  std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder + "p.fapkg");
  OutputFiles outputs;
  Status status = expectPackage(outputs, ".", "-o");
  std::filesystem::current_path(here);
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().message,
            "cannot be written: this runs in that folder, and a package is put "
            "in its place as a whole");
  EXPECT_EQ(get("p.fapkg/kernel.ptx"), program.ptx);
}

TEST(InputGenerator, NormalAndLegal) {
  Entry entry = attentionProgram().manifest.entries[0];
  entry.operands.push_back(
      {"mask", OperandKind::Input, ElementType::I1, {kDynamic}, {"Sk"}});
  entry.operands.push_back({"kv_segments",
                            OperandKind::Input,
                            ElementType::I32,
                            {kDynamic, kDynamic},
                            {"B", "Sk"}});
  entry.operands.push_back(
      {"unknown", OperandKind::Input, ElementType::I32, {kDynamic}, {"Sk"}});
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
  // Numbers that begin at 0 in each batch and never fall within one.
  std::vector<double> segments = generateInput(entry, 7, *binding, 1)->values();
  double largestSegment = 0;
  for (size_t n = 0; n < segments.size(); ++n) {
    double before = n % 10 == 0 ? 0 : segments[n - 1];
    EXPECT_TRUE(segments[n] == before || segments[n] == before + 1) << n;
    largestSegment = std::max(largestSegment, segments[n]);
  }
  EXPECT_GT(largestSegment, 1);
  EXPECT_EQ(generateInput(entry, 8, *binding, 1).error().message,
            "argument 8 (unknown) has no random values: give "
            "--input=8=FILE.npy");
}

} // namespace
