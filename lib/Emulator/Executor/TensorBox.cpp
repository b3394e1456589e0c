//===- TensorBox.cpp - where a box lies in memory -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of the box along dimension 0, cut to what lies inside the tensor. Rows
// that follow each other without a gap become one run.
//
//===----------------------------------------------------------------------===//
#include "TensorBox.h"

#include <algorithm>

using namespace ptxvm;

namespace {
class BoxWalk {
public:
  BoxWalk(const TensorMapShape &shape, int32_t column)
      : shape(shape), size(elementBytes(shape.type)),
        rowBytes(shape.box[0] * size) {
    // The part of dimension 0 that lies inside.
    int64_t begin = std::max<int64_t>(0, -int64_t(column));
    int64_t end =
        std::min<int64_t>(shape.box[0], int64_t(shape.dims[0]) - column);
    skip = uint32_t(begin) * size;
    length = end > begin ? uint32_t(end - begin) * size : 0;
    start = shape.address + uint64_t(int64_t(column) * int64_t(size)) + skip;
  }

  /// One row; `outside` when another coordinate is out of range.
  void row(uint64_t distance, bool outside) {
    if (length && !outside)
      add({start + distance, done + skip, length});
    done += rowBytes;
  }

  const TensorMapShape &shape;
  std::vector<TensorRun> runs;

private:
  void add(TensorRun r) {
    if (!runs.empty()) {
      TensorRun &last = runs.back();
      if (last.address + last.bytes == r.address &&
          last.offset + last.bytes == r.offset) {
        last.bytes += r.bytes;
        return;
      }
    }
    runs.push_back(r);
  }

  uint32_t size, rowBytes;
  uint32_t skip, length, done = 0;
  uint64_t start;
};
} // namespace

static void walk(BoxWalk &w, const int32_t *coordinates, uint32_t d,
                 uint64_t distance, bool outside) {
  if (d == 0)
    return w.row(distance, outside);
  const TensorMapShape &s = w.shape;
  for (uint32_t k = 0, n = boxCount(s, d); k < n; ++k) {
    int64_t at = int64_t(coordinates[d]) + int64_t(k) * s.elementStrides[d];
    bool isOut = at < 0 || uint64_t(at) >= s.dims[d];
    uint64_t step = isOut ? 0 : uint64_t(at) * s.strides[d - 1];
    walk(w, coordinates, d - 1, distance + step, outside || isOut);
  }
}

std::vector<TensorRun> ptxvm::boxRuns(const TensorMapShape &s,
                                      const int32_t *coordinates,
                                      bool isGather) {
  BoxWalk w(s, coordinates[0]);
  if (!isGather) {
    walk(w, coordinates, s.rank - 1, 0, false);
    return std::move(w.runs);
  }
  for (uint32_t k = 1; k <= 4; ++k) {
    bool isOut = coordinates[k] < 0 || uint64_t(coordinates[k]) >= s.dims[1];
    w.row(isOut ? 0 : uint64_t(coordinates[k]) * s.strides[0], isOut);
  }
  return std::move(w.runs);
}
