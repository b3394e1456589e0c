//===- AccessHistory.cpp - who touched a byte of shared memory ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts that are not on the fast path.
//
//===----------------------------------------------------------------------===//
#include "AccessHistory.h"

using namespace ptxvm;

void AccessHistory::split(Line &line, uint32_t parts) {
  std::vector<HistoryCell> old(1, line.whole);
  if (line.parts != 1)
    old.assign(&pool[line.first], &pool[line.first] + line.parts);
  if (line.room < parts) {
    line.first = uint32_t(pool.size());
    line.room = uint8_t(parts);
    pool.resize(pool.size() + parts);
  }
  for (uint32_t k = 0; k < parts; ++k) {
    HistoryCell cell = old[k * old.size() / parts];
    if (cell.spill) {
      spills.push_back(spills[cell.spill - 1]);
      cell.spill = uint32_t(spills.size());
    }
    pool[line.first + k] = cell;
  }
  line.parts = uint8_t(parts);
}

void AccessHistory::addFurtherRead(HistoryCell &cell, const ReadRecord &read) {
  ReadRecord *same = nullptr, *unused = nullptr;
  forReads(cell, [&](ReadRecord &r) {
    if (r.warp == read.warp) {
      bool isAlike = r.clock == read.clock && r.isStrong == read.isStrong;
      if (isAlike)
        same = &r;
      else
        // What comes after a thread's new read comes after its old one.
        r.mask &= ~read.mask;
    }
    if (!r.mask)
      unused = &r;
  });
  if (same) {
    same->mask |= read.mask;
    same->pc = read.pc;
    return;
  }
  if (unused) {
    *unused = read;
    return;
  }
  if (cell.reads < HistoryCell::kInline) {
    cell.inlined[cell.reads++] = read;
    return;
  }
  if (!cell.spill) {
    spills.emplace_back();
    cell.spill = uint32_t(spills.size());
  }
  spills[cell.spill - 1].push_back(read);
}
