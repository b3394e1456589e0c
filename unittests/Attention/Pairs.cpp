//===- Pairs.cpp - what can be said about a score, two by two -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Pairs.h"

#include <functional>

using namespace farun::test;

namespace {

/// What a form is made of; the masks are one list in its text.
struct Parts {
  Form form;
  std::vector<std::string> masks;
  int64_t headsAGroup = 1;
};

struct Feature {
  const char *name;
  std::function<void(Parts &)> add;
};

const std::vector<Feature> &features() {
  auto clause = [](const char *text) {
    return
        [text](Parts &parts) { parts.form.clauses += " " + std::string(text); };
  };
  auto mask = [](const char *text) {
    return [text](Parts &parts) { parts.masks.push_back(text); };
  };
  static const std::vector<Feature> list = {
      {"causal", mask("#fa.causal<bottom_right>")},
      {"window", mask("#fa.window<bottom_right, left = 33, right = 9>")},
      {"prefix", mask("#fa.causal<top_left, prefix = 11>")},
      {"chunk", mask("#fa.chunk<top_left, size = 21>")},
      {"bias", [](Parts &parts) { parts.form.bias = "?x?x?x?"; }},
      {"mask", [](Parts &parts) { parts.form.mask = "?x1x?x?"; }},
      {"visible",
       clause(R"(visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %nine = arith.constant 9 : index
    %x = arith.addi %i, %h : index
    %d = arith.subi %j, %x : index
    %c = arith.cmpi ne, %d, %nine : index
    %low = arith.cmpi slt, %j, %i : index
    %r = arith.ori %c, %low : i1
    fa.yield %r : i1 })")},
      {"segments", [](Parts &parts) { parts.form.hasSegments = true; }},
      {"score",
       clause(
           R"(score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %d = arith.subi %i, %j : index
    %n = arith.index_cast %d : index to i64
    %x = arith.sitofp %n : i64 to f32
    %c = arith.constant 0.03125 : f32
    %p = arith.mulf %x, %c : f32
    %r = arith.addf %s, %p : f32
    fa.yield %r : f32 })")},
      {"softcap", clause("softcap(1.5)")},
      {"alibi", [](Parts &parts) { parts.form.hasAlibi = true; }},
      {"sink", [](Parts &parts) { parts.form.hasSink = true; }},
      {"lengths",
       [](Parts &parts) {
         parts.form.hasQLengths = parts.form.hasKVLengths = true;
       }},
      {"dropout", [](Parts &parts) { parts.form.dropout = 0.25; }},
      {"gqa", [](Parts &parts) { parts.headsAGroup = 3; }},
  };
  return list;
}

void run(const Feature &first, const Feature &second, const Form &base,
         const std::vector<Extent5> &extents) {
  SCOPED_TRACE(std::string(first.name) + " with " + second.name);
  Parts parts{base, {}};
  first.add(parts);
  second.add(parts);
  std::string masks;
  for (const std::string &mask : parts.masks)
    masks += (masks.empty() ? "" : ", ") + mask;
  if (!masks.empty())
    parts.form.clauses += " masks [" + masks + "]";
  uint64_t seed = 0;
  for (Extent5 each : extents) {
    each.Hkv = each.Hq / parts.headsAGroup;
    Trial(parts.form, each).seed(++seed).run();
  }
}

} // namespace

std::vector<std::string> farun::test::pairFeatures() {
  std::vector<std::string> names;
  for (const Feature &feature : features())
    names.push_back(feature.name);
  return names;
}

void farun::test::runPairs(size_t number, const Form &base,
                           const std::vector<Extent5> &extents) {
  const std::vector<Feature> &list = features();
  for (size_t other = number + 1; other < list.size(); ++other) {
    run(list[number], list[other], base, extents);
    if (testing::Test::HasFailure())
      return;
  }
}
