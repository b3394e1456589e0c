//===- PendingBytes.h - shared memory that is being moved -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which asynchronous operation is writing a byte of shared memory, or reading
// it. cp.async moves 4 bytes or more, so writes are known for each word; bulk
// copies and wgmma move lines of 16, which is what readers are counted for.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_PENDINGBYTES_H
#define FA_LIB_EMULATOR_CHECKERS_PENDINGBYTES_H

#include <cstdint>
#include <vector>

namespace ptxvm {

class PendingBytes {
public:
  explicit PendingBytes(uint32_t bytes)
      : lines(bytes / 16 + 2), writers(lines.size() * 4) {}

  /// The number of the operation that writes a byte, or 0. Operations count
  /// from 1.
  uint32_t writer(uint64_t at) const { return writers[at / 4]; }
  uint32_t reader(uint64_t at) const {
    const Line &l = lines[at / 16];
    return l.readers ? l.reader : 0;
  }
  /// False when nothing is under way in the line of a byte.
  bool isBusy(uint64_t at) const {
    const Line &l = lines[at / 16];
    return l.words || l.readers;
  }

  void beginWrite(uint64_t at, uint64_t bytes, uint32_t operation) {
    for (uint64_t w = at / 4; w * 4 < at + bytes; ++w) {
      lines[w / 4].words += writers[w] == 0;
      writers[w] = operation;
    }
  }
  /// Words that a younger operation has taken over stay with that.
  void endWrite(uint64_t at, uint64_t bytes, uint32_t operation) {
    for (uint64_t w = at / 4; w * 4 < at + bytes; ++w)
      if (writers[w] == operation) {
        writers[w] = 0;
        --lines[w / 4].words;
      }
  }
  void beginRead(uint64_t at, uint64_t bytes, uint32_t operation) {
    for (uint64_t k = at / 16; k * 16 < at + bytes; ++k) {
      ++lines[k].readers;
      lines[k].reader = operation;
    }
  }
  void endRead(uint64_t at, uint64_t bytes) {
    for (uint64_t k = at / 16; k * 16 < at + bytes; ++k)
      --lines[k].readers;
  }

private:
  struct Line {
    uint32_t reader = 0; ///< the last one
    uint16_t readers = 0;
    uint8_t words = 0; ///< with a writer
  };
  std::vector<Line> lines;
  std::vector<uint32_t> writers; ///< by word
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_PENDINGBYTES_H
