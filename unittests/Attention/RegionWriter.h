//===- RegionWriter.h - random regions of integers --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, quotients, rests, comparisons, and, or: the text of a score or a
// visibility region, as a seed draws it.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_ATTENTION_REGIONWRITER_H
#define FA_UNITTESTS_ATTENTION_REGIONWRITER_H

#include "fa/Runner/InputGenerator.h"

#include <string>

namespace farun::test {

/// The scale by which a whole number is the exponent of a power of two.
inline constexpr const char *kLn2 = "0.693147180559945";

/// Writes one region.
class RegionWriter {
public:
  explicit RegionWriter(uint64_t seed) : random(seed, /*stream=*/97) {}

  std::string visible();
  /// The first keys, and a window behind each row.
  std::string sinksAndWindow();
  /// A number between -1 and 1 is added to the score.
  std::string score();
  /// One of -3 to 3 times ln 2 is.
  std::string steps();

private:
  std::string add(const std::string &op);
  std::string constant(int64_t least, int64_t most);
  std::string binary(const char *op, const std::string &a,
                     const std::string &c);
  std::string integer(int depth);
  std::string truth(int depth);
  std::string window();
  std::string multiple(const std::string &number, const char *unit);
  std::string shownWhere(const std::string &truth) const;
  std::string withAdded(const std::string &number);

  RandomSource random;
  std::string lines;
  int numValues = 0;
};

} // namespace farun::test

#endif // FA_UNITTESTS_ATTENTION_REGIONWRITER_H
