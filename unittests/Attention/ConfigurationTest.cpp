//===- ConfigurationTest.cpp - two hundred random attentions --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All clauses together as a seed draws them, regions among them, each with
// small tiles, on the emulator, against the oracle. More of them under the
// label `long`. And that a failure says how to run the same again.
//
//===----------------------------------------------------------------------===//
#include "Configuration.h"

#include "fa/Support/Npy.h"

#include <cstdlib>
#include <fstream>

using namespace farun;
using namespace farun::test;

namespace {

class Configurations : public testing::TestWithParam<int> {};

TEST_P(Configurations, AreRight) {
  checkConfigurations(uint64_t(GetParam()), 25);
}

INSTANTIATE_TEST_SUITE_P(, Configurations, testing::Range(0, 200, 25),
                         testing::PrintToStringParamName());

TEST(ConfigurationName, ReadsBack) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Configuration drawn(seed);
    EXPECT_EQ(Configuration::read(drawn.name()), drawn) << drawn.name();
    EXPECT_EQ(Configuration::read(std::to_string(seed)), drawn);
  }
  // Smaller ones too, down to the plainest.
  for (const char *name :
       {"7:Type=2,Keys=250", "18446744073709551615:Exact=1", "7:"})
    EXPECT_EQ(Configuration::read(name)->name(), name);
  EXPECT_NE(Configuration::read("7:"), Configuration::read("7"));
}

TEST(ConfigurationName, IsRefusedWhereItIsNone) {
  for (const char *name :
       {"", "x", "-1", "7:x", "7:Keys", "7:Keys=", "7:Keys=251", "7:Keys=-1",
        "7:Size=1", "7,Keys=1", "7:Keys=1,", "7:Keys=1:Type=1", "7:Keys=1 "})
    EXPECT_EQ(Configuration::read(name), std::nullopt) << name;
}

TEST(ConfigurationName, OfTheEnvironmentIsRunAlone) {
  const std::string name = "3:HeadDim=2,Keys=30";
  ASSERT_EQ(setenv("FA_TEST_CONFIGURATION", name.c_str(), /*replace=*/1), 0);
  std::vector<Configuration> asked = configurationsToRun(100, 25);
  unsetenv("FA_TEST_CONFIGURATION");
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].name(), name);
  EXPECT_NE(asked[0].str().find("FA_TEST_CONFIGURATION=" + name + " "),
            std::string::npos);
  std::vector<Configuration> all = configurationsToRun(100, 25);
  ASSERT_EQ(all.size(), 25u);
  EXPECT_EQ(all[24], Configuration(124));
}

/// The results that `line`, run by a shell, leaves in a folder.
std::vector<std::byte> runLine(const std::string &line,
                               const RunResult &expected) {
  std::string folder = testing::TempDir() + "fa-configuration";
  std::string script = folder + ".sh";
  std::ofstream(script) << line << " --output=" << folder << "\n";
  std::string command = "bash '" + script + "' > '" + folder + ".txt'";
  EXPECT_EQ(std::system(command.c_str()), 0) << line;
  RunResult found;
  for (size_t n = 0; n < expected.outputs.size(); ++n) {
    std::string file = folder + "/out" + std::to_string(n) + ".npy";
    Expected<Array> array = readNpyAs(file, expected.outputs[n].type);
    if (array)
      found.outputs.push_back(std::move(*array));
    else
      ADD_FAILURE() << array.error().str();
  }
  return bits(found);
}

TEST(ConfigurationLine, OfTheToolComputesTheSameBits) {
  // Clauses with inputs of every kind, several tiles a block, a picked
  // schedule.
  for (const char *name :
       {"5:Keys=40,Queries=20,Bias=1,Sink=1,Alibi=1,QLengths=1,KVLengths=1,"
        "Dropout=1,Score=1,EmptyRow=2",
        "6:Target=1,Type=1,Keys=50,Queries=70,Group=1,Blocks=1,Visible=1,"
        "Segments=1,Mask=1,Layout=1,StaticKeys=1,NoLSE=1",
        "7:Picked=1,Keys=20,Scale=4"}) {
    std::optional<Configuration> configuration = Configuration::read(name);
    ASSERT_TRUE(configuration) << name;
    std::string line = configuration->toolLine(FA_TEST_RUN);
    ASSERT_NE(line, "") << name;
    Expected<RunResult> result = configuration->run();
    ASSERT_TRUE(bool(result)) << result.error().str();
    EXPECT_TRUE(runLine(line, *result) == bits(*result)) << line;
  }
}

} // namespace
