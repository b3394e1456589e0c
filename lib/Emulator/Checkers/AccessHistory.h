//===- AccessHistory.h - who touched a byte of shared memory ----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shadow memory of the race checker. A cell holds the last write and the reads
// since then that are not known to be over. It stands for 16 bytes, which is
// what cp.async and ldmatrix move; the first access of fewer bytes splits the
// cell into four of 4 bytes or 16 of one, and a write of all 16 bytes makes one
// of them again:
//
//   [                16                ]
//   [   4   ][   4   ][   4   ][   4   ]
//   [1][1][1][1][1][1][1][1] ...
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_ACCESSHISTORY_H
#define FA_LIB_EMULATOR_CHECKERS_ACCESSHISTORY_H

#include <cstdint>
#include <vector>

namespace ptxvm {

struct WriteRecord {
  uint32_t time = 0; ///< memory event; 0 = no write yet
  uint32_t clock = 0;
  uint32_t pc = 0;
  uint16_t thread = 0;
  bool isStrong = false;

  bool operator==(const WriteRecord &) const = default;
};

/// Reads by lanes of one warp at one clock.
struct ReadRecord {
  uint32_t mask = 0;
  uint32_t clock = 0;
  uint32_t pc = 0;
  uint16_t warp = 0;
  bool isStrong = false;
};

struct HistoryCell {
  static constexpr unsigned kInline = 4;

  WriteRecord write;
  uint32_t readTime = 0; ///< of the last read
  uint16_t reads = 0;    ///< in `inlined`
  uint16_t warps = 0;    ///< whose reads there are, by their number mod 16
  uint32_t spill = 0;    ///< 0, or the number of a list for more, + 1
  ReadRecord inlined[kInline];
};

class AccessHistory {
public:
  explicit AccessHistory(uint32_t bytes) : lines(bytes / 16 + 2) {}

  /// That a line will be asked for soon: there are more than the host's nearest
  /// cache holds.
  void prefetch(uint64_t at) const { __builtin_prefetch(&lines[at / 16], 1); }

  struct Range {
    HistoryCell *cells;
    uint32_t count;
  };
  /// The cells of aligned bytes inside one 16-byte line, until the next call.
  Range find(uint64_t at, uint32_t bytes) {
    Line &line = lines[at / 16];
    uint32_t wanted = bytes >= 16 ? 1 : bytes >= 4 ? 4 : 16;
    if (wanted > line.parts) [[unlikely]]
      split(line, wanted);
    if (line.parts == 1)
      return {&line.whole, 1};
    uint32_t size = 16 / line.parts;
    uint32_t count = bytes >= 16 ? line.parts : (bytes + size - 1) / size;
    return {&pool[line.first + (at % 16) / size], count};
  }
  /// The only cell of the line around `at`, or null when there are more.
  HistoryCell *whole(uint64_t at) {
    Line &line = lines[at / 16];
    return line.parts == 1 ? &line.whole : nullptr;
  }
  /// Makes the line around `at` one cell again, after the old ones have been
  /// looked at, and returns it.
  HistoryCell &joined(uint64_t at) {
    Line &line = lines[at / 16];
    if (line.parts != 1) {
      line.whole = pool[line.first];
      line.parts = 1;
    }
    return line.whole;
  }

  /// Calls visit(ReadRecord &) for each read of a cell.
  template <typename Visit> void forReads(HistoryCell &cell, Visit visit) {
    for (unsigned k = 0; k < cell.reads; ++k)
      visit(cell.inlined[k]);
    if (cell.spill)
      for (ReadRecord &r : spills[cell.spill - 1])
        visit(r);
  }
  void addRead(HistoryCell &cell, const ReadRecord &read) {
    ReadRecord &first = cell.inlined[0];
    bool isFirst = cell.reads == 0 && !cell.spill;
    uint16_t warp = uint16_t(1u << read.warp % 16);
    if (isFirst) {
      first = read;
      cell.reads = 1;
      cell.warps = warp;
      return;
    }
    // Each of some warps reads the tile that all of them share.
    if (!(cell.warps & warp) && cell.reads < HistoryCell::kInline) {
      cell.inlined[cell.reads++] = read;
      cell.warps |= warp;
      return;
    }
    // The lanes of one load, mostly.
    bool isAlike = cell.reads == 1 && !cell.spill && first.warp == read.warp &&
                   first.clock == read.clock && first.isStrong == read.isStrong;
    if (!isAlike) {
      cell.warps |= warp;
      return addFurtherRead(cell, read);
    }
    first.mask |= read.mask;
    first.pc = read.pc;
  }
  void clearReads(HistoryCell &cell) {
    cell.reads = cell.warps = 0;
    cell.readTime = 0;
    if (cell.spill) [[unlikely]]
      spills[cell.spill - 1].clear();
  }

private:
  /// What most accesses look at fits one line of the host's cache.
  struct alignas(64) Line {
    uint8_t parts = 1;
    uint8_t room = 0; ///< cells at `first`
    uint32_t first = 0;
    HistoryCell whole;
  };
  void split(Line &line, uint32_t parts);
  void addFurtherRead(HistoryCell &cell, const ReadRecord &read);

  std::vector<Line> lines;
  std::vector<HistoryCell> pool;
  std::vector<std::vector<ReadRecord>> spills;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_ACCESSHISTORY_H
