//===- Wmma.cpp - wmma ----------------------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.14.4, with the fragments of Decoder/WmmaOperands.h. A
// load or store is one access of all lanes for each register where elements lie
// side by side in memory, else one for each element. The ISA asks for addresses
// aligned to a lane's fragment, CUDA for 32 bytes; here each access has to be
// aligned to itself. Products add as those of mma.sync do. Compiled with
// -frounding-math.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/WmmaOperands.h"
#include "Handlers.h"
#include "HostRounding.h"
#include "MemoryAccess.h"
#include "TensorModel.h"

using namespace ptxvm;

namespace {
/// The addresses of one access of all lanes, in the warp's scratch. What they
/// start from is read first: the destination may hold it.
class FragmentAccess {
public:
  FragmentAccess(Warp &w, const Instruction &i, bool isStore)
      : w(w), i(i), move(WmmaMove::unpack(i.aux)), isStore(isStore) {
    for (unsigned l = 0; l < 32; ++l) {
      start[l] = move.isWideAddress
                     ? reinterpret_cast<uint64_t *>(w.regs + i.a)[l]
                     : w.regs[i.a + l];
      stride[l] = findStride(l);
    }
  }

  /// Where the lanes' element `j` of register `r` lies, `bytes` of it.
  bool resolve(unsigned r, unsigned j, unsigned bytes, Access &a) {
    const WmmaFragment &f = move.fragment;
    auto *wide = reinterpret_cast<uint64_t *>(w.scratch);
    for (unsigned l = 0; l < 32; ++l) {
      unsigned index = f.index(l, r, j);
      uint64_t outer = index / f.inner, inner = index % f.inner;
      uint64_t side = move.isContiguous ? outer : inner;
      uint64_t element = side * stride[l] + (outer + inner - side);
      uint64_t offset = element * f.bits() / 8;
      if (move.isWideAddress)
        wide[l] = start[l] + offset;
      else
        w.scratch[l] = uint32_t(start[l] + offset);
    }
    AccessRequest request{~0u,
                          uint32_t(w.scratch - w.regs),
                          move.isWideAddress,
                          i.imm,
                          move.space == 7 ? MemoryAux::kGeneric : move.space,
                          bytes,
                          isStore ? AccessKind::Store : AccessKind::Load};
    return resolveAccess(w, i, request, a);
  }

  /// Calls `copy(host address, bytes of the lane's register)` for each piece.
  template <typename Copy> Flow run(Copy copy) {
    if (!needsWholeWarp(w))
      return Flow::Stop;
    const WmmaFragment &f = move.fragment;
    unsigned whole = f.isWide() ? 8 : 4, per = f.perRegister();
    unsigned pieces = move.isContiguous ? 1 : per, bytes = whole / pieces;
    for (unsigned r = 0; r < f.registers(); ++r)
      for (unsigned j = 0; j < pieces; ++j) {
        Access a;
        if (!resolve(r, j, bytes, a))
          return Flow::Stop;
        auto *reg = reinterpret_cast<uint8_t *>(w.regs + w.lists[i.list + r]);
        for (unsigned l = 0; l < 32; ++l)
          copy(a.pointer[l], reg + l * whole + j * bytes, bytes);
      }
    return Flow::Next;
  }

private:
  /// Elements from one row or column to the next; without an operand they lie
  /// without a gap.
  uint64_t findStride(unsigned l) const {
    const WmmaFragment &f = move.fragment;
    if (move.hasStride)
      return w.regs[i.b + l];
    return move.isContiguous ? f.inner : f.outer;
  }

  Warp &w;
  const Instruction &i;
  WmmaMove move;
  bool isStore;
  uint64_t start[32], stride[32];
};

Flow load(Warp &w, const Instruction &i) {
  return FragmentAccess(w, i, false)
      .run([](const uint8_t *memory, uint8_t *reg, unsigned bytes) {
        std::memcpy(reg, memory, bytes);
      });
}
Flow store(Warp &w, const Instruction &i) {
  return FragmentAccess(w, i, true)
      .run([](uint8_t *memory, const uint8_t *reg, unsigned bytes) {
        std::memcpy(memory, reg, bytes);
      });
}

/// A fragment's registers as a matrix: outer rows of at most kInner elements.
constexpr unsigned kOuter = 32, kInner = 128;
template <typename T> using Matrix = T[kOuter][kInner];

/// The bits of element `j` of a register.
uint64_t bitsAt(const Warp &w, uint32_t at, const WmmaFragment &f, unsigned l,
                unsigned j) {
  if (f.isWide())
    return reinterpret_cast<const uint64_t *>(w.regs + at)[l];
  uint64_t mask = (uint64_t(1) << f.bits()) - 1;
  return w.regs[at + l] >> f.bits() * j & mask;
}

template <typename T, typename Convert>
void gather(const Warp &w, const uint32_t *registers, const WmmaFragment &f,
            Matrix<T> &to, Convert convert) {
  for (unsigned r = 0; r < f.registers(); ++r)
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned j = 0; j < f.perRegister(); ++j) {
        unsigned index = f.index(l, r, j);
        to[index / f.inner][index % f.inner] =
            convert(bitsAt(w, registers[r], f, l, j));
      }
}

/// The other way: `convert` gives the bits of an element.
template <typename T, typename Convert>
void scatter(Warp &w, const uint32_t *registers, const WmmaFragment &f,
             const Matrix<T> &from, Convert convert) {
  for (unsigned r = 0; r < f.registers(); ++r)
    for (unsigned l = 0; l < 32; ++l) {
      uint64_t word = 0;
      for (unsigned j = 0; j < f.perRegister(); ++j) {
        unsigned index = f.index(l, r, j);
        word |= uint64_t(convert(from[index / f.inner][index % f.inner]))
                << f.bits() * j;
      }
      if (f.isWide())
        reinterpret_cast<uint64_t *>(w.regs + registers[r])[l] = word;
      else
        w.regs[registers[r] + l] = uint32_t(word);
    }
}

float toFloat(WmmaElement e, uint64_t bits) {
  uint32_t x = uint32_t(bits);
  switch (e) {
  case WmmaElement::F16:
    return halfToFloat(x);
  case WmmaElement::BF16:
    return bfloatToFloat(x);
  case WmmaElement::TF32:
    return floatOf(x & 0xFFFFE000);
  default:
    return floatOf(x);
  }
}
int32_t toInteger(WmmaElement e, uint64_t bits) {
  switch (e) {
  case WmmaElement::S8:
    return int8_t(bits);
  case WmmaElement::S4:
    return int32_t(uint32_t(bits) << 28) >> 28;
  default:
    return int32_t(bits);
  }
}

/// The operands of one product: fragments, registers and values.
template <typename T> struct Operands {
  WmmaProduct p;
  WmmaFragment fd, fa, fb, fc;
  const uint32_t *d; ///< registers of the result
  struct {
    Matrix<T> a, b, acc;
  } values;

  /// `convert` makes a value of an element's bits.
  template <typename Convert>
  Operands(const Warp &w, const Instruction &i, Convert convert)
      : p(WmmaProduct::unpack(i.aux)),
        fd(p.shape.fragment(WmmaFragment::CD, p.d)),
        fa(p.shape.fragment(WmmaFragment::A, p.a)),
        fb(p.shape.fragment(WmmaFragment::B, p.b)),
        fc(p.shape.fragment(WmmaFragment::CD, p.c)), d(w.lists + i.list) {
    const uint32_t *a = d + fd.registers(), *b = a + fa.registers(),
                   *c = b + fb.registers();
    gather(w, a, fa, values.a, [&](uint64_t x) { return convert(p.a, x); });
    gather(w, b, fb, values.b, [&](uint64_t x) { return convert(p.b, x); });
    gather(w, c, fc, values.acc, [&](uint64_t x) { return convert(p.c, x); });
  }
};

/// Eight columns of a product at once, under a truncating model.
void multiplyTruncated(const WmmaProduct &p, TensorModel model,
                       const Matrix<float> &a, const Matrix<float> &b,
                       Matrix<float> &acc) {
  static_assert(unsigned(WmmaElement::TF32) == unsigned(TensorElement::TF32));
  TensorElement e = TensorElement(p.a);
  TensorStep step = tensorStep(model, e, p.d == WmmaElement::F16, false);
  int least = leastExponent(e);
  for (unsigned first = 0; first < p.shape.n; first += 8) {
    TensorRow columns[16];
    for (unsigned k = 0; k < p.shape.k; ++k)
      for (unsigned n = 0; n < 8; ++n)
        columns[k].set(n, tensorFactor(b[first + n][k], least));
    for (unsigned m = 0; m < p.shape.m; ++m) {
      TensorFactor row[16];
      float sums[8];
      for (unsigned k = 0; k < p.shape.k; ++k)
        row[k] = tensorFactor(a[m][k], least);
      std::copy_n(acc[m] + first, 8, sums);
      addProducts(step, row, columns, p.shape.k, sums);
      std::copy_n(sums, 8, acc[m] + first);
    }
  }
}

Flow multiplyFloats(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  Operands<float> o(w, i, toFloat);
  const WmmaShape &s = o.p.shape;
  auto &[a, b, acc] = o.values;
  TensorModel model = w.cta->launch.options.tensorModel;
  if (model != TensorModel::Fma)
    multiplyTruncated(o.p, model, a, b, acc);
  else
    for (unsigned m = 0; m < s.m; ++m)
      for (unsigned n = 0; n < s.n; ++n)
        for (unsigned k = 0; k < s.k; ++k)
          acc[m][n] = std::fma(a[m][k], b[n][k], acc[m][n]);
  bool isHalf = o.p.d == WmmaElement::F16;
  scatter(w, o.d, o.fd, acc, [&](float x) {
    return isHalf ? uint32_t(floatToHalf(x)) : bitsOf(canonical(x));
  });
  return Flow::Next;
}

Flow multiplyDoubles(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  Operands<double> o(
      w, i, [](WmmaElement, uint64_t x) { return std::bit_cast<double>(x); });
  const WmmaShape &s = o.p.shape;
  auto &[a, b, acc] = o.values;
  {
    HostRounding scope(i.mods);
    for (unsigned m = 0; m < s.m; ++m)
      for (unsigned n = 0; n < s.n; ++n) {
        volatile double sum = acc[m][n];
        for (unsigned k = 0; k < s.k; ++k)
          sum = std::fma(a[m][k], b[n][k], double(sum));
        acc[m][n] = sum;
      }
  }
  scatter(w, o.d, o.fd, acc,
          [](double x) { return std::bit_cast<uint64_t>(canonical(x)); });
  return Flow::Next;
}

/// One product: numbers, or bits that are combined and counted.
int32_t multiplyOne(const WmmaProduct &p, int32_t x, int32_t y) {
  if (p.a != WmmaElement::B1)
    return x * y;
  return p.isAnd ? x & y : x ^ y;
}

/// The sum wraps, or is clamped once at the end (*unverified*, as for mma).
Flow multiplyIntegers(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  Operands<int32_t> o(w, i, toInteger);
  const WmmaShape &s = o.p.shape;
  auto &[a, b, acc] = o.values;
  for (unsigned m = 0; m < s.m; ++m)
    for (unsigned n = 0; n < s.n; ++n) {
      int64_t sum = acc[m][n];
      for (unsigned k = 0; k < s.k; ++k)
        sum += multiplyOne(o.p, a[m][k], b[n][k]);
      if (o.p.saturates)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      acc[m][n] = int32_t(uint32_t(uint64_t(sum)));
    }
  scatter(w, o.d, o.fd, acc, [](int32_t x) { return uint32_t(x); });
  return Flow::Next;
}
} // namespace

void ptxvm::addWmma(HandlerList &list) {
  static const NamedHandler kTable[] = {{"wmma_load", load},
                                        {"wmma_store", store},
                                        {"wmma_float", multiplyFloats},
                                        {"wmma_f64", multiplyDoubles},
                                        {"wmma_integer", multiplyIntegers}};
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
