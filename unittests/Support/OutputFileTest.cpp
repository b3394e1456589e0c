//===- OutputFileTest.cpp - files that appear whole or not at all ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/OutputFile.h"

#include "fa/Support/Npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

using namespace farun;
namespace fs = std::filesystem;

namespace {

class OutputFilesTest : public testing::Test {
protected:
  void SetUp() override {
    // Tests run side by side: each has a folder of its own.
    folder = testing::TempDir() + "fa-output-files-" +
             testing::UnitTest::GetInstance()->current_test_info()->name() +
             "/";
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
      result.insert(entry.path().lexically_relative(folder).string());
    return result;
  }
  std::string at(const char *name) const { return folder + name; }
  static std::string messageOf(const Status &status) {
    return status ? "no error" : status.error().message;
  }

  std::string folder;
};

TEST_F(OutputFilesTest, WrongPathsAreFoundBeforeTheWork) {
  ASSERT_TRUE(bool(writeFileText(at("file"), "x")));
  OutputFiles files;
  EXPECT_EQ(messageOf(files.expectFile(at("no/report.json"))),
            "cannot be written: No such file or directory");
  EXPECT_EQ(messageOf(files.expectFile(at("file/report.json"))),
            "cannot be written: Not a directory");
  EXPECT_EQ(messageOf(files.expectFile(folder)),
            "cannot be written: Is a directory");
  EXPECT_EQ(messageOf(files.expectFile("")), "the path of an output is empty");
  EXPECT_EQ(messageOf(files.expectFile(std::string(5000, 'x'))),
            "cannot be written: File name too long");
  EXPECT_EQ(messageOf(files.expectFolder(at("file"))),
            "cannot be made: Not a directory");
  EXPECT_EQ(messageOf(files.expectFolder(at("file/out"))),
            "cannot be made: Not a directory");
  EXPECT_EQ(messageOf(files.expectFolder("/proc/out")).substr(0, 15),
            "cannot be made:");
  EXPECT_EQ(files.expectFile(at("no/report.json")).error().location.file,
            at("no/report.json"));
  EXPECT_EQ(names(), (std::set<std::string>{"file"}));
}

TEST_F(OutputFilesTest, ExpectingLeavesNothing) {
  OutputFiles files;
  EXPECT_TRUE(bool(files.expectFolder(at("a/b"))));
  EXPECT_TRUE(bool(files.expectFile(at("a/b/report.json"))));
  EXPECT_TRUE(bool(files.expectFile(at("report.json"))));
  EXPECT_TRUE(bool(files.expectFile("/dev/null")));
  EXPECT_TRUE(names().empty());
}

TEST_F(OutputFilesTest, TwoOutputsAreApart) {
  using Kind = OutputFiles::Kind;
  auto isResult = [](std::string_view name) { return name == "out0.npy"; };
  OutputFiles files;
  EXPECT_TRUE(bool(files.expectFolder(at("out/"), "--output=out", isResult)));
  EXPECT_TRUE(bool(files.expectFile(at("r.json"), "--report=r.json")));
  EXPECT_TRUE(bool(files.claim(at("p.fapkg"), "-o p.fapkg", Kind::Package)));
  EXPECT_TRUE(bool(files.expectFile(at("out/counters"))));
  EXPECT_TRUE(bool(files.expectFile("/dev/null")));
  EXPECT_TRUE(bool(files.expectFile("/dev/null")));
  auto clash = [&](const std::string &path, Kind kind) {
    Status status = files.claim(folder + path, "-x", kind);
    return status ? "none" : status.error().str();
  };
  EXPECT_EQ(clash("./q/../r.json", Kind::File),
            "error: --report=r.json and -x are the same path; one of the two "
            "would be lost");
  EXPECT_EQ(clash("r.json/x", Kind::Folder),
            "error: -x is inside of --report=r.json, a file");
  EXPECT_EQ(clash("p.fapkg", Kind::Folder),
            "error: -o p.fapkg and -x are the same path; one of the two would "
            "be lost");
  EXPECT_EQ(clash("p.fapkg/x/y", Kind::File),
            "error: -x is inside of -o p.fapkg, a package, which holds nothing "
            "else");
  EXPECT_EQ(clash("out/out0.npy", Kind::File),
            "error: -x takes a name that --output=out writes");
  EXPECT_EQ(clash("out/out0.npy/x", Kind::File),
            "error: -x takes a name that --output=out writes");
  EXPECT_EQ(clash(".", Kind::Package),
            "error: --output=out is inside of -x, a package, which holds "
            "nothing else");
  EXPECT_EQ(clash("out/out1.npy", Kind::File), "none");
  EXPECT_EQ(clash("p.fapkg2", Kind::File), "none");
}

TEST_F(OutputFilesTest, AllOrNothing) {
  ASSERT_TRUE(bool(writeFileText(at("old"), "old")));
  {
    OutputFiles files;
    EXPECT_TRUE(bool(files.addFolder(at("a/b"), {{"0", "x"}, {"1", "y"}})));
    EXPECT_TRUE(bool(files.addFile(at("old"), "new")));
    // The last one fails, as a full disk would have it.
    EXPECT_FALSE(bool(files.addFile(at("no/2"), "z")));
  }
  EXPECT_EQ(names(), (std::set<std::string>{"old"}));
  EXPECT_EQ(*readFileText(at("old")), "old");

  OutputFiles files;
  fs::create_symlink("old", at("link"));
  EXPECT_TRUE(bool(files.addFolder(at("a/b/"), {{"0", "x"}, {"1", "y"}})));
  EXPECT_TRUE(bool(files.addFile(at("link"), "new")));
  EXPECT_TRUE(bool(files.addFile("/dev/null", "gone")));
  EXPECT_TRUE(bool(files.commit()));
  EXPECT_EQ(names(), (std::set<std::string>{"a", "a/b", "a/b/0", "a/b/1",
                                            "link", "old"}));
  EXPECT_EQ(*readFileText(at("old")), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
}

TEST_F(OutputFilesTest, AFullDeviceIsSaid) {
  if (!fs::exists("/dev/full"))
    GTEST_SKIP();
  EXPECT_EQ(messageOf(writeFileText("/dev/full", "x")),
            "cannot be written: No space left on device");
}

} // namespace
