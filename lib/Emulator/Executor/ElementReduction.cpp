//===- ElementReduction.cpp - atomic operations on elements ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.9.26 and 27.
//
//===----------------------------------------------------------------------===//
#include "ElementReduction.h"
#include "SmallFloat.h"

#include <cstring>
#include <type_traits>

using namespace ptxvm;

bool ptxvm::canReduce(Reduction op, TensorType type) {
  bool isInteger32 = type == TensorType::U32 || type == TensorType::S32;
  bool isInteger =
      isInteger32 || type == TensorType::U64 || type == TensorType::S64;
  bool isHalf = type == TensorType::F16 || type == TensorType::BF16;
  switch (op) {
  case Reduction::Add:
    return isInteger || isHalf || type == TensorType::F32 ||
           type == TensorType::F64 || type == TensorType::F32Ftz;
  case Reduction::Min:
  case Reduction::Max:
    return isInteger || isHalf;
  case Reduction::Inc:
  case Reduction::Dec:
    return type == TensorType::U32;
  case Reduction::And:
  case Reduction::Or:
  case Reduction::Xor:
    return isInteger;
  case Reduction::None:
    break;
  }
  return false;
}

namespace {
template <typename T> T combineIntegers(Reduction op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Reduction::Add:
    return T(U(a) + U(b));
  case Reduction::Min:
    return a < b ? a : b;
  case Reduction::Max:
    return a > b ? a : b;
  case Reduction::Inc:
    return U(a) >= U(b) ? T(0) : T(U(a) + 1);
  case Reduction::Dec:
    return U(a) == 0 || U(a) > U(b) ? b : T(U(a) - 1);
  case Reduction::And:
    return T(a & b);
  case Reduction::Or:
    return T(a | b);
  case Reduction::Xor:
    return T(a ^ b);
  case Reduction::None:
    break;
  }
  return b;
}

/// A NaN operand loses.
float combineFloats(Reduction op, float a, float b) {
  if (op == Reduction::Add)
    return canonical(a + b);
  if (a != a || b != b)
    return a != a ? canonical(b) : a;
  bool takesA = op == Reduction::Min ? a < b || (a == b && bitsOf(a) >> 31)
                                     : a > b || (a == b && !(bitsOf(a) >> 31));
  return takesA ? a : b;
}

template <typename Word, typename Combine>
void each(uint8_t *to, const uint8_t *from, uint64_t bytes, Combine combine) {
  for (uint64_t k = 0; k + sizeof(Word) <= bytes; k += sizeof(Word)) {
    Word b;
    std::memcpy(&b, from + k, sizeof(Word));
    Word *p = reinterpret_cast<Word *>(to + k);
    Word old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(p, &old, Word(combine(old, b)), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
  }
}

template <typename T>
void integers(Reduction op, uint8_t *to, const uint8_t *from, uint64_t bytes) {
  using Word = std::make_unsigned_t<T>;
  each<Word>(to, from, bytes, [=](Word a, Word b) {
    return Word(combineIntegers<T>(op, T(a), T(b)));
  });
}
} // namespace

void ptxvm::reduceElements(Reduction op, TensorType type, uint8_t *to,
                           const uint8_t *from, uint64_t bytes) {
  switch (type) {
  case TensorType::U32:
    return integers<uint32_t>(op, to, from, bytes);
  case TensorType::S32:
    return integers<int32_t>(op, to, from, bytes);
  case TensorType::U64:
    return integers<uint64_t>(op, to, from, bytes);
  case TensorType::S64:
    return integers<int64_t>(op, to, from, bytes);
  case TensorType::F16:
    return each<uint16_t>(to, from, bytes, [=](uint16_t a, uint16_t b) {
      return floatToHalf(combineFloats(op, halfToFloat(a), halfToFloat(b)));
    });
  case TensorType::BF16:
    return each<uint16_t>(to, from, bytes, [=](uint16_t a, uint16_t b) {
      return floatToBfloat(
          combineFloats(op, bfloatToFloat(a), bfloatToFloat(b)));
    });
  case TensorType::F32:
    return each<uint32_t>(to, from, bytes, [=](uint32_t a, uint32_t b) {
      return bitsOf(combineFloats(op, floatOf(a), floatOf(b)));
    });
  case TensorType::F32Ftz:
    return each<uint32_t>(to, from, bytes, [=](uint32_t a, uint32_t b) {
      return bitsOf(
          flush(combineFloats(op, flush(floatOf(a)), flush(floatOf(b)))));
    });
  case TensorType::F64:
    return each<uint64_t>(to, from, bytes, [](uint64_t a, uint64_t b) {
      return std::bit_cast<uint64_t>(
          canonical(std::bit_cast<double>(a) + std::bit_cast<double>(b)));
    });
  default:
    return;
  }
}
