//===- InputGenerator.cpp - seeded inputs that are legal ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/InputGenerator.h"

#include <cmath>
#include <numbers>

namespace farun {

uint64_t RandomSource::bits() {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double RandomSource::uniform() {
  return (double(bits() >> 11) + 0.5) * 0x1p-53;
}

double RandomSource::normal() {
  if (hasSpare) {
    hasSpare = false;
    return spare;
  }
  double radius = std::sqrt(-2.0 * std::log(uniform()));
  double angle = 2.0 * std::numbers::pi * uniform();
  hasSpare = true;
  spare = radius * std::sin(angle);
  return radius * std::cos(angle);
}

int64_t RandomSource::integer(int64_t limit) {
  return int64_t(bits() % (uint64_t(limit) + 1));
}

/// Documents side by side: the numbers 0, 1, 2, ... of each batch, 16 rows or
/// keys of one on average.
static void fillSegments(Array &array, RandomSource &random) {
  int64_t length = array.shape.back(), number = 0;
  for (int64_t n = 0; n < array.size(); ++n) {
    number = n % length == 0 ? 0 : number + (random.bits() >> 60 == 0);
    array.set(n, double(number));
  }
}

Expected<Array> generateInput(const Entry &entry, int index,
                              const Binding &binding, uint64_t seed) {
  const Operand &operand = entry.operands[size_t(index)];
  Array array(operand.type, binding.shapes[size_t(index)]);
  RandomSource random(seed, uint64_t(index));
  int64_t count = array.size();
  if (isFloat(operand.type)) {
    for (int64_t n = 0; n < count; ++n)
      array.set(n, random.normal());
    return array;
  }
  if (operand.type == ElementType::I1) {
    for (int64_t n = 0; n < count; ++n)
      array.set(n, double(random.bits() >> 63));
    return array;
  }
  if (operand.role == "q_segments" || operand.role == "kv_segments") {
    fillSegments(array, random);
    return array;
  }
  if (operand.role == "seed") {
    // As many bits as a double holds.
    array.set(0, double(random.bits() >> 11));
    return array;
  }
  const char *limitName = operand.role == "kv_lengths"  ? "Sk"
                          : operand.role == "q_lengths" ? "Sq"
                                                        : nullptr;
  auto limit =
      limitName ? binding.extents.find(limitName) : binding.extents.end();
  if (limit == binding.extents.end())
    return inputError(describeOperand(entry, index) +
                      " has no random values: give --input=" +
                      std::to_string(index) + "=FILE.npy");
  for (int64_t n = 0; n < count; ++n)
    array.set(n, double(random.integer(limit->second)));
  return array;
}

} // namespace farun
