//===- MmaDense.cpp - mma.sync of every dense type ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tf32 and fp8, the integers, single bits, and, under a truncating tensor
// model, f16 and bf16 too (MmaSync.cpp has these two for chains of f32
// multiply-adds, f64 is in MmaF64.cpp). Fragments become plain matrices by the
// rule in Decoder/MmaOperands.h; then eight columns are computed at once.
// Integers are exact: the sum wraps, or with .satfinite is clamped once, at
// the end (*unverified*: where hardware clamps). Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/MmaOperands.h"
#include "Lanes.h"
#include "TensorModel.h"

using namespace ptxvm;

static_assert(unsigned(MmaElement::E5M2) == unsigned(TensorElement::E5M2));

namespace {
/// Registers of one instruction.
struct Fragments {
  const uint32_t *d, *a, *b, *c;
  Fragments(const Warp &w, const Instruction &i, const MmaOperands &o)
      : d(w.lists + i.list), a(d + o.registersOfC()), b(a + o.registersOfA()),
        c(b + o.registersOfB()) {}
};

template <MmaElement E> inline float floatElement(uint32_t x) {
  switch (E) {
  case MmaElement::F16:
    return halfToFloat(x & 0xFFFF);
  case MmaElement::BF16:
    return bfloatToFloat(x & 0xFFFF);
  case MmaElement::E4M3:
    return e4m3ToFloat(x & 0xFF);
  case MmaElement::E5M2:
    return e5m2ToFloat(x & 0xFF);
  default:
    // tf32: the low 13 bits are ignored.
    return floatOf(x & 0xFFFFE000);
  }
}
template <MmaElement E> inline int32_t integerElement(uint32_t x) {
  switch (E) {
  case MmaElement::S8:
    return int8_t(x);
  case MmaElement::U8:
    return uint8_t(x);
  case MmaElement::S4:
    return int32_t(x << 28) >> 28;
  default:
    return int32_t(x & 15);
  }
}

/// A as rows of `Depth` elements.
template <typename T, unsigned Depth, typename Get>
void spreadA(const Warp &w, const uint32_t *registers, const MmaOperands &o,
             Get get, T (&out)[16][Depth]) {
  unsigned per = o.perRegister(), bits = o.elementBits(), tall = o.rows > 8;
  for (unsigned r = 0; r < o.registersOfA(); ++r) {
    const uint32_t *word = w.regs + registers[r];
    for (unsigned l = 0; l < 32; ++l) {
      T *row = out[(l >> 2) + 8 * (tall & r)] +
               per * ((l & 3) + 4 * (tall ? r >> 1 : r));
      for (unsigned j = 0; j < per; ++j)
        row[j] = get(word[l] >> bits * j);
    }
  }
}

/// B as rows of eight columns.
template <typename T, unsigned Depth, typename Get>
void spreadB(const Warp &w, const uint32_t *registers, const MmaOperands &o,
             Get get, T (&out)[Depth][8]) {
  unsigned per = o.perRegister(), bits = o.elementBits();
  for (unsigned r = 0; r < o.registersOfB(); ++r) {
    const uint32_t *word = w.regs + registers[r];
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned j = 0; j < per; ++j)
        out[per * ((l & 3) + 4 * r) + j][l >> 2] = get(word[l] >> bits * j);
  }
}

/// C and D of 32-bit elements: `move(word of a lane, row, column)`.
template <typename Move>
void eachResult(Warp &w, const uint32_t *registers, unsigned rows, Move move) {
  for (unsigned r = 0; r < rows / 4; ++r)
    for (unsigned l = 0; l < 32; ++l)
      move(w.regs[registers[r] + l], (l >> 2) + 8 * (r >> 1),
           2 * (l & 3) + (r & 1));
}

void loadFloats(Warp &w, const uint32_t *registers, const MmaOperands &o,
                float (&acc)[16][8]) {
  if (!o.isHalfResult)
    return eachResult(w, registers, o.rows,
                      [&](uint32_t x, unsigned row, unsigned column) {
                        acc[row][column] = floatOf(x);
                      });
  for (unsigned r = 0; r < 2; ++r)
    for (unsigned l = 0; l < 32; ++l) {
      uint32_t x = w.regs[registers[r] + l];
      float *at = acc[(l >> 2) + 8 * r] + 2 * (l & 3);
      at[0] = halfToFloat(x & 0xFFFF);
      at[1] = halfToFloat(x >> 16);
    }
}
void storeFloats(Warp &w, const uint32_t *registers, const MmaOperands &o,
                 const float (&acc)[16][8]) {
  if (!o.isHalfResult)
    return eachResult(w, registers, o.rows,
                      [&](uint32_t &x, unsigned row, unsigned column) {
                        x = bitsOf(canonical(acc[row][column]));
                      });
  for (unsigned r = 0; r < 2; ++r)
    for (unsigned l = 0; l < 32; ++l) {
      const float *at = acc[(l >> 2) + 8 * r] + 2 * (l & 3);
      w.regs[registers[r] + l] = floatToHalf(at[0]) | floatToHalf(at[1]) << 16;
    }
}

constexpr unsigned kFloatDepth = 32;

/// acc += a b by chains of fused multiply-adds in the order of k.
void multiplyChain(const float (&a)[16][kFloatDepth],
                   const float (&b)[kFloatDepth][8], unsigned depth,
                   float (&acc)[16][8]) {
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned n = 0; n < 8; ++n)
        acc[m][n] = __builtin_fmaf(a[m][k], b[k][n], acc[m][n]);
}

void multiplyTruncated(const MmaOperands &o, TensorModel model,
                       const float (&a)[16][kFloatDepth],
                       const float (&b)[kFloatDepth][8], float (&acc)[16][8]) {
  TensorElement ta = TensorElement(o.a), tb = TensorElement(o.b);
  TensorStep step = tensorStep(model, ta, o.isHalfResult, false);
  int leastA = leastExponent(ta), leastB = leastExponent(tb);
  TensorFactor row[kFloatDepth];
  TensorRow columns[kFloatDepth];
  for (unsigned k = 0; k < o.depth; ++k)
    for (unsigned n = 0; n < 8; ++n)
      columns[k].set(n, tensorFactor(b[k][n], leastB));
  for (unsigned m = 0; m < 16; ++m) {
    for (unsigned k = 0; k < o.depth; ++k)
      row[k] = tensorFactor(a[m][k], leastA);
    addProducts(step, row, columns, o.depth, acc[m]);
  }
}

template <MmaElement E>
void spreadFloats(const Warp &w, const Fragments &f, const MmaOperands &o,
                  float (*a)[16][kFloatDepth], float (*b)[kFloatDepth][8]) {
  auto get = [](uint32_t x) { return floatElement<E>(x); };
  if (a)
    spreadA(w, f.a, o, get, *a);
  if (b)
    spreadB(w, f.b, o, get, *b);
}

Flow mmaFloat(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  MmaOperands o = MmaOperands::unpack(i.aux);
  Fragments f(w, i, o);
  alignas(64) float a[16][kFloatDepth], b[kFloatDepth][8], acc[16][8];
  using Spread = void (*)(const Warp &, const Fragments &, const MmaOperands &,
                          float(*)[16][kFloatDepth], float(*)[kFloatDepth][8]);
  static constexpr Spread kSpread[] = {
      spreadFloats<MmaElement::F16>, spreadFloats<MmaElement::BF16>,
      spreadFloats<MmaElement::TF32>, spreadFloats<MmaElement::E4M3>,
      spreadFloats<MmaElement::E5M2>};
  kSpread[unsigned(o.a)](w, f, o, &a, nullptr);
  kSpread[unsigned(o.b)](w, f, o, nullptr, &b);
  loadFloats(w, f.c, o, acc);
  TensorModel model = w.cta->launch.options.tensorModel;
  if (model == TensorModel::Fma)
    multiplyChain(a, b, o.depth, acc);
  else
    multiplyTruncated(o, model, a, b, acc);
  storeFloats(w, f.d, o, acc);
  return Flow::Next;
}

constexpr unsigned kIntegerDepth = 64;

template <MmaElement E>
void spreadIntegers(const Warp &w, const Fragments &f, const MmaOperands &o,
                    int32_t (*a)[16][kIntegerDepth],
                    int32_t (*b)[kIntegerDepth][8]) {
  auto get = [](uint32_t x) { return integerElement<E>(x); };
  if (a)
    spreadA(w, f.a, o, get, *a);
  if (b)
    spreadB(w, f.b, o, get, *b);
}

uint32_t addExact(uint32_t c, int32_t sum, bool saturates) {
  if (!saturates)
    return c + uint32_t(sum);
  int64_t r = int64_t(int32_t(c)) + sum;
  r = r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r;
  return uint32_t(int32_t(r));
}

/// d = c + sum, where the sum of at most 64 products always fits.
void addResults(Warp &w, const Fragments &f, const MmaOperands &o,
                const int32_t (&sum)[16][8]) {
  uint32_t c[16][8];
  eachResult(w, f.c, o.rows, [&](uint32_t x, unsigned row, unsigned column) {
    c[row][column] = x;
  });
  eachResult(w, f.d, o.rows, [&](uint32_t &x, unsigned row, unsigned column) {
    x = addExact(c[row][column], sum[row][column], o.saturates);
  });
}

Flow mmaInteger(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  MmaOperands o = MmaOperands::unpack(i.aux);
  Fragments f(w, i, o);
  alignas(64) int32_t a[16][kIntegerDepth], b[kIntegerDepth][8];
  alignas(64) int32_t sum[16][8] = {};
  using Spread =
      void (*)(const Warp &, const Fragments &, const MmaOperands &,
               int32_t(*)[16][kIntegerDepth], int32_t(*)[kIntegerDepth][8]);
  static constexpr Spread kSpread[] = {
      spreadIntegers<MmaElement::S8>, spreadIntegers<MmaElement::U8>,
      spreadIntegers<MmaElement::S4>, spreadIntegers<MmaElement::U4>};
  constexpr unsigned kFirst = unsigned(MmaElement::S8);
  kSpread[unsigned(o.a) - kFirst](w, f, o, &a, nullptr);
  kSpread[unsigned(o.b) - kFirst](w, f, o, nullptr, &b);
  for (unsigned m = 0; m < o.rows; ++m)
    for (unsigned k = 0; k < o.depth; ++k)
      for (unsigned n = 0; n < 8; ++n)
        sum[m][n] += a[m][k] * b[k][n];
  addResults(w, f, o, sum);
  return Flow::Next;
}

/// Section 9.7.14.5.9: words of 32 bits are combined, their ones counted.
Flow mmaBits(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  MmaOperands o = MmaOperands::unpack(i.aux);
  Fragments f(w, i, o);
  // A register is one element of 32 bits.
  MmaOperands words = o;
  words.a = words.b = MmaElement::TF32;
  words.depth = o.depth / 32;
  uint32_t a[16][8], b[8][8];
  auto whole = [](uint32_t x) { return x; };
  spreadA(w, f.a, words, whole, a);
  spreadB(w, f.b, words, whole, b);
  int32_t sum[16][8] = {};
  for (unsigned m = 0; m < o.rows; ++m)
    for (unsigned k = 0; k < words.depth; ++k)
      for (unsigned n = 0; n < 8; ++n)
        sum[m][n] +=
            __builtin_popcount(o.isAnd ? a[m][k] & b[k][n] : a[m][k] ^ b[k][n]);
  addResults(w, f, o, sum);
  return Flow::Next;
}
} // namespace

void ptxvm::FA_ISA::addMmaDense(HandlerList &list) {
  static const NamedHandler kTable[] = {{"mma_float", mmaFloat},
                                        {"mma_integer", mmaInteger},
                                        {"mma_bits", mmaBits}};
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
