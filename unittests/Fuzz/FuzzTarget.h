//===- FuzzTarget.h - what a fuzz target is ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fuzz target is one function that takes any bytes and must come back. It is
// built twice: with libFuzzer into a program that looks for inputs, and with
// Replay.cpp into a test that gives it the corpus and seeded mutations of that.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_FUZZ_FUZZTARGET_H
#define FA_UNITTESTS_FUZZ_FUZZTARGET_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace fafuzz {

/// An answer that no input may get: ends the process, as a crash does.
inline void require(bool holds, const std::string &what) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz target: %s\n", what.c_str());
  std::abort();
}

/// The bytes of an input as a row of decisions. When they have run out every
/// decision is 0.
class ByteSource {
public:
  ByteSource(const uint8_t *data, size_t size) : at(data), end(data + size) {}

  bool empty() const { return at == end; }
  uint8_t byte() { return at == end ? 0 : *at++; }
  /// Less than `n`, which is at most 65536.
  uint32_t below(uint32_t n) {
    uint32_t value = byte();
    if (n > 256)
      value = value << 8 | byte();
    return value % n;
  }
  bool oneIn(uint32_t n) { return below(n) == n - 1; }
  template <typename T, size_t N> const T &pick(const T (&list)[N]) {
    return list[below(uint32_t(N))];
  }

private:
  const uint8_t *at, *end;
};

} // namespace fafuzz

#endif // FA_UNITTESTS_FUZZ_FUZZTARGET_H
