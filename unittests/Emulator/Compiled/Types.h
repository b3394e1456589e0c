//===- Types.h - small numbers in element types -*- C++ -*- ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodings of integers in the element types of matrix products, and the
// product itself by three loops.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_COMPILED_TYPES_H
#define FA_UNITTESTS_EMULATOR_COMPILED_TYPES_H

#include "../WgmmaHarness.h"

namespace ptxvm::test {

template <typename T>
std::vector<T> encodeAll(const std::string &type,
                         const std::vector<int> &values) {
  std::vector<T> bits;
  for (int v : values)
    bits.push_back(T(encode(type, v)));
  return bits;
}

/// Elements of 1 or 4 bits, the first one lowest.
inline std::vector<uint8_t> packBits(const std::vector<int> &values,
                                     unsigned bits) {
  std::vector<uint8_t> bytes(values.size() * bits / 8);
  for (size_t i = 0; i < values.size(); ++i)
    bytes[i * bits / 8] |=
        uint8_t((unsigned(values[i]) & ((1u << bits) - 1)) << i * bits % 8);
  return bytes;
}

/// A (m x k) times B (n x k) transposed.
inline std::vector<float> product(const std::vector<int> &a,
                                  const std::vector<int> &b, int m, int n,
                                  int k) {
  std::vector<float> c;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int e = 0; e < k; ++e)
        sum += a[size_t(i * k + e)] * b[size_t(j * k + e)];
      c.push_back(float(sum));
    }
  return c;
}

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_COMPILED_TYPES_H
