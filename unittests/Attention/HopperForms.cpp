//===- HopperForms.cpp - forms of kernels with producers ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HopperForms.h"

using namespace farun;
using namespace farun::test;

const std::vector<HopperForm> &farun::test::hopperForms() {
  static const std::vector<HopperForm> list = {
      {"plain_d64", {.headDim = 64, .valueDim = 64}, {1, 2, 1, 130, 165}},
      {"plain_d128", {.headDim = 128, .valueDim = 128}, {2, 1, 1, 128, 101}},
      {"plain_d192", {.headDim = 192, .valueDim = 128}, {2, 1, 1, 70, 101}},
      // The last block of a cluster has no row.
      {"odd_number_of_tiles",
       {.headDim = 64, .valueDim = 64, .clauses = kCausal},
       {2, 1, 1, 130, 165}},
      {"one_row", {.headDim = 64, .valueDim = 64}, {3, 1, 1, 1, 37}},
      {"no_keys", {.headDim = 64, .valueDim = 64}, {2, 1, 1, 70, 0}},
      {"causal_groups_of_three",
       {.headDim = 64, .valueDim = 64, .clauses = kCausal},
       {1, 3, 1, 130, 165}},
      {"window",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = "masks [#fa.window<bottom_right, left = 40, right = 9>]"},
       {2, 1, 1, 70, 165}},
      // Rows behind the last key's window see nothing.
      {"window_before_the_last_rows",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = "masks [#fa.window<top_left, left = 20, right = 9>]"},
       {1, 1, 1, 300, 70}},
      // Of the keys of one block of rows the next one sees none.
      {"narrow_window",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = "masks [#fa.window<top_left, left = 5, right = 3>]"},
       {1, 1, 1, 300, 270}},
      {"lengths",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = kCausal,
        .hasQLengths = true,
        .hasKVLengths = true},
       {4, 1, 1, 130, 101}},
      {"bf16",
       {.type = "bf16", .headDim = 64, .valueDim = 64, .clauses = kCausal},
       {2, 1, 1, 70, 165}},
      {"bf16_without_lse",
       {.type = "bf16", .headDim = 64, .valueDim = 64, .hasLSE = false},
       {2, 1, 1, 70, 70}},
      {"out_by_lanes",
       {.outType = "f32", .headDim = 64, .valueDim = 64},
       {2, 1, 1, 70, 70}},
      {"bshd_odd_dims",
       {.headDim = 40, .valueDim = 72, .isBSHD = true},
       {1, 3, 1, 70, 101}},
      {"segments",
       {.headDim = 64, .valueDim = 64, .hasSegments = true},
       {2, 1, 1, 130, 101}},
      {"mask_and_bias",
       {.headDim = 64, .valueDim = 64, .mask = "?x1x?x?", .bias = "1x?x?x?"},
       {2, 2, 1, 70, 101}},
      {"slopes_and_a_sink",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = kCausal,
        .hasAlibi = true,
        .hasSink = true},
       {1, 2, 2, 130, 101}},
      {"dropout",
       {.headDim = 64, .valueDim = 64, .dropout = 0.25},
       {1, 1, 1, 130, 70}},
      {"state_in_shared_memory",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = kCausal,
        .schedule = "tile_q=64,tile_kv=32,state=shared"},
       {1, 2, 1, 130, 165}},
      {"three_stages_two_warpgroups",
       {.headDim = 64,
        .valueDim = 64,
        .schedule = "tile_q=128,tile_kv=32,stages=3"},
       {1, 2, 1, 260, 229}},
      {"three_warpgroups",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = kCausal,
        .schedule = "tile_q=192,tile_kv=32"},
       {1, 2, 1, 390, 165}},
      {"sixteen_keys",
       {.headDim = 64,
        .valueDim = 64,
        .clauses = kCausal,
        .schedule = "tile_q=64,tile_kv=16"},
       {1, 1, 1, 130, 101}},
      {"picked_d64",
       {.headDim = 64, .valueDim = 64, .clauses = kCausal, .schedule = ""},
       {1, 2, 1, 260, 500}},
      {"picked_d128",
       {.headDim = 128, .valueDim = 128, .schedule = ""},
       {1, 3, 3, 256, 400}},
      {"picked_d192",
       {.headDim = 192, .valueDim = 192, .clauses = kCausal, .schedule = ""},
       {1, 2, 1, 130, 165}},
  };
  return list;
}

Form farun::test::withKey(Form form, const std::string &key) {
  form.schedule += form.schedule.empty() ? "" : ",";
  form.schedule += key;
  return form;
}
