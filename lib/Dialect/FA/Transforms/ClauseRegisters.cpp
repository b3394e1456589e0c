//===- ClauseRegisters.cpp - what clauses take of a lane ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are measured: of the tiles that the choice prefers, those that
// leave room for them are the first that ptxas did not spill in, at head dims
// 64 and 128, and 192 and 256 for products that are wide. benchmarks/clauses.py
// asks again.
//===----------------------------------------------------------------------===//

#include "ClauseRegisters.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fa;

namespace {

/// Registers by what a lane has of a block: a line through what was measured,
/// which starts below 0 where little is taken beside a narrow u.
struct Taken {
  double fixed = 0, perRow = 0, perScore = 0, perAccumulator = 0;

  double of(const LaneShare &share) const {
    return fixed + perRow * static_cast<double>(share.rows) +
           perScore * static_cast<double>(share.scores) +
           perAccumulator * static_cast<double>(share.accumulators);
  }
};

/// The same for each kind of product.
struct TakenBeside {
  Taken warp, warpgroup, wide;

  double of(const LaneShare &share) const {
    switch (share.kind) {
    case ProductKind::Warp:
      return warp.of(share);
    case ProductKind::Warpgroup:
      return warpgroup.of(share);
    case ProductKind::WideWarpgroup:
      return wide.of(share);
    }
    llvm_unreachable("no such kind");
  }
};

/// What a clause takes by itself, and where structural masks bound the keys of
/// each row: the bounds stay in registers while it is computed.
struct ClauseRow {
  bool (*isUsed)(AttentionOp op);
  TakenBeside alone, bounded;
};

} // namespace

static const ClauseRow kRows[] = {
    {[](AttentionOp op) { return bool(op.getBias()); },
     {{36, 14}, {64}, {36}},
     {{36, 14}, {70}, {36}}},
    {[](AttentionOp op) { return bool(op.getMask()); },
     {{84, 8}, {100}, {68}},
     {{84, 8}, {100}, {68}}},
    {[](AttentionOp op) { return bool(op.getAlibi()); },
     {},
     {{0, 0, 1.5}, {-64, 0, 0, 1.5}, {}}},
    {[](AttentionOp op) { return bool(op.getQSegments()); },
     {{36, 0, 0, 0.75}, {68}, {24}},
     {{92}, {68}, {36}}},
    {[](AttentionOp op) { return bool(op.getDropoutAttr()); },
     {{112}, {112}, {60}},
     {{72, 0, 1.5}, {112}, {60}}},
    {[](AttentionOp op) { return op.hasScore(); },
     {{0, 15}, {30}, {30}},
     {{0, 15}, {30}, {30}}},
    {[](AttentionOp op) { return op.hasVisible(); },
     {{8}, {8}, {8}},
     {{8}, {-8, 0, 0, 1}, {8}}},
};

/// Bounds of rows beside addresses of the other blocks' barriers.
static const TakenBeside kInCluster = {{}, {-8, 0, 0, 0.25}, {}};

int64_t mlir::fa::getClauseRegisters(AttentionOp op, const LaneShare &share) {
  bool isBounded = !op.getMaskAttrs().empty();
  double most = 0;
  for (const ClauseRow &row : kRows)
    if (row.isUsed(op))
      most = std::max(most, (isBounded ? row.bounded : row.alone).of(share));
  if (isBounded && share.isInCluster)
    most += std::max(kInCluster.of(share), 0.0);
  return static_cast<int64_t>(std::ceil(most));
}
