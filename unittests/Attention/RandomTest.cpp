//===- RandomTest.cpp - seeded random attentions --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ten draws for each number of keys from 1 to 39, over small blocks: the form,
// the other extents, the spread of the scores and the arrays follow from the
// seed, which a failure prints.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include "fa/Runner/InputGenerator.h"

using namespace farun;
using namespace farun::test;

namespace {

std::vector<Form> forms() {
  std::vector<Form> list;
  Form form{.schedule = kLeastTiles};
  list.push_back(form);
  form.type = "bf16";
  form.headDim = 24;
  form.clauses = "scale(0.3) masks [#fa.causal<top_left>]";
  list.push_back(form);
  form.type = "f16";
  form.valueDim = 40;
  form.clauses = "masks [#fa.causal<bottom_right>]";
  form.schedule = "tile_q=32,tile_kv=16,warps=2,stages=3";
  list.push_back(form);
  form.hasKVLengths = true;
  list.push_back(form);
  form.clauses = "scale(-0.2)";
  form.mask = "?x1x?x?";
  form.schedule = "tile_q=32,tile_kv=16,warps=2,state=shared";
  list.push_back(form);
  form.clauses = "masks [#fa.causal<top_left, prefix = 5>]";
  form.mask = "";
  form.hasQLengths = true;
  form.isBSHD = true;
  list.push_back(form);
  return list;
}

TEST(Random, OneTo39Keys) {
  std::vector<Form> all = forms();
  int runs = 0;
  for (int64_t keys = 1; keys <= 39; ++keys)
    for (uint64_t draw = 0; draw < 10; ++draw, ++runs) {
      uint64_t seed = uint64_t(keys) * 100 + draw;
      RandomSource random(seed, /*stream=*/99);
      const Form &form = all[size_t(random.integer(int64_t(all.size()) - 1))];
      int64_t kvHeads = 1 + random.integer(1);
      Extent5 extents{1 + random.integer(1), kvHeads * (1 + random.integer(3)),
                      kvHeads, 1 + random.integer(39), keys};
      Trial trial(form, extents);
      trial.seed(seed);
      // Flat, usual and sharp rows.
      double spread = std::array{0.1, 1.0, 8.0}[size_t(random.integer(2))];
      Values query = trial.input("query").values();
      for (double &value : query)
        value *= spread;
      trial.set("query", query).run();
      if (HasFailure())
        return;
    }
  EXPECT_EQ(runs, 390);
}

} // namespace
