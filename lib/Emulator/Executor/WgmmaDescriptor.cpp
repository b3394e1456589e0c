//===- WgmmaDescriptor.cpp - matrices in shared memory --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is refused of a descriptor: reserved bits, and a base offset, whose
// effect is *unverified*.
//
//===----------------------------------------------------------------------===//
#include "WgmmaDescriptor.h"

using namespace ptxvm;

std::optional<std::string> ptxvm::decodeWgmmaMatrix(uint64_t descriptor,
                                                    WgmmaMatrix &matrix) {
  auto field = [descriptor](unsigned first, unsigned bits) {
    return uint32_t(descriptor >> first & ((1u << bits) - 1));
  };
  static constexpr struct {
    unsigned first, bits;
    const char *name;
  } kReserved[] = {{14, 2, "reserved bits 14 and 15"},
                   {30, 2, "reserved bits 30 and 31"},
                   {46, 3, "reserved bits 46 to 48"},
                   {52, 10, "reserved bits 52 to 61"}};
  for (auto &r : kReserved)
    if (uint32_t v = field(r.first, r.bits))
      return std::string(r.name) + " hold " + std::to_string(v) +
             " and must be 0";
  if (uint32_t base = field(49, 3))
    return "unsupported: base offset " + std::to_string(base) +
           " (bits 49 to 51); only patterns that start on a multiple of their "
           "own size, with base offset 0, are";
  matrix.start = field(0, 14) * 16;
  matrix.leading = field(16, 14) * 16;
  matrix.stride = field(32, 14) * 16;
  static constexpr uint32_t kSpans[] = {0, 128, 64, 32};
  matrix.span = kSpans[field(62, 2)];
  matrix.mask = matrix.span ? matrix.span / 16 - 1 : 0;
  return std::nullopt;
}

std::vector<uint32_t> ptxvm::wgmmaChunks(const WgmmaMatrix &matrix,
                                         uint32_t rows, bool isMNMajor) {
  std::vector<uint32_t> chunks;
  chunks.reserve(rows * 2);
  if (isMNMajor)
    for (uint32_t q = 0; q < rows / 8; ++q)
      for (uint32_t k = 0; k < 16; ++k)
        chunks.push_back(matrix.columnChunk(q, k));
  else
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t c = 0; c < 2; ++c)
        chunks.push_back(matrix.rowChunk(r, c));
  return chunks;
}
