//===- WgmmaDescriptor.h - matrices in shared memory ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 64-bit matrix descriptor of wgmma, PTX ISA 9.1 section 9.7.15.5.1, and
// the walk over the 16-byte chunks that it describes:
//
//   bits  0..13  start address    14, 15  reserved
//        16..29  leading offset   30, 31  reserved
//        32..45  stride offset    46..48  reserved
//        49..51  base offset      52..61  reserved
//        62..63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//
// Addresses and offsets are in units of 16 bytes. r counts rows of A or columns
// of B; S is the span of the swizzle and W = S / 16:
//
//   K-major, chunk c (0, 1) of row r
//     none      (r % 8) 16 + (r / 8) stride + c leading
//     swizzled  (r % 8) S  + (r / 8) stride + c 16
//   MN-major (16-bit types), rows 8q .. 8q + 7 at k
//     none      q stride + (k % 8) 16 + (k / 8) leading
//     swizzled  (q % W) 16 + (q / W) leading + (k % 8) S + (k / 8) stride
//
// On the sum with the start address, bits 4..6 are XORed with bits 7..9 under
// the mask of the span.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_WGMMADESCRIPTOR_H
#define FA_LIB_EMULATOR_EXECUTOR_WGMMADESCRIPTOR_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxvm {

struct WgmmaMatrix {
  uint32_t start = 0, leading = 0, stride = 0; ///< bytes
  uint32_t span = 0;                           ///< of the swizzle; 0 = none
  uint32_t mask = 0; ///< of the bits that the swizzle XORs

  uint32_t swizzle(uint32_t address) const {
    return address ^ ((address >> 7 & mask) << 4);
  }
  /// Chunk `c` of row `r`, K-major.
  uint32_t rowChunk(uint32_t r, uint32_t c) const {
    uint32_t pitch = span ? span : 16, step = span ? 16 : leading;
    return swizzle(start + r % 8 * pitch + r / 8 * stride + c * step);
  }
  /// Rows 8q to 8q + 7 at `k`, MN-major.
  uint32_t columnChunk(uint32_t q, uint32_t k) const {
    if (!span)
      return start + q * stride + k % 8 * 16 + k / 8 * leading;
    uint32_t w = span / 16;
    return swizzle(start + q % w * 16 + q / w * leading + k % 8 * span +
                   k / 8 * stride);
  }
  bool operator==(const WgmmaMatrix &) const = default;
};

/// Takes a descriptor apart; the message says which field is not accepted.
std::optional<std::string> decodeWgmmaMatrix(uint64_t descriptor,
                                             WgmmaMatrix &matrix);

/// Addresses of all chunks of a matrix of `rows` rows, in any order.
std::vector<uint32_t> wgmmaChunks(const WgmmaMatrix &matrix, uint32_t rows,
                                  bool isMNMajor);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_WGMMADESCRIPTOR_H
