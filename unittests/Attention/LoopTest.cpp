//===- LoopTest.cpp - what the loop for full blocks is made of ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A clause that is not used costs nothing: the plain kernel's main loop has the
// instructions that are recorded here and no other. Counted in PTX, between a
// label and the last branch back to it; of the loops with products the one for
// full blocks is the one that compares and selects least.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <algorithm>
#include <sstream>

using namespace farun;
using namespace farun::test;

namespace {

/// Instructions of a loop by kind.
using Counts = std::map<std::string, int>;

bool startsWith(const std::string &text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

/// Addresses, moves, branches and barriers are `other`: none of them is there
/// for each score.
std::string kindOf(const std::string &opcode) {
  std::string word = opcode.substr(0, opcode.find('.'));
  auto isOneOf = [&](std::initializer_list<const char *> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (startsWith(opcode, "mma.") || startsWith(opcode, "wgmma.mma_async"))
    return "product";
  if (word == "ex2")
    return "exponential";
  if (isOneOf({"setp", "selp"}))
    return "predicate";
  if (isOneOf({"ld", "st", "ldmatrix", "cp", "shfl", "cvt"}))
    return word;
  bool isFloat = opcode.find(".f32") != std::string::npos;
  return isFloat ? "float" : "other";
}

/// The opcode of a line; empty where there is none.
std::string opcodeOf(const std::string &line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (startsWith(word, "@"))
    words >> word;
  bool isOpcode = !word.empty() && std::islower(word[0]);
  return isOpcode ? word : "";
}

/// The counts of each loop that has products.
std::vector<Counts> countLoops(const std::string &ptx) {
  std::vector<std::string> lines;
  std::map<std::string, size_t> labels;
  std::vector<Counts> loops;
  std::istringstream text(ptx);
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
    if (startsWith(line, "$L"))
      labels[line.substr(0, line.find(':'))] = lines.size();
    size_t target = line.find("$L");
    if (opcodeOf(line).rfind("bra", 0) != 0 || target == std::string::npos)
      continue;
    auto label = labels.find(line.substr(target, line.find(';') - target));
    if (label == labels.end())
      continue;
    Counts counts;
    for (size_t n = label->second; n < lines.size(); ++n)
      if (std::string opcode = opcodeOf(lines[n]); !opcode.empty())
        ++counts[kindOf(opcode)];
    if (counts["product"] > 0)
      loops.push_back(std::move(counts));
  }
  return loops;
}

/// The loop for full blocks with the schedule that the compiler picks.
Counts fullBlocks(Form form, int64_t headDim) {
  form.headDim = form.valueDim = headDim;
  form.schedule = "";
  std::vector<Counts> loops = countLoops(compileForm(form).ptx);
  if (loops.empty()) {
    ADD_FAILURE() << "no loop with products\n" << form.text();
    return {};
  }
  return *std::min_element(loops.begin(), loops.end(), [](Counts a, Counts b) {
    return a["predicate"] < b["predicate"];
  });
}

std::string str(const Counts &counts) {
  std::string text;
  for (const auto &[kind, count] : counts)
    text += (text.empty() ? "" : " ") + kind + "=" + std::to_string(count);
  return text;
}

TEST(Loop, ThePlainKernelHasWhatIsRecorded) {
  const char *d64 = hasWarpgroups
                        ? "cvt=58 exponential=114 float=383 other=55 "
                          "predicate=7 product=18 shfl=4"
                        : "cp=14 cvt=48 exponential=100 float=380 ldmatrix=56 "
                          "other=43 predicate=17 product=192 shfl=8";
  const char *d128 = hasWarpgroups
                         ? "cvt=46 exponential=90 float=343 other=56 "
                           "predicate=7 product=19 shfl=4"
                         : "cp=10 cvt=16 exponential=36 float=252 ldmatrix=48 "
                           "other=41 predicate=13 product=128 shfl=8";
  EXPECT_EQ(str(fullBlocks({}, 64)), d64);
  EXPECT_EQ(str(fullBlocks({}, 128)), d128);
}

TEST(Loop, AMaskByPositionCostsItNothing) {
  struct Row {
    Form form;
    /// Numbers of the block itself that its loop may have more.
    int most;
  };
  for (int64_t headDim : {64, 128}) {
    Counts plain = fullBlocks({}, headDim);
    for (Row row : {
             Row{{.clauses = "masks [#fa.causal<top_left>]"}, 0},
             Row{{.clauses = "masks [#fa.causal<bottom_right>]"}, 0},
             // The first block is not block 0.
             Row{{.clauses = "masks [#fa.window<top_left, left = 127, "
                             "right = 0>]"},
                 2},
             Row{{.clauses = "masks [#fa.chunk<top_left, size = 512>]"}, 2},
             Row{{.hasKVLengths = true}, 0},
             Row{{.hasSink = true}, 0},
         }) {
      Counts counts = fullBlocks(row.form, headDim);
      EXPECT_LE(counts["other"], plain["other"] + row.most) << row.form.text();
      counts["other"] = plain["other"];
      EXPECT_EQ(str(counts), str(plain)) << row.form.text();
    }
  }
}

TEST(Loop, AlibiComputesADistanceOnceADiagonal) {
  // With each score's own a subtraction, an absolute value, a multiply-add.
  for (int64_t headDim : {64, 128}) {
    Counts plain = fullBlocks({}, headDim);
    Counts alibi = fullBlocks({.hasAlibi = true}, headDim);
    EXPECT_LE(alibi["float"] - plain["float"], 2.1 * plain["exponential"])
        << str(alibi);
  }
}

} // namespace
