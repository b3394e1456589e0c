//===- SanitizeTest.cpp - our kernels under every checker -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One run of each shape of kernel with all checkers on and the warps in several
// orders: no finding, and the bits of the plain run.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <functional>

using namespace farun;
using namespace farun::test;

namespace {

struct Row {
  const char *name;
  Form form;
  Extent5 extents;
  /// What the run has beside seeded arrays.
  std::function<void(Trial &)> prepare = {};
};

const std::vector<Row> &rows() {
  constexpr const char *kCausal = "masks [#fa.causal<bottom_right>]";
  static const std::vector<Row> list = {
      {"full",
       {.headDim = 64,
        .valueDim = 64,
        .schedule = "tile_q=64,tile_kv=32,warps=4"},
       {1, 2, 1, 70, 101}},
      {"causal_three_stages",
       {.type = "bf16",
        .headDim = 64,
        .valueDim = 64,
        .clauses = kCausal,
        .schedule = "tile_q=64,tile_kv=32,warps=4,stages=3"},
       {1, 3, 1, 130, 165}},
      {"state_in_shared_memory",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = kCausal,
        .schedule = "tile_q=64,tile_kv=32,warps=4,state=shared"},
       {1, 2, 1, 130, 165}},
      {"query_in_registers",
       {.headDim = 64,
        .valueDim = 64,
        .schedule = "tile_q=64,tile_kv=32,warps=2,query=registers"},
       {1, 1, 1, 65, 97}},
      // A tile row is narrower than what a warp could store at once.
      {"picked_d16", {.clauses = kCausal, .schedule = ""}, {1, 1, 1, 70, 70}},
      {"picked_d128",
       {.headDim = 128, .valueDim = 128, .clauses = kCausal, .schedule = ""},
       {1, 1, 1, 129, 129}},
      {"picked_d40_d24",
       {.headDim = 40, .valueDim = 24, .clauses = kCausal, .schedule = ""},
       {1, 1, 1, 100, 129}},
      // One warp, rows of 12 chunks: lanes without a chunk meet the others
      // again before the products.
      {"one_warp_d88",
       {.headDim = 88, .valueDim = 88, .schedule = "tile_q=16,warps=1"},
       {1, 1, 1, 50, 70}},
      {"mask_and_lengths",
       {.headDim = 32,
        .valueDim = 48,
        .clauses = kCausal,
        .mask = "?x1x?x?",
        .hasQLengths = true,
        .hasKVLengths = true},
       {3, 2, 2, 70, 67}},
      {"misaligned",
       {.headDim = 40, .valueDim = 40},
       {1, 1, 1, 66, 70},
       [](Trial &trial) {
         for (const char *role : {"query", "key", "value", "out"})
           trial.strides(role, {1, 1, 41, 1});
       }},
      {"huge_scores",
       {.type = "bf16", .clauses = "scale(1.0)"},
       {1, 1, 1, 64, 64},
       [](Trial &trial) {
         Values query = trial.input("query").values();
         for (size_t n = 0; n < 5 * 16; ++n)
           query[n] *= 1e12;
         trial.set("query", query);
       }},
      {"infinite_values",
       {.clauses = kCausal},
       {1, 1, 1, 70, 70},
       [](Trial &trial) {
         Values values = trial.input("value").values();
         values[5 * 16 + 3] = kNaN;
         values[40 * 16 + 7] = kInf;
         trial.set("value", values);
       }},
      {"infinite_values_state_in_shared_memory",
       {.clauses = "masks [#fa.window<top_left, left = 40, right = 9>]",
        .schedule = "tile_q=32,tile_kv=16,warps=2,state=shared"},
       {1, 1, 1, 70, 70},
       [](Trial &trial) {
         Values values = trial.input("value").values();
         values[5 * 16 + 3] = kNaN;
         values[40 * 16 + 7] = kInf;
         trial.set("value", values);
       }},
      {"chunk",
       {.clauses = "masks [#fa.chunk<top_left, size = 40>]"},
       {1, 2, 1, 130, 130}},
      {"segments",
       {.clauses = kCausal, .hasSegments = true, .hasKVLengths = true},
       {2, 3, 1, 70, 101}},
      {"uniform_rows",
       {.clauses = kCausal,
        .attributes = "empty_row = \"uniform\"",
        .hasKVLengths = true},
       {2, 3, 1, 130, 37}},
      {"dropout",
       {.clauses = kCausal, .hasKVLengths = true, .dropout = 0.3},
       {2, 3, 1, 70, 101}},
      {"no_keys", {.clauses = kCausal}, {1, 1, 1, 70, 0}},
      {"traced",
       {.isTraced = true},
       {1, 1, 1, 70, 70},
       [](Trial &trial) { trial.trace(69); }},
  };
  return list;
}

class Sanitize : public testing::TestWithParam<Row> {};

TEST_P(Sanitize, NothingFoundInAnyOrder) {
  const Row &row = GetParam();
  Trial trial(row.form, row.extents);
  trial.seed(21);
  if (row.prepare)
    row.prepare(trial);
  std::vector<std::byte> plain = bits(trial.run());
  for (const char *order : {"round-robin", "reverse", "random:1", "random:2",
                            "random:3", "random:4"}) {
    DeviceOptions options;
    options.order = order;
    options.sanitize = "all";
    std::unique_ptr<Device> device = openEmulator(options);
    RunResult result = trial.runUnchecked(*device);
    EXPECT_TRUE(bits(result) == plain) << order;
    for (const std::string &line : result.diagnostics)
      ADD_FAILURE() << order << ": " << line;
    if (HasFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(, Sanitize, testing::ValuesIn(rows()),
                         [](const auto &info) { return info.param.name; });

} // namespace
